//! What the watchdog knows of a bead, wherever it is kept.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{LAST_RESTART, WAITING};
use crate::bead;
use crate::dod::DodBead;
use crate::issue::{Issue, Record};
use crate::vocabulary::metadata;

/// What must be known of a bead to decide about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Who is to work on it.
    pub assignee: Option<String>,
    /// The last sign of life (G-8): its last attempt, else its last change, else its making. A claim and a restart are signs of life too.
    pub last_activity: Option<Timestamp>,
    /// How often a watchdog started it again.
    pub restart_count: u64,
    /// Whether a label of its own says that it waits for a person.
    pub waits: bool,
}

impl Watched {
    /// A bead of a store.
    pub fn of_record(record: &Record) -> Self {
        let issue = &record.issue;
        let meta = meta(issue);
        let said = meta_time(meta, "last_attempt")
            .or_else(|| issue.time("updated_at"))
            .or_else(|| issue.time("created_at"));
        let claimed = record.claim.as_ref().map(|claim| claim.claimed_at);
        Self {
            id: issue.id().to_string(),
            title: issue.title().to_owned(),
            assignee: issue.assignee().map(str::to_owned),
            last_activity: latest([said, claimed, meta_time(meta, LAST_RESTART)]),
            restart_count: restart_count(meta),
            waits: WAITING.iter().any(|label| issue.has_label(label)),
        }
    }

    /// A bead in a file; the two dialects write its times under different names.
    pub fn of_bead(bead: &DodBead) -> Self {
        let document = &bead.document;
        let meta = document
            .get(metadata::RALPH_META)
            .and_then(Value::as_object);
        let said = meta_time(meta, "last_attempt")
            .or_else(|| meta_time(Some(document), "last_updated"))
            .or_else(|| meta_time(Some(document), "updated_at"))
            .or_else(|| meta_time(Some(document), "created_at"))
            .or_else(|| meta_time(meta, "created_at"));
        let assignee = document.get("assignee").and_then(Value::as_str);
        let labels = document.get("labels").and_then(Value::as_array);
        let mut labels = labels.into_iter().flatten().filter_map(Value::as_str);
        Self {
            id: bead.id.clone(),
            title: bead.title.clone(),
            assignee: assignee.filter(|it| !it.is_empty()).map(str::to_owned),
            last_activity: latest([said, None, meta_time(meta, LAST_RESTART)]),
            restart_count: restart_count(meta),
            waits: labels.any(|label| WAITING.contains(&label)),
        }
    }

    /// How long it has been silent; nothing of it has a time when nothing comes back.
    pub fn silence(&self, now: Timestamp) -> Option<Duration> {
        Some((now - self.last_activity?).try_into().unwrap_or_default())
    }
}

/// What work on a bead of a store noted.
pub(super) fn meta(issue: &Issue) -> Option<&Map<String, Value>> {
    issue.metadata()?.get(metadata::RALPH_META)?.as_object()
}

pub(super) fn restart_count(meta: Option<&Map<String, Value>>) -> u64 {
    let count = meta.and_then(|meta| meta.get(metadata::RESTART_COUNT));
    count.and_then(Value::as_u64).unwrap_or_default()
}

fn meta_time(fields: Option<&Map<String, Value>>, key: &str) -> Option<Timestamp> {
    let text = fields?.get(key)?.as_str()?;
    Some(bead::Timestamp::parse(text).ok()?.instant())
}

fn latest(times: [Option<Timestamp>; 3]) -> Option<Timestamp> {
    times.into_iter().flatten().max()
}
