//! Documents as bytes, as the seeds print them and as we write them.

use super::*;

fn seed(text: &str) -> Value {
    parse_document(text.as_bytes()).unwrap()
}

#[test]
fn x_1_a_byte_order_mark_is_no_content() {
    assert_eq!(parse_document(b"\xef\xbb\xbf{}"), Ok(json!({})));
}

#[test]
fn b_26_bad_json_is_named_with_its_place() {
    let deep = "[".repeat(10_000);
    for (bytes, place) in [
        (&b"{\n  \"a\": }"[..], "line 2 column 8"),
        (b"", "line 1 column 0"),
        (b"{\n\"\xff\"}", "line 2 column 2"),
        (deep.as_bytes(), "recursion limit"),
        (b"{} {}", "trailing characters"),
    ] {
        let error = parse_document(bytes).unwrap_err();
        assert_eq!(error.kind, FieldErrorKind::JsonInvalid);
        assert!(error.to_string().contains(place), "{error}");
    }
    let error = parse_document(b"[1]").unwrap_err();
    assert_eq!(error.kind, FieldErrorKind::ModelType);
}

#[test]
fn s_2_the_seeds_work_and_merge_beads_are_valid() {
    let work = seed(include_str!("../../../testdata/beads/seed-work.json"));
    let bead = read(&work).unwrap();
    assert_eq!(bead.metadata.qa_agents.len(), 2);
    assert_eq!(
        bead.metadata.qa_agents[0].prompt,
        "Run pytest with coverage for auth endpoints"
    );
    let merge = seed(include_str!("../../../testdata/beads/seed-merge.json"));
    let bead = read(&merge).unwrap();
    assert_eq!(bead.issue_type, IssueType::Merge);
    assert_eq!(
        bead.metadata
            .branches_to_merge
            .map(|branches| branches.len()),
        Some(2)
    );
}

#[test]
fn s_2_what_the_seed_says_is_what_we_write() {
    for text in [
        include_str!("../../../testdata/beads/seed-work.json"),
        include_str!("../../../testdata/beads/seed-merge.json"),
    ] {
        let document = seed(text);
        let written = read(&document).unwrap().to_document(BeadShape::V2);
        let told = |value: &Value| value["metadata"].as_object().cloned().unwrap();
        for (key, value) in told(&document) {
            assert_eq!(written["metadata"][&key], value, "{key}");
        }
    }
}

#[test]
fn s_2_the_seeds_completed_bead_reads_once_it_is_whole() {
    let mut whole = seed(include_str!("../../../testdata/beads/seed-work.json"));
    let completed = seed(include_str!("../../../testdata/beads/seed-closed.json"));
    assert!(read(&completed).is_err(), "the seed leaves most fields out");
    for (key, value) in completed.as_object().unwrap() {
        if key != "metadata" {
            whole[key] = value.clone();
        }
    }
    for (key, value) in completed["metadata"].as_object().unwrap() {
        whole["metadata"][key] = value.clone();
    }
    let bead = read(&whole).unwrap();
    assert_eq!(bead.status, Status::Closed);
    assert_eq!(bead.metadata.dev_agent_executions.len(), 2);
    let result = bead.metadata.scrum_result.unwrap();
    assert_eq!(result.qa_results[0].message, "");
}

fn worked_example() -> RalphBead {
    let sprint = SprintId::parse("1.2a").unwrap();
    let title = "Example Work Bead";
    let text = "Validate against schema";
    let path = |name| AgentPath::for_name(name).unwrap();
    let dev = plan_agent(path("python-backend-dev"), Model::Sonnet, None, title);
    let qa = plan_agent(path("qa-schema-validator"), Model::Haiku, None, text);
    let prompts = vec!["Create examples/w.json".to_owned()];
    let now = Timestamp::parse("2026-02-07T10:00:00Z").unwrap();
    RalphBead {
        id: BeadId::derive(&sprint, title),
        title: title.to_owned(),
        description: description(&prompts),
        status: Status::Open,
        priority: Priority::PLANNED,
        issue_type: IssueType::Work,
        owner: None,
        dependencies: vec![BeadId::parse("bd-1-1-core-schema-validation-script").unwrap()],
        labels: labels(&sprint, &[]),
        comments: Vec::new(),
        metadata: Metadata {
            rig: Rules::default().rig,
            worktree_path: "../br-worktrees/feature/1-2a-work".to_owned(),
            branch: BranchName::parse("feature/1-2a-work").unwrap(),
            source_branch: "develop".to_owned(),
            phase: PhaseId::parse(sprint.phase()).unwrap(),
            team_name: team_name(None, &sprint, title),
            plan_file: "plan.md".to_owned(),
            plan_section: format!("### Sprint {sprint}: {title}"),
            plan_sprint_id: sprint.to_string(),
            branches_to_merge: None,
            scrum_master_agent: scrum_master(&sprint, title, Model::Sonnet),
            dev_agents: vec![dev],
            dev_prompts: prompts,
            qa_agents: vec![QaAgent {
                spec: qa,
                prompt: "Validate against schema".to_owned(),
                output_schema: standard_output_schema(),
            }],
            max_retry_attempts: DEFAULT_MAX_RETRY_ATTEMPTS,
            attempt_count: 0,
            scrum_master_session_id: None,
            dev_agent_session_id: None,
            dev_agent_executions: Vec::new(),
            qa_agent_executions: Vec::new(),
            pr_url: None,
            pr_number: None,
            scrum_result: None,
            acceptance_criteria: None,
            dod: None,
            source_map: None,
            sprint,
        },
        external_ref: None,
        estimated_minutes: None,
        created_at: now.clone(),
        updated_at: now,
        closed_at: None,
    }
}

#[test]
fn b_3_the_worked_example_in_both_shapes() {
    let expected = include_str!("../../../testdata/beads/worked-example.json");
    // Texts are compared, because the order of the keys is part of the contract.
    assert_eq!(
        format!("{:#}", worked_example().to_document(BeadShape::Both)),
        expected.trim_end()
    );
}

#[test]
fn b_3_each_generation_writes_its_own_fields_only() {
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let one = worked_example().to_document(BeadShape::V1);
    assert_eq!(
        keys(&one["metadata"]).len(),
        23,
        "the names that the seeds count (B-5)"
    );
    assert_eq!(
        keys(&one["metadata"]["qa_agents"][0]),
        ["agent_path", "model", "prompt", "output_schema"]
    );
    let two = worked_example().to_document(BeadShape::V2);
    assert_eq!(
        keys(&two["metadata"]["qa_agents"][0]),
        ["role", "agent", "model", "context"]
    );
    assert!(two["metadata"].get("dev_model").is_none());
    assert_eq!(keys(&two["metadata"]).len(), 24, "generation 2 (B-5)");
}

#[test]
fn schemas_are_sound_and_have_plain_names() {
    for (name, schema) in schemas() {
        assert!(jsonschema::draft202012::new(&schema).is_ok(), "{name}");
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        assert_eq!(schema["$id"], format!("beads-ralph/{name}"));
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        assert!(
            schema["title"].is_string() && schema["description"].is_string(),
            "{name}"
        );
    }
}

#[test]
fn schemas_refuse_what_the_validator_refuses() {
    let schemas = schemas();
    let schema = jsonschema::draft202012::new(&schemas[0].1).unwrap();
    assert!(schema.is_valid(&generation_1()));
    for (pointer, value) in [
        ("/title", json!("  ")),
        ("/status", json!("done")),
        ("/priority", json!(5)),
        ("/assignee", json!("me")),
        ("/labels", Value::Null),
        ("/created_at", json!("2026-02-07")),
        ("/metadata/phase", json!("1.2")),
        ("/metadata/branch", json!("a b")),
        ("/metadata/dev_prompts", json!([])),
        ("/metadata/qa_agents", json!([])),
        ("/metadata/dev_model", json!("gpt")),
        ("/metadata/dev_agents", json!([])),
        ("/metadata/dev_agent_path", json!(".claude/agents/../x")),
        (
            "/metadata/qa_agents/0/output_schema",
            json!({ "properties": { "status": {} } }),
        ),
        ("/metadata/dod", json!({ "verifiers": [{ "command": "" }] })),
    ] {
        let document = with(pointer, value);
        assert!(
            read(&document).is_err() && !schema.is_valid(&document),
            "{pointer}"
        );
    }
    let mut document = to_v2(&generation_1()).unwrap();
    assert!(schema.is_valid(&document));
    set(
        &mut document,
        "/metadata/dev_agents/0/agent",
        json!(".claude/agents/dev"),
    );
    assert!(!schema.is_valid(&document));
}
