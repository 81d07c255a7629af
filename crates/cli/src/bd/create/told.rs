//! What `create` answers: the bead that it made, or the one that it would make.

use beads_ralph_core::bead::BeadId;
use serde_json::{Map, Value};

use super::super::call::{Call, Opened};
use super::super::failure::Refusal;
use super::super::{issue_json, output, text};

/// What would be created.
pub(super) fn preview(
    call: &Call<'_>,
    document: &Map<String, Value>,
    labels: &[String],
) -> Result<(), Refusal> {
    let value = |key: &str| {
        document
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    if call.output.is_json() {
        return call.output.value(as_created(document));
    }
    let id = match value("id") {
        "" => "(will be generated)",
        id => id,
    };
    let mut lines = vec![
        "⚠ [DRY RUN] Would create issue:".to_owned(),
        format!("  ID: {id}"),
        format!("  Title: {}", value("title")),
        format!("  Type: {}", value("issue_type")),
        format!(
            "  Priority: P{}",
            document.get("priority").unwrap_or(&Value::Null)
        ),
        format!("  Status: {}", value("status")),
    ];
    for (name, key) in [("Assignee", "assignee"), ("Description", "description")] {
        if !value(key).is_empty() {
            lines.push(format!("  {name}: {}", value(key)));
        }
    }
    if !labels.is_empty() {
        lines.push(format!("  Labels: {}", labels.join(", ")));
    }
    let deps = call.arguments.list("deps");
    if !deps.is_empty() {
        lines.push(format!("  Dependencies: {}", deps.join(", ")));
    }
    call.output.text(&crate::ui::lines(lines))
}

/// A document that is in no store, as the answer to `--dry-run` has it.
fn as_created(document: &Map<String, Value>) -> Value {
    let mut document = document.clone();
    for key in ["created_at", "updated_at"] {
        document.insert(key.to_owned(), issue_json::ZERO_TIME.into());
    }
    output::sorted(Value::Object(document))
}

/// What was created.
pub(super) fn answer(
    call: &Call<'_>,
    opened: &Opened,
    id: &BeadId,
    labels: &[String],
) -> Result<(), Refusal> {
    let Some(record) = opened.record(id)? else {
        return Err(Refusal::json(format!("{id} is gone again")));
    };
    if call.output.is_json() {
        let mut object = issue_json::issue(&record);
        if !labels.is_empty() {
            object.insert("labels".to_owned(), labels.to_vec().into());
        }
        return call.output.value(Value::Object(object));
    }
    if call.arguments.is_on("silent") {
        return call.output.text(&format!("{id}\n"));
    }
    let issue = &record.issue;
    call.output.say(&format!(
        "✓ Created issue: {}\n  Priority: P{}\n  Status: {}\n",
        text::feedback(issue),
        issue.priority(),
        issue.status()
    ))
}
