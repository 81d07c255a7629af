//! What is refused although its type is right (B-24, B-25).

use super::*;

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
