//! What the watchdog reads of a bead and writes into it, in a store and in files, and the file of its figures. A file has no comments:
//! `last_error` says why.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{WAITING, failure_reason, restart_reason};
use crate::bead;
use crate::dod::{DodBead, DodStatus};
use crate::issue::{Comment, Edit, Issue, Label, Record};
use crate::vocabulary::{Status, field, label, metadata, ralph_meta};

/// What must be known of a bead to decide about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedBead {
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
    /// Whether it has a label that says that it waits for a person.
    pub waits: bool,
}

impl WatchedBead {
    /// A bead of a store.
    pub fn of_record(record: &Record) -> Self {
        let issue = &record.issue;
        let meta = meta(issue);
        let said = meta_time(meta, ralph_meta::LAST_ATTEMPT)
            .or_else(|| issue.time(field::UPDATED_AT))
            .or_else(|| issue.time(field::CREATED_AT));
        let claimed = record.claim.as_ref().map(|claim| claim.claimed_at);
        Self {
            id: issue.id().to_string(),
            title: issue.title().to_owned(),
            assignee: issue.assignee().map(str::to_owned),
            last_activity: latest([said, claimed, meta_time(meta, ralph_meta::LAST_RESTART)]),
            restart_count: restart_count(meta),
            waits: WAITING.iter().any(|label| issue.has_label(label)),
        }
    }

    /// A bead in a file; the two dialects write its times under different names.
    pub fn of_bead(bead: &DodBead) -> Self {
        let document = &bead.document;
        let meta = file_meta(bead);
        let meta = Some(&meta);
        let said = meta_time(meta, ralph_meta::LAST_ATTEMPT)
            .or_else(|| meta_time(Some(document), "last_updated"))
            .or_else(|| meta_time(Some(document), field::UPDATED_AT))
            .or_else(|| meta_time(Some(document), field::CREATED_AT))
            .or_else(|| meta_time(meta, field::CREATED_AT));
        let assignee = document.get(field::ASSIGNEE).and_then(Value::as_str);
        let labels = document.get(field::LABELS).and_then(Value::as_array);
        let mut labels = labels.into_iter().flatten().filter_map(Value::as_str);
        Self {
            id: bead.id.clone(),
            title: bead.title.clone(),
            assignee: assignee.filter(|it| !it.is_empty()).map(str::to_owned),
            last_activity: latest([said, None, meta_time(meta, ralph_meta::LAST_RESTART)]),
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
    let count = meta.and_then(|meta| meta.get(ralph_meta::RESTART_COUNT));
    count.and_then(Value::as_u64).unwrap_or_default()
}

fn meta_time(fields: Option<&Map<String, Value>>, key: &str) -> Option<Timestamp> {
    let text = fields?.get(key)?.as_str()?;
    Some(bead::Timestamp::parse(text).ok()?.instant())
}

fn latest(times: [Option<Timestamp>; 3]) -> Option<Timestamp> {
    times.into_iter().flatten().max()
}

/// What puts a bead back to open, counts it, and says why.
pub fn restarted(issue: &Issue, why: &str, actor: &str, now: &bead::Timestamp) -> Vec<Edit> {
    let count = restart_count(meta(issue)).saturating_add(1);
    let set = [
        (ralph_meta::RESTART_COUNT, json!(count)),
        (ralph_meta::LAST_RESTART, json!(now)),
    ];
    let text = restart_reason(Status::Open.as_str(), count, why);
    let mut edits = vec![Edit::Reopen, merged(issue, set)];
    edits.extend(remark(&text, actor, now));
    edits
}

/// What blocks a bead, so that it waits for a person (Z-1).
pub fn given_up(issue: &Issue, why: &str, actor: &str, now: &bead::Timestamp) -> Vec<Edit> {
    let reason = failure_reason(restart_count(meta(issue)), why);
    let human = Label::parse(label::HUMAN).expect("a word is a label");
    let mut edits = vec![
        Edit::Status(Status::Blocked.into()),
        Edit::AddLabel(human),
        merged(issue, [(ralph_meta::FAILURE_REASON, json!(reason))]),
    ];
    edits.extend(remark(&format!("watchdog: {reason}"), actor, now));
    edits
}

/// What counts the restarts of a bead anew, because a person has decided about it; nothing where there were none.
pub fn forgiven(issue: &Issue) -> Option<Edit> {
    (restart_count(meta(issue)) > 0).then(|| merged(issue, [(ralph_meta::RESTART_COUNT, json!(0))]))
}

fn merged<const N: usize>(issue: &Issue, set: [(&str, Value); N]) -> Edit {
    let mut meta = meta(issue).cloned().unwrap_or_default();
    meta.extend(set.map(|(key, value)| (key.to_owned(), value)));
    let mut metadata = Map::new();
    metadata.insert(metadata::RALPH_META.to_owned(), meta.into());
    Edit::MergeMetadata(metadata)
}

fn remark(text: &str, actor: &str, now: &bead::Timestamp) -> Option<Edit> {
    let comment = json!({"author": actor, "text": text, "created_at": now});
    Comment::from_value(comment).ok().map(Edit::Comment)
}

/// The document of a bead that is put back to pending, counted, with the reason.
pub fn restarted_file(bead: &DodBead, why: &str, now: &bead::Timestamp) -> Map<String, Value> {
    let mut meta = file_meta(bead);
    let count = restart_count(Some(&meta)).saturating_add(1);
    meta.insert(ralph_meta::RESTART_COUNT.to_owned(), json!(count));
    meta.insert(ralph_meta::LAST_RESTART.to_owned(), json!(now));
    let status = DodStatus::Pending;
    let said = restart_reason(status.as_str(), count, why);
    changed(bead, status, meta, &said, now)
}

/// The document of a bead that failed for good.
pub fn given_up_file(bead: &DodBead, why: &str, now: &bead::Timestamp) -> Map<String, Value> {
    let mut meta = file_meta(bead);
    let reason = failure_reason(restart_count(Some(&meta)), why);
    meta.insert(ralph_meta::FAILURE_REASON.to_owned(), json!(reason));
    let said = format!("watchdog: {reason}");
    changed(bead, DodStatus::Failed, meta, &said, now)
}

fn file_meta(bead: &DodBead) -> Map<String, Value> {
    let meta = bead.document.get(metadata::RALPH_META);
    meta.and_then(Value::as_object).cloned().unwrap_or_default()
}

fn changed(
    bead: &DodBead,
    status: DodStatus,
    meta: Map<String, Value>,
    said: &str,
    now: &bead::Timestamp,
) -> Map<String, Value> {
    let mut document = bead.document.clone();
    document.insert(field::STATUS.to_owned(), status.as_str().into());
    document.insert("last_updated".to_owned(), json!(now));
    document.insert("last_error".to_owned(), said.into());
    document.insert(metadata::RALPH_META.to_owned(), meta.into());
    document
}

/// What watchdogs did so far (G-9).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often they looked.
    pub total_runs: u64,
    /// How many beads they looked at.
    pub beads_processed: u64,
    /// How many reminders they wrote.
    pub nudges_sent: u64,
    /// How many beads they put back to open.
    pub restarts_done: u64,
    /// How many they blocked.
    pub failures: u64,
}

impl Counts {
    /// The counts of a metrics file; what it lacks is nought.
    pub fn read(document: &Value) -> Self {
        let count = |key: &str| document[key].as_u64().unwrap_or_default();
        Self {
            total_runs: count("total_runs"),
            beads_processed: count("beads_processed"),
            nudges_sent: count("nudges_sent"),
            restarts_done: count("restarts_done"),
            failures: count("failures"),
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            total_runs: self.total_runs.saturating_add(other.total_runs),
            beads_processed: self.beads_processed.saturating_add(other.beads_processed),
            nudges_sent: self.nudges_sent.saturating_add(other.nudges_sent),
            restarts_done: self.restarts_done.saturating_add(other.restarts_done),
            failures: self.failures.saturating_add(other.failures),
        }
    }

    /// The metrics file after a pass that ended now, by what it said before (G-9).
    pub fn document(self, before: &Value, now: &bead::Timestamp, version: &str) -> Value {
        let sum = Self::read(before).plus(self);
        let start_time = match &before["start_time"] {
            Value::String(time) => json!(time),
            _ => json!(now),
        };
        json!({
            "total_runs": sum.total_runs,
            "beads_processed": sum.beads_processed,
            "nudges_sent": sum.nudges_sent,
            "restarts_done": sum.restarts_done,
            "failures": sum.failures,
            "last_run": now,
            "start_time": start_time,
            "version": version,
        })
    }
}
