//! What the watchdog does to a bead in a file. A file has no comments: `last_error` says why.

use serde_json::{Map, Value, json};

use super::watched::restart_count;
use super::{FAILURE_REASON, LAST_RESTART, failure_reason, restart_reason};
use crate::bead::Timestamp;
use crate::dod::{DodBead, DodStatus};
use crate::vocabulary::metadata;

/// The document of a bead that is put back to pending, counted, with the reason.
pub fn restarted_file(bead: &DodBead, why: &str, now: &Timestamp) -> Map<String, Value> {
    let mut meta = meta(bead);
    let count = restart_count(Some(&meta)).saturating_add(1);
    meta.insert(metadata::RESTART_COUNT.to_owned(), json!(count));
    meta.insert(LAST_RESTART.to_owned(), json!(now));
    let status = DodStatus::Pending;
    let said = restart_reason(status.as_str(), count, why);
    changed(bead, status, meta, &said, now)
}

/// The document of a bead that is given up.
pub fn given_up_file(bead: &DodBead, why: &str, now: &Timestamp) -> Map<String, Value> {
    let mut meta = meta(bead);
    let reason = failure_reason(restart_count(Some(&meta)), why);
    meta.insert(FAILURE_REASON.to_owned(), json!(reason));
    let said = format!("watchdog: {reason}");
    changed(bead, DodStatus::Failed, meta, &said, now)
}

fn meta(bead: &DodBead) -> Map<String, Value> {
    let meta = bead
        .document
        .get(metadata::RALPH_META)
        .and_then(Value::as_object);
    meta.cloned().unwrap_or_default()
}

fn changed(
    bead: &DodBead,
    status: DodStatus,
    meta: Map<String, Value>,
    said: &str,
    now: &Timestamp,
) -> Map<String, Value> {
    let mut document = bead.document.clone();
    document.insert("status".to_owned(), status.as_str().into());
    document.insert("last_updated".to_owned(), json!(now));
    document.insert("last_error".to_owned(), said.into());
    document.insert(metadata::RALPH_META.to_owned(), meta.into());
    document
}
