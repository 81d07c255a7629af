//! `bead validate` (B-26) and `bead migrate` (B-4).

use serde_json::{Value, json};

use crate::env::TestEnv;

const WORK: &str = include_str!("../../../core/testdata/beads/worked-example.json");
const SEEDS: [(&str, &str); 2] = [
    (
        "seed-work",
        include_str!("../../../core/testdata/beads/seed-work.json"),
    ),
    (
        "seed-merge",
        include_str!("../../../core/testdata/beads/seed-merge.json"),
    ),
];

/// The worked example under another id, with other dependencies, in a place of its own.
fn bead(id: &str, dependencies: &[&str]) -> String {
    let mut bead: Value = serde_json::from_str(WORK).unwrap();
    bead["id"] = json!(id);
    bead["dependencies"] = json!(dependencies);
    bead["metadata"]["branch"] = json!(format!("feature/{id}"));
    bead["metadata"]["worktree_path"] = json!(format!("../{id}"));
    bead.to_string()
}

fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut bead: Value = serde_json::from_str(WORK).unwrap();
    change(&mut bead);
    bead.to_string()
}

#[test]
fn b_26_a_valid_bead_from_a_file_and_from_standard_input() {
    let env = TestEnv::new();
    env.write("bead.json", WORK);
    for output in [
        env.run(&["bead", "validate", "bead.json"]),
        env.command(&["bead", "validate"]).stdin(WORK).run(),
        env.command(&["bead", "validate", "-"]).stdin(WORK).run(),
    ] {
        let output = output.exits(0);
        assert_eq!(
            (output.stdout.as_str(), output.stderr.as_str()),
            ("✓ Valid bead\n", "")
        );
    }
}

#[test]
fn b_26_the_beads_of_the_seeds_are_valid() {
    let env = TestEnv::new();
    for (name, text) in SEEDS {
        env.write(name, text);
        env.run(&["bead", "validate", name]).exits(0);
    }
}

#[test]
fn b_26_three_errors_are_reported_together() {
    let env = TestEnv::new();
    let invalid = changed(|bead| {
        bead["title"] = json!("  ");
        bead["priority"] = json!(5);
        bead["metadata"]["dev_prompts"] = json!([]);
    });
    let output = env
        .command(&["bead", "validate"])
        .stdin(invalid.clone())
        .run()
        .exits(1);
    assert_eq!(output.stdout, "");
    let lines: Vec<&str> = output.stderr.lines().collect();
    assert_eq!(lines[0], "Validation errors:");
    assert_eq!(lines.len(), 4, "{lines:#?}");
    for (path, message) in [
        ("title", "title must be non-empty"),
        ("priority", "priority must be between 0 and 4"),
        (
            "metadata.dev_prompts",
            "dev_prompts must be non-empty array",
        ),
    ] {
        let line = lines
            .iter()
            .find(|line| line.starts_with(&format!("  {path}: ")));
        let line = line.unwrap_or_else(|| panic!("no line for {path}: {lines:#?}"));
        assert!(line.contains(message) && line.contains(" (type="), "{line}");
    }
    let output = env
        .command(&["bead", "validate", "--json"])
        .stdin(invalid)
        .run()
        .exits(1);
    let error = output.error();
    let validation = &error["validation"][0];
    assert_eq!(
        (&validation["file"], &validation["valid"]),
        (&json!("<stdin>"), &json!(false))
    );
    assert_eq!(validation["errors"].as_array().unwrap().len(), 3);
}

#[test]
fn b_26_messages_and_types_that_others_look_for() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str, &str); 12] = [
        (
            |b| b["status"] = json!("done"),
            "status: status must be one of",
            "value_error",
        ),
        (
            |b| b["issue_type"] = json!("task"),
            "issue_type: issue_type must be one of",
            "value_error",
        ),
        (
            |b| b["assignee"] = json!("me"),
            "assignee must be 'beads-ralph-scrum-master'",
            "value_error",
        ),
        (
            |b| b["metadata"]["phase"] = json!("1.2"),
            "phase must match pattern",
            "value_error",
        ),
        (
            |b| b["metadata"]["sprint"] = json!("1"),
            "sprint must match pattern",
            "value_error",
        ),
        (
            |b| b["metadata"]["dev_model"] = json!("gpt"),
            "metadata.dev_model: ",
            "value_error",
        ),
        (
            |b| b["metadata"]["qa_agents"] = json!([]),
            "qa_agents must be non-empty array",
            "value_error",
        ),
        (
            |b| b["metadata"]["attempt_count"] = json!(-1),
            "attempt_count must be >= 0",
            "value_error",
        ),
        (|b| b["priority"] = json!("1"), "priority: ", "int_type"),
        (|b| b["title"] = json!(1), "title: ", "string_type"),
        (|b| b["labels"] = Value::Null, "labels: ", "list_type"),
        (
            |b| drop(b.as_object_mut().unwrap().remove("title")),
            "title: ",
            "missing",
        ),
    ];
    let env = TestEnv::new();
    for (change, message, kind) in cases {
        let output = env
            .command(&["bead", "validate"])
            .stdin(changed(change))
            .run()
            .exits(1);
        assert!(
            output.stderr.contains(message),
            "{message}: {}",
            output.stderr
        );
        assert!(
            output.stderr.contains(&format!("(type={kind})")),
            "{message}: {}",
            output.stderr
        );
    }
}

#[test]
fn e_2_the_code_follows_the_kind_of_the_errors() {
    let env = TestEnv::new();
    let code = |text: String| {
        env.command(&["bead", "validate", "--json"])
            .stdin(text)
            .run()
            .error_code()
    };
    let without = |key: &'static str| changed(|b| drop(b.as_object_mut().unwrap().remove(key)));
    assert_eq!(code(without("title")), "VALIDATION.MISSING_FIELD");
    assert_eq!(
        code(changed(|b| b["status"] = json!("x"))),
        "VALIDATION.INVALID_PATTERN"
    );
    assert_eq!(
        code(changed(|b| b["priority"] = json!(9))),
        "VALIDATION.BEAD_SCHEMA"
    );
    assert_eq!(code("{".to_owned()), "VALIDATION.BEAD_SCHEMA");
}

#[test]
fn b_26_what_cannot_be_read_is_an_error_of_the_validator() {
    let env = TestEnv::new();
    env.make_directory("folder");
    for path in ["absent.json", "folder"] {
        let output = env.run(&["bead", "validate", path]).exits(1);
        assert!(output.stderr.starts_with("Error:"), "{}", output.stderr);
        assert_eq!(
            (output.stdout.as_str(), output.stderr.lines().count()),
            ("", 1)
        );
    }
    let output = env
        .run(&["bead", "validate", "--json", "absent.json"])
        .exits(1);
    assert_eq!(output.error_code(), "IO.FILE_NOT_FOUND");
}

#[test]
fn b_26_what_is_no_json_object() {
    let env = TestEnv::new();
    let deep = format!("{{\"a\":{}", "[".repeat(10_000));
    for text in [
        "",
        "{",
        "not json",
        "[]",
        "1",
        "null",
        "{} {}",
        "\u{feff}",
        &"[".repeat(10_000),
        &deep,
    ] {
        let output = env
            .command(&["bead", "validate"])
            .stdin(text)
            .run()
            .exits(1);
        let shown = &output.stderr[..output.stderr.len().min(200)];
        assert!(shown.starts_with("Validation errors:\n  "), "{shown}");
    }
    let output = env.command(&["bead", "validate"]).stdin("{").run();
    assert!(
        output.stderr.contains("(type=json_invalid)"),
        "{}",
        output.stderr
    );
    let output = env.command(&["bead", "validate"]).stdin("[]").run();
    assert!(
        output.stderr.contains("(type=model_type)"),
        "{}",
        output.stderr
    );
    let output = env
        .command(&["bead", "validate"])
        .stdin(b"{\"a\": \"\xff\"}".to_vec())
        .run();
    assert!(output.exits(1).stderr.contains("(type=json_invalid)"));
}

#[test]
fn x_1_a_byte_order_mark_is_not_content() {
    let env = TestEnv::new();
    env.write("bead.json", format!("\u{feff}{WORK}"));
    env.run(&["bead", "validate", "bead.json"]).exits(0);
    env.run(&["bead", "migrate", "--to", "v1", "bead.json"])
        .exits(0);
}

#[test]
fn b_26_several_files_are_all_judged() {
    let env = TestEnv::new();
    env.write("a.json", bead("bd-a", &[]));
    env.write("b.json", changed(|b| b["priority"] = json!(9)));
    let output = env
        .run(&["bead", "validate", "a.json", "b.json", "absent.json"])
        .exits(1);
    assert_eq!(output.stdout, "a.json: ✓ Valid bead\n");
    assert!(
        output
            .stderr
            .contains("b.json: Validation errors:\n  priority: "),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.contains("Error: absent.json does not exist"),
        "{}",
        output.stderr
    );
    let error = env
        .run(&["bead", "validate", "--json", "a.json", "b.json"])
        .exits(1)
        .error();
    let valid: Vec<bool> = error["validation"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["valid"].as_bool().unwrap())
        .collect();
    assert_eq!(valid, [true, false]);
}

#[test]
fn z_33_success_lists_every_file() {
    let env = TestEnv::new();
    env.write("a.json", bead("bd-a", &[]));
    let data = env.run(&["bead", "validate", "--json", "a.json"]).data();
    assert_eq!(
        data,
        json!({"validation": [{"file": "a.json", "id": "bd-a", "valid": true, "errors": []}]})
    );
}

#[test]
fn d_10_to_d_13_the_graph_of_the_given_beads() {
    type Bead = (&'static str, &'static [&'static str]);
    let cases: [(&str, &[Bead], &str); 5] = [
        (
            "cycle",
            &[("bd-a", &["bd-b"]), ("bd-b", &["bd-a"])],
            "DEPENDENCY.CYCLE_DETECTED",
        ),
        (
            "self",
            &[("bd-a", &["bd-a"]), ("bd-b", &[])],
            "DEPENDENCY.SELF_DEP",
        ),
        (
            "unresolved",
            &[("bd-a", &["bd-x"]), ("bd-b", &[])],
            "DEPENDENCY.UNRESOLVED",
        ),
        (
            "duplicate",
            &[("bd-a", &[]), ("bd-a", &[])],
            "DEPENDENCY.DUPLICATE_ID",
        ),
        (
            "the first class decides",
            &[("bd-a", &["bd-a", "bd-x"]), ("bd-a", &[])],
            "DEPENDENCY.DUPLICATE_ID",
        ),
    ];
    for (what, beads, code) in cases {
        let env = TestEnv::new();
        for (name, (id, dependencies)) in ["1.json", "2.json"].iter().zip(beads) {
            env.write(name, bead(id, dependencies));
        }
        env.run(&["bead", "validate", "1.json", "2.json"]).exits(0);
        let output = env
            .run(&["bead", "validate", "--json", "--graph", "1.json", "2.json"])
            .exits(1);
        assert_eq!(output.error_code(), code, "{what}");
        let details = output.error()["details"].to_string();
        assert!(details.contains("bd-a"), "{what}: {details}");
        let output = env
            .run(&["bead", "validate", "--graph", "1.json", "2.json"])
            .exits(1);
        assert!(
            output.stderr.contains(&format!("error[{code}]")),
            "{what}: {}",
            output.stderr
        );
    }
}

#[test]
fn d_13_a_cycle_is_named_from_its_smallest_id() {
    let env = TestEnv::new();
    env.write("1.json", bead("bd-b", &["bd-a"]));
    env.write("2.json", bead("bd-a", &["bd-b"]));
    let output = env.run(&["bead", "validate", "--json", "--graph", "1.json", "2.json"]);
    let message = output.error()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("bd-a → bd-b → bd-a"), "{message}");
}

#[test]
fn b_29_beads_of_two_teams_in_one_branch() {
    let env = TestEnv::new();
    let of_team = |id: &str, team: &str| {
        let mut value: Value = serde_json::from_str(&bead(id, &[])).unwrap();
        value["metadata"]["branch"] = json!("feature/same");
        value["metadata"]["team_name"] = json!(team);
        value.to_string()
    };
    env.write("1.json", of_team("bd-a", "one"));
    env.write("2.json", of_team("bd-b", "two"));
    env.write("3.json", of_team("bd-c", "one"));
    let output = env
        .run(&["bead", "validate", "--json", "--graph", "1.json", "2.json"])
        .exits(1);
    assert_eq!(output.error_code(), "VALIDATION.CONSTRAINT");
    env.run(&["bead", "validate", "--graph", "1.json", "3.json"])
        .exits(0);
}

#[test]
fn b_17_agent_files_are_looked_for_when_asked() {
    let env = TestEnv::new();
    env.write("bead.json", WORK);
    env.run(&["bead", "validate", "bead.json"]).exits(0);
    let output = env
        .run(&["bead", "validate", "--check-agents", "bead.json"])
        .exits(1);
    let message =
        "Agent path '.claude/agents/python-backend-dev.md' does not exist in .claude/agents/";
    assert!(output.stderr.contains(message), "{}", output.stderr);
    env.write(".claude/agents/python-backend-dev.md", "");
    env.write(".claude/agents/qa-schema-validator.md", "");
    env.write(".claude/agents/beads-ralph-scrum-master.md", "");
    env.run(&["bead", "validate", "--check-agents", "bead.json"])
        .exits(0);
}

#[test]
fn b_4_there_and_back() {
    let env = TestEnv::new();
    for (name, text) in SEEDS.into_iter().chain([("work", WORK)]) {
        let migrate = |to: &str, text: &str| {
            let output = env
                .command(&["bead", "migrate", "--to", to])
                .stdin(text)
                .run()
                .exits(0);
            env.command(&["bead", "validate"])
                .stdin(output.stdout.as_str())
                .run()
                .exits(0);
            assert_eq!(output.stderr, "", "{name} to {to}");
            output.stdout
        };
        let (v1, v2, both) = (
            migrate("v1", text),
            migrate("v2", text),
            migrate("both", text),
        );
        assert_eq!(migrate("v1", &v1), v1, "{name}: once is enough");
        assert_eq!(migrate("v2", &v2), v2, "{name}: once is enough");
        assert_eq!(migrate("both", &both), both, "{name}: once is enough");
        let value = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
        assert_eq!(value(&migrate("v2", &both)), value(&v2), "{name}");
        let metadata = &value(&v1)["metadata"];
        assert!(metadata.get("dev_agents").is_none() && metadata["dev_agent_path"].is_string());
        let metadata = &value(&v2)["metadata"];
        assert!(metadata.get("dev_agent_path").is_none() && metadata["dev_agents"].is_array());
    }
}

#[test]
fn b_4_in_place() {
    let env = TestEnv::new();
    env.write("bead.json", WORK);
    let printed = env
        .run(&["bead", "migrate", "--to", "v2", "bead.json"])
        .exits(0)
        .stdout;
    assert_eq!(
        env.text("bead.json"),
        WORK,
        "without --in-place nothing is written"
    );
    let output = env
        .run(&["bead", "migrate", "--to", "v2", "--in-place", "bead.json"])
        .exits(0);
    assert_eq!(
        (env.text("bead.json"), output.stdout.as_str()),
        (printed, "")
    );
    let args = [
        "bead",
        "migrate",
        "--json",
        "--to",
        "v2",
        "--in-place",
        "bead.json",
    ];
    let data = env.run(&args).data();
    assert_eq!(data["file_updated"], false);
    assert_eq!(env.names("."), ["bead.json"]);
}

#[test]
fn b_4_what_is_no_bead_is_not_migrated() {
    let env = TestEnv::new();
    for text in ["{", "[]", "{}"] {
        env.write("bead.json", text);
        let output = env
            .run(&["bead", "migrate", "--to", "both", "--in-place", "bead.json"])
            .exits(1);
        assert!(
            output.stderr.starts_with("error[VALIDATION."),
            "{}",
            output.stderr
        );
        assert_eq!(env.text("bead.json"), text);
    }
    env.run(&["bead", "migrate", "--to", "v1", "absent.json"])
        .exits(3);
    env.run(&["bead", "migrate", "bead.json"]).exits(2);
}

#[test]
fn b_1_numbers_of_unknown_keys_are_kept_digit_for_digit() {
    let env = TestEnv::new();
    let numbers = r#""ext": [12345678901234567890123, 1e+999, 1.10, -0.0], "id":"#;
    env.write("bead.json", WORK.replacen("\"id\":", numbers, 1));
    env.run(&["bead", "validate", "bead.json"]).exits(0);
    for to in ["v1", "v2", "both"] {
        let output = env
            .run(&["bead", "migrate", "--to", to, "bead.json"])
            .exits(0);
        let kept: String = output.stdout.split_whitespace().collect();
        assert!(
            kept.contains("\"ext\":[12345678901234567890123,1e+999,1.10,-0.0]"),
            "{}",
            output.stdout
        );
    }
}
