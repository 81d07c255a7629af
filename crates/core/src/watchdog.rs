//! The watchdog: which beads in progress have been silent for too long, and what is done about each (contracts §8.7).
//!
//! A claim says more than silence does: a bead whose holder is alive is never taken away, only reminded of. Nothing here looks at
//! a clock or at a process: both are handed in.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::bead;
use crate::issue::{Abandoned, Comment, Edit, Issue, Label, Record};

/// After how long without a sign of life a bead counts as stale (G-8).
pub const THRESHOLD: Duration = Duration::from_mins(30);

/// How often a bead is started again before it is given up (G-8).
pub const MAX_RESTARTS: u64 = 5;

/// The statuses of beads that somebody is said to work on.
pub const WATCHED: [&str; 2] = ["in_progress", "hooked"];

/// The label of what waits for a person (Z-1).
const HUMAN: &str = "human";

const META: &str = "ralph_meta";

/// Who works on a bead, as far as can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worker {
    /// No claim says.
    Unknown,
    /// The holder of its claim, or of one on a part of it, is not known to be gone.
    Alive,
    /// The holder of its claim is gone.
    Gone(Abandoned),
}

/// What is to be done about a bead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing: there was a sign of life.
    Fresh,
    /// Nothing: nobody is named whom one could ask.
    Nobody,
    /// Whoever works on it is reminded.
    Nudge,
    /// It is put back to open, for this reason.
    Restart(String),
    /// It is given up and waits for a person, for this reason.
    GiveUp(String),
}

/// The last sign of life of a bead (G-8): its last attempt, else its last change, else its making. A claim and a restart are signs of life too.
pub fn last_activity(record: &Record) -> Option<Timestamp> {
    let issue = &record.issue;
    let said = meta_time(issue, "last_attempt")
        .or_else(|| issue.time("updated_at"))
        .or_else(|| issue.time("created_at"));
    let claimed = record.claim.as_ref().map(|claim| claim.claimed_at);
    [said, claimed, meta_time(issue, "last_restart")]
        .into_iter()
        .flatten()
        .max()
}

/// How long a bead has been silent; nothing of it has a time when nothing comes back.
pub fn silence(record: &Record, now: Timestamp) -> Option<Duration> {
    let last = last_activity(record)?;
    Some((now - last).try_into().unwrap_or_default())
}

/// How often a bead was put back to open by a watchdog.
pub fn restart_count(issue: &Issue) -> u64 {
    let count = meta(issue).and_then(|meta| meta.get("restart_count"));
    count.and_then(Value::as_u64).unwrap_or_default()
}

/// What is to be done about a bead (G-8).
pub fn decide(record: &Record, worker: Worker, now: Timestamp) -> Step {
    let Some(silence) = silence(record, now).filter(|silence| *silence > THRESHOLD) else {
        return Step::Fresh;
    };
    let is_assigned = record.issue.assignee().is_some();
    let why = match worker {
        Worker::Alive => return Step::Nudge,
        Worker::Gone(why) => why.as_str().to_owned(),
        Worker::Unknown if !is_assigned => return Step::Nobody,
        Worker::Unknown if silence <= THRESHOLD * 2 => return Step::Nudge,
        Worker::Unknown => format!("nothing was heard of it for {} minutes", minutes(silence)),
    };
    if restart_count(&record.issue) >= MAX_RESTARTS {
        return Step::GiveUp(why);
    }
    Step::Restart(why)
}

/// A time in whole minutes.
pub fn minutes(time: Duration) -> u64 {
    time.as_secs() / 60
}

/// What puts a bead back to open, counts it, and says why.
pub fn restarted(issue: &Issue, why: &str, actor: &str, now: &bead::Timestamp) -> Vec<Edit> {
    let count = restart_count(issue).saturating_add(1);
    let set = [
        ("restart_count", json!(count)),
        ("last_restart", json!(now)),
    ];
    let text = format!("watchdog: put back to open, restart {count} of {MAX_RESTARTS}: {why}");
    let mut edits = vec![Edit::Reopen, merged(issue, set)];
    edits.extend(remark(&text, actor, now));
    edits
}

/// What gives a bead up, so that it waits for a person (Z-1).
pub fn given_up(issue: &Issue, why: &str, actor: &str, now: &bead::Timestamp) -> Vec<Edit> {
    let reason = failure_reason(issue, why);
    let human = Label::parse(HUMAN).expect("a word is a label");
    let mut edits = vec![
        Edit::Status("blocked".to_owned()),
        Edit::AddLabel(human),
        merged(issue, [("failure_reason", json!(reason))]),
    ];
    edits.extend(remark(&format!("watchdog: {reason}"), actor, now));
    edits
}

/// Why a bead is given up, in words.
pub fn failure_reason(issue: &Issue, why: &str) -> String {
    format!("given up after {} restarts: {why}", restart_count(issue))
}

fn meta(issue: &Issue) -> Option<&Map<String, Value>> {
    issue.metadata()?.get(META)?.as_object()
}

fn meta_time(issue: &Issue, key: &str) -> Option<Timestamp> {
    let text = meta(issue)?.get(key)?.as_str()?;
    Some(bead::Timestamp::parse(text).ok()?.instant())
}

fn merged<const N: usize>(issue: &Issue, set: [(&str, Value); N]) -> Edit {
    let mut meta = meta(issue).cloned().unwrap_or_default();
    meta.extend(set.map(|(key, value)| (key.to_owned(), value)));
    let mut metadata = Map::new();
    metadata.insert(META.to_owned(), meta.into());
    Edit::MergeMetadata(metadata)
}

fn remark(text: &str, actor: &str, now: &bead::Timestamp) -> Option<Edit> {
    let comment = json!({"author": actor, "text": text, "created_at": now});
    Comment::from_value(comment).ok().map(Edit::Comment)
}

/// What watchdogs did so far, in all (G-9).
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
    /// How many they gave up.
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

#[cfg(test)]
mod tests;
