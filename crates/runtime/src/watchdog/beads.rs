//! Beads in files. Whoever works on one of them with `exec` holds its lock, and is alive as long as it is held.

use std::collections::HashSet;

use beads_ralph_core::bead::{self, BeadId};
use beads_ralph_core::dod::{DodBead, DodStatus};
use beads_ralph_core::implement::linked_source;
use beads_ralph_core::issue::{Abandoned, Edit, Order, Query, Record, StatusFilter};
use beads_ralph_core::watchdog::{self, Step, WAITING, WATCHED, Watched, Worker};
use jiff::Timestamp;

use super::{Seen, Watchdog, WatchdogError};
use crate::bead_files::{BeadFile, BeadFileError};
use crate::os::files::FileError;
use crate::os::host;
use crate::store::{Guard, Stamp, Store, StoreError, Write};

/// How the version of `exec` begins, which it leaves in a bead.
const OURS: &str = "beads-ralph ";

impl Watchdog<'_> {
    /// Looks at the beads in files that are in progress; gates are nobody's work.
    pub(super) fn look_at_files(&self, now: Timestamp) -> Result<Vec<Seen>, WatchdogError> {
        let mut seen = Vec::new();
        for path in self.ralph.todo_files() {
            // What is no bead is for whoever works on it.
            if let Ok(file) = BeadFile::read(&path)
                && is_watched(file.bead())
            {
                seen.extend(self.look_at_file(&file, now)?);
            }
        }
        Ok(seen)
    }

    /// Looks at one bead, and under its lock once more when it is silent: it is changed as it is then.
    fn look_at_file(&self, file: &BeadFile, now: Timestamp) -> Result<Option<Seen>, WatchdogError> {
        let mut seen = see(file, now);
        if seen.step == Step::Fresh {
            return Ok(Some(seen));
        }
        if self.is_dry_run {
            if file.is_held()? {
                seen.step = Step::Fresh;
            }
            return Ok(Some(seen));
        }
        let Some(_lock) = file.lock()? else {
            seen.step = Step::Fresh;
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
            Step::Fresh | Step::Nobody | Step::Waits => return Ok(()),
            Step::Nudge => {
                seen.file = Some(self.nudge(&seen.bead, None, now)?);
                return Ok(());
            }
            Step::Restart(why) => watchdog::restarted_file(file.bead(), why, &stamp),
            Step::GiveUp(why) => watchdog::given_up_file(file.bead(), why, &stamp),
        };
        match file.write_document(&document) {
            Ok(()) => {}
            Err(BeadFileError::File(FileError::Changed { .. })) => {
                seen.is_overtaken = true;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        if let Step::GiveUp(why) = &seen.step {
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
    let bead = Watched::of_bead(file.bead());
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
    /// Looks at the beads of a store that are in progress.
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

    /// Looks at one bead, and does what is to be done.
    fn look(
        &self,
        store: &mut dyn Store,
        record: &Record,
        worker: Worker,
        now: Timestamp,
    ) -> Result<Seen, WatchdogError> {
        let mut seen = Seen::new(Watched::of_record(record), worker, now);
        if self.is_dry_run {
            return Ok(seen);
        }
        let stamp = bead::Timestamp::from_instant(now);
        let issue = &record.issue;
        match &seen.step {
            Step::Fresh | Step::Nobody | Step::Waits => {}
            Step::Nudge => {
                let holder = record.claim.as_ref().map(|claim| &claim.holder);
                seen.file = Some(self.nudge(&seen.bead, holder, now)?);
            }
            Step::Restart(why) => {
                let edits = watchdog::restarted(issue, why, self.actor, &stamp);
                seen.is_overtaken = !self.change(store, record, edits, now)?;
            }
            Step::GiveUp(why) => {
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
