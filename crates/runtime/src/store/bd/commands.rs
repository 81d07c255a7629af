//! What to tell `bd` so that one state of an issue becomes another.
//!
//! Only differences are sent, field by field and label by label, so that what somebody else changes meanwhile stays. The change of
//! the issue's own fields is one call, guarded by the status that was seen, and the last one: until it happened nothing is done
//! that cannot be done again.

use beads_ralph_core::issue::{Comment, Dependency, Issue};
use beads_ralph_core::vocabulary::{Status, field, metadata};
use serde_json::{Map, Value};

use super::failure::BdError;
use super::program::{Argument, Call};
use super::wire::{self, Row, check_key, kept};
use crate::store::{Capability, Result, StoreError};

/// The largest text that is passed as an argument.
const MAX_ARGUMENT: usize = 100_000;

/// Fields that are kept by `bd` itself when the others change.
const BY_BD: [&str; 8] = [
    field::UPDATED_AT,
    field::STARTED_AT,
    field::CLOSED_AT,
    field::CLOSE_REASON,
    field::LABELS,
    field::DEPENDENCIES,
    field::METADATA,
    field::STATUS,
];

/// Fields that `bd` adds where they are missing.
const ADDED: [&str; 3] = ["created_at", "created_by", "owner"];

/// The calls for one issue.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Edges that go, before any other can come without closing a circle.
    pub(super) removals: Vec<Call>,
    /// What comes next: it can be done again without harm.
    pub(super) first: Vec<Call>,
    /// The guarded change of the issue itself.
    pub(super) update: Option<Call>,
    /// The close of an issue that was never claimed, with its reason.
    pub(super) close: Option<Call>,
}

impl Calls {
    /// Whether all of it is one guarded change, whose answer tells everything.
    pub(super) fn is_one_update(&self) -> bool {
        self.removals.is_empty() && self.first.is_empty() && self.close.is_none()
    }
}

/// What to tell `bd` about an issue that is there.
pub(super) fn calls(before: &Row, after: &Row, actor: &str) -> Result<Calls> {
    let (old, new) = (&before.entry.issue, &after.entry.issue);
    if old.metadata() != new.metadata() {
        check_key(new)?;
    }
    let mut calls = Calls::default();
    let said = (after.entry.comments.get(before.entry.comments.len()..)).unwrap_or_default();
    let added: Vec<&Dependency> = (new.dependencies().iter())
        .filter(|edge| !old.dependencies().contains(edge))
        .collect();
    if !said.is_empty() || !added.is_empty() {
        calls.first.push(merge(old, said, &added, actor));
    }
    calls.removals = removed_edges(old, new, actor);
    calls.first.extend(removed_metadata(old, new, actor));
    let is_closed = old.status() != Status::Closed && new.status() == Status::Closed;
    // Who was claimed keeps the reason with the claim, so that closing and everything else is one step.
    if is_closed && kept(new, after.entry.fence, None).is_none() {
        calls.close = Some(close(new, actor));
    }
    calls.update = update(before, after, calls.close.is_some(), actor)?;
    Ok(calls)
}

fn close(issue: &Issue, actor: &str) -> Call {
    let reason = format!(
        "--reason={}",
        issue.text("close_reason").unwrap_or("Closed")
    );
    writing(&["close", issue.id().as_str(), "--force", &reason], actor)
}

/// A call with everything that every writing call has.
fn writing(words: &[&str], actor: &str) -> Call {
    let actor = format!("--actor={actor}");
    Call::new(words.iter().copied().chain(["--json", actor.as_str()]))
}

/// Comments and edges go in by an import that changes nothing else: with the time that the issue has, `bd` keeps its own fields.
fn merge(issue: &Issue, said: &[Comment], added: &[&Dependency], actor: &str) -> Call {
    let line = wire::merge_line(issue, said, added);
    Call {
        input: Some(format!("{line}\n").into_bytes()),
        ..writing(&["import", "-"], actor)
    }
}

fn removed_edges(old: &Issue, new: &Issue, actor: &str) -> Vec<Call> {
    let gone = (old.dependencies().iter()).filter(|edge| !new.dependencies().contains(edge));
    let words = |edge: &Dependency| {
        let ids = [old.id().as_str(), edge.target().as_str()];
        writing(&["dep", "remove", ids[0], ids[1]], actor)
    };
    gone.map(words).collect()
}

fn removed_metadata(old: &Issue, new: &Issue, actor: &str) -> Option<Call> {
    let is_left = |key: &String| new.metadata().is_some_and(|map| map.contains_key(key));
    let gone = old.metadata().into_iter().flatten().map(|(key, _)| key);
    let gone: Vec<String> = (gone.filter(|key| !is_left(key)))
        .map(|key| format!("--unset-metadata={key}"))
        .collect();
    if gone.is_empty() {
        return None;
    }
    let guard = format!("--if-status={}", old.status());
    let words = ["update", old.id().as_str(), &guard];
    let words: Vec<&str> = (words.into_iter())
        .chain(gone.iter().map(String::as_str))
        .collect();
    Some(writing(&words, actor))
}

/// The guarded change of the issue's own fields.
fn update(before: &Row, after: &Row, is_closed_apart: bool, actor: &str) -> Result<Option<Call>> {
    let (old, new) = (&before.entry.issue, &after.entry.issue);
    let mut told = Vec::new();
    for field in fields(old, new) {
        told.extend(flag(field, old, new)?);
    }
    let metadata = metadata(before, after);
    if !metadata.is_empty() {
        let bytes = Value::Object(metadata).to_string().into_bytes();
        told.push(Argument::File("--metadata=@", bytes));
    }
    let is_told = (told.iter())
        .any(|told| matches!(told, Argument::Text(text) if text.starts_with("--status=")));
    if old.status() != new.status() && !is_closed_apart && !is_told {
        told.push(Argument::Text(format!("--status={}", new.status())));
        if new.status() == Status::Closed {
            // What may be closed is decided by our own rules, which were asked before.
            told.push(Argument::Text("--force".to_owned()));
        }
    }
    let is_guarded = !told.is_empty();
    told.extend(labels(old, new));
    if told.is_empty() {
        return Ok(None);
    }
    let mut call = writing(&["update", old.id().as_str()], actor);
    call.arguments.extend(told);
    if is_guarded {
        let guard = format!("--if-status={}", old.status());
        call.arguments.push(Argument::Text(guard));
    }
    Ok(Some(call))
}

/// The names of the fields that differ, but for those that go other ways.
fn fields<'a>(old: &'a Issue, new: &'a Issue) -> Vec<&'a str> {
    let value = |issue: &'a Issue, field: &str| {
        let value = issue.document().get(field);
        value.filter(|value| !value.is_null() && value.as_str() != Some(""))
    };
    let is_added = |name: &str| ADDED.contains(&name) && value(new, name).is_none();
    let names = old.document().keys().chain(new.document().keys());
    let mut names: Vec<&str> = (names.map(String::as_str))
        .filter(|name| !BY_BD.contains(name) && !field::LEASE.contains(name) && !is_added(name))
        .filter(|name| value(old, name) != value(new, name))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The arguments of `bd update` for a field.
fn flag(field: &str, old: &Issue, new: &Issue) -> Result<Vec<Argument>> {
    if let Some(added) = added_notes(old, new).filter(|_| field == "notes") {
        return argument("append-notes", added);
    }
    let text = match new.document().get(field) {
        // What is left out means the same as these.
        None | Some(Value::Null) if field == "priority" => new.priority().to_string(),
        None | Some(Value::Null) if field == "issue_type" => new.issue_type().to_owned(),
        None | Some(Value::Null) if field == field::ESTIMATED_MINUTES => "0".to_owned(),
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let name = match field {
        "design" => return Ok(vec![Argument::File("--design-file=", text.into_bytes())]),
        "title" | "notes" | "assignee" | "priority" => field,
        "description" => {
            let empty = Argument::Text("--allow-empty-description".to_owned());
            return Ok(vec![
                Argument::File("--body-file=", text.into_bytes()),
                empty,
            ]);
        }
        "acceptance_criteria" => "acceptance",
        "issue_type" => "type",
        "external_ref" => "external-ref",
        "spec_id" => "spec-id",
        field::ESTIMATED_MINUTES => "estimate",
        "due_at" => "due",
        "defer_until" => "defer",
        "ephemeral" => {
            let word = if text == "true" {
                "--ephemeral"
            } else {
                "--persistent"
            };
            return Ok(vec![Argument::Text(word.to_owned())]);
        }
        _ => return Err(StoreError::Unsupported(Capability::UnknownFields)),
    };
    let mut told = argument(name, &text)?;
    if field == "defer_until" {
        // `bd` takes putting off for a change of the status too.
        told.push(Argument::Text(format!("--status={}", new.status())));
    }
    Ok(told)
}

/// What notes have that they had not before, if they only grew: so what somebody else adds stays.
fn added_notes<'a>(old: &Issue, new: &'a Issue) -> Option<&'a str> {
    let before = old.text("notes").filter(|notes| !notes.is_empty())?;
    new.text("notes")?.strip_prefix(before)?.strip_prefix('\n')
}

/// A flag with a text, if it is not too long for one.
fn argument(name: &str, text: &str) -> Result<Vec<Argument>> {
    if text.len() > MAX_ARGUMENT {
        return Err(BdError::Failed {
            command: format!("bd update --{name}"),
            code: None,
            said: format!("a text of {} bytes is more than it can be told", text.len()),
        }
        .into());
    }
    Ok(vec![Argument::Text(format!("--{name}={text}"))])
}

/// The keys of the metadata that are new or have another value, with our own.
fn metadata(before: &Row, after: &Row) -> Map<String, Value> {
    let old = before.entry.issue.metadata();
    let new = after.entry.issue.metadata().into_iter().flatten();
    let mut told: Map<String, Value> = new
        .filter(|(key, value)| old.and_then(|old| old.get(*key)) != Some(*value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let own = |row: &Row| kept(&row.entry.issue, row.entry.fence, row.claim.as_ref());
    if own(before) != own(after) {
        told.insert(
            metadata::BEADS_RALPH.to_owned(),
            own(after).unwrap_or_default(),
        );
    }
    told
}

fn labels(old: &Issue, new: &Issue) -> Vec<Argument> {
    let added = new.labels().filter(|label| !old.has_label(label));
    let gone = old.labels().filter(|label| !new.has_label(label));
    let added = added.map(|label| format!("--add-label={}", quoted(label)));
    let gone = gone.map(|label| format!("--remove-label={}", quoted(label)));
    added.chain(gone).map(Argument::Text).collect()
}

/// A value of a list flag, which is read as a line of comma-separated values.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
