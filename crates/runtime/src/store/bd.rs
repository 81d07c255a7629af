//! The real `bd` as a store: everything about beads goes through the program, and nothing past it.
//!
//! Starting `bd` takes longer than most questions, so what it has is read once and kept: a [`MemoryStore`] that is brought up to
//! date whenever the database changed. Every change is first tried there, by the same rules as in every other store, and then told
//! to `bd` in as few calls as it takes; what `bd` answers is what is kept. Our own processes take turns by a lock beside the
//! database; against everybody else each change is guarded by the status that was seen (Z-3).
//!
//! What orchestrators share besides beads, leases and control rows, belongs to this machine and not into the users' database: it is
//! in a separate file.
//!
//! Limits: a batch over several beads that is cut off half-way stays half-way, for whoever looks with `bd`; doing it again
//! completes it. Times are those of `bd`'s clock, in whole seconds. There are no versions that count and no history; for that there
//! is `bd history`.

mod commands;
mod failure;
mod kind;
mod probe;
mod program;
mod wire;
mod write;

use std::cell::{Cell, RefCell, RefMut};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    Abandoned, Blocker, Claim, Comment, Entry, Event, Fence, Holder, Query, Record,
};
use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde_json::Value;

use self::failure::BdError;
use self::probe::{Fingerprint, Probed, Words};
use self::program::{Call, Program};
pub(super) use self::wire::Row;
use super::{
    Capability, Control, Lease, MemoryStore, NewClaim, Options, Result, SqliteStore, Stamp, Store,
    StoreError, Write,
};
use crate::os::process::Units;
use crate::{os::clock, os::digest, os::env, os::files};

pub(super) use self::kind::RealBd;
pub use self::kind::{Moved, init_from_bd};
pub use self::probe::OWN_BUILD;

/// The directory beside the database that is ours.
const DIRECTORY: &str = "beads-ralph";

/// For how long our own changes may hide that somebody else changed something in the same moment.
const PROVISIONAL: Duration = Duration::from_secs(10);

/// For how long files that look the same are trusted: `bd` may have been told to use others.
const TRUSTED: Duration = Duration::from_mins(1);

/// For how long an answer holds where changes cannot be seen from outside.
const BLIND: Duration = Duration::from_secs(1);

/// How often one looks whether the lock is free.
const PAUSE: Duration = Duration::from_millis(20);

/// How much longer an import may take for each bead of it.
const PER_BEAD: Duration = Duration::from_millis(200);

const GAPS: [Capability; 8] = [
    Capability::History,
    Capability::UnknownFields,
    Capability::Versions,
    Capability::Times,
    Capability::ExactDocuments,
    Capability::MissingTargets,
    Capability::AnyValue,
    Capability::DeletedIds,
];

/// The store of a repository whose beads the real `bd` keeps.
#[derive(Debug)]
pub struct BdStore {
    program: Program,
    probed: Probed,
    state: RefCell<State>,
    local: SqliteStore,
    lock: Utf8PathBuf,
    busy: Duration,
    files: Option<Utf8PathBuf>,
}

/// What is known of the database.
#[derive(Debug)]
struct State {
    mirror: MemoryStore,
    /// Notes of `bd` that belong to no issue.
    memories: BTreeMap<String, String>,
    words: Words,
    /// When it was read in full, and what the database looked like then.
    read: Option<(Instant, Option<Fingerprint>)>,
    /// Whether our own changes were added since.
    is_provisional: bool,
}

impl BdStore {
    /// Opens the store of a `.beads` directory that belongs to the real `bd`. The program is the first `bd` of the `PATH` that is
    /// not our own (Z-26).
    pub fn open(beads: &Utf8Path, units: &Arc<Units>, options: Options) -> Result<Self> {
        Self::open_with(&env::find_programs("bd"), beads, units, options)
    }

    /// Opens it by the first of some programs that is the real one.
    pub fn open_with(
        programs: &[Utf8PathBuf],
        beads: &Utf8Path,
        units: &Arc<Units>,
        options: Options,
    ) -> Result<Self> {
        let directory = beads.join(DIRECTORY);
        let kept = directory.join("probed.json");
        let programs = programs.iter().map(|path| Program {
            path: path.clone(),
            beads: beads.to_owned(),
            units: Arc::clone(units),
            limit: options.busy,
            n_calls: Cell::new(0),
        });
        let real = probe::first_real(&kept, programs)?;
        let (program, probed) = real.ok_or_else(|| BdError::Missing(beads.to_owned()))?;
        // Nothing of ours is beside a database that nobody can speak to.
        for own in [&directory, &beads.join("runs")] {
            files::create_directory(own)?;
            let ignore = own.join(".gitignore");
            if !ignore.exists() {
                files::write_atomic(&ignore, b"*\n")?;
            }
        }
        probed.keep(&kept)?;
        let (local, _) = SqliteStore::open_or_create_with(&directory.join("local.db"), options)?;
        Ok(Self {
            program,
            probed,
            state: RefCell::new(State {
                mirror: MemoryStore::new(),
                memories: BTreeMap::new(),
                words: Words::new(),
                read: None,
                is_provisional: false,
            }),
            local,
            lock: directory.join("write.lock"),
            busy: options.busy,
            files: probe::database_directory(beads),
        })
    }

    pub fn n_calls(&self) -> u64 {
        self.program.n_calls.get()
    }

    pub fn program(&self) -> (&Utf8Path, &str) {
        (&self.program.path, self.probed.version())
    }

    /// Everything that `bd` has, as it exports it.
    pub fn entries(&self) -> Result<(Vec<Entry>, BTreeMap<String, String>)> {
        let state = self.current()?;
        let ids = state.mirror.ids_with_prefix("", usize::MAX)?;
        let rows = ids.iter().filter_map(|id| state.mirror.row_of(id));
        let entries = rows.map(|row| row.entry).collect();
        Ok((entries, state.memories.clone()))
    }

    /// Makes `bd` take the types of beads that this program writes.
    pub fn prepare(&self, types: &[&str]) -> Result<()> {
        let _turn = self.turn()?;
        let mut state = self.state.borrow_mut();
        (state.words).ensure(&self.program, types.iter().copied(), std::iter::empty())
    }

    /// What is known, brought up to date.
    fn current(&self) -> Result<RefMut<'_, State>> {
        let mut state = self.state.borrow_mut();
        let now = self.files.as_deref().and_then(Fingerprint::of);
        let is_current = state.read.as_ref().is_some_and(|(at, then)| {
            let age = clock::monotonic().saturating_duration_since(*at);
            match (then, &now) {
                (Some(then), Some(now)) if then == now => {
                    age < if state.is_provisional {
                        PROVISIONAL
                    } else {
                        TRUSTED
                    }
                }
                (None, None) => age < BLIND && !state.is_provisional,
                _ => false,
            }
        });
        if !is_current {
            self.read_all(&mut state)?;
        }
        Ok(state)
    }

    fn read_all(&self, state: &mut State) -> Result<()> {
        let seen = self.files.as_deref().and_then(Fingerprint::of);
        let at = clock::monotonic();
        let answer = self.program.call(&Call::new(["export", "--all"]))?;
        let lines = answer.succeeded()?.lines()?;
        let mut found = Vec::with_capacity(lines.len());
        state.memories.clear();
        for line in lines {
            match wire::memory_of_line(&line) {
                Some(memory) => state.memories.extend([memory]),
                None => found.extend(wire::from_bd(line)?),
            }
        }
        state.mirror.mirror(found, stamp());
        state.read = Some((at, seen));
        state.is_provisional = false;
        Ok(())
    }

    /// Waits for our turn among our own processes.
    pub(super) fn turn(&self) -> Result<files::Lock> {
        let began = clock::monotonic();
        loop {
            if let Some(lock) = files::lock(&self.lock)? {
                return Ok(lock);
            }
            if clock::monotonic().saturating_duration_since(began) >= self.busy {
                return Err(StoreError::Busy {
                    path: self.lock.clone(),
                    seconds: self.busy.as_secs(),
                });
            }
            std::thread::sleep(PAUSE);
        }
    }
}

fn stamp() -> Stamp<'static> {
    Stamp {
        actor: "bd",
        at: clock::now(),
    }
}

/// A number that is another one whenever the bead is: `bd` has no versions that count.
fn version(record: &Record) -> u64 {
    let issue = Value::Object(record.issue.document().clone());
    let held = record.claim.as_ref().map(|claim| claim.fence.0);
    let text = format!("{issue}\n{}\n{held:?}\n{}", record.fence, record.n_comments);
    let bytes = digest::bytes(text.as_bytes());
    let [first, ..] = bytes.as_chunks::<8>().0 else {
        unreachable!("a digest has 32 bytes");
    };
    // Every reader of JSON can hold it.
    u64::from_be_bytes(*first) >> 12
}

fn with_version(mut record: Record) -> Record {
    record.version = version(&record);
    record
}

/// A batch whose versions were compared with what is known, for a store that has other versions.
fn without_versions(mirror: &MemoryStore, batch: &[Write]) -> Result<Vec<Write>> {
    let mut batch = batch.to_vec();
    for write in &mut batch {
        let Write::Update { id, guard, .. } = write else {
            continue;
        };
        let Some(expected) = guard.version.take() else {
            continue;
        };
        if let Some(record) = mirror.get(std::slice::from_ref(id))?.pop() {
            let found = version(&record);
            if found != expected {
                return Err(StoreError::Guard {
                    what: format!("the version of {id}"),
                    expected: expected.to_string(),
                    found: found.to_string(),
                });
            }
        }
    }
    Ok(batch)
}

impl Store for BdStore {
    fn gaps(&self) -> &'static [Capability] {
        &GAPS
    }

    fn obstacle(&self) -> Option<StoreError> {
        let is_shared = self.files.is_none();
        let server = || is_shared.then(|| BdError::Server(self.program.beads.clone()).into());
        self.probed.obstacle().or_else(server)
    }

    fn get(&self, ids: &[BeadId]) -> Result<Vec<Record>> {
        let records = self.current()?.mirror.get(ids)?;
        Ok(records.into_iter().map(with_version).collect())
    }

    fn find(&self, query: &Query) -> Result<Vec<Record>> {
        let records = self.current()?.mirror.find(query)?;
        Ok(records.into_iter().map(with_version).collect())
    }

    fn ids_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<BeadId>> {
        self.current()?.mirror.ids_with_prefix(prefix, limit)
    }

    fn comments(&self, id: &BeadId) -> Result<Vec<Comment>> {
        self.current()?.mirror.comments(id)
    }

    fn blockers(&self, id: &BeadId) -> Result<Vec<Blocker>> {
        self.current()?.mirror.blockers(id)
    }

    fn dependents(&self, id: &BeadId) -> Result<Vec<(BeadId, String)>> {
        self.current()?.mirror.dependents(id)
    }

    fn events(&self, _: Option<&BeadId>, _: u64, _: usize) -> Result<Vec<Event>> {
        Err(StoreError::Unsupported(Capability::History))
    }

    fn changes(&self, after: u64, limit: usize) -> Result<Vec<(u64, BeadId)>> {
        self.current()?.mirror.changes(after, limit)
    }

    fn write(&mut self, batch: &[Write], by: Stamp<'_>) -> Result<Vec<u64>> {
        self.change(by, |mirror| {
            let batch = without_versions(mirror, batch)?;
            mirror.write(&batch, by)
        })?;
        let mut versions = Vec::with_capacity(batch.len());
        for write in batch {
            let record = self.get(std::slice::from_ref(write.id()))?.pop();
            versions.push(record.map_or(0, |record| record.version));
        }
        Ok(versions)
    }

    fn claim(&mut self, id: &BeadId, claim: &NewClaim<'_>, by: Stamp<'_>) -> Result<Record> {
        let held = self.change(by, |mirror| mirror.claim(id, claim, by))?;
        self.held_record(id, held.fence)
    }

    fn heartbeat(&mut self, id: &BeadId, fence: Fence, lease_until: Timestamp) -> Result<Claim> {
        let claim = self
            .current()?
            .mirror
            .clone()
            .heartbeat(id, fence, lease_until)?;
        let known = self.current()?.mirror.row_of(id).and_then(|row| row.claim);
        let now = clock::now();
        let left = |until: Timestamp| until.duration_since(now);
        // Others on this machine can see whether the process lives; those elsewhere need half of the lease.
        let is_enough = known.is_some_and(|known| left(known.lease_until) * 2 > left(lease_until));
        if !is_enough {
            let by = Stamp {
                actor: OWN_BUILD,
                at: now,
            };
            self.change(by, |mirror| mirror.beat(id, fence, lease_until))?;
        }
        Ok(claim)
    }

    fn release(&mut self, id: &BeadId, fence: Fence, by: Stamp<'_>) -> Result<Record> {
        self.change(by, |mirror| mirror.release(id, fence, by))?;
        self.record(id)
    }

    fn reclaim(
        &mut self,
        id: &BeadId,
        fence: Fence,
        why: Abandoned,
        by: Stamp<'_>,
    ) -> Result<Record> {
        self.change(by, |mirror| mirror.reclaim(id, fence, why, by))?;
        self.record(id)
    }

    fn acquire(
        &mut self,
        names: &[&str],
        holder: &Holder,
        until: Timestamp,
        by: Stamp<'_>,
    ) -> Result<Option<Lease>> {
        self.local.acquire(names, holder, until, by)
    }

    fn renew(&mut self, name: &str, fence: Fence, until: Timestamp) -> Result<Lease> {
        self.local.renew(name, fence, until)
    }

    fn give_back(&mut self, name: &str, fence: Fence) -> Result<()> {
        self.local.give_back(name, fence)
    }

    fn leases(&self, prefix: &str, now: Timestamp) -> Result<Vec<Lease>> {
        self.local.leases(prefix, now)
    }

    fn controls(&self, prefix: &str) -> Result<Vec<Control>> {
        if wire::is_memory_key(prefix) {
            return Ok(wire::memory_rows(&self.current()?.memories, prefix));
        }
        self.local.controls(prefix)
    }

    fn set_control(&mut self, key: &str, value: &Value, seen: u64, by: Stamp<'_>) -> Result<u64> {
        if wire::is_memory_key(key) {
            return self.set_memory(key, value, seen, by);
        }
        self.local.set_control(key, value, seen, by)
    }
}

impl BdStore {
    /// Keeps a note where `bd` keeps its own.
    fn set_memory(&self, key: &str, value: &Value, seen: u64, by: Stamp<'_>) -> Result<u64> {
        let _turn = self.turn()?;
        let mut state = self.current()?;
        let now = wire::memory_rows(&state.memories, key);
        let version = (now.iter()).find_map(|row| (row.key == key).then_some(row.version));
        let version = version.unwrap_or_default();
        if version != seen {
            return Err(super::rules::control_changed(key, seen, version));
        }
        self.program
            .call(&wire::memory_call(key, value, by.actor))?
            .succeeded()?;
        self.read_all(&mut state)?;
        Ok(1)
    }

    fn record(&self, id: &BeadId) -> Result<Record> {
        let record = self.get(std::slice::from_ref(id))?.pop();
        record.ok_or_else(|| StoreError::NotFound(id.clone()))
    }

    /// Reads a bead again after it was claimed: the claim counts only if it is there (Z-3).
    fn held_record(&self, id: &BeadId, fence: Fence) -> Result<Record> {
        let record = self.record(id)?;
        super::rules::check_held(&record, fence)?;
        Ok(record)
    }
}
