//! A store that notes what the store inside refused as unsupported.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    Abandoned, Blocker, Claim, Comment, Event, Fence, Grouping, Holder, Query, Record,
};
use beads_ralph_runtime::store::{
    Capability, Control, Lease, NewClaim, Stamp, Store, StoreError, Write,
};
use jiff::Timestamp;
use serde_json::Value;

pub(super) struct Watch {
    inner: Box<dyn Store>,
    refused: RefCell<Vec<Capability>>,
}

impl Watch {
    pub(super) fn new(inner: Box<dyn Store>) -> Self {
        Self {
            inner,
            refused: RefCell::default(),
        }
    }

    /// Whether an operation was refused because it needs a capability.
    pub(super) fn has_refused(&self, capability: Capability) -> bool {
        self.refused.borrow().contains(&capability)
    }

    fn note<T>(&self, answer: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(StoreError::Unsupported(capability)) = &answer {
            self.refused.borrow_mut().push(*capability);
        }
        answer
    }
}

impl Store for Watch {
    fn gaps(&self) -> &'static [Capability] {
        self.inner.gaps()
    }

    fn get(&self, ids: &[BeadId]) -> Result<Vec<Record>, StoreError> {
        let answer = self.inner.get(ids);
        self.note(answer)
    }

    fn find(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        let answer = self.inner.find(query);
        self.note(answer)
    }

    fn visit(
        &self,
        query: &Query,
        see: &mut dyn FnMut(Record) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let answer = self.inner.visit(query, see);
        self.note(answer)
    }

    fn count(&self, query: &Query) -> Result<usize, StoreError> {
        let answer = self.inner.count(query);
        self.note(answer)
    }

    fn count_by(
        &self,
        query: &Query,
        grouping: Grouping,
    ) -> Result<BTreeMap<String, usize>, StoreError> {
        let answer = self.inner.count_by(query, grouping);
        self.note(answer)
    }

    fn statuses(&self, ids: &[BeadId]) -> Result<Vec<Option<String>>, StoreError> {
        let answer = self.inner.statuses(ids);
        self.note(answer)
    }

    fn ids_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<BeadId>, StoreError> {
        let answer = self.inner.ids_with_prefix(prefix, limit);
        self.note(answer)
    }

    fn comments(&self, id: &BeadId) -> Result<Vec<Comment>, StoreError> {
        let answer = self.inner.comments(id);
        self.note(answer)
    }

    fn blockers(&self, id: &BeadId) -> Result<Vec<Blocker>, StoreError> {
        let answer = self.inner.blockers(id);
        self.note(answer)
    }

    fn dependents(&self, id: &BeadId) -> Result<Vec<(BeadId, String)>, StoreError> {
        let answer = self.inner.dependents(id);
        self.note(answer)
    }

    fn count_blocked_by(&self, ids: &[BeadId]) -> Result<Vec<usize>, StoreError> {
        let answer = self.inner.count_blocked_by(ids);
        self.note(answer)
    }

    fn events(
        &self,
        issue: Option<&BeadId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        let answer = self.inner.events(issue, after, limit);
        self.note(answer)
    }

    fn write(&mut self, batch: &[Write], by: Stamp<'_>) -> Result<Vec<u64>, StoreError> {
        let answer = self.inner.write(batch, by);
        self.note(answer)
    }

    fn claim(
        &mut self,
        id: &BeadId,
        claim: &NewClaim<'_>,
        by: Stamp<'_>,
    ) -> Result<Record, StoreError> {
        let answer = self.inner.claim(id, claim, by);
        self.note(answer)
    }

    fn heartbeat(
        &mut self,
        id: &BeadId,
        fence: Fence,
        lease_until: Timestamp,
    ) -> Result<Claim, StoreError> {
        let answer = self.inner.heartbeat(id, fence, lease_until);
        self.note(answer)
    }

    fn release(&mut self, id: &BeadId, fence: Fence, by: Stamp<'_>) -> Result<Record, StoreError> {
        let answer = self.inner.release(id, fence, by);
        self.note(answer)
    }

    fn reclaim(
        &mut self,
        id: &BeadId,
        fence: Fence,
        why: Abandoned,
        by: Stamp<'_>,
    ) -> Result<Record, StoreError> {
        let answer = self.inner.reclaim(id, fence, why, by);
        self.note(answer)
    }

    fn acquire(
        &mut self,
        names: &[&str],
        holder: &Holder,
        until: Timestamp,
        by: Stamp<'_>,
    ) -> Result<Option<Lease>, StoreError> {
        let answer = self.inner.acquire(names, holder, until, by);
        self.note(answer)
    }

    fn renew(&mut self, name: &str, fence: Fence, until: Timestamp) -> Result<Lease, StoreError> {
        let answer = self.inner.renew(name, fence, until);
        self.note(answer)
    }

    fn give_back(&mut self, name: &str, fence: Fence) -> Result<(), StoreError> {
        let answer = self.inner.give_back(name, fence);
        self.note(answer)
    }

    fn leases(&self, prefix: &str, now: Timestamp) -> Result<Vec<Lease>, StoreError> {
        let answer = self.inner.leases(prefix, now);
        self.note(answer)
    }

    fn controls(&self, prefix: &str) -> Result<Vec<Control>, StoreError> {
        let answer = self.inner.controls(prefix);
        self.note(answer)
    }

    fn set_control(
        &mut self,
        key: &str,
        value: &Value,
        seen: u64,
        by: Stamp<'_>,
    ) -> Result<u64, StoreError> {
        let answer = self.inner.set_control(key, value, seen, by);
        self.note(answer)
    }
}
