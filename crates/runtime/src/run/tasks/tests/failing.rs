//! A store of which one call fails.

use std::sync::atomic::{AtomicUsize, Ordering};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    Abandoned, Blocker, Claim, Comment, Event, Fence, Holder, Query, Record,
};
use jiff::Timestamp;
use serde_json::Value;

use crate::store::{Control, Lease, MemoryStore, NewClaim, Stamp, Store, StoreError, Write};

/// A store of which one call fails.
pub(super) struct Failing {
    store: MemoryStore,
    n_left: AtomicUsize,
}

impl Failing {
    /// The call with this number fails, from 0.
    pub(super) fn new(store: MemoryStore, n: usize) -> Self {
        Self {
            store,
            n_left: AtomicUsize::new(n),
        }
    }

    fn call<T>(
        &self,
        act: impl FnOnce(&MemoryStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.n_left.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(StoreError::Busy {
                path: "store".into(),
                seconds: 1,
            });
        }
        act(&self.store)
    }

    fn change<T>(
        &mut self,
        act: impl FnOnce(&mut MemoryStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.call(|_| Ok(()))?;
        act(&mut self.store)
    }
}

impl Store for Failing {
    fn get(&self, ids: &[BeadId]) -> Result<Vec<Record>, StoreError> {
        self.call(|store| store.get(ids))
    }

    fn find(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        self.call(|store| store.find(query))
    }

    fn ids_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<BeadId>, StoreError> {
        self.call(|store| store.ids_with_prefix(prefix, limit))
    }

    fn comments(&self, id: &BeadId) -> Result<Vec<Comment>, StoreError> {
        self.call(|store| store.comments(id))
    }

    fn blockers(&self, id: &BeadId) -> Result<Vec<Blocker>, StoreError> {
        self.call(|store| store.blockers(id))
    }

    fn dependents(&self, id: &BeadId) -> Result<Vec<(BeadId, String)>, StoreError> {
        self.call(|store| store.dependents(id))
    }

    fn events(
        &self,
        issue: Option<&BeadId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.call(|store| store.events(issue, after, limit))
    }

    fn write(&mut self, batch: &[Write], by: Stamp<'_>) -> Result<Vec<u64>, StoreError> {
        self.change(|store| store.write(batch, by))
    }

    fn claim(
        &mut self,
        id: &BeadId,
        claim: &NewClaim<'_>,
        by: Stamp<'_>,
    ) -> Result<Record, StoreError> {
        self.change(|store| store.claim(id, claim, by))
    }

    fn heartbeat(
        &mut self,
        id: &BeadId,
        fence: Fence,
        lease_until: Timestamp,
    ) -> Result<Claim, StoreError> {
        self.change(|store| store.heartbeat(id, fence, lease_until))
    }

    fn release(&mut self, id: &BeadId, fence: Fence, by: Stamp<'_>) -> Result<Record, StoreError> {
        self.change(|store| store.release(id, fence, by))
    }

    fn reclaim(
        &mut self,
        id: &BeadId,
        fence: Fence,
        why: Abandoned,
        by: Stamp<'_>,
    ) -> Result<Record, StoreError> {
        self.change(|store| store.reclaim(id, fence, why, by))
    }

    fn acquire(
        &mut self,
        names: &[&str],
        holder: &Holder,
        until: Timestamp,
        by: Stamp<'_>,
    ) -> Result<Option<Lease>, StoreError> {
        self.change(|store| store.acquire(names, holder, until, by))
    }

    fn renew(&mut self, name: &str, fence: Fence, until: Timestamp) -> Result<Lease, StoreError> {
        self.change(|store| store.renew(name, fence, until))
    }

    fn give_back(&mut self, name: &str, fence: Fence) -> Result<(), StoreError> {
        self.change(|store| store.give_back(name, fence))
    }

    fn leases(&self, prefix: &str, now: Timestamp) -> Result<Vec<Lease>, StoreError> {
        self.call(|store| store.leases(prefix, now))
    }

    fn controls(&self, prefix: &str) -> Result<Vec<Control>, StoreError> {
        self.call(|store| store.controls(prefix))
    }

    fn set_control(
        &mut self,
        key: &str,
        value: &Value,
        seen: u64,
        by: Stamp<'_>,
    ) -> Result<u64, StoreError> {
        self.change(|store| store.set_control(key, value, seen, by))
    }
}
