//! Runs the clauses, each on a new store, and says which are broken.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    Abandoned, Blocker, Claim, Comment, Event, Fence, Grouping, Holder, Query, Record, fold,
};
use beads_ralph_runtime::store::{
    Capability, Control, Lease, NewClaim, Stamp, Store, StoreError, Write,
};
use jiff::Timestamp;
use serde_json::Value;

use super::tools::everything;
use super::{Clause, clauses};

/// A rule that a store breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The rule.
    pub clause: &'static str,
    /// How it showed.
    pub how: String,
}

/// Holds a store to the contract; panics with the names of all clauses that it breaks.
pub fn run(store: &str, make: impl FnMut() -> Box<dyn Store>) {
    let broken = broken(make);
    let mut list = String::new();
    for broken in &broken {
        let how = broken.how.replace('\n', "\n    ");
        list.extend(["\n- ", broken.clause, "\n    ", &how]);
    }
    assert!(
        broken.is_empty(),
        "the store `{store}` breaks {} of {} clauses:{list}",
        broken.len(),
        clauses().len()
    );
}

/// The rules that a store breaks. `make` gives an empty store each time.
pub fn broken(make: impl FnMut() -> Box<dyn Store>) -> Vec<Broken> {
    broken_of(clauses(), make)
}

/// The rules among some that a store breaks.
pub fn broken_of(
    clauses: impl IntoIterator<Item = Clause>,
    mut make: impl FnMut() -> Box<dyn Store>,
) -> Vec<Broken> {
    let mut found = Vec::new();
    for clause in clauses {
        found.extend(tried(&clause, make()).err().map(|how| Broken {
            clause: clause.name,
            how,
        }));
    }
    found
}

fn tried(clause: &Clause, store: Box<dyn Store>) -> Result<(), String> {
    let gaps = clause.needs.iter().copied();
    let gaps: Vec<Capability> = gaps.filter(|need| store.gaps().contains(need)).collect();
    let (refusable, others): (Vec<_>, Vec<_>) =
        gaps.into_iter().partition(|gap| gap.can_be_refused());
    if !others.is_empty() {
        return differs(clause, store, &others);
    }
    if refusable.is_empty() {
        keeps(clause, store)
    } else {
        refuses(clause, store, &refusable)
    }
}

/// What a store says that it does in another way, it does in another way.
fn differs(clause: &Clause, mut store: Box<dyn Store>, gaps: &[Capability]) -> Result<(), String> {
    let check = AssertUnwindSafe(|| (clause.check)(store.as_mut()));
    match catch_unwind(check) {
        Err(_) => Ok(()),
        Ok(()) => Err(format!(
            "the store declares a gap for {gaps:?}, and there is none"
        )),
    }
}

/// Whatever a clause did, the store must be consistent afterwards.
fn keeps(clause: &Clause, mut store: Box<dyn Store>) -> Result<(), String> {
    let check = AssertUnwindSafe(|| {
        (clause.check)(store.as_mut());
        check_invariants(store.as_ref());
    });
    catch_unwind(check).map_err(|panic| words(panic.as_ref()))
}

/// A store that cannot do something says so when it is asked to. How the clause ends does not matter then.
fn refuses(clause: &Clause, store: Box<dyn Store>, gaps: &[Capability]) -> Result<(), String> {
    let mut watched = Watch::new(store);
    let ended = catch_unwind(AssertUnwindSafe(|| (clause.check)(&mut watched)));
    if gaps.iter().any(|gap| watched.has_refused(*gap)) {
        return Ok(());
    }
    let how = match ended {
        Ok(()) => "it went through".to_owned(),
        Err(panic) => words(panic.as_ref()),
    };
    Err(format!(
        "the store declares a gap for {gaps:?} and does not refuse with Unsupported: {how}"
    ))
}

fn words(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else {
        "it panicked without words".to_owned()
    }
}

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

/// Panics where a store contradicts itself: the flag of being held back against the reasons for it, and the
/// history against what it describes.
pub fn check_invariants(store: &dyn Store) {
    let records = everything(store);
    for record in &records {
        let id = record.issue.id();
        let blockers = store.blockers(id).expect("an issue has blockers");
        assert_eq!(
            record.is_blocked,
            !blockers.is_empty(),
            "{id} is held back exactly when something holds it back: {blockers:?}"
        );
        if let Some(claim) = &record.claim {
            assert_eq!(
                claim.fence, record.fence,
                "{id} is held with its latest fence"
            );
            assert_eq!(record.issue.status(), "in_progress", "{id} is held");
        }
    }
    if !store.gaps().contains(&Capability::History) {
        check_history(store, &records);
    }
}

fn check_history(store: &dyn Store, records: &[Record]) {
    let all = store
        .events(None, 0, usize::MAX)
        .expect("there is a history");
    for (index, event) in all.iter().enumerate() {
        assert_eq!(event.number, index as u64 + 1, "numbers have no gaps");
    }
    let n_changes: u64 = records.iter().map(|record| record.version).sum();
    let is_there = |event: &&Event| {
        records
            .iter()
            .any(|record| *record.issue.id() == event.issue)
    };
    let n_events = all.iter().filter(is_there).count();
    assert_eq!(n_events as u64, n_changes, "each change has one event");
    for record in records {
        check_fold(store, record, &all);
    }
}

fn check_fold(store: &dyn Store, record: &Record, all: &[Event]) {
    let id = record.issue.id();
    let own = history(store, id);
    let among_all: Vec<&Event> = all.iter().filter(|event| event.issue == *id).collect();
    assert_eq!(
        own.iter().collect::<Vec<_>>(),
        among_all,
        "one history of {id}"
    );
    for (index, event) in own.iter().enumerate() {
        assert_eq!(
            event.version,
            index as u64 + 1,
            "versions of {id} have no gaps"
        );
    }
    let folded = fold(&own).expect("a history tells what an issue is");
    let comments = store.comments(id).expect("an issue has comments");
    assert_eq!(comments.len(), record.n_comments, "comments of {id}");
    assert_eq!(folded.version, record.version, "the version of {id}");
    assert_eq!(
        folded.entry.issue, record.issue,
        "the folded document of {id}"
    );
    assert_eq!(
        folded.entry.comments, comments,
        "the folded comments of {id}"
    );
    assert_eq!(folded.entry.fence, record.fence, "the folded fence of {id}");
    // A heartbeat is not a change, so the history has the lease that was given first.
    let mut claim = folded.claim;
    if let (Some(folded), Some(now)) = (&mut claim, &record.claim) {
        assert!(
            folded.lease_until <= now.lease_until,
            "a lease never shortens"
        );
        folded.lease_until = now.lease_until;
    }
    assert_eq!(claim, record.claim, "the folded claim of {id}");
}

fn history(store: &dyn Store, id: &BeadId) -> Vec<Event> {
    store
        .events(Some(id), 0, usize::MAX)
        .expect("an issue has a history")
}
