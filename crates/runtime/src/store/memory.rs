//! A store in memory, for tests: the plainest reading of the contract.
//!
//! Nothing is kept incrementally: what is held back is computed from scratch whenever it is asked for,
//! so that the other stores can be compared with it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    ALL_STEPS_COMPLETE, Abandoned, Blocker, Claim, Comment, Edit, Entry, Event, EventKind, Facts,
    Family, Fence, Holder, Issue, Member, Neighbours, Parts, Query, Record, Side, Standing,
    blockers, close_completed, difference, is_ready, removal,
};
use jiff::Timestamp;
use serde_json::Value;

use super::bd::Row as Mirrored;
use super::rules::{self, Next, check_cycles, waits_for};
use super::{Control, Guard, Lease, NewClaim, Result, Stamp, Store, StoreError, Write};

/// A store that is gone when it is dropped.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    rows: BTreeMap<BeadId, Row>,
    events: Vec<Event>,
    leases: BTreeMap<String, (Fence, Option<Lease>)>,
    controls: BTreeMap<String, Control>,
}

#[derive(Debug, Clone)]
struct Row {
    issue: Issue,
    comments: Vec<Comment>,
    version: u64,
    fence: Fence,
    claim: Option<Claim>,
}

/// What a batch did so far.
#[derive(Default)]
struct Done {
    /// What there was before, to undo it.
    before: Vec<(BeadId, Option<Row>)>,
    /// Issues that were closed, each of which may have been the last step of a molecule.
    closed: Vec<BeadId>,
}

impl MemoryStore {
    pub fn new() -> Self {
        Self::default()
    }

    /// Becomes what another keeper has, with an event for each issue that is another one.
    pub(super) fn mirror(&mut self, rows: Vec<Mirrored>, by: Stamp<'_>) {
        let there: BTreeSet<BeadId> = (rows.iter())
            .map(|row| row.entry.issue.id().clone())
            .collect();
        let known = self.rows.keys();
        let gone: Vec<BeadId> = known.filter(|id| !there.contains(*id)).cloned().collect();
        for id in gone {
            self.forget(&id, by);
        }
        for row in rows {
            self.mirror_one(row, by);
        }
    }

    /// Takes over one issue of another keeper.
    pub(super) fn mirror_one(&mut self, row: Mirrored, by: Stamp<'_>) {
        let id = row.entry.issue.id().clone();
        if self.row_of(&id).as_ref() == Some(&row) {
            return;
        }
        let Mirrored { entry, claim } = row;
        let known = self.rows.get(&id).map_or(&[][..], |row| &row.comments);
        let is_longer = entry.comments.starts_with(known);
        let new = if is_longer { known.len() } else { 0 };
        let next = Next {
            issue: Cow::Owned(entry.issue),
            comments: entry.comments[new..].to_vec(),
            fence: entry.fence,
            claim,
            kind: EventKind::Updated,
            why: None,
        };
        if !is_longer && let Some(row) = self.rows.get_mut(&id) {
            row.comments.clear();
        }
        self.put(&id, next, by);
    }

    /// An issue with everything that travels with it.
    pub(super) fn row_of(&self, id: &BeadId) -> Option<Mirrored> {
        let row = self.rows.get(id)?;
        Some(Mirrored {
            entry: Entry {
                issue: row.issue.clone(),
                comments: row.comments.clone(),
                fence: row.fence,
            },
            claim: row.claim.clone(),
        })
    }

    pub(super) fn n_events(&self) -> usize {
        self.events.len()
    }

    /// The issues that changed after so many events, each once.
    pub(super) fn touched_since(&self, n_events: usize) -> Vec<BeadId> {
        let mut touched: Vec<BeadId> = Vec::new();
        let mut seen = BTreeSet::new();
        for event in &self.events[n_events..] {
            if seen.insert(&event.issue) {
                touched.push(event.issue.clone());
            }
        }
        touched
    }

    /// A heartbeat that counts as a change, for a keeper that must be told.
    pub(super) fn beat(&mut self, id: &BeadId, fence: Fence, lease_until: Timestamp) -> Result<()> {
        self.heartbeat(id, fence, lease_until)?;
        let version = self.rows.get(id).map_or(0, |row| row.version);
        let none = (Facts::default(), Facts::default());
        let by = Stamp {
            actor: "",
            at: Timestamp::UNIX_EPOCH,
        };
        self.push_event(id, version, EventKind::Updated, none, by);
        Ok(())
    }

    fn forget(&mut self, id: &BeadId, by: Stamp<'_>) {
        let version = self.rows.get(id).map_or(0, |row| row.version);
        let none = (Facts::default(), Facts::default());
        self.push_event(id, version, EventKind::Deleted, none, by);
        self.rows.remove(id);
    }

    fn push_event(
        &mut self,
        id: &BeadId,
        version: u64,
        kind: EventKind,
        (before, after): (Facts, Facts),
        by: Stamp<'_>,
    ) {
        self.events.push(Event {
            number: self.events.len() as u64 + 1,
            issue: id.clone(),
            version,
            at: by.time(),
            actor: by.actor.to_owned(),
            kind,
            before,
            after,
        });
    }

    fn row(&self, id: &BeadId) -> Result<&Row> {
        self.rows
            .get(id)
            .ok_or_else(|| StoreError::NotFound(id.clone()))
    }

    fn record(&self, row: &Row) -> Record {
        Record {
            issue: row.issue.clone(),
            version: row.version,
            fence: row.fence,
            is_blocked: !self.blockers_of(&row.issue, &mut Vec::new()).is_empty(),
            claim: row.claim.clone(),
            n_comments: row.comments.len(),
        }
    }

    fn blockers_of(&self, issue: &Issue, above: &mut Vec<BeadId>) -> Vec<Blocker> {
        above.push(issue.id().clone());
        let world = World { store: self, above };
        let found = blockers(issue, &world);
        above.pop();
        match found {
            Ok(blockers) => blockers,
            Err(never) => match never {},
        }
    }

    fn put(&mut self, id: &BeadId, next: Next<'_>, by: Stamp<'_>) -> u64 {
        let before = self.rows.get(id);
        let n_comments = before.map_or(0, |row| row.comments.len());
        let old = before.map(|row| Side {
            issue: &row.issue,
            fence: row.fence,
            claim: row.claim.as_ref(),
        });
        let new = Side {
            issue: &next.issue,
            fence: next.fence,
            claim: next.claim.as_ref(),
        };
        let (old, new) = difference(old, new, n_comments, &next.comments);
        let last = before.map_or_else(|| self.after_removal(id).0, |row| row.version);
        let version = last + 1;
        let mut comments = before.map(|row| row.comments.clone()).unwrap_or_default();
        comments.extend(next.comments);
        let facts = (old.into_facts(), new.because(next.why).into_facts());
        self.push_event(id, version, next.kind, facts, by);
        let row = Row {
            issue: next.issue.into_owned(),
            comments,
            version,
            fence: next.fence,
            claim: next.claim,
        };
        self.rows.insert(id.clone(), row);
        version
    }

    fn after_removal(&self, id: &BeadId) -> (u64, Fence) {
        let last = self.events.iter().rfind(|event| event.issue == *id);
        rules::after_removal(last)
    }

    /// Takes an issue out, and the edges of others to it.
    fn delete(
        &mut self,
        id: &BeadId,
        guard: &Guard,
        by: Stamp<'_>,
        done: &mut Done,
    ) -> Result<u64> {
        let record = self.record(self.row(id)?);
        rules::check_removable(&record, guard)?;
        for (other, _) in self.dependents(id)? {
            self.remember(&other, done);
            let edits = [Edit::RemoveDependency(id.clone())];
            self.update(&other, &edits, &Guard::forced(), by, done)?;
        }
        let version = record.version + 1;
        let side = Side {
            issue: &record.issue,
            fence: record.fence,
            claim: record.claim.as_ref(),
        };
        let facts = (removal(side).into_facts(), Facts::default());
        self.push_event(id, version, EventKind::Deleted, facts, by);
        self.rows.remove(id);
        Ok(version)
    }

    fn insert(&mut self, entry: &Entry, by: Stamp<'_>) -> Result<u64> {
        let id = entry.issue.id();
        if self.rows.contains_key(id) {
            return Err(StoreError::Exists(id.clone()));
        }
        let fence = entry.fence.max(self.after_removal(id).1);
        Ok(self.put(id, Next::created(entry, fence), by))
    }

    fn update(
        &mut self,
        id: &BeadId,
        edits: &[Edit],
        guard: &Guard,
        by: Stamp<'_>,
        done: &mut Done,
    ) -> Result<u64> {
        let record = self.record(self.row(id)?);
        match Next::edited(&record, edits, guard, by, &mut done.closed)? {
            Some(next) => Ok(self.put(id, next, by)),
            None => Ok(record.version),
        }
    }

    fn end_claim(
        &mut self,
        id: &BeadId,
        fence: Fence,
        end: (EventKind, Option<&'static str>),
        by: Stamp<'_>,
    ) -> Result<Record> {
        let record = self.record(self.row(id)?);
        let next = Next::released(&record, fence, end, by)?;
        self.put(id, next, by);
        Ok(self.record(self.row(id)?))
    }

    /// Notes what is there of an issue that is about to change.
    fn remember(&self, id: &BeadId, done: &mut Done) {
        done.before.push((id.clone(), self.rows.get(id).cloned()));
    }

    /// Does one change after the other, then closes the molecules that they completed.
    fn write_all(&mut self, batch: &[Write], by: Stamp<'_>, done: &mut Done) -> Result<Vec<u64>> {
        let mut versions = Vec::with_capacity(batch.len());
        for write in batch {
            self.remember(write.id(), done);
            versions.push(match write {
                Write::Insert(entry) => self.insert(entry, by)?,
                Write::Update { id, edits, guard } => self.update(id, edits, guard, by, done)?,
                Write::Delete { id, guard } => self.delete(id, guard, by, done)?,
            });
        }
        let touched: Vec<BeadId> = done.before.iter().map(|(id, _)| id.clone()).collect();
        let row = |id: &BeadId| self.rows.get(id);
        check_cycles(touched, |id| -> Result<_> {
            Ok(row(id).map(|row| waits_for(&row.issue)).unwrap_or_default())
        })?;
        for (id, version) in self.close_completed(by, done)? {
            rules::set_version(batch, &mut versions, &id, version);
        }
        Ok(versions)
    }

    /// Closes the molecules whose last step was closed (F-14), and gives their versions.
    fn close_completed(&mut self, by: Stamp<'_>, done: &mut Done) -> Result<Vec<(BeadId, u64)>> {
        let closed = std::mem::take(&mut done.closed);
        if closed.is_empty() {
            return Ok(Vec::new());
        }
        let mut children: HashMap<BeadId, Vec<BeadId>> = HashMap::new();
        for row in self.rows.values() {
            for parent in row.issue.parents() {
                let own = children.entry(parent.clone()).or_default();
                own.push(row.issue.id().clone());
            }
        }
        let mut steps = Steps {
            store: self,
            by,
            done,
            children,
        };
        let roots = close_completed(&mut steps, &closed)?;
        let version = |id: BeadId| self.row(&id).map(|row| row.version).map(|v| (id, v));
        roots.into_iter().map(version).collect()
    }

    fn is_parent_deferred(&self, issue: &Issue, now: Timestamp) -> bool {
        let is_deferred = |row: &Row| {
            row.issue
                .time("defer_until")
                .is_some_and(|until| until > now)
        };
        issue
            .parents()
            .any(|parent| self.rows.get(parent).is_some_and(is_deferred))
    }
}

/// The molecules of a store, and who is a part of whom in it.
struct Steps<'a> {
    store: &'a mut MemoryStore,
    by: Stamp<'a>,
    done: &'a mut Done,
    children: HashMap<BeadId, Vec<BeadId>>,
}

impl Family for Steps<'_> {
    type Error = StoreError;

    fn member(&self, id: &BeadId) -> Result<Option<Member>> {
        let row = self.store.rows.get(id);
        Ok(row.map(|row| Member::of(&row.issue, row.claim.is_some())))
    }

    fn parts(&self, id: &BeadId) -> Result<Parts> {
        let parts = self.children.get(id).map_or(&[][..], Vec::as_slice);
        let is_closed = |id: &BeadId| {
            let row = self.store.rows.get(id);
            row.is_some_and(|row| row.issue.standing() == Standing::Closed)
        };
        if parts.iter().all(is_closed) {
            Ok(Parts::Closed(parts.to_vec()))
        } else {
            Ok(Parts::Unfinished)
        }
    }

    fn complete(&mut self, root: &BeadId) -> Result<()> {
        self.store.remember(root, self.done);
        let edits = [Edit::Close(ALL_STEPS_COMPLETE.to_owned())];
        let guard = Guard::default();
        self.store
            .update(root, &edits, &guard, self.by, self.done)?;
        Ok(())
    }
}

/// The issues around one, with the path that led to it, so that a cycle of parents ends.
struct World<'a> {
    store: &'a MemoryStore,
    above: &'a [BeadId],
}

impl Neighbours for World<'_> {
    type Error = std::convert::Infallible;

    fn standing(&self, id: &BeadId) -> Result<Option<Standing>, Self::Error> {
        Ok(self.store.rows.get(id).map(|row| row.issue.standing()))
    }

    fn children(&self, id: &BeadId) -> Result<Vec<Standing>, Self::Error> {
        let rows = self.store.rows.values();
        let children = rows.filter(|row| row.issue.parents().any(|parent| parent == id));
        Ok(children.map(|row| row.issue.standing()).collect())
    }

    fn is_blocked(&self, id: &BeadId) -> Result<bool, Self::Error> {
        let Some(row) = self.store.rows.get(id).filter(|_| !self.above.contains(id)) else {
            return Ok(false);
        };
        let mut above = self.above.to_vec();
        Ok(!self.store.blockers_of(&row.issue, &mut above).is_empty())
    }
}

impl Store for MemoryStore {
    fn get(&self, ids: &[BeadId]) -> Result<Vec<Record>> {
        let rows = ids.iter().filter_map(|id| self.rows.get(id));
        Ok(rows.map(|row| self.record(row)).collect())
    }

    fn find(&self, query: &Query) -> Result<Vec<Record>> {
        let records = self.rows.values().map(|row| self.record(row));
        let mut found: Vec<Record> = records
            .filter(|record| query.matches(record))
            .filter(|record| {
                query.ready_at.is_none_or(|now| {
                    is_ready(
                        record,
                        query,
                        now,
                        self.is_parent_deferred(&record.issue, now),
                    )
                })
            })
            .collect();
        found.sort_by(|a, b| query.order.compare(&a.issue, &b.issue));
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    fn ids_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<BeadId>> {
        let ids = self
            .rows
            .keys()
            .filter(|id| id.as_str().starts_with(prefix));
        Ok(ids.take(limit).cloned().collect())
    }

    fn comments(&self, id: &BeadId) -> Result<Vec<Comment>> {
        Ok(self.row(id)?.comments.clone())
    }

    fn blockers(&self, id: &BeadId) -> Result<Vec<Blocker>> {
        Ok(self.blockers_of(&self.row(id)?.issue, &mut Vec::new()))
    }

    fn dependents(&self, id: &BeadId) -> Result<Vec<(BeadId, String)>> {
        let mut found = Vec::new();
        for row in self.rows.values() {
            let edges = row.issue.dependencies();
            let edge = edges.iter().find(|edge| edge.target() == id);
            found.extend(edge.map(|edge| (row.issue.id().clone(), edge.kind().to_owned())));
        }
        Ok(found)
    }

    fn events(&self, issue: Option<&BeadId>, after: u64, limit: usize) -> Result<Vec<Event>> {
        let events = self.events.iter().filter(|event| event.number > after);
        let events = events.filter(|event| issue.is_none_or(|id| event.issue == *id));
        Ok(events.take(limit).cloned().collect())
    }

    fn write(&mut self, batch: &[Write], by: Stamp<'_>) -> Result<Vec<u64>> {
        let n_events = self.events.len();
        let mut done = Done::default();
        let written = self.write_all(batch, by, &mut done);
        if written.is_err() {
            self.events.truncate(n_events);
            for (id, row) in done.before.into_iter().rev() {
                match row {
                    Some(row) => self.rows.insert(id, row),
                    None => self.rows.remove(&id),
                };
            }
        }
        written
    }

    fn claim(&mut self, id: &BeadId, claim: &NewClaim<'_>, by: Stamp<'_>) -> Result<Record> {
        let mut record = self.record(self.row(id)?);
        match claim.instead_of {
            None => rules::check_claimable(&record)?,
            Some((fence, _)) => rules::check_held(&record, fence)?,
        }
        if record.is_blocked && !claim.is_forced {
            let blockers = self.blockers(id)?;
            return Err(StoreError::Blocked {
                id: id.clone(),
                blockers,
            });
        }
        if let Some((fence, why)) = claim.instead_of {
            record = self.reclaim(id, fence, why, by)?;
        }
        let next = Next::claimed(&record, claim, by)?;
        self.put(id, next, by);
        Ok(self.record(self.row(id)?))
    }

    fn heartbeat(&mut self, id: &BeadId, fence: Fence, lease_until: Timestamp) -> Result<Claim> {
        let record = self.record(self.row(id)?);
        let row = self
            .rows
            .get_mut(id)
            .ok_or_else(|| StoreError::NotFound(id.clone()))?;
        match &mut row.claim {
            Some(claim) if claim.fence == fence => {
                claim.lease_until = claim.lease_until.max(lease_until);
                Ok(claim.clone())
            }
            _ => Err(rules::stale(&record, fence)),
        }
    }

    fn release(&mut self, id: &BeadId, fence: Fence, by: Stamp<'_>) -> Result<Record> {
        self.end_claim(id, fence, (EventKind::Released, None), by)
    }

    fn reclaim(
        &mut self,
        id: &BeadId,
        fence: Fence,
        why: Abandoned,
        by: Stamp<'_>,
    ) -> Result<Record> {
        self.end_claim(id, fence, (EventKind::Reclaimed, Some(why.as_str())), by)
    }

    fn acquire(
        &mut self,
        names: &[&str],
        holder: &Holder,
        until: Timestamp,
        by: Stamp<'_>,
    ) -> Result<Option<Lease>> {
        for name in names {
            let (fence, taken) = self.leases.entry((*name).to_owned()).or_default();
            if taken.as_ref().is_some_and(|lease| lease.until >= by.at) {
                continue;
            }
            *fence = fence.next().expect(rules::COUNTED);
            let lease = Lease {
                name: (*name).to_owned(),
                fence: *fence,
                holder: holder.clone(),
                until,
            };
            *taken = Some(lease.clone());
            return Ok(Some(lease));
        }
        Ok(None)
    }

    fn renew(&mut self, name: &str, fence: Fence, until: Timestamp) -> Result<Lease> {
        match self.leases.get_mut(name) {
            Some((_, Some(lease))) if lease.fence == fence => {
                lease.until = lease.until.max(until);
                Ok(lease.clone())
            }
            _ => Err(rules::lease_lost(name, fence)),
        }
    }

    fn give_back(&mut self, name: &str, fence: Fence) -> Result<()> {
        if let Some((_, taken)) = self.leases.get_mut(name) {
            taken.take_if(|lease| lease.fence == fence);
        }
        Ok(())
    }

    fn leases(&self, prefix: &str, now: Timestamp) -> Result<Vec<Lease>> {
        let leases = self.leases.values().filter_map(|(_, lease)| lease.as_ref());
        let leases = leases.filter(|lease| lease.name.starts_with(prefix) && lease.until >= now);
        Ok(leases.cloned().collect())
    }

    fn controls(&self, prefix: &str) -> Result<Vec<Control>> {
        let rows = self
            .controls
            .values()
            .filter(|row| row.key.starts_with(prefix) && !row.value.is_null());
        Ok(rows.cloned().collect())
    }

    fn set_control(&mut self, key: &str, value: &Value, seen: u64, by: Stamp<'_>) -> Result<u64> {
        let version = match self.controls.get(key) {
            Some(row) if !row.value.is_null() => row.version,
            _ => 0,
        };
        if version != seen {
            return Err(rules::control_changed(key, seen, version));
        }
        let last = self.controls.get(key).map_or(0, |row| row.version);
        let row = Control {
            key: key.to_owned(),
            value: value.clone(),
            version: last + 1,
            actor: by.actor.to_owned(),
            at: Timestamp::from_microsecond(by.at.as_microsecond()).unwrap_or(by.at),
        };
        let version = row.version;
        self.controls.insert(key.to_owned(), row);
        Ok(version)
    }
}
