//! Our issues as `bd` keeps them, and back.
//!
//! Who holds an issue is a record of its own (Z-3), which `bd` has no room for. It is kept in the issue's metadata under one key,
//! with the fence, which outlives every claim; readers never see that key. The reason of a close that happens together with other
//! changes is kept there as well, because `bd` takes it only from a command that can do nothing else.

use beads_ralph_core::bead::{FieldError, Timestamp};
use beads_ralph_core::issue::{Claim, Entry, Fence, Issue, Line, read_line};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::store::{Capability, StoreError};

/// The key of an issue's metadata that is ours.
pub(super) const KEY: &str = "beads_ralph";

/// The fields that `bd` keeps.
const FIELDS: [&str; 46] = [
    "id",
    "title",
    "description",
    "design",
    "acceptance_criteria",
    "notes",
    "spec_id",
    "status",
    "priority",
    "issue_type",
    "assignee",
    "owner",
    "estimated_minutes",
    "created_at",
    "created_by",
    "updated_at",
    "started_at",
    "closed_at",
    "close_reason",
    "closed_by_session",
    "due_at",
    "defer_until",
    "external_ref",
    "source_system",
    "metadata",
    "labels",
    "dependencies",
    "comments",
    "sender",
    "ephemeral",
    "no_history",
    "wisp_type",
    "pinned",
    "is_template",
    "await_type",
    "await_id",
    "timeout",
    "waiters",
    "mol_type",
    "work_type",
    "event_kind",
    "actor",
    "target",
    "payload",
    "lease_expires_at",
    "heartbeat_at",
];

/// The fields that are moments.
const TIMES: [&str; 6] = [
    "created_at",
    "updated_at",
    "started_at",
    "closed_at",
    "due_at",
    "defer_until",
];

/// An issue with everything that travels with it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::store) struct Row {
    pub(in crate::store) entry: Entry,
    pub(in crate::store) claim: Option<Claim>,
}

/// What is kept under our key.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    fence: Fence,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claim: Option<Claim>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    close_reason: Option<String>,
}

/// Reads what `bd export` and `bd show` print of an issue; nothing for what is none.
pub(super) fn from_bd(mut value: Value) -> Result<Option<Row>, StoreError> {
    let name = value.get("id").and_then(Value::as_str).unwrap_or_default();
    let name = name.to_owned();
    let refused = |errors: Vec<FieldError>| StoreError::Invalid {
        id: name.clone(),
        errors,
    };
    let kept = match &mut value {
        Value::Object(document) => take_kept(document),
        _ => None,
    };
    let Line::Issue(mut entry) = read_line(&value.to_string()).map_err(refused)? else {
        return Ok(None);
    };
    let kept = kept.unwrap_or_default();
    entry.fence = entry.fence.max(kept.fence);
    let is_held = entry.issue.status() == "in_progress";
    Ok(Some(Row {
        claim: kept.claim.filter(|_| is_held),
        entry: *entry,
    }))
}

/// Takes our key out of a document's metadata, and gives the document what belongs to it.
fn take_kept(document: &mut Map<String, Value>) -> Option<Kept> {
    document.shift_remove("revision");
    let metadata = document.get_mut("metadata")?.as_object_mut()?;
    let kept = metadata.shift_remove(KEY)?;
    let kept: Kept = serde_json::from_str(kept.as_str()?).ok()?;
    if metadata.is_empty() {
        document.shift_remove("metadata");
    }
    let is_closed = document.get("status").and_then(Value::as_str) == Some("closed");
    if let Some(reason) = kept.close_reason.as_ref().filter(|_| is_closed) {
        document
            .entry("close_reason")
            .or_insert_with(|| reason.as_str().into());
    }
    Some(kept)
}

/// What is to be under our key; nothing as long as nobody ever claimed the issue.
pub(super) fn kept(issue: &Issue, fence: Fence, claim: Option<&Claim>) -> Option<Value> {
    if fence == Fence::default() {
        return None;
    }
    let reason = issue
        .text("close_reason")
        .filter(|reason| !reason.is_empty());
    let kept = Kept {
        fence,
        claim: claim.cloned(),
        close_reason: reason.map(str::to_owned),
    };
    // As a text it keeps every digit: numbers of this JSON pass through floating point.
    let text = serde_json::to_string(&kept).expect("a record of plain values is JSON");
    Some(text.into())
}

/// The line of a new issue for `bd import`. A field that `bd` has no room for is refused, because it would be lost.
pub(super) fn to_bd(entry: &Entry, claim: Option<&Claim>) -> Result<Value, StoreError> {
    let mut document = entry.issue.document().clone();
    document.retain(|_, value| !value.is_null());
    for field in TIMES {
        // `bd` reads one spelling of a moment.
        if let Some(time) = entry.issue.time(field) {
            let time = Timestamp::from_instant(time);
            document.insert(field.to_owned(), time.as_str().into());
        }
    }
    let mut fields = document.keys();
    if fields.any(|field| !FIELDS.contains(&field.as_str())) {
        return Err(StoreError::Unsupported(Capability::UnknownFields));
    }
    if let Some(kept) = kept(&entry.issue, entry.fence, claim) {
        let metadata = document.entry("metadata").or_insert(Value::Null);
        if !metadata.is_object() {
            *metadata = Value::Object(Map::new());
        }
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert(KEY.to_owned(), kept);
        }
    }
    document.entry("priority").or_insert_with(|| 2.into());
    if !entry.comments.is_empty() {
        let comments = entry.comments.iter().map(|comment| comment.to_value());
        document.insert("comments".to_owned(), comments.collect());
    }
    Ok(Value::Object(document))
}
