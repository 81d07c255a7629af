//! The lines of an import: where they come from, what is one, and what becomes of a bead and a line about it.

use std::io::{self, Read as _};
use std::os::unix::fs::FileTypeExt as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Entry, Issue, Record, forget_lease};
use beads_ralph_core::vocabulary::{EdgeType, IssueType, Status, field};
use serde_json::{Map, Value};

use crate::bd::document_json::sentence;
use crate::bd::go_json::sorted;
use crate::bd::{Call, Opened, Refusal, document_json, ids, input, issue_json};

/// Keys that an export computes and that an import leaves aside.
#[rustfmt::skip]
const COMPUTED: [&str; 9] = [
    "_type", "claim_fence", "dependency_count", "dependent_count", "comment_count", "parent", "revision", "schema_version",
    "held_by",
];

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Lines {
    documents: Vec<Map<String, Value>>,
    pub(super) entries: Vec<Entry>,
    pub(super) memories: Vec<(String, String)>,
}

/// The name of the source and its lines; nothing when the file is empty, which is reported here.
pub(super) fn source(call: &Call<'_>) -> Result<Option<(String, Lines)>, Refusal> {
    let arguments = call.arguments;
    let (input, word) = (arguments.filled("input"), arguments.words.first());
    if input.is_some() && word.is_some() {
        return Err(Refusal::json(
            "use either --input or a positional file, not both",
        ));
    }
    let default;
    let name = match input.or(word.map(String::as_str)) {
        Some(name) => name,
        None if is_piped() => {
            return Err(Refusal::json(
                "stdin is redirected, but without \"-\" bd import ignores it and imports the default JSONL instead; use 'bd import -' to import what you piped, or name a file explicitly",
            ));
        }
        None => {
            default = call.place()?.directory.join("issues.jsonl");
            default.as_str()
        }
    };
    let (name, bytes) = if name == "-" {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| Refusal::json(format!("failed to scan JSONL: {error}")))?;
        ("stdin".to_owned(), bytes)
    } else {
        let bytes = input::read_file(name).map_err(|why| {
            let why = why.replacen("open ", "stat ", 1);
            Refusal::json(format!("cannot read {name}: {why}"))
        })?;
        if bytes.is_empty() {
            if call.output.is_json() {
                let report = super::Report {
                    source: name.to_owned(),
                    ..super::Report::default()
                };
                call.output.value(report.answer())?;
            } else {
                call.output.stderr(&format!("Empty file: {name}\n"));
            }
            return Ok(None);
        }
        (name.to_owned(), bytes)
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines = parse(&text).map_err(Refusal::json)?;
    Ok(Some((name, lines)))
}

/// Whether somebody sends something on standard input: it is neither a terminal nor nothing at all.
fn is_piped() -> bool {
    let stdin = std::fs::metadata("/dev/stdin");
    stdin.is_ok_and(|stdin| !stdin.file_type().is_char_device())
}

fn parse(text: &str) -> Result<Lines, String> {
    let mut lines = Lines::default();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let value: Value = serde_json::from_str(line).map_err(|error| {
            let why = if error.is_eof() {
                "unexpected end of JSON input".to_owned()
            } else {
                error.to_string()
            };
            format!("failed to parse JSONL line: {why}")
        })?;
        let Value::Object(mut document) = value else {
            return Err("failed to parse JSONL line: it is not an object".to_owned());
        };
        if document.contains_key("_schema") {
            continue;
        }
        let text = |key: &str| document.get(key).and_then(Value::as_str);
        if text("_type") == Some("memory") {
            if let (Some(key), Some(value)) = (text("key"), text("value")) {
                lines.memories.push((key.to_owned(), value.to_owned()));
            }
            continue;
        }
        if text("status") == Some("tombstone") {
            continue;
        }
        for key in COMPUTED {
            document.shift_remove(key);
        }
        lines.documents.push(document);
    }
    Ok(lines)
}

impl Lines {
    /// Makes beads of the lines: those without an id get one, and what is missing is filled in.
    pub(super) fn with_ids(mut self, opened: &Opened) -> Result<Self, Refusal> {
        for mut document in std::mem::take(&mut self.documents) {
            let id = fill(opened, &mut document)?;
            let entry = Entry::from_document(Value::Object(document))
                .map_err(|errors| invalid(&id, &sentence(&errors)))?;
            check(opened, &entry.issue)?;
            self.entries.push(entry);
        }
        Ok(self)
    }
}

fn invalid(id: &str, why: &str) -> Refusal {
    Refusal::json(format!(
        "import failed: validation failed for issue {id}: {why}"
    ))
}

/// Fills in what is missing, and gives the id.
fn fill(opened: &Opened, document: &mut Map<String, Value>) -> Result<String, Refusal> {
    let text = |document: &Map<String, Value>, key: &str| {
        let text = document.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let title = text(document, "title");
    let id = text(document, "id");
    if title.is_empty() {
        return Err(invalid(&id, "title is required"));
    }
    let prefix = opened.prefix()?;
    let id = if id.is_empty() {
        let made = ids::new_id(opened, &prefix, &title, &text(document, "description"))?;
        made.to_string()
    } else {
        id
    };
    document.insert("id".to_owned(), id.as_str().into());
    let now = Value::from(opened.time());
    for (key, value) in [
        ("status", Status::Open.into()),
        ("priority", 0.into()),
        ("issue_type", IssueType::Task.into()),
        ("created_at", now.clone()),
        ("updated_at", now.clone()),
    ] {
        let is_there = document.get(key).is_some_and(|value| !value.is_null());
        if !is_there {
            document.insert(key.to_owned(), value);
        }
    }
    if text(document, "status") == Status::Closed
        && document.get("closed_at").is_none_or(Value::is_null)
    {
        let updated = document.get("updated_at").unwrap_or(&now).clone();
        document.insert("closed_at".to_owned(), updated);
    }
    let is_held =
        text(document, "status") == Status::InProgress && !text(document, "assignee").is_empty();
    if !is_held {
        forget_lease(document);
    } else if document.contains_key("lease_expires_at") {
        document
            .entry("heartbeat_at")
            .or_insert_with(|| now.clone());
    }
    fill_edges(opened, document);
    fill_comments(&id, document);
    Ok(id)
}

fn fill_edges(opened: &Opened, document: &mut Map<String, Value>) {
    let Some(Value::Array(edges)) = document.get_mut("dependencies") else {
        return;
    };
    for edge in edges {
        if let Value::Object(edge) = edge {
            let mut put = |key: &str, value: Value| {
                if edge.get(key).is_none_or(Value::is_null) {
                    edge.insert(key.to_owned(), value);
                }
            };
            put("type", EdgeType::Blocks.into());
            put("created_at", opened.time().into());
            put("created_by", opened.actor().into());
            put("metadata", "{}".into());
        }
    }
}

/// Comments have ids in the real `bd`.
fn fill_comments(id: &str, document: &mut Map<String, Value>) {
    let Some(Value::Array(comments)) = document.get_mut("comments") else {
        return;
    };
    for comment in comments {
        if let Value::Object(comment) = comment {
            comment.insert("issue_id".to_owned(), id.into());
            if comment.get("id").is_none_or(Value::is_null) {
                let unique = beads_ralph_runtime::agent::new_session_id();
                comment.insert("id".to_owned(), unique.into());
            }
        }
    }
}

fn check(opened: &Opened, issue: &Issue) -> Result<(), Refusal> {
    let id = BeadId::as_str(issue.id());
    if let Some(why) = input::wrong_title(issue.title()) {
        return Err(invalid(id, &why));
    }
    if !input::is_type(opened, issue.issue_type())? {
        let kind = issue.issue_type();
        return Err(invalid(id, &format!("invalid issue type: {kind}")));
    }
    if !input::is_status(opened, issue.status())? {
        let status = issue.status();
        return Err(invalid(id, &format!("invalid status: {status}")));
    }
    if !(0..=4).contains(&issue.priority()) {
        let priority = issue.priority();
        return Err(invalid(
            id,
            &format!("priority must be between 0 and 4 (got {priority})"),
        ));
    }
    Ok(())
}

/// Fields of which only the name is printed when they differ.
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
