//! The rules of contracts §3, one test each.

use serde_json::{Value, json};

use crate::diag::ErrorCode;
use crate::number::{PhaseId, SprintId};

use super::*;

mod documents;
mod migrations;

pub(super) fn generation_1() -> Value {
    json!({
        "id": "bd-1", "title": "T", "description": "", "status": "open", "priority": 1,
        "issue_type": "beads-ralph-work", "assignee": "beads-ralph-scrum-master",
        "metadata": {
            "rig": "beads-ralph", "worktree_path": "../w", "branch": "feature/x", "source_branch": "main",
            "phase": "1", "sprint": "1.2", "plan_file": "p.md", "plan_section": "### Sprint 1.2: T",
            "plan_sprint_id": "1.2", "dev_agent_path": ".claude/agents/dev", "dev_model": "sonnet",
            "dev_prompts": ["Do it"],
            "qa_agents": [{
                "agent_path": ".claude/agents/qa", "model": "haiku", "prompt": "Check it",
                "output_schema": standard_output_schema(),
            }],
        },
        "created_at": "2026-02-07T10:00:00Z", "updated_at": "2026-02-07T10:00:00Z",
    })
}

fn read(document: &Value) -> Result<RalphBead, Vec<FieldError>> {
    validate(document, &Rules::default())
}

/// The generation 1 bead with one value changed; `absent` stands for no value at all.
fn with(pointer: &str, value: Value) -> Value {
    let mut document = generation_1();
    set(&mut document, pointer, value);
    document
}

fn set(document: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Object(map) => drop(map.insert(key.to_owned(), value)),
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        other => panic!("{pointer} leads into {other}"),
    }
}

fn without(pointer: &str) -> Value {
    let mut document = generation_1();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = document
        .pointer_mut(parent)
        .and_then(Value::as_object_mut)
        .unwrap();
    parent.shift_remove(key).unwrap();
    document
}

fn errors(document: &Value) -> Vec<String> {
    let errors = read(document).err().unwrap_or_default();
    errors.iter().map(ToString::to_string).collect()
}

/// Asserts that the document fails with one line that starts and ends like this.
fn refused(document: &Value, path: &str, message: &str, kind: &str) {
    let errors = errors(document);
    let fits = |line: &String| {
        line.starts_with(&format!("{path}: "))
            && line.contains(message)
            && line.ends_with(&format!("(type={kind})"))
    };
    assert!(
        errors.len() == 1 && fits(&errors[0]),
        "{path} {message} {kind}: {errors:?}"
    );
}

fn dev_execution() -> Value {
    json!({
        "attempt": 1, "session_id": "s", "agent_path": ".claude/agents/dev", "model": "sonnet",
        "started_at": "2026-02-07T10:00:00Z", "completed_at": "2026-02-07T10:15:00Z",
        "status": "completed", "feedback_from_qa": null,
    })
}

fn qa_execution() -> Value {
    json!({
        "attempt": 1, "session_id": "s", "agent_path": ".claude/agents/qa", "model": "haiku",
        "started_at": "2026-02-07T10:16:00Z", "completed_at": "2026-02-07T10:18:00Z",
        "status": "pass", "message": "ok",
    })
}

fn scrum_result() -> Value {
    json!({
        "bead_id": "bd-1", "success": true, "pr_url": null, "pr_number": null, "bead_updated": true,
        "attempt_count": 2, "error": null, "fatal": false,
    })
}

#[test]
fn b_2_a_valid_bead_of_generation_1_is_read_as_generation_2() {
    let bead = read(&generation_1()).unwrap();
    let metadata = &bead.metadata;
    assert_eq!(metadata.team_name, "sprint-1-2");
    assert_eq!(
        metadata.scrum_master_agent.context.as_deref(),
        Some("Sprint 1.2 - T")
    );
    let dev = &metadata.dev_agents[0];
    assert_eq!(dev.agent.as_str(), ".claude/agents/dev.md");
    assert_eq!(
        (dev.model, dev.context.as_deref()),
        (Some(Model::Sonnet), Some("T"))
    );
    let qa = &metadata.qa_agents[0];
    assert_eq!(qa.spec.agent.as_str(), ".claude/agents/qa.md");
    assert_eq!(
        (qa.prompt.as_str(), qa.spec.context.as_deref()),
        ("Check it", Some("Check it"))
    );
    assert_eq!(
        (metadata.max_retry_attempts, metadata.attempt_count),
        (3, 0)
    );
}

#[test]
fn b_2_a_mixed_bead_must_satisfy_generation_2() {
    let document = with(
        "/metadata/scrum_master_agent",
        json!({ "role": "polecat", "agent": "claude" }),
    );
    let lines = errors(&document);
    for path in [
        "metadata.team_name",
        "metadata.dev_agents",
        "metadata.qa_agents.0.role",
        "metadata.qa_agents.0.agent",
    ] {
        let line = format!("{path}: Field required (type=missing)");
        assert!(lines.contains(&line), "{line} {lines:?}");
    }
    assert_eq!(lines.len(), 4, "{lines:?}");
}

#[test]
fn b_16_generation_2_agents_end_in_md() {
    let mut document = to_v2(generation_1()).unwrap();
    set(
        &mut document,
        "/metadata/dev_agents/0/agent",
        json!(".claude/agents/dev"),
    );
    refused(
        &document,
        "metadata.dev_agents.0.agent",
        "end in .md",
        "value_error",
    );
    set(
        &mut document,
        "/metadata/dev_agents/0/agent",
        json!("claude"),
    );
    assert!(read(&document).is_ok());
}

#[test]
fn b_21_types_are_strict() {
    for number in [json!("1"), json!(1.0), json!(true), Value::Null] {
        refused(
            &with("/priority", number),
            "priority",
            "valid integer",
            "int_type",
        );
    }
    for (pointer, value, kind) in [
        ("/title", json!(1), "string_type"),
        ("/description", Value::Null, "string_type"),
        ("/owner", json!(1), "string_type"),
        ("/labels", json!("a"), "list_type"),
        ("/labels", Value::Null, "list_type"),
        ("/dependencies", Value::Null, "list_type"),
        ("/metadata", json!([]), "model_type"),
        ("/created_at", json!(1_770_458_400), "datetime_type"),
        ("/created_at", json!("2026-02-07"), "datetime_parsing"),
        ("/closed_at", json!("soon"), "datetime_parsing"),
        ("/metadata/max_retry_attempts", Value::Null, "int_type"),
        ("/metadata/dev_agent_executions", Value::Null, "list_type"),
        (
            "/metadata/qa_agents/0/output_schema",
            json!("x"),
            "dict_type",
        ),
        ("/metadata/qa_agents/0", json!("x"), "model_type"),
    ] {
        let path = pointer[1..].replace('/', ".");
        refused(
            &with(pointer, value),
            &path,
            "Input should be a valid",
            kind,
        );
    }
    refused(
        &with("/comments", json!(["text"])),
        "comments.0",
        "valid dictionary",
        "dict_type",
    );
    refused(
        &with("/labels", json!(["a", 1])),
        "labels.1",
        "valid string",
        "string_type",
    );
    for time in [
        "2026-02-07T10:00:00",
        "2026-02-07 10:00:00.5",
        "2026-02-07T10:00:00+01:00",
    ] {
        assert!(read(&with("/updated_at", json!(time))).is_ok(), "{time}");
    }
}

#[test]
fn b_21_the_top_level_is_an_object() {
    for document in [json!([]), json!("x"), Value::Null] {
        refused(&document, "document", "valid object", "model_type");
    }
}

#[test]
fn b_22_all_errors_are_reported_together() {
    let mut document = generation_1();
    set(&mut document, "/title", json!("  "));
    set(&mut document, "/metadata/dev_model", json!("gpt"));
    set(
        &mut document,
        "/metadata/qa_agents/0/output_schema",
        json!({ "properties": { "message": {} } }),
    );
    let lines = errors(&document);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("title must be non-empty"), "{lines:?}");
    assert!(lines[1].contains("metadata.dev_model"), "{lines:?}");
    assert!(lines[1].contains("model must be one of"), "{lines:?}");
    assert!(
        lines[2].starts_with("metadata.qa_agents.0.output_schema: "),
        "{lines:?}"
    );
}

#[test]
fn b_23_odd_things_stay_accepted() {
    let schema = |status: Value| json!({ "properties": { "status": status, "message": {} } });
    for (pointer, value) in [
        ("/unknown", json!({ "a": 1 })),
        ("/metadata/unknown", json!(1)),
        ("/metadata/phase", json!("7")),
        ("/metadata/branches_to_merge", json!([])),
        ("/metadata/branches_to_merge", json!(["a"])),
        ("/metadata/dev_prompts", json!([""])),
        ("/metadata/agent_type", json!(1)),
        ("/metadata/qa_agents/0/output_schema", schema(json!({}))),
        (
            "/metadata/qa_agents/0/output_schema",
            schema(json!({ "enum": ["pass"] })),
        ),
        ("/metadata/worktree_path", json!("/absolute")),
        ("/owner", Value::Null),
        ("/comments", json!([{ "text": "x" }])),
    ] {
        let document = with(pointer, value);
        assert!(
            read(&document).is_ok(),
            "{pointer}: {:?}",
            errors(&document)
        );
    }
}

#[test]
fn b_24_values_out_of_bounds_are_refused() {
    for (pointer, value, message) in [
        ("/title", json!("   "), "title must be non-empty"),
        ("/status", json!("done"), "status must be one of"),
        ("/priority", json!(5), "priority must be between 0 and 4"),
        ("/priority", json!(-1), "priority must be between 0 and 4"),
        ("/issue_type", json!("task"), "issue_type must be one of"),
        (
            "/assignee",
            json!("me"),
            "assignee must be 'beads-ralph-scrum-master'",
        ),
        ("/metadata/phase", json!("1.2"), "phase must match pattern"),
        (
            "/metadata/phase",
            json!("invalid-phase"),
            "phase must match pattern",
        ),
        ("/metadata/sprint", json!("1"), "sprint must match pattern"),
        (
            "/metadata/sprint",
            json!("1.2.3"),
            "sprint must match pattern",
        ),
        ("/metadata/dev_model", json!("gpt"), "model must be one of"),
        (
            "/metadata/qa_agents/0/model",
            json!("gpt"),
            "model must be one of",
        ),
        (
            "/metadata/dev_prompts",
            json!([]),
            "dev_prompts must be non-empty array",
        ),
        (
            "/metadata/qa_agents",
            json!([]),
            "qa_agents must be non-empty array",
        ),
        (
            "/metadata/max_retry_attempts",
            json!(0),
            "max_retry_attempts must be >= 1",
        ),
        (
            "/metadata/attempt_count",
            json!(-1),
            "attempt_count must be >= 0",
        ),
        (
            "/metadata/attempt_count",
            json!(1_u64 << 40),
            "attempt_count is out of range",
        ),
        ("/metadata/dev_agent_path", json!("../x"), "agent must be"),
    ] {
        let path = pointer[1..].replace('/', ".");
        refused(&with(pointer, value), &path, message, "value_error");
    }
}

#[test]
fn b_24_an_output_schema_has_a_status_and_a_message() {
    let pointer = "/metadata/qa_agents/0/output_schema";
    let path = "metadata.qa_agents.0.output_schema";
    for (schema, message) in [
        (
            json!({ "properties": { "message": {} } }),
            "must have 'status' property",
        ),
        (
            json!({ "properties": { "status": {} } }),
            "must have 'message' property",
        ),
        (
            json!({ "properties": { "status": { "enum": ["pass", "maybe"] }, "message": {} } }),
            "status enum must only contain",
        ),
    ] {
        refused(&with(pointer, schema), path, message, "value_error");
    }
    assert_eq!(errors(&with(pointer, json!({}))).len(), 2);
}

#[test]
fn b_24_phases_and_sprints() {
    for phase in ["1", "2", "3a", "3b", "12", "3ab"] {
        assert!(
            read(&with("/metadata/phase", json!(phase))).is_ok(),
            "{phase}"
        );
    }
    for sprint in ["1.1", "3a.2", "3b.2a", "3b.2b", "12.5c"] {
        assert!(
            read(&with("/metadata/sprint", json!(sprint))).is_ok(),
            "{sprint}"
        );
    }
}

#[test]
fn b_24_executions_and_results() {
    assert!(DevExecution::from_document(&dev_execution()).is_ok());
    assert!(QaExecution::from_document(&qa_execution()).is_ok());
    let result = ScrumResult::from_document(&scrum_result()).unwrap();
    assert!(result.qa_results.is_empty() && !result.skipped);
    for (pointer, item, key, value, message) in [
        (
            "dev_agent_executions",
            dev_execution(),
            "attempt",
            json!(0),
            "attempt must be >= 1",
        ),
        (
            "dev_agent_executions",
            dev_execution(),
            "status",
            json!("pass"),
            "status must be one of",
        ),
        (
            "qa_agent_executions",
            qa_execution(),
            "attempt",
            json!(0),
            "attempt must be >= 1",
        ),
        (
            "qa_agent_executions",
            qa_execution(),
            "status",
            json!("completed"),
            "status must be one of",
        ),
    ] {
        let mut item = item;
        item[key] = value;
        let document = with(&format!("/metadata/{pointer}"), json!([item]));
        refused(
            &document,
            &format!("metadata.{pointer}.0.{key}"),
            message,
            "value_error",
        );
    }
    let mut result = scrum_result();
    result["attempt_count"] = json!(-1);
    let document = with("/metadata/scrum_result", result);
    let path = "metadata.scrum_result.attempt_count";
    refused(&document, path, "attempt_count must be >= 0", "value_error");
    let document = with("/metadata/scrum_result", json!("done"));
    refused(
        &document,
        "metadata.scrum_result",
        "valid object",
        "model_type",
    );
}

#[test]
fn b_25_what_the_seeds_tightened() {
    for (pointer, message) in [
        ("/id", "id must be non-empty"),
        ("/metadata/worktree_path", "worktree_path must be non-empty"),
        ("/metadata/branch", "branch must match pattern"),
        ("/metadata/source_branch", "source_branch must be non-empty"),
        ("/metadata/plan_file", "plan_file must be non-empty"),
        ("/metadata/plan_section", "plan_section must be non-empty"),
        (
            "/metadata/plan_sprint_id",
            "plan_sprint_id must be non-empty",
        ),
        ("/metadata/rig", "rig must be 'beads-ralph'"),
    ] {
        let path = pointer[1..].replace('/', ".");
        refused(&with(pointer, json!("")), &path, message, "value_error");
        refused(&without(pointer), &path, "Field required", "missing");
    }
    let document = with("/metadata/branch", json!("main/1.2"));
    refused(
        &document,
        "metadata.branch",
        "branch must match pattern",
        "value_error",
    );
    for (key, value) in [("phase", "1\n"), ("sprint", "1.1\n")] {
        let document = with(&format!("/metadata/{key}"), json!(value));
        refused(
            &document,
            &format!("metadata.{key}"),
            "must match pattern",
            "value_error",
        );
    }
}

#[test]
fn b_25_another_repository_may_have_another_rig() {
    let document = with("/metadata/rig", json!("my-app"));
    let rules = Rules {
        rig: "my-app".to_owned(),
    };
    assert!(validate(&document, &rules).is_ok());
    refused(
        &document,
        "metadata.rig",
        "rig must be 'beads-ralph'",
        "value_error",
    );
}

#[test]
fn e_2_the_code_says_what_kind_of_failure_it_is() {
    let code = |document: &Value| error_code(&read(document).unwrap_err());
    assert_eq!(
        code(&without("/assignee")),
        ErrorCode::ValidationMissingField
    );
    assert_eq!(
        code(&with("/status", json!("x"))),
        ErrorCode::ValidationInvalidPattern
    );
    assert_eq!(
        code(&with("/metadata/branch", json!("a b"))),
        ErrorCode::ValidationInvalidPattern
    );
    assert_eq!(
        code(&with("/priority", json!(9))),
        ErrorCode::ValidationBeadSchema
    );
    let mut document = without("/assignee");
    set(&mut document, "/status", json!("x"));
    assert_eq!(code(&document), ErrorCode::ValidationBeadSchema);
}

#[test]
fn v_1_a_malformed_definition_of_done_is_reported_by_path() {
    let dod = json!({
        "verifiers": [
            { "name": "a", "command": " ", "timeout_seconds": 0 },
            { "command": "true", "on_failure": "explode", "expect": { "exit_code": "0" } },
        ],
        "evidence_required": "yes",
    });
    let lines = errors(&with("/metadata/dod", dod));
    for start in [
        "metadata.dod.verifiers.0.command: command must be non-empty",
        "metadata.dod.verifiers.0.timeout_seconds: timeout_seconds must be >= 1",
        "metadata.dod.verifiers.1.on_failure: on_failure must be one of",
        "metadata.dod.verifiers.1.expect.exit_code: Input should be a valid integer",
        "metadata.dod.evidence_required: Input should be a valid boolean",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(start)),
            "{start} {lines:?}"
        );
    }
    refused(
        &with("/metadata/dod", json!({})),
        "metadata.dod.verifiers",
        "Field required",
        "missing",
    );
}

#[test]
fn v_1_a_verifier_has_defaults() {
    let dod = Dod::from_document(&json!({ "verifiers": [
        { "command": "true", "on_failure": "retry", "expect": { "stdout_contains": "" } },
    ] }));
    let verifier = &dod.unwrap().verifiers[0];
    assert_eq!(
        (verifier.name.as_str(), verifier.timeout_seconds),
        ("verifier 1", 300)
    );
    assert_eq!(
        (verifier.on_failure, &verifier.expect),
        (OnFailure::Stop, &Expect::default())
    );
}

#[test]
fn qa_results_have_their_defaults() {
    let mut result = scrum_result();
    result["qa_results"] = json!([
        { "agent_path": "a", "status": "pass" },
        { "agent": "b", "status": "fail", "message": "m", "details": { "n": 1 } },
    ]);
    let result = ScrumResult::from_document(&result).unwrap();
    let seen: Vec<_> = result
        .qa_results
        .iter()
        .map(|qa| (qa.agent_path.as_str(), qa.message.as_str()))
        .collect();
    assert_eq!(seen, [("a", ""), ("b", "m")]);
    assert!(result.qa_results[0].details.is_empty());
    let answer = QaResult::from_document(&json!({ "status": "stop", "message": "no" })).unwrap();
    assert_eq!((answer.status, answer.details.len()), (QaStatus::Stop, 0));
    let errors = QaResult::from_document(&json!({ "status": "maybe" })).unwrap_err();
    assert_eq!(errors.len(), 2, "{errors:?}");
}
