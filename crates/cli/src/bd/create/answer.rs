//! What `create` prints: the bead that it made, or the one that it would make.

use beads_ralph_core::bead::BeadId;

use crate::bd::document_json::NewBead;
use crate::bd::issue_json::ZERO_TIME;
use crate::bd::{Call, Opened, Refusal, feedback, go_json, issue_json};

pub(super) fn preview(
    call: &Call<'_>,
    document: NewBead,
    labels: &[String],
) -> Result<(), Refusal> {
    if call.output.is_json() {
        // It is in no store, so that it has no times.
        let document = document.set("created_at", ZERO_TIME);
        let document = document.set("updated_at", ZERO_TIME);
        return call
            .output
            .value(go_json::sorted(document.document().clone().into()));
    }
    let value = |key: &str| document.text(key);
    let id = match value("id") {
        "" => "(will be generated)",
        id => id,
    };
    let mut lines = vec![
        "⚠ [DRY RUN] Would create issue:".to_owned(),
        format!("  ID: {id}"),
        format!("  Title: {}", value("title")),
        format!("  Type: {}", value("issue_type")),
        format!("  Priority: P{}", document.priority()),
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

pub(super) fn created(
    call: &Call<'_>,
    opened: &Opened,
    id: &BeadId,
    labels: &[String],
) -> Result<(), Refusal> {
    let Some(record) = opened.record(id)? else {
        return Err(Refusal::json(format!("{id} is gone again")));
    };
    if call.output.is_json() {
        let mut issue = issue_json::issue(&record);
        if !labels.is_empty() {
            issue = issue.with("labels", labels);
        }
        return call.output.value(issue);
    }
    if call.arguments.is_on("silent") {
        return call.output.text(&format!("{id}\n"));
    }
    let issue = &record.issue;
    call.output.say(&format!(
        "✓ Created issue: {}\n  Priority: P{}\n  Status: {}\n",
        feedback(issue),
        issue.priority(),
        issue.status()
    ))
}
