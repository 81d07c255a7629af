//! The lines of an import: where they come from, and what is one.

use std::io::{self, Read as _};
use std::os::unix::fs::FileTypeExt as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Entry, Issue, forget_lease};
use beads_ralph_core::vocabulary::{EdgeType, IssueType, Status};
use serde_json::{Map, Value};

use crate::bd::document_json::sentence;
use crate::bd::{Call, Opened, Refusal, ids, input};

/// Keys that an export computes and that an import leaves aside.
const COMPUTED: [&str; 9] = [
    "_type",
    "claim_fence",
    "dependency_count",
    "dependent_count",
    "comment_count",
    "parent",
    "revision",
    "schema_version",
    "held_by",
];

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Lines {
    documents: Vec<Map<String, Value>>,
    pub(super) entries: Vec<Entry>,
    pub(super) memories: Vec<(String, String)>,
}

/// The name of the source and its lines; nothing when it is empty, which was said.
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
                call.output.aside(&format!("Empty file: {name}\n"));
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
