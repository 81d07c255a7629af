//! Our issues as `bd` keeps them, and back.
//!
//! What `bd` has no room for, the claim and its fence, is kept in the metadata (`core::issue::OwnMetadata`); readers never see it there.

use std::collections::BTreeMap;

use beads_ralph_core::bead::{FieldError, Timestamp};
use beads_ralph_core::issue::{
    Claim, Comment, Dependency, EditError, Entry, Fence, Issue, Line, OwnMetadata, read_line,
};
use beads_ralph_core::vocabulary::{Status, field, metadata};
use serde_json::{Map, Value, json};

use super::program::Call;
use super::stamp;
use crate::store::{Capability, Control, Result, StoreError};

/// The fields that `bd` has room for.
const FIELDS: &str = "id title description design acceptance_criteria notes spec_id status priority issue_type assignee \
    owner estimated_minutes created_at created_by updated_at started_at closed_at close_reason \
    closed_by_session due_at defer_until external_ref source_system metadata labels dependencies \
    comments sender ephemeral no_history wisp_type pinned is_template await_type await_id timeout \
    waiters mol_type work_type event_kind actor target payload lease_expires_at heartbeat_at \
    lease_granted_node";

/// An issue with everything that travels with it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::store) struct Row {
    pub(in crate::store) entry: Entry,
    pub(in crate::store) claim: Option<Claim>,
}

/// Reads what `bd export` and `bd show` print of an issue; nothing for what is none.
pub(super) fn from_bd(mut value: Value) -> Result<Option<Row>> {
    let name = value.get("id").and_then(Value::as_str).unwrap_or_default();
    let name = name.to_owned();
    let refused = |errors: Vec<FieldError>| StoreError::Invalid {
        id: name.clone(),
        errors,
    };
    let kept = value.as_object_mut().and_then(|document| {
        document.shift_remove("revision");
        // `bd` cannot forget an estimate, only set it to nothing.
        if document
            .get(field::ESTIMATED_MINUTES)
            .and_then(Value::as_u64)
            == Some(0)
        {
            document.shift_remove(field::ESTIMATED_MINUTES);
        }
        OwnMetadata::take(document)
    });
    let Line::Issue(mut entry) = read_line(&value.to_string()).map_err(refused)? else {
        return Ok(None);
    };
    let kept = kept.unwrap_or_default();
    entry.fence = entry.fence.max(kept.fence);
    Ok(Some(Row {
        claim: kept.claim.filter(|_| is_ours(&entry.issue)),
        entry: *entry,
    }))
}

/// Whether an issue that we claimed can still be ours: whoever takes it by `bd` itself gets a lease of `bd`'s, which we never do.
fn is_ours(issue: &Issue) -> bool {
    issue.status() == Status::InProgress && issue.text("lease_expires_at").is_none()
}

/// What is to be under our key; nothing as long as nobody ever claimed the issue.
pub(super) fn kept(issue: &Issue, fence: Fence, claim: Option<&Claim>) -> Option<Value> {
    if fence == Fence::default() {
        return None;
    }
    let reason = issue
        .text("close_reason")
        .filter(|reason| !reason.is_empty());
    let kept = OwnMetadata {
        fence,
        claim: claim.cloned(),
        close_reason: reason.map(str::to_owned),
    };
    Some(kept.to_text().into())
}

/// Refuses a document that uses our metadata key.
pub(super) fn check_key(issue: &Issue) -> Result<()> {
    let is_taken =
        (issue.metadata()).is_some_and(|metadata| metadata.contains_key(metadata::BEADS_RALPH));
    if is_taken {
        return Err(StoreError::Edit {
            id: issue.id().clone(),
            error: EditError::Kept {
                field: format!("metadata.{}", metadata::BEADS_RALPH),
                hint: "it belongs to claims; choose another key",
            },
        });
    }
    Ok(())
}

/// The line of a new issue for `bd import`. A field that `bd` has no room for is refused, because it would be lost.
pub(super) fn to_bd(entry: &Entry, claim: Option<&Claim>) -> Result<Value> {
    check_key(&entry.issue)?;
    let mut document = entry.issue.document().clone();
    document.retain(|_, value| !value.is_null());
    for field in field::TIMES {
        // `bd` reads one spelling of a moment.
        if let Some(time) = entry.issue.time(field) {
            let time = Timestamp::from_instant(time);
            document.insert(field.to_owned(), time.as_str().into());
        }
    }
    let is_known = |field: &String| FIELDS.split(' ').any(|known| known == field);
    if !document.keys().all(is_known) {
        return Err(StoreError::Unsupported(Capability::UnknownFields));
    }
    if let Some(kept) = kept(&entry.issue, entry.fence, claim) {
        let metadata = document.entry("metadata").or_insert(Value::Null);
        if !metadata.is_object() {
            *metadata = Value::Object(Map::new());
        }
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert(metadata::BEADS_RALPH.to_owned(), kept);
        }
    }
    document.entry("priority").or_insert_with(|| 2.into());
    if !entry.comments.is_empty() {
        let comments = entry.comments.iter().map(Comment::to_value);
        document.insert("comments".to_owned(), comments.collect());
    }
    Ok(Value::Object(document))
}

/// What the keys of such rows begin with.
const PREFIX: &str = "memory/";

/// Whether a key, or the beginning of one, means notes.
pub(super) fn is_memory_key(key: &str) -> bool {
    key.starts_with(PREFIX)
}

/// The note of an exported line, if it is one.
pub(super) fn memory_of_line(line: &Value) -> Option<(String, String)> {
    if line.get("_type")?.as_str()? != "memory" {
        return None;
    }
    let text = |key: &str| Some(line.get(key)?.as_str()?.to_owned());
    Some((text("key")?, text("value")?))
}

/// Notes as rows. `bd` does not count how often one was set.
pub(super) fn memory_rows(memories: &BTreeMap<String, String>, prefix: &str) -> Vec<Control> {
    let by = stamp();
    let rows = memories.iter().map(|(key, value)| Control {
        key: format!("{PREFIX}{key}"),
        value: value.as_str().into(),
        version: 1,
        actor: by.actor.to_owned(),
        at: by.at,
    });
    rows.filter(|row| row.key.starts_with(prefix)).collect()
}

/// The call that sets a note, or removes it.
pub(super) fn memory_call(key: &str, value: &Value, actor: &str) -> Call {
    let key = key.strip_prefix(PREFIX).unwrap_or(key);
    let actor = format!("--actor={actor}");
    match value.as_str() {
        None => Call::new(["forget", key, "--json", actor.as_str()]),
        Some(value) => Call {
            input: Some(
                format!(
                    "{}\n",
                    json!({"_type": "memory", "key": key, "value": value})
                )
                .into(),
            ),
            ..Call::new(["import", "-", "--json", actor.as_str()])
        },
    }
}

/// The line for `bd import` that adds comments and edges to an issue. With the time that the issue has, `bd` keeps its own fields.
pub(super) fn merge_line(issue: &Issue, said: &[Comment], added: &[&Dependency]) -> Value {
    let said: Vec<Value> = said.iter().map(Comment::to_value).collect();
    let added: Vec<Value> = added.iter().map(|edge| edge.to_value(issue.id())).collect();
    json!({
        "id": issue.id().as_str(),
        "title": issue.title(),
        "status": issue.status(),
        "issue_type": issue.issue_type(),
        "priority": issue.priority(),
        "closed_at": issue.text("closed_at"),
        "created_at": issue.text("created_at"),
        "updated_at": issue.text("updated_at"),
        "comments": said,
        "dependencies": added,
    })
}
