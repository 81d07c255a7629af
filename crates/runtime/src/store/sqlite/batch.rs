//! A batch of changes: staged in memory, checked as a whole, then written.
//!
//! Each issue is read once and written once however often it changes, and whether something is held back is
//! settled before anything is written. The batch runs inside a transaction that keeps other writers out,
//! so what it read stays true.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet, VecDeque};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    Blocker, Claim, Comment, Dependency, Edit, Entry, EventKind, Fence, Issue, Neighbours, Record,
    Side, Standing, blockers, difference, removal,
};
use rusqlite::Connection;

use super::edges::{Link, StagedEdges, stored_dependents};
use super::failure::{Failed, Result};
use super::leases;
use super::rows::{self, NewEvent};
use crate::store::rules::{self, Next, check_cycles, is_waiting, waits_for};
use crate::store::{Guard, Stamp, StoreError, Write};

pub(super) struct Batch<'c> {
    connection: &'c Connection,
    pub(super) by: Stamp<'c>,
    staged: HashMap<BeadId, Staged<'c>>,
    /// The staged issues in the order in which they came, so that writing is deterministic.
    order: Vec<BeadId>,
    edges: StagedEdges,
    events: Vec<NewEvent>,
    /// Issues that are removed, each with its last version and its fence.
    removed: HashMap<BeadId, (u64, Fence)>,
    /// Where the histories of removed issues go on that come again.
    bases: HashMap<BeadId, u64>,
    /// Issues whose being held back may have changed, each once.
    dirty: VecDeque<BeadId>,
    is_dirty: HashSet<BeadId>,
    /// Whether the store has edges at all; a new one has none that could be asked for.
    has_edges: OnceCell<bool>,
    /// Issues that were closed, each of which may have been the last step of a molecule.
    closed: Vec<BeadId>,
    /// The fences of beads that were lost and may come again; mostly none.
    floors: OnceCell<HashMap<String, Fence>>,
}

struct Staged<'c> {
    before: Option<Record>,
    now: State<'c>,
    comments: Vec<Comment>,
    is_changed: bool,
}

/// A record whose issue may belong to the caller: a whole plan is inserted without being copied.
pub(super) struct State<'c> {
    pub(super) issue: Cow<'c, Issue>,
    pub(super) version: u64,
    pub(super) fence: Fence,
    pub(super) is_blocked: bool,
    pub(super) claim: Option<Claim>,
    pub(super) n_comments: usize,
}

impl State<'_> {
    fn to_record(&self) -> Record {
        Record {
            issue: self.issue.clone().into_owned(),
            version: self.version,
            fence: self.fence,
            is_blocked: self.is_blocked,
            claim: self.claim.clone(),
            n_comments: self.n_comments,
        }
    }
}

impl From<Record> for State<'_> {
    fn from(record: Record) -> Self {
        Self {
            issue: Cow::Owned(record.issue),
            version: record.version,
            fence: record.fence,
            is_blocked: record.is_blocked,
            claim: record.claim,
            n_comments: record.n_comments,
        }
    }
}

impl<'c> Batch<'c> {
    pub(super) fn new(connection: &'c Connection, by: Stamp<'c>) -> Self {
        Self {
            connection,
            by,
            staged: HashMap::new(),
            order: Vec::new(),
            edges: StagedEdges::default(),
            events: Vec::new(),
            removed: HashMap::new(),
            bases: HashMap::new(),
            dirty: VecDeque::new(),
            is_dirty: HashSet::new(),
            has_edges: OnceCell::new(),
            closed: Vec::new(),
            floors: OnceCell::new(),
        }
    }

    /// Stages one change and gives the issue's version after it.
    pub(super) fn stage(&mut self, write: &'c Write) -> Result<u64> {
        match write {
            Write::Insert(entry) => self.insert(entry),
            Write::Update { id, edits, guard } => self.update(id, edits, guard),
            Write::Delete { id, guard } => self.delete(id, guard),
        }
    }

    fn insert(&mut self, entry: &'c Entry) -> Result<u64> {
        let id = entry.issue.id();
        let (version, fence) = match self.removed.get(id) {
            Some(last) if !self.staged.contains_key(id) => *last,
            _ if self.staged.contains_key(id) || rows::exists(self.connection, id)? => {
                return Err(StoreError::Exists(id.clone()).into());
            }
            _ => rules::after_removal(rows::last_of(self.connection, id)?.as_ref()),
        };
        if version > 0 {
            self.bases.insert(id.clone(), version);
        }
        if self.floors.get().is_none() {
            let floors = leases::floors(self.connection)?;
            self.floors.get_or_init(|| floors);
        }
        let floor = self.floors.get().and_then(|floors| floors.get(id.as_str()));
        let fence = (entry.fence.max(floor.copied().unwrap_or_default())).max(fence);
        self.put(None, Next::created(entry, fence))
    }

    pub(super) fn update(&mut self, id: &BeadId, edits: &[Edit], guard: &Guard) -> Result<u64> {
        self.settle_for(guard)?;
        let record = self.existing(id)?;
        match Next::edited(&record, edits, guard, self.by, &mut self.closed)? {
            Some(next) => self.put(Some(record), next),
            None => Ok(record.version),
        }
    }

    /// A guard on being free sees what the earlier changes of the batch have made of it.
    fn settle_for(&mut self, guard: &Guard) -> Result<()> {
        if guard.is_free { self.settle() } else { Ok(()) }
    }

    /// Takes an issue out, and the edges of others to it.
    fn delete(&mut self, id: &BeadId, guard: &Guard) -> Result<u64> {
        self.settle_for(guard)?;
        let record = self.existing(id)?;
        rules::check_removable(&record, guard)?;
        for other in self.all_dependents(id)? {
            let edits = [Edit::RemoveDependency(id.clone())];
            self.update(&other, &edits, &Guard::forced())?;
        }
        let version = record.version + 1;
        self.events.push(NewEvent {
            issue: id.clone(),
            version,
            kind: EventKind::Deleted,
            before: rows::json(&removal(side(&record)))?,
            after: "{}".to_owned(),
        });
        self.edges.remove(&record.issue);
        self.staged.remove(id);
        self.order.retain(|own| own != id);
        self.removed.insert(id.clone(), (version, record.fence));
        let mut waiting = Vec::new();
        for parent in record.issue.parents() {
            waiting.extend(self.dependents(parent, Link::Spawned)?);
        }
        self.recheck(waiting);
        Ok(version)
    }

    /// Every issue with an edge to an id, of whatever type, as the batch sees it.
    fn all_dependents(&self, id: &BeadId) -> Result<Vec<BeadId>> {
        let stored = stored_dependents(self.connection, id)?;
        let stored = stored.into_iter().map(|(other, _)| other);
        let mut found: Vec<BeadId> = stored.filter(|other| !self.has_taken(other)).collect();
        let staged = self.staged.iter().filter(|(_, staged)| {
            let edges = staged.now.issue.dependencies();
            edges.iter().any(|edge| edge.target() == id)
        });
        found.extend(staged.map(|(other, _)| other.clone()));
        found.sort_unstable();
        Ok(found)
    }

    /// The record of an id as the batch sees it.
    pub(super) fn load(&self, id: &BeadId) -> Result<Option<Record>> {
        match self.staged.get(id) {
            Some(staged) => Ok(Some(staged.now.to_record())),
            None => self.stored(id),
        }
    }

    /// Whether what the file has of an id is no longer so.
    pub(super) fn has_taken(&self, id: &BeadId) -> bool {
        self.staged.contains_key(id) || self.removed.contains_key(id)
    }

    /// The issues that were closed and whose molecules nobody looked at yet.
    pub(super) fn take_closed(&mut self) -> Vec<BeadId> {
        std::mem::take(&mut self.closed)
    }

    pub(super) fn connection(&self) -> &'c Connection {
        self.connection
    }

    /// The record of an id in the file, unless the batch removes it.
    fn stored(&self, id: &BeadId) -> Result<Option<Record>> {
        if self.removed.contains_key(id) {
            return Ok(None);
        }
        rows::load(self.connection, id)
    }

    /// As above, for an issue that must be there.
    pub(super) fn existing(&self, id: &BeadId) -> Result<Record> {
        let record = self.load(id)?;
        record.ok_or_else(|| StoreError::NotFound(id.clone()).into())
    }

    /// Stages what an issue becomes.
    pub(super) fn put(&mut self, record: Option<Record>, next: Next<'c>) -> Result<u64> {
        let id = next.issue.id().clone();
        let base = || self.bases.get(&id).copied().unwrap_or_default();
        let last = record.as_ref().map_or_else(base, |record| record.version);
        let version = last + 1;
        let n_comments = record.as_ref().map_or(0, |record| record.n_comments);
        let (before, after) = difference(
            record.as_ref().map(side),
            Side {
                issue: &next.issue,
                fence: next.fence,
                claim: next.claim.as_ref(),
            },
            n_comments,
            &next.comments,
        );
        self.events.push(NewEvent {
            issue: id.clone(),
            version,
            kind: next.kind,
            before: rows::json(&before)?,
            after: rows::json(&after.because(next.why))?,
        });
        self.mark_dirty(record.as_ref().map(|record| &record.issue), &next.issue)?;
        self.edges
            .replace(record.as_ref().map(|record| &record.issue), &next.issue);
        let now = State {
            version,
            fence: next.fence,
            is_blocked: record.as_ref().is_some_and(|record| record.is_blocked),
            claim: next.claim,
            n_comments: n_comments + next.comments.len(),
            issue: next.issue,
        };
        if let Some(staged) = self.staged.get_mut(&id) {
            staged.now = now;
            staged.comments.extend(next.comments);
            staged.is_changed = true;
        } else {
            let staged = Staged {
                before: record,
                now,
                comments: next.comments,
                is_changed: true,
            };
            self.order.push(id.clone());
            self.staged.insert(id, staged);
        }
        Ok(version)
    }

    /// Notes whose being held back a change can touch: the issue itself, those that wait for it, and those that wait
    /// for the children of its parents. Its own children follow when it turns out that it is held back or no longer.
    fn mark_dirty(&mut self, before: Option<&Issue>, after: &Issue) -> Result<()> {
        let edges_changed = before.map(Issue::dependencies) != Some(after.dependencies());
        let standing_changed = before.map(Issue::standing) != Some(after.standing());
        if !edges_changed && !standing_changed {
            return Ok(());
        }
        self.recheck([after.id().clone()]);
        if standing_changed {
            let waiting = self.dependents(after.id(), Link::Waiting)?;
            self.recheck(waiting);
        }
        let before = before.into_iter().flat_map(Issue::parents);
        let parents: HashSet<&BeadId> = after.parents().chain(before).collect();
        for parent in parents {
            let waiting = self.dependents(parent, Link::Spawned)?;
            self.recheck(waiting);
        }
        Ok(())
    }

    /// The issues with an edge of a kind to an id, staged or stored.
    pub(super) fn dependents(&self, id: &BeadId, link: Link) -> Result<Vec<BeadId>> {
        let mut found = Vec::new();
        if self.has_stored_edges()? {
            found = rows::ids(self.connection, link.stored(), [id.as_str()])?;
            found.retain(|id| !self.has_taken(id));
        }
        let mut staged: Vec<BeadId> = self.edges.get(link, id).cloned().collect();
        staged.sort_unstable();
        found.extend(staged);
        Ok(found)
    }

    /// Whether the store had any edge before this batch.
    fn has_stored_edges(&self) -> Result<bool> {
        if let Some(has_edges) = self.has_edges.get() {
            return Ok(*has_edges);
        }
        let mut statement = self.connection.prepare("SELECT 1 FROM edges LIMIT 1")?;
        let found = statement.exists([])?;
        Ok(*self.has_edges.get_or_init(|| found))
    }

    /// Decides anew for these issues whether they are held back.
    pub(super) fn recheck(&mut self, ids: impl IntoIterator<Item = BeadId>) {
        for id in ids {
            if self.is_dirty.insert(id.clone()) {
                self.dirty.push_back(id);
            }
        }
    }

    /// Checks the whole, closes what it completes, settles what is held back, and writes. The answer has the versions of the
    /// molecules that closed with their last step.
    pub(super) fn finish(mut self) -> Result<Vec<(BeadId, u64)>> {
        self.check_cycles()?;
        let completed = self.close_completed()?;
        self.settle()?;
        self.flush()?;
        Ok(completed)
    }

    /// The record of an id after [`settle`](Self::settle), for a caller that answers with it.
    pub(super) fn settled(&mut self, id: &BeadId) -> Result<Record> {
        self.settle()?;
        self.existing(id)
    }

    fn check_cycles(&self) -> Result<()> {
        let has_new_edges = |id: &&BeadId| {
            let staged = &self.staged[*id];
            let before = staged
                .before
                .as_ref()
                .map(|before| waits_for(&before.issue));
            before.unwrap_or_default() != waits_for(&staged.now.issue)
        };
        let starts: Vec<BeadId> = self.order.iter().filter(has_new_edges).cloned().collect();
        check_cycles(starts, |id| self.waits_for(id))
    }

    fn waits_for(&self, id: &BeadId) -> Result<Vec<BeadId>> {
        if let Some(staged) = self.staged.get(id) {
            return Ok(waits_for(&staged.now.issue));
        }
        if self.removed.contains_key(id) {
            return Ok(Vec::new());
        }
        let sql = "SELECT target, kind FROM edges WHERE issue_id = ?1 AND kind IN ('blocks', 'conditional-blocks', 'parent-child')";
        let edges = rows::collect(self.connection, sql, [id.as_str()], |row| {
            let (target, kind): (String, String) = (row.get(0)?, row.get(1)?);
            let edge = BeadId::parse(&target).and_then(|target| Dependency::new(target, &kind));
            Ok(edge.ok())
        })?;
        let waiting = edges.iter().flatten().filter(|edge| is_waiting(edge));
        Ok(waiting.map(|edge| edge.target().clone()).collect())
    }

    /// Decides for every issue that a change can have touched whether it is held back, and passes it on to
    /// children. Parents form no circle, so this ends.
    fn settle(&mut self) -> Result<()> {
        while let Some(id) = self.dirty.pop_front() {
            self.is_dirty.remove(&id);
            let stored = match self.staged.get(&id) {
                Some(_) => None,
                None => match self.stored(&id)? {
                    Some(record) => Some(record),
                    None => continue,
                },
            };
            let (issue, was_blocked) = if let Some(record) = &stored {
                (&record.issue, record.is_blocked)
            } else {
                let now = &self.staged[&id].now;
                (&*now.issue, now.is_blocked)
            };
            let is_blocked = !blockers(issue, self)?.is_empty();
            if is_blocked == was_blocked {
                continue;
            }
            let children = self.dependents(&id, Link::Child)?;
            self.recheck(children);
            if let Some(record) = stored {
                self.stage_unchanged(record);
            }
            if let Some(staged) = self.staged.get_mut(&id) {
                staged.now.is_blocked = is_blocked;
            }
        }
        Ok(())
    }

    /// Brings a stored issue into the batch as it is.
    fn stage_unchanged(&mut self, record: Record) {
        let id = record.issue.id().clone();
        self.edges.replace(None, &record.issue);
        let staged = Staged {
            before: Some(record.clone()),
            now: record.into(),
            comments: Vec::new(),
            is_changed: false,
        };
        self.order.push(id.clone());
        self.staged.insert(id, staged);
    }

    fn flush(self) -> Result<()> {
        for id in self.removed.keys() {
            rows::remove(self.connection, id)?;
        }
        for id in &self.order {
            let staged = &self.staged[id];
            let before = staged.before.as_ref();
            if staged.is_changed {
                write_staged(self.connection, staged)?;
            } else if before.is_some_and(|before| before.is_blocked != staged.now.is_blocked) {
                rows::put_blocked(self.connection, id, staged.now.is_blocked)?;
            }
        }
        if self.events.is_empty() {
            return Ok(());
        }
        let mut number = rows::last_event(self.connection)?;
        let at = self.by.time();
        for event in &self.events {
            number += 1;
            rows::put_event(self.connection, number, event, self.by.actor, &at)?;
        }
        Ok(())
    }
}

fn write_staged(connection: &Connection, staged: &Staged<'_>) -> Result<()> {
    let (before, now) = (staged.before.as_ref(), &staged.now);
    let id = now.issue.id();
    rows::put_issue(connection, now)?;
    rows::put_derived(connection, before.map(|before| &before.issue), &now.issue)?;
    if before.and_then(|before| before.claim.as_ref()) != now.claim.as_ref() {
        rows::put_claim(connection, id, now.claim.as_ref())?;
    }
    let first = before.map_or(0, |before| before.n_comments);
    for (index, comment) in staged.comments.iter().enumerate() {
        rows::put_comment(connection, id, first + index, comment)?;
    }
    Ok(())
}

fn side(record: &Record) -> Side<'_> {
    Side {
        issue: &record.issue,
        fence: record.fence,
        claim: record.claim.as_ref(),
    }
}

impl Neighbours for Batch<'_> {
    type Error = Failed;

    fn standing(&self, id: &BeadId) -> Result<Option<Standing>> {
        match self.staged.get(id) {
            Some(staged) => Ok(Some(staged.now.issue.standing())),
            None => Ok(self.stored(id)?.map(|record| record.issue.standing())),
        }
    }

    fn children(&self, id: &BeadId) -> Result<Vec<Standing>> {
        let children = self.dependents(id, Link::Child)?;
        let standings = children.iter().map(|child| self.standing(child));
        standings.filter_map(Result::transpose).collect()
    }

    fn is_blocked(&self, id: &BeadId) -> Result<bool> {
        match self.staged.get(id) {
            Some(staged) => Ok(staged.now.is_blocked),
            None => Ok(self.stored(id)?.is_some_and(|record| record.is_blocked)),
        }
    }
}

/// What holds an issue back, read without changing anything.
pub(super) fn blockers_of(connection: &Connection, id: &BeadId) -> Result<Vec<Blocker>> {
    let nobody = Stamp {
        actor: "",
        at: jiff::Timestamp::UNIX_EPOCH,
    };
    let batch = Batch::new(connection, nobody);
    let record = batch.existing(id)?;
    blockers(&record.issue, &batch)
}
