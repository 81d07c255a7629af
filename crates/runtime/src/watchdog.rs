//! The watchdog at work: looks at the beads in progress, reminds, puts back, gives up, and counts (contracts §8.7).
//!
//! A bead is changed only if it is still as it was looked at. Two watchdogs take turns by a lock, so that no count is lost.

use std::collections::HashSet;
use std::time::Duration;

use beads_ralph_core::bead::{self, BeadId};
use beads_ralph_core::implement::linked_source;
use beads_ralph_core::issue::{Edit, Order, Query, Record, StatusFilter};
use beads_ralph_core::watchdog::{self, Counts, Step, WATCHED, Worker};
use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde_json::{Value, json};
use thiserror::Error;

use crate::files::{self, FileError, Lock};
use crate::host;
use crate::ralph::names;
use crate::store::{Guard, Stamp, Store, StoreError, Write};
use crate::unit::Cancel;

/// Where things are, from the project's root.
const NUDGES: &str = ".ralph/nudges";
const ALERTS: &str = ".ralph/alerts";
const METRICS: &str = ".ralph/metrics";
const METRICS_FILE: &str = "watchdog-metrics.json";

/// How often another watchdog's turn is waited for, and how long each time.
const TURNS: usize = 100;
const TURN: Duration = Duration::from_millis(100);

/// Where a watchdog looks, and as whom.
#[derive(Debug, Clone, Copy)]
pub struct Watchdog<'a> {
    /// The root of the project.
    pub root: &'a Utf8Path,
    /// What ends its waits.
    pub cancel: &'a Cancel,
    /// Who writes.
    pub actor: &'a str,
    /// The version of the program, for the metrics.
    pub version: &'a str,
    /// Whether nothing is written.
    pub is_dry_run: bool,
}

/// What was done about a bead.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The bead as it was.
    pub record: Record,
    /// What was decided.
    pub step: Step,
    /// How long it had been silent.
    pub silence: Option<Duration>,
    /// The reminder or the alert, from the project's root.
    pub file: Option<String>,
    /// Whether somebody changed the bead meanwhile, so that nothing was done.
    pub is_overtaken: bool,
}

/// A pass over all beads in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    /// The beads, in order of their ids.
    pub seen: Vec<Seen>,
    /// What it adds to the metrics.
    pub counts: Counts,
}

/// Why a pass could not be finished.
#[derive(Debug, Error)]
pub enum WatchdogError {
    /// Another watchdog does not come to an end.
    #[error("another watchdog has been at work for a long time")]
    Busy,
    /// Somebody stopped it.
    #[error("the watchdog was interrupted")]
    Interrupted,
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The store said no.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Watchdog<'_> {
    /// Looks at every bead in progress once. The time is handed in: silence is measured against it.
    pub fn pass(&self, store: &mut dyn Store, now: Timestamp) -> Result<Pass, WatchdogError> {
        let _turn = self.turn()?;
        let records = store.find(&Query {
            status: StatusFilter::OneOf(WATCHED.map(str::to_owned).to_vec()),
            order: Order::Id,
            ..Query::default()
        })?;
        let alive = with_living_parts(store, &records, now)?;
        let mut pass = Pass {
            seen: Vec::new(),
            counts: Counts {
                total_runs: 1,
                ..Counts::default()
            },
        };
        for record in records {
            let worker = worker(&record, &alive, now);
            let seen = self.look(store, record, worker, now)?;
            count(&mut pass.counts, &seen);
            pass.seen.push(seen);
        }
        if !self.is_dry_run {
            self.keep(pass.counts, now)?;
        }
        Ok(pass)
    }

    /// Waits until no other watchdog is at work.
    fn turn(&self) -> Result<Option<Lock>, WatchdogError> {
        if self.is_dry_run {
            return Ok(None);
        }
        let directory = self.root.join(METRICS);
        files::create_directory(&directory)?;
        for _ in 0..TURNS {
            if let Some(lock) = files::lock(&directory.join("watchdog.lock"))? {
                return Ok(Some(lock));
            }
            if self.cancel.wait(TURN) {
                return Err(WatchdogError::Interrupted);
            }
        }
        Err(WatchdogError::Busy)
    }

    fn look(
        &self,
        store: &mut dyn Store,
        record: Record,
        worker: Worker,
        now: Timestamp,
    ) -> Result<Seen, WatchdogError> {
        let step = watchdog::decide(&record, worker, now);
        let mut seen = Seen {
            silence: watchdog::silence(&record, now),
            step,
            record,
            file: None,
            is_overtaken: false,
        };
        if !self.is_dry_run {
            self.act(store, &mut seen, now)?;
        }
        Ok(seen)
    }

    /// Does what was decided.
    fn act(
        &self,
        store: &mut dyn Store,
        seen: &mut Seen,
        now: Timestamp,
    ) -> Result<(), WatchdogError> {
        let stamp = bead::Timestamp::from_instant(now);
        let issue = &seen.record.issue;
        match &seen.step {
            Step::Fresh | Step::Nobody => {}
            Step::Nudge => seen.file = Some(self.nudge(seen, now)?),
            Step::Restart(why) => {
                let edits = watchdog::restarted(issue, why, self.actor, &stamp);
                seen.is_overtaken = !self.change(store, &seen.record, edits, now)?;
            }
            Step::GiveUp(why) => {
                let edits = watchdog::given_up(issue, why, self.actor, &stamp);
                seen.is_overtaken = !self.change(store, &seen.record, edits, now)?;
                if !seen.is_overtaken {
                    seen.file = Some(self.alert(&seen.record, why, now)?);
                }
            }
        }
        Ok(())
    }

    /// Changes a bead if it is still as it was looked at; whether it was.
    fn change(
        &self,
        store: &mut dyn Store,
        seen: &Record,
        edits: Vec<Edit>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let write = Write::Update {
            id: seen.issue.id().clone(),
            edits,
            // A claim is a change: a holder who came meanwhile is left alone.
            guard: Guard {
                version: Some(seen.version),
                ..Guard::forced()
            },
        };
        let by = Stamp {
            actor: self.actor,
            at: now,
        };
        match store.write(&[write], by) {
            Ok(_) => Ok(true),
            Err(StoreError::Guard { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A reminder for whoever works on a bead.
    fn nudge(&self, seen: &Seen, now: Timestamp) -> Result<String, FileError> {
        let issue = &seen.record.issue;
        let minutes = seen.silence.map(watchdog::minutes).unwrap_or_default();
        let holder = seen.record.claim.as_ref().map(|claim| &claim.holder);
        let last = watchdog::last_activity(&seen.record).map(bead::Timestamp::from_instant);
        let nudge = json!({
            "timestamp": bead::Timestamp::from_instant(now),
            "bead_id": issue.id(),
            "title": issue.title(),
            "assignee": issue.assignee(),
            "holder": holder,
            "last_activity": last,
            "message": format!("{} has been silent for {minutes} minutes: say how it stands, or give it back", issue.id()),
        });
        self.write_new(NUDGES, issue.id().as_str(), now, &nudge)
    }

    /// What a person should see.
    fn alert(&self, record: &Record, why: &str, now: Timestamp) -> Result<String, FileError> {
        let issue = &record.issue;
        let alert = json!({
            "timestamp": bead::Timestamp::from_instant(now),
            "severity": "critical",
            "subject": format!("{} was given up: {}", issue.id(), issue.title()),
            "body": watchdog::failure_reason(issue, why),
        });
        self.write_new(ALERTS, "alert", now, &alert)
    }

    /// Writes `<kind>-<yyyyMMdd-HHmmss>.json`, with a number where that is taken.
    fn write_new(
        &self,
        directory: &str,
        kind: &str,
        now: Timestamp,
        document: &Value,
    ) -> Result<String, FileError> {
        files::create_directory(&self.root.join(directory))?;
        for name in names(now) {
            let file = format!("{directory}/{kind}-{name}.json");
            match files::create_new(&self.root.join(&file), &files::to_json(document)) {
                Err(FileError::Exists { .. }) => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(file),
            }
        }
        let path = self.root.join(directory);
        Err(FileError::Exists { path })
    }

    /// Adds a pass to the metrics (G-9). A file that cannot be understood is begun anew: figures must not stop the watchdog.
    fn keep(&self, counts: Counts, now: Timestamp) -> Result<(), FileError> {
        let path: Utf8PathBuf = self.root.join(METRICS).join(METRICS_FILE);
        let before = match files::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(FileError::NotFound { .. }) => Value::Null,
            Err(error) => return Err(error),
        };
        let now = bead::Timestamp::from_instant(now);
        let document = counts.document(&before, &now, self.version);
        files::write_atomic(&path, &files::to_json(&document))
    }
}

fn count(counts: &mut Counts, seen: &Seen) {
    counts.beads_processed += 1;
    if seen.is_overtaken {
        return;
    }
    match seen.step {
        Step::Fresh | Step::Nobody => {}
        Step::Nudge => counts.nudges_sent += 1,
        Step::Restart(_) => counts.restarts_done += 1,
        Step::GiveUp(_) => counts.failures += 1,
    }
}

/// Who works on a bead, as far as this machine can tell.
fn worker(record: &Record, alive: &HashSet<BeadId>, now: Timestamp) -> Worker {
    if alive.contains(record.issue.id()) {
        return Worker::Alive;
    }
    match record.claim.as_ref() {
        None => Worker::Unknown,
        Some(claim) => {
            let gone = claim.is_abandoned(now, &host::name(), host::liveness);
            gone.map_or(Worker::Alive, Worker::Gone)
        }
    }
}

/// The beads of which somebody who is alive holds a part: parents of what is held, and the bead that a molecule was poured for,
/// which nobody holds itself.
fn with_living_parts(
    store: &dyn Store,
    records: &[Record],
    now: Timestamp,
) -> Result<HashSet<BeadId>, StoreError> {
    let none = HashSet::new();
    let held = records.iter().filter(|it| it.claim.is_some());
    let mut pending: Vec<BeadId> = held
        .filter(|it| worker(it, &none, now) == Worker::Alive)
        .flat_map(|it| it.issue.parents().cloned())
        .collect();
    let mut alive = HashSet::new();
    while let Some(id) = pending.pop() {
        if !alive.insert(id.clone()) {
            continue;
        }
        for record in store.get(&[id])? {
            pending.extend(record.issue.parents().cloned());
            pending.extend(linked_source(&record.issue));
        }
    }
    Ok(alive)
}
