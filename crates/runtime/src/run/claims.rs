//! Claims and slots: taken, renewed, taken over, released.

use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::time::Duration;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{Answer, Effect, Engine, Holding, Lasting, Trouble};
use beads_ralph_core::issue::{Abandoned, Claim, Fence, Holder, Record};
use beads_ralph_core::vocabulary::Status;
use jiff::Timestamp;

use super::perform::{Performer, normal};
use super::port_book::PORT;
use super::store_writes::{fence_of, fetch, is_written};
use crate::store::{NewClaim, StoreError};

/// How long a claim or a place lasts without a sign of life.
pub const LEASE: Duration = Duration::from_mins(10);

/// The prefix of the names of slots (Z-14).
const SLOT: &str = "slot/";

/// The beginning of the names under which worktrees are taken.
const PLACE: &str = "place/";

/// How often taking over is tried while the store is busy.
const MAX_TRIES: usize = 5;

impl Performer<'_> {
    pub(super) fn lease_until(&self) -> Timestamp {
        (self.now)().checked_add(LEASE).unwrap_or(Timestamp::MAX)
    }

    /// Claims a bead and a slot for it. What a dead process of this run still holds is claimed again.
    pub(super) fn claim(&self, effect: &Effect) -> Result<Answer, Trouble> {
        let id = &effect.bead;
        let has_slot = self.take_slot(id)? || (self.free_gone_slots()? && self.take_slot(id)?);
        if !has_slot {
            return Ok(Answer::NotClaimed {
                why: format!("all {} slots are taken", self.site.n_slots),
                is_full: true,
            });
        }
        let has_place = self.take_place(id)? || (self.free_gone_slots()? && self.take_place(id)?);
        if !has_place {
            self.free_slot(id);
            return Ok(Answer::NotClaimed {
                why: "another run is using its worktree".to_owned(),
                is_full: false,
            });
        }
        match self.claim_anew(id) {
            Ok(Some(record)) => {
                let task = self.reader.task(&record, Vec::new(), (self.now)());
                if let Ok(bead) = record.issue.to_ralph_bead(&[], &self.site.rules) {
                    self.remember(bead);
                }
                Ok(Answer::Claimed {
                    fence: record.fence,
                    task: Box::new(task),
                })
            }
            Ok(None) => {
                self.free_slot(id);
                Ok(Answer::NotClaimed {
                    why: "already claimed, or not ready any more".to_owned(),
                    is_full: false,
                })
            }
            Err(trouble) => {
                self.free_slot(id);
                Err(trouble)
            }
        }
    }

    fn claim_anew(&self, id: &BeadId) -> Result<Option<Record>, Trouble> {
        let record = fetch(&**self.store(), id)?;
        // Somebody may have removed its sprint from the plan since the store was looked at (Z-44). What was begun is finished.
        let is_removed = self.reader.is_removed(&**self.store(), &record);
        if record.claim.is_none() && is_removed? {
            return Ok(None);
        }
        // A gate may have turned red since the store was looked at.
        let denial = self.reader.denial(&**self.store(), &record);
        if denial?.is_some() {
            return Ok(None);
        }
        let instead_of = self.left(&record);
        if instead_of.is_some() && !self.is_buried(&record)? {
            return Ok(None);
        }
        let new = NewClaim {
            holder: &self.site.holder,
            lease_until: self.lease_until(),
            is_forced: false,
            instead_of,
        };
        let claimed = self.store().claim(id, &new, self.stamp());
        match claimed {
            Ok(record) => Ok(Some(record)),
            // It waits for something again; whoever is gone does not hold it meanwhile.
            Err(StoreError::Blocked { .. }) => {
                self.free_if_left(id)?;
                Ok(None)
            }
            Err(
                StoreError::Held { .. }
                | StoreError::Stale { .. }
                | StoreError::InProgress(_)
                | StoreError::NotClaimable { .. }
                | StoreError::NotFound(_),
            ) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a claim on a bead whose holder is gone; `false` if another process did so first.
    pub(super) fn free_if_left(&self, id: &BeadId) -> Result<bool, Trouble> {
        let record = fetch(&**self.store(), id)?;
        let Some((fence, why)) = self.left(&record) else {
            return Ok(true);
        };
        if !self.is_buried(&record)? {
            return Ok(false);
        }
        match self.store().reclaim(id, fence, why, self.stamp()) {
            Ok(_) => Ok(true),
            Err(StoreError::Stale { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether nothing runs any more for whoever held a bead.
    fn is_buried(&self, record: &Record) -> Result<bool, Trouble> {
        match &record.claim {
            Some(claim) if claim.holder.run != self.site.run => (self.bury)(&claim.holder),
            _ => Ok(true),
        }
    }

    /// The claim on a bead that can be taken away: this run's own, by a process before this one, or that of somebody who is gone.
    fn left(&self, record: &Record) -> Option<(Fence, Abandoned)> {
        let claim = record.claim.as_ref()?;
        let gone = (self.reader.gone)(claim, (self.now)());
        let own = fence_of(record, &self.site.run).map(|_| Abandoned::ProcessDead);
        Some((claim.fence, own.or(gone)?))
    }

    /// Takes the beads of this run over from a process of it that is dead. The answer has those that could be taken, with their new
    /// fences.
    pub fn take_over(&self, engine: &Engine) -> Result<Vec<(BeadId, Fence)>, Trouble> {
        let mut fences = Vec::new();
        for holding in engine.holdings() {
            let taken = patiently(|| self.take_over_one(&holding))?;
            fences.extend(taken.map(|fence| (holding.id, fence)));
        }
        Ok(fences)
    }

    /// Nothing, when the bead is not this run's any more: what others did to it meanwhile, this run does not know.
    fn take_over_one(&self, holding: &Holding) -> Result<Option<Fence>, Trouble> {
        let id = &holding.id;
        let fetched = fetch(&**self.store(), id);
        let record = match fetched {
            Ok(record) => record,
            Err(trouble) if trouble.lasting == Lasting::Lost => return Ok(None),
            Err(trouble) => return Err(trouble),
        };
        let is_held = fence_of(&record, &self.site.run).is_some();
        if !is_held && !self.is_as_it_was(&record, holding) {
            return Ok(None);
        }
        let Some(record) = self.claim_anew(id)? else {
            return Ok(None);
        };
        self.take_slot(id)?;
        if !self.take_place(id)? {
            // Another run is in its worktree: it comes again when it is its turn.
            let released = self.store().release(id, record.fence, self.stamp());
            return released.map(|_| None).map_err(Trouble::from);
        }
        let (until, stamp) = (self.lease_until(), self.stamp());
        (self.ports).take(&mut **self.store(), id, &self.site.holder, until, stamp)?;
        Ok(Some(record.fence))
    }

    /// Whether a bead was only put back to open, as `recover` does, and nobody has held it since.
    fn is_as_it_was(&self, record: &Record, holding: &Holding) -> bool {
        let is_said = |effect| is_written(record, &self.site.run, effect);
        record.claim.is_none()
            && record.issue.status() == Status::Open
            && holding.fence == Some(record.fence)
            && !holding.last_word.is_some_and(is_said)
    }

    fn take_slot(&self, id: &BeadId) -> Result<bool, Trouble> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots
            .get(id)
            .is_some_and(|held| held.iter().any(|(name, _)| name.starts_with(SLOT)))
        {
            return Ok(true);
        }
        let names: Vec<String> = (0..self.site.n_slots)
            .map(|n| format!("{SLOT}{n}"))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut store = self.store();
        let lease = store.acquire(&names, &self.site.holder, self.lease_until(), self.stamp());
        let Some(lease) = lease? else {
            return Ok(false);
        };
        slots
            .entry(id.clone())
            .or_default()
            .push((lease.name, lease.fence));
        Ok(true)
    }

    /// Takes the worktree of a bead, so that no other run works in it at the same time (Z-8).
    fn take_place(&self, id: &BeadId) -> Result<bool, Trouble> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let mut store = self.store();
        let record = fetch(&**store, id)?;
        let path = record
            .issue
            .metadata()
            .and_then(|it| it.get("worktree_path")?.as_str());
        let Some(path) = path else { return Ok(true) };
        let name = format!("{PLACE}{}", normal(&self.site.root.join(path)));
        let held = slots.entry(id.clone()).or_default();
        if held.iter().any(|(other, _)| *other == name) {
            return Ok(true);
        }
        let (until, stamp) = (self.lease_until(), self.stamp());
        let lease = store.acquire(&[&name], &self.site.holder, until, stamp)?;
        let Some(lease) = lease else { return Ok(false) };
        held.push((lease.name, lease.fence));
        Ok(true)
    }

    pub(super) fn free_slot(&self, id: &BeadId) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let held = slots.remove(id).unwrap_or_default();
        drop(slots);
        for (name, fence) in held {
            // A place that cannot be given back now is free when its lease is over.
            drop(self.store().give_back(&name, fence));
        }
    }

    /// Gives back the places of beads that are not worked on any more.
    pub fn tidy(&self, working: &BTreeSet<BeadId>) {
        let known = |ids: Vec<BeadId>| ids.into_iter().filter(|id| !working.contains(id));
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let mut over: BTreeSet<BeadId> = known(slots.keys().cloned().collect()).collect();
        drop(slots);
        let mut beads = self.beads.lock().unwrap_or_else(PoisonError::into_inner);
        over.extend(known(beads.keys().cloned().collect()));
        beads.retain(|id, _| working.contains(id));
        drop(beads);
        for id in over {
            self.free_slot(&id);
            self.ports.free(&mut **self.store(), &id);
        }
    }

    /// Gives back the places of whoever died since this run began; whether there were any.
    fn free_gone_slots(&self) -> Result<bool, Trouble> {
        let now = (self.now)();
        let mut store = self.store();
        let mut is_any = false;
        for kind in [SLOT, PLACE, PORT] {
            for lease in store.leases(kind, now)? {
                let claim = Claim {
                    fence: lease.fence,
                    holder: lease.holder,
                    claimed_at: now,
                    lease_until: lease.until,
                };
                if (self.reader.gone)(&claim, now).is_some() {
                    store.give_back(&lease.name, claim.fence)?;
                    is_any = true;
                }
            }
        }
        Ok(is_any)
    }

    /// Gives back the places that processes hold which are dead.
    pub fn free_dead_slots(&self, is_dead: impl Fn(&Holder) -> bool) -> Result<(), Trouble> {
        patiently(|| self.try_free_dead_slots(&is_dead))
    }

    fn try_free_dead_slots(&self, is_dead: &impl Fn(&Holder) -> bool) -> Result<(), Trouble> {
        let mut store = self.store();
        for kind in [SLOT, PLACE, PORT] {
            for lease in store.leases(kind, (self.now)())? {
                if is_dead(&lease.holder) {
                    store.give_back(&lease.name, lease.fence)?;
                }
            }
        }
        Ok(())
    }

    /// Says that this process is alive. The answer has the beads that are not ours any more.
    pub fn beat(&self, held: &[(BeadId, Fence)]) -> Vec<BeadId> {
        let until = self.lease_until();
        let slots = (self.slots.lock())
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let mut store = self.store();
        let mut lost = Vec::new();
        for (id, fence) in held {
            if let Err(StoreError::Stale { .. } | StoreError::NotFound(_)) =
                store.heartbeat(id, *fence, until)
            {
                lost.push(id.clone());
            }
        }
        for (name, fence) in slots.values().flatten() {
            // A slot lost during a long sleep of the machine does not stop the work: slots only count for new beads.
            drop(store.renew(name, *fence, until));
        }
        self.ports.renew(&mut **store, until);
        lost
    }
}

/// Retries temporary failures: an interrupted run is not abandoned because the store was busy for a moment. The store has
/// waited by itself each time.
fn patiently<T>(act: impl Fn() -> Result<T, Trouble>) -> Result<T, Trouble> {
    for _ in 1..MAX_TRIES {
        match act() {
            Err(trouble) if trouble.lasting == Lasting::Passing => {}
            other => return other,
        }
    }
    act()
}
