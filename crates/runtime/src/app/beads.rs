//! The beads of a store, with who writes and when: finding them by what people type, and reading many of them.

mod change;
mod error;
mod find;
mod stats;

use std::cell::LazyCell;
use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::did_you_mean;
use beads_ralph_core::issue::{Fence, Holder, Order, Query, Record, StatusFilter};
use beads_ralph_core::vocabulary::EdgeType;
use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use crate::os::env::{self, Variable};
use crate::os::{clock, host};
use crate::store::{self, Guard, Stamp, Store, StoreError, Write};

pub use change::{
    Changed, Close, Closed, Deed, DependencyChange, Update, labels, refuse_retry, reopening,
};
pub use error::BeadError;
pub use find::{DependencyEnd, Listed, claimable};
pub use stats::{Oldest, Stats, worked_on};

/// Among how many ids a misspelt one is looked for.
const MAX_CANDIDATES: usize = 50_000;

/// How often a verb looks again because somebody else changed the bead before it could write.
const TURNS: usize = 10;

/// A store, open.
pub struct Beads {
    pub store: Box<dyn Store>,
    /// The directory that the store lies in.
    pub directory: Utf8PathBuf,
    pub by: Writer,
    /// What makes of a batch what may be written here, if not everything may.
    pub restrict: Option<Restrict>,
}

/// Refuses a batch, or adds what must be true for it to be written.
pub type Restrict = fn(&[Write]) -> Result<Vec<Write>, StoreError>;

/// Who writes, and when.
pub struct Writer {
    actor: LazyCell<String, Box<dyn FnOnce() -> String + Send>>,
    pub now: Timestamp,
}

/// By what right somebody changes a bead that may be held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Authority {
    /// The bead is free, or claimed under the writer's name at a terminal of this machine.
    #[default]
    Own,
    /// The fence that the claim gave out.
    Fence(Fence),
    /// Whoever holds the bead.
    Forced,
    /// As the real `bd` has it: the last writer is right. Only the claim of a program keeps its bead.
    Shared,
}

impl Writer {
    /// The name that was given, else the one of the environment.
    pub fn new(named: Option<String>) -> Self {
        Self::found_by(move || {
            named
                .or_else(|| env::get(Variable::BeadsActor))
                .or_else(|| env::get(Variable::User))
                .unwrap_or_else(|| "unknown".to_owned())
        })
    }

    /// A name that is looked for only when somebody needs it.
    pub fn found_by(actor: impl FnOnce() -> String + Send + 'static) -> Self {
        Self {
            actor: LazyCell::new(Box::new(actor)),
            now: clock::now(),
        }
    }

    pub fn actor(&self) -> &str {
        &self.actor
    }

    pub fn stamp(&self) -> Stamp<'_> {
        Stamp {
            actor: self.actor(),
            at: self.now,
        }
    }

    /// Who a claim is for. Without a name it is whoever writes.
    pub fn holder(&self, name: Option<&str>, pid: Option<u32>) -> Result<Holder, BeadError> {
        let process = match pid {
            None => None,
            Some(pid) => Some(host::process(pid).ok_or(BeadError::NoProcess(pid))?),
        };
        Ok(Holder {
            run: name.unwrap_or(self.actor()).to_owned(),
            host: host::name(),
            process,
        })
    }

    /// The end of a lease that begins now.
    pub fn lease_until(&self, lease: Duration) -> Result<Timestamp, BeadError> {
        (self.now.checked_add(lease)).map_err(|_| BeadError::LeaseTooLong)
    }

    /// The fence of a claim that was made under a name at a terminal of this machine. A program that works on a bead is named by
    /// its process and passes its fence, so that a process of the past can finish nothing (Z-2).
    pub fn fence_of(record: &Record, name: &str) -> Option<Fence> {
        let claim = record.claim.as_ref()?;
        let Holder { run, host, process } = &claim.holder;
        let is_own = run == name && *host == host::name() && process.is_none();
        is_own.then_some(claim.fence)
    }

    /// What must be true of a bead for a change to happen.
    pub fn guard(&self, record: &Record, authority: Authority) -> Guard {
        match authority {
            Authority::Own => Guard {
                fence: Self::fence_of(record, self.actor()),
                ..Guard::default()
            },
            Authority::Fence(fence) => Guard::fenced(fence),
            Authority::Forced => Guard::forced(),
            Authority::Shared => match &record.claim {
                Some(claim) if claim.holder.process.is_some() => Guard::default(),
                Some(claim) if claim.holder.run == self.actor() => Guard::fenced(claim.fence),
                Some(_) | None => Guard::forced(),
            },
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Beads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (f.debug_struct("Beads").field("directory", &self.directory)).finish_non_exhaustive()
    }
}

impl Beads {
    /// The store of a directory, or of one above it.
    pub fn open(here: &Utf8Path, by: Writer) -> Result<Self, StoreError> {
        let place = store::find(here)?;
        Ok(Self::new(place.open()?, place.directory, by))
    }

    pub fn new(store: Box<dyn Store>, directory: Utf8PathBuf, by: Writer) -> Self {
        Self {
            store,
            directory,
            by,
            restrict: None,
        }
    }

    /// The bead with an id, or with the only id of which a text is the first parts. Parts end before `-` and `.`, so
    /// that the id of one sprint is never taken for the beginning of another's number.
    pub fn resolve(&self, text: &str) -> Result<Record, BeadError> {
        self.meant(text)?.ok_or_else(|| self.unknown(text))
    }

    /// The same; nothing when there is no such bead. That there are several is an error.
    pub fn meant(&self, text: &str) -> Result<Option<Record>, BeadError> {
        let Ok(id) = BeadId::parse(text) else {
            return Ok(None);
        };
        if let Some(record) = self.store.get(&[id])?.pop() {
            return Ok(Some(record));
        }
        let mut found = Vec::new();
        for end in ['-', '.'] {
            let start = format!("{text}{end}");
            found.extend(self.store.ids_with_prefix(&start, error::MAX_NAMED + 1)?);
        }
        match found.as_slice() {
            [] => Ok(None),
            [only] => self.record(only).map(Some),
            _ => Err(BeadError::Ambiguous {
                text: text.to_owned(),
                found,
            }),
        }
    }

    /// The bead with exactly this id.
    pub fn record(&self, id: &BeadId) -> Result<Record, BeadError> {
        let record = self.store.get(std::slice::from_ref(id))?.pop();
        record.ok_or_else(|| self.unknown(id.as_str()))
    }

    fn unknown(&self, text: &str) -> BeadError {
        let ids = self.store.ids_with_prefix("", MAX_CANDIDATES);
        let ids = ids.unwrap_or_default();
        BeadError::Unknown {
            text: text.to_owned(),
            near: did_you_mean(text, ids.iter().map(BeadId::as_str)).map(str::to_owned),
            is_store_empty: ids.is_empty(),
        }
    }

    /// Writes a batch, as far as it may be written here.
    pub fn write(&mut self, batch: &[Write]) -> Result<(), StoreError> {
        match self.restrict {
            None => self.store.write(batch, self.by.stamp())?,
            Some(restrict) => self.store.write(&restrict(batch)?, self.by.stamp())?,
        };
        Ok(())
    }

    /// Goes through what a query selects without holding all of it at once.
    pub fn each<E: From<StoreError>>(
        &self,
        query: &Query,
        mut see: impl FnMut(Record) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let mut failed = None;
        self.store.visit(query, &mut |record| match see(record) {
            Ok(flow) => flow,
            Err(failure) => {
                failed = Some(failure);
                ControlFlow::Break(())
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Reads what a query selects once, so that damage is met before the one answer to a program is begun.
    pub fn look_over(&self, query: &Query) -> Result<(), StoreError> {
        self.each(query, |_| Ok(ControlFlow::Continue(())))
    }

    /// All beads, in order of their ids.
    pub fn everything() -> Query {
        Query {
            status: StatusFilter::Any,
            includes_hidden: true,
            order: Order::Id,
            ..Query::default()
        }
    }

    /// How many beads block on this one, as `bd` counts them.
    pub fn n_dependents(&self, id: &BeadId) -> Result<usize, StoreError> {
        let counts = self.store.count_blocked_by(std::slice::from_ref(id))?;
        Ok(counts.first().copied().unwrap_or_default())
    }

    /// The number of the latest event; 0 when there is none. Numbers have no gaps, so that halving finds it.
    pub fn last_event(&self) -> Result<u64, StoreError> {
        let is_beyond = |number| Ok::<_, StoreError>(self.store.changes(number, 1)?.is_empty());
        let mut high = 1;
        while !is_beyond(high)? {
            high *= 2;
        }
        let mut low = 0;
        while low < high {
            let middle = low + (high - low) / 2;
            if is_beyond(middle)? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }
}

/// Takes turns of looking and writing until nobody else came between the two.
pub fn until_settled<T, E: From<BeadError>>(
    mut turn: impl FnMut() -> Result<Option<T>, E>,
) -> Result<T, E> {
    for _ in 0..TURNS {
        if let Some(done) = turn()? {
            return Ok(done);
        }
    }
    Err(BeadError::Contended.into())
}

/// How many of the beads that depend on one block on it.
pub fn n_blocking(dependents: &[(BeadId, String)]) -> usize {
    let blocking = dependents
        .iter()
        .filter(|(_, kind)| kind == EdgeType::Blocks);
    blocking.count()
}

#[cfg(test)]
impl Beads {
    /// Beads in memory, without anything but ids.
    fn in_memory(ids: &[&str]) -> Self {
        use beads_ralph_core::issue::{Line, read_line};

        let by = Writer::new(Some("alice".to_owned()));
        let mut beads = Self::new(Box::new(store::MemoryStore::new()), ".beads".into(), by);
        let entry = |id: &&str| match read_line(&format!("{{\"id\":\"{id}\",\"title\":\"t\"}}")) {
            Ok(Line::Issue(entry)) => Write::Insert(entry),
            other => panic!("{other:?}"),
        };
        let batch: Vec<Write> = ids.iter().map(entry).collect();
        beads.write(&batch).unwrap();
        beads
    }
}
