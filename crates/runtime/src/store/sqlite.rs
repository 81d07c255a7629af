//! The embedded store: one SQLite file that many processes share.
//!
//! WAL, so that readers never wait; `synchronous = FULL`, so that what was acknowledged survives (leases apart, which need not);
//! `BEGIN IMMEDIATE` for every write, so that a writer waits for its turn instead of failing half-way. A lock
//! beside the file keeps everybody out while it is brought to a newer format or repaired.

mod batch;
mod check;
mod edges;
mod facts;
mod failure;
mod find;
mod kind;
mod leases;
mod open;
mod query;
mod repair;
mod rows;

pub use check::{CheckReport, check};
pub(super) use kind::{Embedded, replace_in};
pub use repair::{RepairReport, repair};

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::time::Duration;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    Abandoned, Blocker, Claim, Comment, Event, EventKind, Fence, Grouping, Holder, Query, Record,
};
use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use serde_json::Value;

use self::batch::Batch;
use self::failure::Failed;
use self::open::{Access, FORMAT, MIGRATIONS, Purpose};
use super::{
    Control, Lease, NewClaim, Opened, Options, Result, Stamp, Store, StoreError, Write,
    rules::{self, Next},
};

/// How long is waited where nobody says how long, which is what [`Options`] say.
const BUSY: Duration = Duration::from_secs(30);

/// From how many changes on a batch gets a larger cache, and how large in KiB (SQLite counts them downwards).
const LARGE_BATCH: usize = 500;
const LARGE_CACHE: i64 = -65536;

/// A store in one file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    path: Utf8PathBuf,
    options: Options,
    _lock: File,
}

/// What is found in a file.
enum Ready {
    Store(SqliteStore),
    Older,
    Empty,
}

impl SqliteStore {
    /// Opens a store that is there. An older format is brought up to date, after a copy.
    pub fn open(path: &Utf8Path) -> Result<Self> {
        Self::open_with(path, Options::default())
    }

    /// As above, with options.
    pub fn open_with(path: &Utf8Path, options: Options) -> Result<Self> {
        if !path.exists() {
            return Err(StoreError::Unusable {
                path: path.to_owned(),
                why: "the file is missing".to_owned(),
            });
        }
        match Self::open_shared(path, options)? {
            Ready::Store(store) => Ok(store),
            Ready::Older => Self::open_or_create_with(path, options).map(|(store, _)| store),
            Ready::Empty => Err(StoreError::Damaged {
                path: path.to_owned(),
                what: "there is nothing in it".to_owned(),
            }),
        }
    }

    /// Opens a file beside others that use it, if nothing must be done to it first.
    fn open_shared(path: &Utf8Path, options: Options) -> Result<Ready> {
        let lock = open::lock(path, Access::Shared, options.busy)?;
        let connection = open::connect(path, Purpose::Use, options.busy)?;
        match open::check_format(&connection, path, FORMAT, options.busy)? {
            0 => Ok(Ready::Empty),
            FORMAT => Ok(Ready::Store(Self {
                connection,
                path: path.to_owned(),
                options,
                _lock: lock,
            })),
            _ => Ok(Ready::Older),
        }
    }

    /// Opens a store, making it when there is none.
    pub fn open_or_create(path: &Utf8Path) -> Result<(Self, Opened)> {
        Self::open_or_create_with(path, Options::default())
    }

    /// As above, with options.
    pub fn open_or_create_with(path: &Utf8Path, options: Options) -> Result<(Self, Opened)> {
        let busy = options.busy;
        let is_there = path.exists();
        // Having it alone would mean to wait for everybody who uses it.
        if is_there && let Ready::Store(store) = Self::open_shared(path, options)? {
            return Ok((store, Opened::Existing));
        }
        let lock = open::lock(path, Access::Alone, busy)?;
        let mut connection = open::connect(path, Purpose::Make, busy)?;
        let backup = open::migrate(&mut connection, path, &MIGRATIONS, busy)?;
        // The file may be replaced as soon as it is not ours alone, so it is opened anew.
        drop((connection, lock));
        let Ready::Store(store) = Self::open_shared(path, options)? else {
            return Err(StoreError::Damaged {
                path: path.to_owned(),
                what: "it was just made and is missing".to_owned(),
            });
        };
        let opened = match backup {
            Some(backup) => Opened::Migrated(backup),
            None if is_there => Opened::Existing,
            None => Opened::Created,
        };
        Ok((store, opened))
    }

    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Reads in one state: what others write meanwhile is not seen.
    fn reading<T>(&self, read: impl FnOnce(&Connection) -> Result<T, Failed>) -> Result<T> {
        let run = || -> Result<T, Failed> {
            // Whoever is shown records and asks for more sees the same state.
            if !self.connection.is_autocommit() {
                return read(&self.connection);
            }
            let transaction = self.connection.unchecked_transaction()?;
            read(&transaction)
        };
        run().map_err(|failed| failed.at(&self.path, self.options.busy))
    }

    /// Writes alone: what was read stays true until it is committed.
    fn writing<T>(
        &mut self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, Failed>,
    ) -> Result<T> {
        let run = || -> Result<T, Failed> {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let answer = write(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        };
        run().map_err(|failed| failed.at(&self.path, self.options.busy))
    }

    /// Writes a lease. Nobody waits until it is on the disk: whoever holds one does not outlive the machine, and the file stays whole.
    fn leasing<T>(
        &mut self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, Failed>,
    ) -> Result<T> {
        self.synchronous("NORMAL")?;
        let answer = self.writing(write);
        self.synchronous("FULL")?;
        answer
    }

    fn synchronous(&self, how: &str) -> Result<()> {
        let set = self.connection.pragma_update(None, "synchronous", how);
        set.map_err(|error| Failed::from(error).at(&self.path, self.options.busy))
    }

    fn end_claim(
        &mut self,
        id: &BeadId,
        fence: Fence,
        end: (EventKind, Option<&'static str>),
        by: Stamp<'_>,
    ) -> Result<Record> {
        self.writing(|transaction| {
            let mut batch = Batch::new(transaction, by);
            end_claim(&mut batch, id, fence, end)?;
            let record = batch.settled(id)?;
            batch.finish()?;
            Ok(record)
        })
    }
}

/// Ends a claim, if it is the one under this fence.
fn end_claim(
    batch: &mut Batch<'_>,
    id: &BeadId,
    fence: Fence,
    end: (EventKind, Option<&'static str>),
) -> Result<(), Failed> {
    let record = batch.existing(id)?;
    let next = Next::released(&record, fence, end, batch.by)?;
    batch.put(Some(record), next)?;
    Ok(())
}

impl Store for SqliteStore {
    fn get(&self, ids: &[BeadId]) -> Result<Vec<Record>> {
        self.reading(|connection| {
            let records = ids.iter().map(|id| rows::load(connection, id));
            records.filter_map(Result::transpose).collect()
        })
    }

    fn find(&self, query: &Query) -> Result<Vec<Record>> {
        let mut found = Vec::new();
        self.visit(query, &mut |record| {
            found.push(record);
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    fn visit(&self, query: &Query, see: &mut dyn FnMut(Record) -> ControlFlow<()>) -> Result<()> {
        self.reading(|connection| find::visit(connection, query, see))
    }

    fn count(&self, query: &Query) -> Result<usize> {
        self.reading(|connection| find::count(connection, query))
    }

    fn count_by(&self, query: &Query, grouping: Grouping) -> Result<BTreeMap<String, usize>> {
        self.reading(|connection| find::count_by(connection, query, grouping))
    }

    fn statuses(&self, ids: &[BeadId]) -> Result<Vec<Option<String>>> {
        self.reading(|connection| find::statuses(connection, ids))
    }

    fn ids_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<BeadId>> {
        self.reading(|connection| find::ids_with_prefix(connection, prefix, limit))
    }

    fn ids_ever_with_prefix(&self, prefix: &str) -> Result<Vec<BeadId>> {
        self.reading(|connection| find::ids_ever_with_prefix(connection, prefix))
    }

    fn comments(&self, id: &BeadId) -> Result<Vec<Comment>> {
        self.reading(|connection| match rows::load(connection, id)? {
            Some(record) => rows::comments(connection, id, record.n_comments),
            None => Err(StoreError::NotFound(id.clone()).into()),
        })
    }

    fn blockers(&self, id: &BeadId) -> Result<Vec<Blocker>> {
        self.reading(|connection| batch::blockers_of(connection, id))
    }

    fn dependents(&self, id: &BeadId) -> Result<Vec<(BeadId, String)>> {
        // One statement sees one state by itself.
        let found = edges::stored_dependents(&self.connection, id);
        found.map_err(|failed| failed.at(&self.path, self.options.busy))
    }

    fn count_blocked_by(&self, ids: &[BeadId]) -> Result<Vec<usize>> {
        self.reading(|connection| {
            let counts = ids.iter().map(|id| edges::count_blocked_by(connection, id));
            counts.collect()
        })
    }

    fn events(&self, issue: Option<&BeadId>, after: u64, limit: usize) -> Result<Vec<Event>> {
        self.reading(|connection| rows::events(connection, issue, after, limit))
    }

    fn write(&mut self, batch: &[Write], by: Stamp<'_>) -> Result<Vec<u64>> {
        if batch.len() >= LARGE_BATCH {
            let set = (self.connection).pragma_update(None, "cache_size", LARGE_CACHE);
            set.map_err(|error| Failed::from(error).at(&self.path, self.options.busy))?;
        }
        self.writing(|transaction| {
            let mut staged = Batch::new(transaction, by);
            let mut versions = batch
                .iter()
                .map(|write| staged.stage(write))
                .collect::<Result<Vec<u64>, _>>()?;
            for (id, version) in staged.finish()? {
                rules::set_version(batch, &mut versions, &id, version);
            }
            Ok(versions)
        })
    }

    fn claim(&mut self, id: &BeadId, claim: &NewClaim<'_>, by: Stamp<'_>) -> Result<Record> {
        self.writing(|transaction| {
            let mut batch = Batch::new(transaction, by);
            if let Some((fence, why)) = claim.instead_of {
                end_claim(
                    &mut batch,
                    id,
                    fence,
                    (EventKind::Reclaimed, Some(why.as_str())),
                )?;
            }
            let record = batch.existing(id)?;
            rules::check_claimable(&record)?;
            if record.is_blocked && !claim.is_forced {
                let blockers = batch::blockers_of(transaction, id)?;
                return Err(StoreError::Blocked {
                    id: id.clone(),
                    blockers,
                }
                .into());
            }
            let next = Next::claimed(&record, claim, by)?;
            batch.put(Some(record), next)?;
            let record = batch.settled(id)?;
            batch.finish()?;
            Ok(record)
        })
    }

    fn heartbeat(&mut self, id: &BeadId, fence: Fence, lease_until: Timestamp) -> Result<Claim> {
        self.writing(|transaction| {
            let record =
                rows::load(transaction, id)?.ok_or_else(|| StoreError::NotFound(id.clone()))?;
            match record.claim.clone() {
                Some(mut claim) if claim.fence == fence => {
                    claim.lease_until = claim.lease_until.max(lease_until);
                    rows::put_claim(transaction, id, Some(&claim))?;
                    Ok(claim)
                }
                _ => Err(rules::stale(&record, fence).into()),
            }
        })
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
        self.leasing(|transaction| leases::acquire(transaction, names, holder, until, by.at))
    }

    fn renew(&mut self, name: &str, fence: Fence, until: Timestamp) -> Result<Lease> {
        self.leasing(|transaction| leases::renew(transaction, name, fence, until))
    }

    fn give_back(&mut self, name: &str, fence: Fence) -> Result<()> {
        self.leasing(|transaction| leases::give_back(transaction, name, fence))
    }

    fn leases(&self, prefix: &str, now: Timestamp) -> Result<Vec<Lease>> {
        self.reading(|connection| leases::leases(connection, prefix, now))
    }

    fn controls(&self, prefix: &str) -> Result<Vec<Control>> {
        self.reading(|connection| leases::controls(connection, prefix))
    }

    fn set_control(&mut self, key: &str, value: &Value, seen: u64, by: Stamp<'_>) -> Result<u64> {
        self.writing(|transaction| leases::set_control(transaction, key, value, seen, by))
    }
}

#[cfg(test)]
mod tests;
