//! Stores with one fault each.

use std::ops::ControlFlow;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    Abandoned, Blocker, Claim, Comment, Event, Fence, Holder, Query, Record,
};
use beads_ralph_runtime::store::{
    Capability, Control, Guard, Lease, MemoryStore, NewClaim, Stamp, Store, StoreError, Write,
};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// What is wrong with a store, or what it says that it cannot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Twist {
    /// Has no leases and says so.
    NoLeases,
    /// Says that it has no leases, and has them.
    PretendsNoLeases,
    /// Says that it has no leases, and refuses in other words.
    RefusesInOtherWords,
    /// Says that it has no history, and has none.
    NoHistory,
    /// Says that it takes one change at a time, and takes no more.
    NoBatches,
    /// Says that it knows no versions and fences, and refuses to be asked for them.
    NoGuards,
    /// Says that it keeps only what it knows, and takes nothing else.
    NoUnknownFields,
    /// Does what it can of a batch.
    HalfBatches,
    /// Gives what is held back.
    IgnoresBlockers,
    /// Takes an issue from whoever holds it.
    ReclaimsAnything,
    /// Sets the end of a lease to what it is told.
    ShortensLeases,
    /// Forgets who changed something.
    ForgetsActors,
    /// Finds in another order.
    FindsBackwards,
    /// Counts what is pinned twice.
    Miscounts,
    /// Shows only the first few.
    StopsEarly,
    /// Takes every guard for true.
    IgnoresGuards,
    /// Keeps only the last comment.
    LosesComments,
    /// Does not see what depends on an issue that does not exist.
    ForgetsDependents,
    /// Keeps what was removed.
    KeepsControls,
}

/// The fields that every store has, of issues and of comments.
const KNOWN: [&str; 28] = [
    "pinned",
    "ephemeral",
    "is_template",
    "id",
    "title",
    "description",
    "design",
    "acceptance_criteria",
    "notes",
    "status",
    "priority",
    "issue_type",
    "assignee",
    "owner",
    "external_ref",
    "close_reason",
    "created_at",
    "updated_at",
    "started_at",
    "closed_at",
    "due_at",
    "defer_until",
    "labels",
    "dependencies",
    "comments",
    "metadata",
    "author",
    "text",
];

pub(crate) struct Twisted {
    inner: MemoryStore,
    twist: Twist,
}

impl Twisted {
    pub(crate) fn make(twist: Twist) -> Box<dyn Store> {
        Box::new(Self {
            inner: MemoryStore::new(),
            twist,
        })
    }

    fn is(&self, twist: Twist) -> bool {
        self.twist == twist
    }

    /// Refuses what a store with gaps cannot write.
    fn check_batch(&self, batch: &[Write]) -> Result<(), StoreError> {
        if self.is(Twist::NoBatches) && batch.len() > 1 {
            return Err(StoreError::Unsupported(Capability::AtomicBatches));
        }
        for write in batch {
            match write {
                Write::Update { guard, .. } | Write::Delete { guard, .. }
                    if self.is(Twist::NoGuards)
                        && (guard.is_free || guard.version.is_some() || guard.fence.is_some()) =>
                {
                    return Err(StoreError::Unsupported(Capability::Guards));
                }
                Write::Insert(entry) if self.is(Twist::NoUnknownFields) => {
                    let comments = entry.comments.iter().map(Comment::to_value);
                    let comments: Vec<Value> = comments.collect();
                    let said = comments.iter().filter_map(Value::as_object);
                    let mut keys = said
                        .flat_map(Map::keys)
                        .chain(entry.issue.document().keys());
                    if keys.any(|key| !KNOWN.contains(&key.as_str())) {
                        return Err(StoreError::Unsupported(Capability::UnknownFields));
                    }
                }
                Write::Insert(_) | Write::Update { .. } | Write::Delete { .. } => {}
            }
        }
        Ok(())
    }

    fn check_leases(&self) -> Result<(), StoreError> {
        match self.twist {
            Twist::NoLeases => Err(StoreError::Unsupported(Capability::Leases)),
            Twist::RefusesInOtherWords => Err(StoreError::Unsupported(Capability::History)),
            _ => Ok(()),
        }
    }
}

impl Store for Twisted {
    fn gaps(&self) -> &'static [Capability] {
        match self.twist {
            Twist::NoLeases | Twist::PretendsNoLeases | Twist::RefusesInOtherWords => {
                &[Capability::Leases]
            }
            Twist::NoHistory => &[Capability::History],
            Twist::NoBatches => &[Capability::AtomicBatches],
            Twist::NoGuards => &[Capability::Guards],
            Twist::NoUnknownFields => &[Capability::UnknownFields],
            _ => &[],
        }
    }

    fn get(&self, ids: &[BeadId]) -> Result<Vec<Record>, StoreError> {
        self.inner.get(ids)
    }

    fn find(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        let mut found = self.inner.find(query)?;
        if self.is(Twist::FindsBackwards) {
            found.reverse();
        }
        Ok(found)
    }

    fn visit(
        &self,
        query: &Query,
        see: &mut dyn FnMut(Record) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut found = self.inner.find(query)?;
        if self.is(Twist::StopsEarly) {
            found.truncate(7);
        }
        for record in found {
            if see(record).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn count(&self, query: &Query) -> Result<usize, StoreError> {
        let found = self.inner.find(query)?;
        let is_counted_twice = |record: &&Record| record.issue.flag("pinned");
        let more = found.iter().filter(is_counted_twice).count();
        Ok(found.len() + if self.is(Twist::Miscounts) { more } else { 0 })
    }

    fn ids_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<BeadId>, StoreError> {
        self.inner.ids_with_prefix(prefix, limit)
    }

    fn comments(&self, id: &BeadId) -> Result<Vec<Comment>, StoreError> {
        let mut comments = self.inner.comments(id)?;
        if self.is(Twist::LosesComments) {
            comments = comments.split_off(comments.len().saturating_sub(1));
        }
        Ok(comments)
    }

    fn blockers(&self, id: &BeadId) -> Result<Vec<Blocker>, StoreError> {
        self.inner.blockers(id)
    }

    fn dependents(&self, id: &BeadId) -> Result<Vec<(BeadId, String)>, StoreError> {
        if self.is(Twist::ForgetsDependents) && self.inner.get(std::slice::from_ref(id))?.is_empty()
        {
            return Ok(Vec::new());
        }
        self.inner.dependents(id)
    }

    fn events(
        &self,
        issue: Option<&BeadId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        if self.is(Twist::NoHistory) {
            return Err(StoreError::Unsupported(Capability::History));
        }
        let mut events = self.inner.events(issue, after, limit)?;
        if self.is(Twist::ForgetsActors) {
            for event in &mut events {
                event.actor.clear();
            }
        }
        Ok(events)
    }

    fn write(&mut self, batch: &[Write], by: Stamp<'_>) -> Result<Vec<u64>, StoreError> {
        self.check_batch(batch)?;
        if self.is(Twist::HalfBatches) {
            let mut versions = Vec::new();
            for write in batch {
                versions.extend(self.inner.write(std::slice::from_ref(write), by)?);
            }
            return Ok(versions);
        }
        let mut batch = batch.to_vec();
        if self.is(Twist::IgnoresGuards) {
            for write in &mut batch {
                if let Write::Update { guard, .. } = write {
                    *guard = Guard {
                        is_forced: true,
                        ..Guard::default()
                    };
                }
            }
        }
        self.inner.write(&batch, by)
    }

    fn claim(
        &mut self,
        id: &BeadId,
        claim: &NewClaim<'_>,
        by: Stamp<'_>,
    ) -> Result<Record, StoreError> {
        let claim = NewClaim {
            is_forced: claim.is_forced || self.is(Twist::IgnoresBlockers),
            ..*claim
        };
        self.inner.claim(id, &claim, by)
    }

    fn heartbeat(
        &mut self,
        id: &BeadId,
        fence: Fence,
        lease_until: Timestamp,
    ) -> Result<Claim, StoreError> {
        let mut claim = self.inner.heartbeat(id, fence, lease_until)?;
        if self.is(Twist::ShortensLeases) {
            claim.lease_until = lease_until;
        }
        Ok(claim)
    }

    fn release(&mut self, id: &BeadId, fence: Fence, by: Stamp<'_>) -> Result<Record, StoreError> {
        self.inner.release(id, fence, by)
    }

    fn reclaim(
        &mut self,
        id: &BeadId,
        fence: Fence,
        why: Abandoned,
        by: Stamp<'_>,
    ) -> Result<Record, StoreError> {
        let held = self.inner.get(std::slice::from_ref(id))?;
        let held = held.first().and_then(|record| record.claim.as_ref());
        let fence = match held {
            Some(claim) if self.is(Twist::ReclaimsAnything) => claim.fence,
            _ => fence,
        };
        self.inner.reclaim(id, fence, why, by)
    }

    fn acquire(
        &mut self,
        names: &[&str],
        holder: &Holder,
        until: Timestamp,
        by: Stamp<'_>,
    ) -> Result<Option<Lease>, StoreError> {
        self.check_leases()?;
        self.inner.acquire(names, holder, until, by)
    }

    fn renew(&mut self, name: &str, fence: Fence, until: Timestamp) -> Result<Lease, StoreError> {
        self.check_leases()?;
        self.inner.renew(name, fence, until)
    }

    fn give_back(&mut self, name: &str, fence: Fence) -> Result<(), StoreError> {
        self.check_leases()?;
        self.inner.give_back(name, fence)
    }

    fn leases(&self, prefix: &str, now: Timestamp) -> Result<Vec<Lease>, StoreError> {
        self.check_leases()?;
        self.inner.leases(prefix, now)
    }

    fn controls(&self, prefix: &str) -> Result<Vec<Control>, StoreError> {
        self.check_leases()?;
        self.inner.controls(prefix)
    }

    fn set_control(
        &mut self,
        key: &str,
        value: &Value,
        seen: u64,
        by: Stamp<'_>,
    ) -> Result<u64, StoreError> {
        self.check_leases()?;
        if self.is(Twist::KeepsControls) && value.is_null() {
            return Ok(seen + 1);
        }
        self.inner.set_control(key, value, seen, by)
    }
}
