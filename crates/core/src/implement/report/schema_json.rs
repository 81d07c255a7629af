//! The JSON Schemas of reports: one for all, and one for each kind of worker (W-1, W-6).

use serde_json::{Value, json};

/// Every schema of reports, with its name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let schemas = NAMES.iter();
    schemas
        .filter_map(|name| Some((*name, schema_of(name)?)))
        .collect()
}

/// The names of the schemas, the general one first.
const NAMES: [&str; 6] = [
    "worker-report",
    "tdd-red-report",
    "tdd-green-report",
    "bug-diagnoser-report",
    "docs-edits-report",
    "pr-comment-fix-report",
];

/// The schema of a name.
pub(super) fn schema_of(name: &str) -> Option<Value> {
    if !NAMES.contains(&name) {
        return None;
    }
    let mut schema = general(name);
    let (properties, required) = own(name);
    for (key, value) in properties {
        schema["properties"][key] = value;
    }
    if let Some(list) = schema["required"].as_array_mut() {
        list.extend(required.into_iter().map(Value::from));
    }
    Some(schema)
}

fn general(name: &str) -> Value {
    let block = |more: Value| {
        let mut properties = json!({
            "command": {"type": "string"},
            "exit_code": {"type": ["integer", "null"]},
            "skipped": {"type": "boolean"},
        });
        let mut required = vec!["command", "exit_code", "skipped"];
        if let (Some(map), Some(more)) = (properties.as_object_mut(), more.as_object()) {
            required.extend(more.keys().map(|key| {
                if key == "passing" {
                    "passing"
                } else {
                    "failing"
                }
            }));
            map.extend(more.clone());
        }
        json!({"type": "object", "properties": properties, "required": required})
    };
    let count = json!({"type": ["integer", "null"], "minimum": 0});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{name}-v1"),
        "type": "object",
        "properties": {
            "schema_version": {"type": "string"},
            "agent": {"type": "string"},
            "step_bead_id": {"type": "string"},
            "source_bead_id": {"type": "string"},
            "mode": {"type": "string"},
            "status": {"enum": ["complete", "needs_human", "failed"]},
            "evidence": {"type": "object", "properties": {
                "tests": block(json!({"passing": count, "failing": count})),
                "build": block(json!({})),
                "lint": block(json!({})),
                "typecheck": block(json!({})),
            }},
            "escalations": {"type": "array", "items": {"type": "object",
                "properties": {"reason": {"type": "string"}, "detail": {"type": "string"}},
                "required": ["reason", "detail"]}},
            "discovered_work": {"type": "array", "items": {"type": "object",
                "properties": {"title": {"type": "string", "minLength": 1}, "type": {"enum": ["bug", "task", "chore"]},
                    "priority": {"type": "integer", "minimum": 0, "maximum": 4}, "detail": {"type": "string"}},
                "required": ["title", "type", "priority"]}},
            "commits": {"type": "array", "items": {"type": "string", "pattern": "^[0-9a-f]{40}$"}},
        },
        "required": ["status", "evidence", "escalations", "discovered_work", "commits"],
    })
}

/// What the reports of one kind of worker have besides.
fn own(name: &str) -> (Vec<(&'static str, Value)>, Vec<&'static str>) {
    let text = || json!({"type": "string"});
    // A list is read as a text, an item to a line (Z-46).
    let prose = || json!({"type": ["string", "array"], "items": {"type": "string"}});
    match name {
        "bug-diagnoser-report" => (
            vec![
                (
                    "root_cause_note",
                    json!({"type": "string", "pattern": "\\S"}),
                ),
                ("reproduction_steps", prose()),
                ("commits", json!({"type": "array", "maxItems": 0})),
            ],
            vec!["root_cause_note"],
        ),
        "docs-edits-report" => (
            vec![
                ("files_changed", json!({"type": "array", "items": text()})),
                (
                    "commit_sha",
                    json!({"type": "string", "pattern": "^([0-9a-f]{40})?$"}),
                ),
                ("summary", prose()),
                (
                    "skipped_items",
                    json!({"type": "array", "items": {"type": "object",
                        "properties": {"path": text(), "reason": text()}, "required": ["path", "reason"]}}),
                ),
            ],
            vec!["files_changed", "commit_sha", "summary", "skipped_items"],
        ),
        "pr-comment-fix-report" => (
            vec![
                ("comment_id", text()),
                ("comment_thread_id", text()),
                (
                    "classification",
                    json!({"enum": ["FIX", "SKIP", "ESCALATE"]}),
                ),
                (
                    "action",
                    json!({"enum": ["COMMITTED_FIX", "ALREADY_ADDRESSED", "NO_ACTION"]}),
                ),
                ("fix_summary", text()),
                ("commit_sha", text()),
                ("already_addressed_by_sha", text()),
                ("escalation_reason", text()),
            ],
            vec!["classification", "action"],
        ),
        _ => (Vec::new(), Vec::new()),
    }
}
