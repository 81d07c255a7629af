//! Beads of a store, and who works on them as far as their claims tell.

use std::collections::HashSet;

use beads_ralph_core::bead::{self, BeadId};
use beads_ralph_core::implement::linked_source;
use beads_ralph_core::issue::{Edit, Order, Query, Record, StatusFilter};
use beads_ralph_core::watchdog::{self, Step, WAITING, WATCHED, Watched, Worker};
use jiff::Timestamp;

use super::{Seen, Watchdog, WatchdogError};
use crate::os::host;
use crate::store::{Guard, Stamp, Store, StoreError, Write};

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
