//! The rules of contracts §3, one test each.

use serde_json::{Value, json};

use crate::diag::ErrorCode;
use crate::number::{PhaseId, SprintId};

use super::*;

mod bounds;
mod documents;
mod history;
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
                "output_schema": *standard_output_schema(),
            }],
        },
        "created_at": "2026-02-07T10:00:00Z", "updated_at": "2026-02-07T10:00:00Z",
    })
}

fn read(document: &Value) -> Result<RalphBead, Vec<FieldError>> {
    validate(document, &Rules::default())
}

/// The generation 1 bead with one value changed.
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

/// Asserts that the document fails with exactly one error, and with this one.
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
    let mut document = to_v2(&generation_1()).unwrap();
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
