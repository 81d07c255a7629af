//! Where beads are kept: one contract, several stores.
//!
//! A [`Store`] is small and synchronous and speaks [`Issue`](beads_ralph_core::issue::Issue) (Z-21). What an edit does to an issue, what a
//! query selects and what waits for what is decided in `core::issue`; a store adds that it is kept, that
//! it is whole, and that many processes may use it at once. The contract is in the documentation of the
//! trait; `testkit::store_contract` holds every store to it.

mod bd;
mod error;
mod memory;
mod registry;
mod rules;
mod sqlite;

pub use bd::{BdStore, Moved, OWN_BUILD, init_from_bd};
pub use error::{SpecificError, StoreError};
pub use memory::MemoryStore;
pub use registry::{
    Doctor, Initialized, Opened, Options, Owner, Place, StoreKind, find, find_by, find_in, init,
    init_in, options, root_of,
};
pub use sqlite::{CheckReport, RepairReport, SqliteStore, check, repair};

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;

use beads_ralph_core::bead::{self, BeadId};
use beads_ralph_core::issue::{
    Abandoned, Blocker, Claim, Comment, Edit, Entry, Event, Fence, Grouping, Holder, Query, Record,
};
use beads_ralph_core::vocabulary::EdgeType;
use jiff::Timestamp;
use serde_json::Value;

/// What a store answers.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Who writes, and when. The time is handed in, so that a test can choose it.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'a> {
    pub actor: &'a str,
    pub at: Timestamp,
}

impl Stamp<'_> {
    /// The time as documents have it.
    pub fn time(&self) -> bead::Timestamp {
        bead::Timestamp::from_instant(self.at)
    }
}

/// What must be true of an issue for a change to happen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guard {
    pub status: Option<String>,
    pub version: Option<u64>,
    /// That nothing holds it back.
    pub is_free: bool,
    /// The fence of the claim that the writer holds. Whoever holds an issue sends it with every change.
    pub fence: Option<Fence>,
    /// Changes an issue that somebody else holds; a change of its status ends the claim.
    pub is_forced: bool,
}

impl Guard {
    /// The guard of somebody who changes an issue whoever holds it.
    pub fn forced() -> Self {
        Self {
            is_forced: true,
            ..Self::default()
        }
    }

    /// The guard of a holder.
    pub fn fenced(fence: Fence) -> Self {
        Self {
            fence: Some(fence),
            ..Self::default()
        }
    }
}

/// One change of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    Insert(Box<Entry>),
    /// A change of an issue that is there.
    Update {
        id: BeadId,
        edits: Vec<Edit>,
        guard: Guard,
    },
    /// The end of an issue, with its comments and its claim. Edges of others to it go with it; its history stays.
    Delete {
        id: BeadId,
        guard: Guard,
    },
}

impl Write {
    pub fn id(&self) -> &BeadId {
        match self {
            Self::Insert(entry) => entry.issue.id(),
            Self::Update { id, .. } | Self::Delete { id, .. } => id,
        }
    }
}

/// What a store cannot do. What can be refused it refuses with [`StoreError::Unsupported`] instead of pretending; of the rest
/// the contract suite demands that it is really so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Writing several issues so that either all are there or none.
    AtomicBatches,
    /// Guards on version, fence and being free.
    Guards,
    History,
    Leases,
    /// Fields that the store does not know, kept as they came.
    UnknownFields,
    /// Versions that count from 1: where they do not, they are only another number for another state.
    Versions,
    /// The moments of changes as the writer says them.
    Times,
    /// Documents to the last character: nulls, the order of labels and edges, fractions of a second, the digits of numbers.
    ExactDocuments,
    /// Edges to issues that do not exist.
    MissingTargets,
    /// Any value where the store has its own rules: priorities beyond 0 to 4, types of edges, flags.
    AnyValue,
    /// What was known of an id that was deleted: its version and its fence go on when it comes again.
    DeletedIds,
}

impl Capability {
    pub const ALL: [Self; 11] = [
        Self::AtomicBatches,
        Self::Guards,
        Self::History,
        Self::Leases,
        Self::UnknownFields,
        Self::Versions,
        Self::Times,
        Self::ExactDocuments,
        Self::MissingTargets,
        Self::AnyValue,
        Self::DeletedIds,
    ];

    /// What it is to be able to do, after "cannot".
    pub fn words(self) -> &'static str {
        match self {
            Self::AtomicBatches => "write several beads in one step",
            Self::Guards => "compare before it writes",
            Self::History => "tell the history of its beads",
            Self::Leases => "keep leases and orders",
            Self::UnknownFields => "keep a field that it does not know",
            Self::Versions => "count versions",
            Self::Times => "take the time of a change from the writer",
            Self::ExactDocuments => "keep documents to the last character",
            Self::MissingTargets => "keep an edge to a missing bead",
            Self::AnyValue => "take every value",
            Self::DeletedIds => "remember what was deleted",
        }
    }

    /// Whether a store that cannot do it can refuse to.
    pub fn can_be_refused(self) -> bool {
        match self {
            Self::AtomicBatches
            | Self::Guards
            | Self::History
            | Self::Leases
            | Self::UnknownFields => true,
            Self::Versions
            | Self::Times
            | Self::ExactDocuments
            | Self::MissingTargets
            | Self::AnyValue
            | Self::DeletedIds => false,
        }
    }
}

/// Where beads are kept, by one or many processes.
///
/// # Contract
///
/// - **Whole.** [`write`](Self::write) does all of a batch or nothing. Once it has answered, the changes are
///   there after `kill -9`.
/// - **Ordered.** Writers take turns; a reader sees the state between two batches and never waits for a
///   writer.
/// - **Versions.** An issue starts at version 1; each change of it adds one and appends one event, in the same
///   step. A change that changes nothing does neither.
/// - **Removal.** An issue that is deleted is gone with its comments, its claim and the edges of others to it, each of which is a
///   change of its own. Its history stays and ends with `deleted`; when the id comes again, version and fence go on from there.
/// - **Claims.** [`claim`](Self::claim) is a compare-and-set: of any number of claimers exactly one succeeds. It takes an issue
///   that is `open` and, unless told otherwise, not held back; it gives the next fence, which never falls (Z-2).
/// - **Fences.** A change with a fence happens only while the claim with that fence is held; closing again what was
///   closed with it changes nothing and succeeds. Without a fence an issue that is held can be remarked upon (comments,
///   notes, labels) and not be changed otherwise, unless it is forced. Closing or reopening an issue, releasing and
///   reclaiming end its claim.
/// - **Edges.** There is at most one edge between two issues in one direction. `blocks` and its like never form a cycle, and
///   neither do parents; a change that would close one is refused. An edge to an issue that does not
///   exist is kept, and holds back.
/// - **Readiness.** [`Record::is_blocked`] is what `core::issue::blockers` says, after every change.
/// - **Molecules.** When the last step of a molecule closes, its root closes in the same step (F-14), as
///   `core::issue::close_completed` decides: whatever closed it, by an event of its own with the same actor. An issue that comes closed,
///   by an insert, and one that is deleted complete nothing.
/// - **Loss.** What goes in comes out: unknown fields, metadata, the order of labels and edges.
/// - **Damage.** A record that is not what was written is an error and never an answer.
pub trait Store: Send {
    /// What this store cannot do.
    fn gaps(&self) -> &'static [Capability] {
        &[]
    }

    /// Why it would not be safe to run on this store, if so.
    fn obstacle(&self) -> Option<StoreError> {
        None
    }

    /// The records of some ids, in that order; those that do not exist are left out.
    fn get(&self, ids: &[BeadId]) -> Result<Vec<Record>>;

    /// The records that a query selects, in its order, up to its limit.
    fn find(&self, query: &Query) -> Result<Vec<Record>>;

    /// Shows the records that [`find`](Self::find) would give, one after the other, until whoever looks has seen enough. They need
    /// not all be held at once, and whoever is shown them may ask more: everything is of one state, if the store has states.
    fn visit(&self, query: &Query, see: &mut dyn FnMut(Record) -> ControlFlow<()>) -> Result<()> {
        for record in self.find(query)? {
            if see(record).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// How many records [`find`](Self::find) would give. A store may answer from what it keeps beside the records, so that damage
    /// there makes this wrong without a word; looking the store over finds it.
    fn count(&self, query: &Query) -> Result<usize> {
        let mut n = 0;
        self.visit(query, &mut |_| {
            n += 1;
            ControlFlow::Continue(())
        })?;
        Ok(n)
    }

    /// The same for each group; a record can be in several groups, or in one without a name. Groups without records are left out.
    fn count_by(&self, query: &Query, grouping: Grouping) -> Result<BTreeMap<String, usize>> {
        let mut counts = BTreeMap::new();
        self.visit(query, &mut |record| {
            for group in grouping.groups(&record.issue) {
                *counts.entry(group).or_default() += 1;
            }
            ControlFlow::Continue(())
        })?;
        Ok(counts)
    }

    /// The statuses of some ids, in that order; nothing for those that do not exist. Damage is met as by [`count`](Self::count).
    fn statuses(&self, ids: &[BeadId]) -> Result<Vec<Option<String>>> {
        let status = |id: &BeadId| {
            let record = self.get(std::slice::from_ref(id))?.pop();
            Ok(record.map(|record| record.issue.status().to_owned()))
        };
        ids.iter().map(status).collect()
    }

    /// Ids that start with a text, at most `limit`, in order.
    fn ids_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<BeadId>>;

    /// Ids that start with a text and that an issue has or once had, in order. Deleted issues keep theirs in the history.
    fn ids_ever_with_prefix(&self, prefix: &str) -> Result<Vec<BeadId>> {
        let events = self.events(None, 0, usize::MAX)?;
        let ids = events.into_iter().map(|event| event.issue);
        let ids: BTreeSet<BeadId> = ids.filter(|id| id.as_str().starts_with(prefix)).collect();
        Ok(ids.into_iter().collect())
    }

    /// The comments on an issue, oldest first.
    fn comments(&self, id: &BeadId) -> Result<Vec<Comment>>;

    /// What holds an issue back now.
    fn blockers(&self, id: &BeadId) -> Result<Vec<Blocker>>;

    /// The issues with an edge to this one, and the type of that edge, in order of their ids.
    fn dependents(&self, id: &BeadId) -> Result<Vec<(BeadId, String)>>;

    /// How many issues have a `blocks` edge to each of these, in that order: what [`dependents`](Self::dependents) tells,
    /// counted.
    fn count_blocked_by(&self, ids: &[BeadId]) -> Result<Vec<usize>> {
        let count = |id| {
            let dependents = self.dependents(id)?;
            let blocked = dependents
                .iter()
                .filter(|(_, kind)| kind == EdgeType::Blocks);
            Ok(blocked.count())
        };
        ids.iter().map(count).collect()
    }

    /// The history of an issue, or of all, oldest first, after an event's number.
    fn events(&self, issue: Option<&BeadId>, after: u64, limit: usize) -> Result<Vec<Event>>;

    /// Which issues changed after a change's number, oldest first, each with the number of its change. The numbers mean something only
    /// as long as the store is open.
    fn changes(&self, after: u64, limit: usize) -> Result<Vec<(u64, BeadId)>> {
        let events = self.events(None, after, limit)?;
        Ok((events.into_iter())
            .map(|event| (event.number, event.issue))
            .collect())
    }

    /// Does all of a batch, or nothing. The answer has the version of each issue afterwards.
    fn write(&mut self, batch: &[Write], by: Stamp<'_>) -> Result<Vec<u64>>;

    /// Takes an issue for a holder until the lease is over (L-11).
    fn claim(&mut self, id: &BeadId, claim: &NewClaim<'_>, by: Stamp<'_>) -> Result<Record>;

    /// Says that the holder is alive, and moves the end of the lease, never to an earlier time. It is no
    /// change of the issue: neither version nor history.
    fn heartbeat(&mut self, id: &BeadId, fence: Fence, lease_until: Timestamp) -> Result<Claim>;

    /// Gives an issue back: it is `open` again.
    fn release(&mut self, id: &BeadId, fence: Fence, by: Stamp<'_>) -> Result<Record>;

    /// Takes an issue from a holder that is gone: it is `open` again. The fence says which claim was looked
    /// at, so that a newer one is left alone.
    fn reclaim(
        &mut self,
        id: &BeadId,
        fence: Fence,
        why: Abandoned,
        by: Stamp<'_>,
    ) -> Result<Record>;

    /// Takes a lease on a name, or on one of several names whichever is free first (Z-14).
    fn acquire(
        &mut self,
        names: &[&str],
        holder: &Holder,
        until: Timestamp,
        by: Stamp<'_>,
    ) -> Result<Option<Lease>>;

    /// Moves the end of a lease that is held.
    fn renew(&mut self, name: &str, fence: Fence, until: Timestamp) -> Result<Lease>;

    /// Gives a lease back; nothing happens when it is no longer held.
    fn give_back(&mut self, name: &str, fence: Fence) -> Result<()>;

    /// The leases whose names start with a text and that are not over.
    fn leases(&self, prefix: &str, now: Timestamp) -> Result<Vec<Lease>>;

    /// The control rows whose keys start with a text (Z-15).
    fn controls(&self, prefix: &str) -> Result<Vec<Control>>;

    /// Sets a control row if its version is the one that was seen; 0 means that there is none. A null removes it.
    fn set_control(&mut self, key: &str, value: &Value, seen: u64, by: Stamp<'_>) -> Result<u64>;
}

/// How an issue is claimed.
#[derive(Debug, Clone, Copy)]
pub struct NewClaim<'a> {
    pub holder: &'a Holder,
    /// Until when, unless the holder says that it is alive.
    pub lease_until: Timestamp,
    /// Also when something holds it back.
    pub is_forced: bool,
    /// The claim of somebody who is gone, and why that is known: it ends in the same step, so that nobody comes between.
    pub instead_of: Option<(Fence, Abandoned)>,
}

/// Everything below a bead, each once.
pub fn below(store: &dyn Store, root: &BeadId) -> Result<Vec<Record>> {
    let mut seen = HashSet::from([root.clone()]);
    let mut level = vec![root.clone()];
    let mut found = Vec::new();
    while !level.is_empty() {
        let mut parts = Vec::new();
        for id in &level {
            let dependents = store.dependents(id)?.into_iter();
            let children = dependents.filter(|(_, kind)| kind == EdgeType::ParentChild);
            parts.extend(children.map(|(child, _)| child));
        }
        parts.retain(|id| seen.insert(id.clone()));
        found.extend(store.get(&parts)?);
        level = parts;
    }
    Ok(found)
}

/// That a name is taken, by whom and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The name: a slot, a port, an account.
    pub name: String,
    /// Rises each time the name is taken.
    pub fence: Fence,
    pub holder: Holder,
    pub until: Timestamp,
}

/// A value that processes share, with a version to compare before it is set.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    pub key: String,
    pub value: Value,
    /// How often it was set.
    pub version: u64,
    pub actor: String,
    /// When, to the microsecond.
    pub at: Timestamp,
}
