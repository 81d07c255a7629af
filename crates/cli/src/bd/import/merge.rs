//! A bead and a line about it: what is different, and what becomes of both.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Issue, Record};
use beads_ralph_core::vocabulary::{Status, field};
use serde_json::{Map, Value};

use crate::bd::go_json::sorted;
use crate::bd::{Refusal, document_json, issue_json};

/// Fields that are only told by their names when they differ.
const NAMED: [(&str, &str); 6] = [
    ("assignee", "assignee"),
    ("title", "title"),
    ("description", "description"),
    ("design", "design"),
    ("acceptance_criteria", "acceptance_criteria"),
    ("notes", "notes"),
];

/// What a line changes in a bead, in words; nothing when there is nothing.
pub(super) fn changes(here: &Issue, line: &Issue) -> String {
    let mut parts = Vec::new();
    let mut from_to = |name: &str, here: String, line: String| {
        if here != line {
            parts.push(format!("{name} {here} → {line}"));
        }
    };
    from_to("status", here.status().to_owned(), line.status().to_owned());
    from_to(
        "priority",
        here.priority().to_string(),
        line.priority().to_string(),
    );
    from_to(
        "type",
        here.issue_type().to_owned(),
        line.issue_type().to_owned(),
    );
    let text = |issue: &Issue, key: &str| issue.text(key).unwrap_or_default().to_owned();
    for (key, name) in NAMED {
        let (ours, theirs) = (text(here, key), text(line, key));
        if ours != theirs {
            let is_cleared = key == "notes" && theirs.is_empty();
            parts.push(if is_cleared { "notes cleared" } else { name }.to_owned());
        }
    }
    for key in ["close_reason", "external_ref"] {
        if text(here, key) != text(line, key) {
            parts.push(key.to_owned());
        }
    }
    let value = |issue: &Issue, key: &str| {
        let value = issue.document().get(key).cloned().unwrap_or(Value::Null);
        match sorted(value) {
            Value::Object(map) if map.is_empty() => Value::Null,
            other => other,
        }
    };
    for (key, name) in [("estimated_minutes", "estimate"), ("metadata", "metadata")] {
        if value(here, key) != value(line, key) {
            parts.push(name.to_owned());
        }
    }
    parts.join(", ")
}

/// The bead with what the line adds: its labels and edges, and if it replaces also everything else.
pub(super) fn merged(here: &Issue, line: &Issue, replaces: bool) -> Result<Issue, Refusal> {
    let base = if replaces { line } else { here };
    let mut document = base.document().clone();
    let mut labels: Vec<&str> = here.labels().collect();
    for label in line.labels() {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    put_list(
        &mut document,
        "labels",
        labels.into_iter().map(Value::from).collect(),
    );
    let mut edges: Vec<Value> = Vec::new();
    let mut targets: Vec<&BeadId> = Vec::new();
    for issue in [here, line] {
        for edge in issue.dependencies() {
            if !targets.contains(&edge.target()) {
                targets.push(edge.target());
                edges.push(edge.to_value(here.id()));
            }
        }
    }
    put_list(&mut document, "dependencies", edges);
    made(document)
}

/// The bead with the lease that counts: one that runs here is worth more than what somebody else saw of it.
pub(super) fn with_lease(
    here: &Record,
    merged: Issue,
    now: jiff::Timestamp,
) -> Result<Issue, Refusal> {
    let is_same =
        merged.status() == Status::InProgress && merged.assignee() == here.issue.assignee();
    let runs = issue_json::lease(here).is_some_and(|lease| lease.end >= now);
    let comes = merged.text(field::LEASE[0]).is_some();
    if !is_same || (comes && !runs) {
        return Ok(merged);
    }
    let mut document = merged.document().clone();
    for field in field::LEASE {
        document.shift_remove(field);
        if let Some(value) = here.issue.document().get(field) {
            document.insert(field.to_owned(), value.clone());
        }
    }
    made(document)
}

/// A bead without an edge.
pub(super) fn without_edge(issue: &Issue, target: &BeadId) -> Result<Issue, Refusal> {
    let mut document = issue.document().clone();
    let edges = issue
        .dependencies()
        .iter()
        .filter(|edge| edge.target() != target);
    let edges = edges.map(|edge| edge.to_value(issue.id())).collect();
    put_list(&mut document, "dependencies", edges);
    made(document)
}

fn put_list(document: &mut Map<String, Value>, key: &str, items: Vec<Value>) {
    if items.is_empty() {
        document.shift_remove(key);
    } else {
        document.insert(key.to_owned(), items.into());
    }
}

fn made(document: Map<String, Value>) -> Result<Issue, Refusal> {
    let issue = document_json::issue(document);
    issue.map_err(|why| Refusal::json(format!("import failed: {why}")))
}
