//! The watchdog: looks at the beads in progress, in files and in the store; reminds, restarts, abandons, and counts (contracts §8.7).
//!
//! A bead is changed only if it is unchanged since it was read. Two watchdogs take turns by a lock, so that no count is lost. Beads that could be
//! started are left to the caller: here they are only counted.

use std::collections::HashSet;
use std::time::Duration;

use beads_ralph_core::bead::{self, BeadId};
use beads_ralph_core::dod::{DodBead, DodStatus};
use beads_ralph_core::implement::linked_source;
use beads_ralph_core::issue::{Abandoned, Edit, Holder, Order, Query, Record, StatusFilter};
use beads_ralph_core::watchdog::{self, Counts, Decision, WAITING, WATCHED, WatchedBead, Worker};
use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::bead_files::{BeadFile, BeadFileError, Ralph, write_new};
use crate::os::files::{self, FileError, Lock};
use crate::os::host;
use crate::os::process::Cancel;
use crate::store::{Guard, Stamp, Store, StoreError, Write};

const METRICS: &str = ".ralph/metrics";

/// How often another watchdog's turn is waited for, and how long each time.
const TURNS: usize = 100;
const TURN: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy)]
pub struct Watchdog<'a> {
    pub ralph: &'a Ralph,
    pub cancel: &'a Cancel,
    pub actor: &'a str,
    pub version: &'a str,
    pub is_dry_run: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub bead: WatchedBead,
    pub step: Decision,
    pub silence: Option<Duration>,
    /// The reminder or the alert, from the project's root.
    pub file: Option<String>,
    /// Whether somebody changed the bead meanwhile, so that nothing was done.
    pub is_overtaken: bool,
}

impl Seen {
    fn new(bead: WatchedBead, worker: Worker, now: Timestamp) -> Self {
        Self {
            step: watchdog::decide(&bead, worker, now),
            silence: bead.silence(now),
            bead,
            file: None,
            is_overtaken: false,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    /// The beads: those of the store in order of their ids, then those in files.
    pub seen: Vec<Seen>,
    pub counts: Counts,
}

#[derive(Debug, Error)]
pub enum WatchdogError {
    /// Another watchdog does not come to an end.
    #[error("another watchdog is still running")]
    Busy,
    #[error("the watchdog was interrupted")]
    Interrupted,
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Bead(#[from] BeadFileError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Watchdog<'_> {
    /// Looks at every bead in progress once, in files and in the store where there is one. The time is handed in: silence is measured against it.
    pub fn pass(
        &self,
        store: Option<&mut dyn Store>,
        now: Timestamp,
    ) -> Result<Pass, WatchdogError> {
        let _turn = self.turn()?;
        let mut seen = match store {
            Some(store) => self.look_at_store(store, now)?,
            None => Vec::new(),
        };
        seen.extend(self.look_at_files(now)?);
        let mut counts = Counts {
            total_runs: 1,
            ..Counts::default()
        };
        for seen in &seen {
            count(&mut counts, seen);
        }
        if !self.is_dry_run {
            self.keep(counts, now)?;
        }
        Ok(Pass { seen, counts })
    }

    /// Counts a bead that was begun after a pass, and whether it failed.
    pub fn executed(&self, is_given_up: bool, now: Timestamp) -> Result<(), WatchdogError> {
        let _turn = self.turn()?;
        let counts = Counts {
            beads_processed: 1,
            failures: is_given_up.into(),
            ..Counts::default()
        };
        Ok(self.keep(counts, now)?)
    }

    fn turn(&self) -> Result<Option<Lock>, WatchdogError> {
        if self.is_dry_run {
            return Ok(None);
        }
        let directory = self.ralph.root().join(METRICS);
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
}

fn count(counts: &mut Counts, seen: &Seen) {
    counts.beads_processed += 1;
    if seen.is_overtaken {
        return;
    }
    match seen.step {
        Decision::Fresh | Decision::Nobody | Decision::Waits => {}
        Decision::Nudge => counts.nudges_sent += 1,
        Decision::Restart(_) => counts.restarts_done += 1,
        Decision::GiveUp(_) => counts.failures += 1,
    }
}

const NUDGES: &str = ".ralph/nudges";
const ALERTS: &str = ".ralph/alerts";
const METRICS_FILE: &str = "watchdog-metrics.json";

const MAX_KEPT: usize = 100;

#[derive(Serialize)]
struct Nudge<'a> {
    timestamp: bead::Timestamp,
    bead_id: &'a str,
    title: &'a str,
    assignee: Option<&'a str>,
    holder: Option<&'a Holder>,
    last_activity: Option<bead::Timestamp>,
    message: String,
}

#[derive(Serialize)]
struct Alert {
    timestamp: bead::Timestamp,
    severity: &'static str,
    subject: String,
    body: String,
}

impl Watchdog<'_> {
    pub(super) fn nudge(
        &self,
        bead: &WatchedBead,
        holder: Option<&Holder>,
        now: Timestamp,
    ) -> Result<String, FileError> {
        let WatchedBead { id, title, .. } = bead;
        let minutes = bead.silence(now).map(watchdog::minutes).unwrap_or_default();
        let last = bead.last_activity.map(bead::Timestamp::from_instant);
        let nudge = Nudge {
            timestamp: bead::Timestamp::from_instant(now),
            bead_id: id,
            title,
            assignee: bead.assignee.as_deref(),
            holder,
            last_activity: last,
            message: format!(
                "{id} has been silent for {minutes} minutes: report progress, or release it"
            ),
        };
        self.write_new(NUDGES, id, now, &nudge)
    }

    pub(super) fn alert(
        &self,
        bead: &WatchedBead,
        why: &str,
        now: Timestamp,
    ) -> Result<String, FileError> {
        let WatchedBead { id, title, .. } = bead;
        let alert = Alert {
            timestamp: bead::Timestamp::from_instant(now),
            severity: "critical",
            subject: format!("{id} was abandoned: {title}"),
            body: watchdog::failure_reason(bead.restart_count, why),
        };
        self.write_new(ALERTS, "alert", now, &alert)
    }

    /// Writes `<kind>-<yyyyMMdd-HHmmss>.json`, with a number where that is taken.
    fn write_new(
        &self,
        directory: &str,
        kind: &str,
        now: Timestamp,
        document: &impl Serialize,
    ) -> Result<String, FileError> {
        let place = self.ralph.root().join(directory);
        let path = write_new(&place, kind, now, &files::to_json(document))?;
        files::keep_newest(&place, ".json", MAX_KEPT)?;
        Ok(format!(
            "{directory}/{}",
            path.file_name().unwrap_or_default()
        ))
    }

    /// Adds a pass to the metrics (G-9). A file that cannot be understood is begun anew: figures must not stop the watchdog.
    fn keep(&self, counts: Counts, now: Timestamp) -> Result<(), FileError> {
        let path: Utf8PathBuf = self.ralph.root().join(METRICS).join(METRICS_FILE);
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

/// How the version of `exec` begins, which it leaves in a bead.
const OURS: &str = "beads-ralph ";

impl Watchdog<'_> {
    /// Looks at the beads in files that are in progress; gates are nobody's work.
    pub(super) fn look_at_files(&self, now: Timestamp) -> Result<Vec<Seen>, WatchdogError> {
        let mut seen = Vec::new();
        for path in self.ralph.todo_files() {
            // Invalid beads are left to whoever works on them.
            if let Ok(file) = BeadFile::read(&path)
                && is_watched(file.bead())
            {
                seen.extend(self.look_at_file(&file, now)?);
            }
        }
        Ok(seen)
    }

    /// Looks at one bead, and again under its lock when it is silent, so that the change fits its current state.
    fn look_at_file(&self, file: &BeadFile, now: Timestamp) -> Result<Option<Seen>, WatchdogError> {
        let mut seen = see(file, now);
        if seen.step == Decision::Fresh {
            return Ok(Some(seen));
        }
        if self.is_dry_run {
            if file.is_held()? {
                seen.step = Decision::Fresh;
            }
            return Ok(Some(seen));
        }
        let Some(_lock) = file.lock()? else {
            seen.step = Decision::Fresh;
            return Ok(Some(seen));
        };
        let file = match BeadFile::read(file.path()) {
            Ok(file) if is_watched(file.bead()) => file,
            _ => return Ok(None),
        };
        let mut seen = see(&file, now);
        self.act(&file, &mut seen, now)?;
        Ok(Some(seen))
    }

    fn act(&self, file: &BeadFile, seen: &mut Seen, now: Timestamp) -> Result<(), WatchdogError> {
        let stamp = bead::Timestamp::from_instant(now);
        let document = match &seen.step {
            Decision::Fresh | Decision::Nobody | Decision::Waits => return Ok(()),
            Decision::Nudge => {
                seen.file = Some(self.nudge(&seen.bead, None, now)?);
                return Ok(());
            }
            Decision::Restart(why) => watchdog::restarted_file(file.bead(), why, &stamp),
            Decision::GiveUp(why) => watchdog::given_up_file(file.bead(), why, &stamp),
        };
        match file.write_document(&document) {
            Ok(()) => {}
            Err(BeadFileError::File(FileError::Changed { .. })) => {
                seen.is_overtaken = true;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        if let Decision::GiveUp(why) = &seen.step {
            seen.file = Some(self.alert(&seen.bead, why, now)?);
        }
        Ok(())
    }
}

fn is_watched(bead: &DodBead) -> bool {
    bead.status == DodStatus::InProgress && !bead.is_gate
}

/// What is to be done about a bead whose lock is free.
fn see(file: &BeadFile, now: Timestamp) -> Seen {
    let bead = WatchedBead::of_bead(file.bead());
    let version = file.bead().meta("executor_version");
    let version = version.and_then(|version| version.as_str());
    // `exec` names nobody, and holds the lock until it has written how it ended.
    let is_left = bead.assignee.is_none() && version.is_some_and(|it| it.starts_with(OURS));
    let worker = if is_left {
        Worker::Gone(Abandoned::ProcessDead)
    } else {
        Worker::Unknown
    };
    Seen::new(bead, worker, now)
}

impl Watchdog<'_> {
    pub(super) fn look_at_store(
        &self,
        store: &mut dyn Store,
        now: Timestamp,
    ) -> Result<Vec<Seen>, WatchdogError> {
        let records = store.find(&Query {
            status: StatusFilter::OneOf(WATCHED.map(str::to_owned).to_vec()),
            order: Order::Id,
            ..Query::default()
        })?;
        let alive = with_living_parts(store, &records, now)?;
        let waiting = with_waiting_parts(store)?;
        let mut seen = Vec::new();
        for record in records {
            let id = record.issue.id();
            let worker = match worker(&record, now) {
                _ if alive.contains(id) => Worker::Alive,
                _ if waiting.contains(id) => Worker::Person,
                worker => worker,
            };
            seen.push(self.look(store, &record, worker, now)?);
        }
        Ok(seen)
    }

    fn look(
        &self,
        store: &mut dyn Store,
        record: &Record,
        worker: Worker,
        now: Timestamp,
    ) -> Result<Seen, WatchdogError> {
        let mut seen = Seen::new(WatchedBead::of_record(record), worker, now);
        if self.is_dry_run {
            return Ok(seen);
        }
        let stamp = bead::Timestamp::from_instant(now);
        let issue = &record.issue;
        match &seen.step {
            Decision::Fresh | Decision::Nobody | Decision::Waits => {}
            Decision::Nudge => {
                let holder = record.claim.as_ref().map(|claim| &claim.holder);
                seen.file = Some(self.nudge(&seen.bead, holder, now)?);
            }
            Decision::Restart(why) => {
                let edits = watchdog::restarted(issue, why, self.actor, &stamp);
                seen.is_overtaken = !self.change(store, record, edits, now)?;
            }
            Decision::GiveUp(why) => {
                let edits = watchdog::given_up(issue, why, self.actor, &stamp);
                seen.is_overtaken = !self.change(store, record, edits, now)?;
                if !seen.is_overtaken {
                    seen.file = Some(self.alert(&seen.bead, why, now)?);
                }
            }
        }
        Ok(seen)
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
}

/// Who works on a bead, as far as this machine can tell.
fn worker(record: &Record, now: Timestamp) -> Worker {
    match record.claim.as_ref() {
        None => Worker::Unknown,
        Some(claim) => {
            let gone = claim.is_abandoned(now, &host::name(), host::liveness);
            gone.map_or(Worker::Alive, Worker::Gone)
        }
    }
}

/// The beads of which somebody who is alive holds a part.
fn with_living_parts(
    store: &dyn Store,
    records: &[Record],
    now: Timestamp,
) -> Result<HashSet<BeadId>, StoreError> {
    let held = records.iter().filter(|it| worker(it, now) == Worker::Alive);
    wholes(store, held)
}

/// The beads of which a part waits for a person: a step that was flagged is open, and its bead in progress.
fn with_waiting_parts(store: &dyn Store) -> Result<HashSet<BeadId>, StoreError> {
    let asked = store.find(&Query {
        labels_any: WAITING.map(str::to_owned).to_vec(),
        ..Query::default()
    })?;
    wholes(store, asked.iter())
}

/// What these are parts of: their parents, and the beads that a molecule above them was poured for, which nobody holds themselves.
fn wholes<'r>(
    store: &dyn Store,
    parts: impl Iterator<Item = &'r Record>,
) -> Result<HashSet<BeadId>, StoreError> {
    let above = |record: &Record| -> Vec<BeadId> {
        let parents = record.issue.parents().cloned();
        parents.chain(linked_source(&record.issue)).collect()
    };
    let mut pending: Vec<BeadId> = parts.flat_map(above).collect();
    let mut wholes = HashSet::new();
    while let Some(id) = pending.pop() {
        if wholes.insert(id.clone()) {
            pending.extend(store.get(&[id])?.iter().flat_map(above));
        }
    }
    Ok(wholes)
}
