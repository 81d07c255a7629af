//! Where a bead is kept while it is worked on: a locked file, or a store with a claim on the bead (Z-37).

use std::time::{Duration, Instant};

use beads_ralph_core::agent::Outcome;
use beads_ralph_core::bead::{BeadId, Timestamp, Verifier};
use beads_ralph_core::check::{CheckRecord, is_green, verdict};
use beads_ralph_core::dod::{DodBead, RunProgress, of_issue};
use beads_ralph_core::issue::{Edit, Fence, Holder, Label, new_comment};
use beads_ralph_core::vocabulary::{Status, label, metadata as keys};
use camino::Utf8Path;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::bead_files::{BeadFile, BeadFileError, Evidence, Written};
use crate::os::clock;
use crate::os::files::Lock;
use crate::repo::shown;
use crate::store::{Guard, NewClaim, Stamp, Store, StoreError, Write};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Done,
    Open,
    GivenUp,
}

#[derive(Debug, Error)]
pub enum KeeperError {
    #[error(transparent)]
    File(#[from] BeadFileError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Whoever keeps a bead while it is worked on. Every step is saved, so that a power cut loses nothing.
pub trait Keeper {
    fn bead(&self) -> &DodBead;

    /// How far the work is. The answer is something that people should know.
    fn save(
        &mut self,
        progress: &RunProgress,
        version: &str,
    ) -> Result<Option<String>, KeeperError>;

    fn end(
        &mut self,
        progress: &RunProgress,
        verdict: Verdict,
        version: &str,
    ) -> Result<Option<String>, KeeperError>;

    /// The work goes on; told several times a second. An error means that the bead is ours no longer.
    fn beat(&mut self) -> Result<(), KeeperError> {
        Ok(())
    }

    /// An agent has ended (Z-9).
    fn agent_ended(&mut self, _iteration: u32, _outcome: &Outcome) -> Result<(), KeeperError> {
        Ok(())
    }

    /// The checks were run (Z-9).
    fn checked(&mut self, _iteration: u32, _records: &[CheckRecord]) -> Result<(), KeeperError> {
        Ok(())
    }
}

/// A bead in a file, and the lock that keeps everybody else from it.
#[derive(Debug)]
pub struct FileKeeper {
    file: BeadFile,
    evidence: Evidence,
    _lock: Lock,
}

impl FileKeeper {
    pub fn new(file: BeadFile, evidence: Evidence, lock: Lock) -> Self {
        Self {
            file,
            evidence,
            _lock: lock,
        }
    }

    pub fn path(&self) -> &Utf8Path {
        self.file.path()
    }

    /// What was overruled is kept: it may be an agent's mischief, or somebody's work.
    fn keep(&self, written: Written) -> Option<String> {
        let Written::Overruled(bytes) = written else {
            return None;
        };
        let path = shown(self.file.path());
        if bytes.is_empty() {
            return Some(format!(
                "{path} was removed during the work and has been written again"
            ));
        }
        let kept = (self.evidence).keep("bead-changed", clock::now(), &bytes);
        let kept = match kept {
            Ok(path) => format!("the changed version is saved in {}", shown(&path)),
            Err(error) => format!("the changed version could not be saved: {error}"),
        };
        Some(format!(
            "{path} was changed during the work; the definition from the start still holds, and {kept}"
        ))
    }
}

impl Keeper for FileKeeper {
    fn bead(&self) -> &DodBead {
        self.file.bead()
    }

    fn save(
        &mut self,
        progress: &RunProgress,
        version: &str,
    ) -> Result<Option<String>, KeeperError> {
        let now = Timestamp::from_instant(clock::now());
        let written = self.file.write(progress, version, &now)?;
        Ok(self.keep(written))
    }

    fn end(
        &mut self,
        progress: &RunProgress,
        verdict: Verdict,
        version: &str,
    ) -> Result<Option<String>, KeeperError> {
        let warning = self.save(progress, version)?;
        if verdict == Verdict::Done {
            self.file.move_completed()?;
        }
        Ok(warning)
    }
}

/// How long a claim lasts without a sign of life.
const LEASE: Duration = Duration::from_mins(10);

/// How often a sign of life is given.
const BEAT: Duration = Duration::from_mins(1);

pub struct StoreKeeper<'a> {
    store: &'a mut dyn Store,
    actor: String,
    id: BeadId,
    fence: Fence,
    bead: DodBead,
    /// When the store last heard a sign of life, and when it was last given one.
    beaten: Instant,
    tried: Instant,
}

impl std::fmt::Debug for StoreKeeper<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("StoreKeeper");
        debug.field("id", &self.id).field("fence", &self.fence);
        debug.finish_non_exhaustive()
    }
}

impl<'a> StoreKeeper<'a> {
    /// Claims a bead, and reads it as it is then. `defaults` are the checks that hold for every bead.
    pub fn claim(
        store: &'a mut dyn Store,
        id: &BeadId,
        defaults: &[Verifier],
        holder: &Holder,
        actor: &str,
    ) -> Result<Self, StoreError> {
        let now = clock::now();
        let new = NewClaim {
            holder,
            lease_until: lease_until(now),
            is_forced: false,
            instead_of: None,
        };
        let record = store.claim(id, &new, Stamp { actor, at: now })?;
        let bead = match of_issue(&record.issue, defaults) {
            Ok(bead) => bead,
            // What it said when somebody looked is no longer what it says: nothing is done on the word of the past.
            Err(errors) => {
                store.release(id, record.fence, Stamp { actor, at: now })?;
                let id = id.to_string();
                return Err(StoreError::Invalid { id, errors });
            }
        };
        Ok(Self {
            store,
            actor: actor.to_owned(),
            id: id.clone(),
            fence: record.fence,
            bead,
            beaten: clock::monotonic(),
            tried: clock::monotonic(),
        })
    }

    pub fn fence(&self) -> Fence {
        self.fence
    }

    pub fn note(&mut self, text: &str) -> Result<(), KeeperError> {
        self.write(vec![Edit::AppendNotes(text.to_owned())])
    }

    fn write(&mut self, edits: Vec<Edit>) -> Result<(), KeeperError> {
        let write = Write::Update {
            id: self.id.clone(),
            edits,
            guard: Guard::fenced(self.fence),
        };
        let stamp = Stamp {
            actor: &self.actor,
            at: clock::now(),
        };
        self.store.write(&[write], stamp)?;
        Ok(())
    }

    /// What the run sets in `metadata.ralph_meta`, beside what others put there.
    fn meta(&self, progress: &RunProgress, version: &str) -> Result<Edit, KeeperError> {
        let record = self.store.get(std::slice::from_ref(&self.id))?.pop();
        let issue = record.map(|record| record.issue);
        let metadata = issue.as_ref().and_then(|issue| issue.metadata());
        let mut meta = match metadata.and_then(|metadata| metadata.get(keys::RALPH_META)) {
            Some(Value::Object(meta)) => meta.clone(),
            _ => Map::new(),
        };
        for (key, value) in progress.meta(version) {
            if value.is_null() {
                meta.remove(&key);
            } else {
                meta.insert(key, value);
            }
        }
        let mut merged = Map::new();
        merged.insert(keys::RALPH_META.to_owned(), meta.into());
        Ok(Edit::MergeMetadata(merged))
    }

    fn remark(&mut self, text: &str) -> Result<(), KeeperError> {
        let now = Timestamp::from_instant(clock::now());
        let comment = new_comment(&self.id, &self.actor, text, &now);
        self.write(vec![Edit::Comment(comment)])
    }
}

fn lease_until(now: jiff::Timestamp) -> jiff::Timestamp {
    now.checked_add(LEASE).unwrap_or(jiff::Timestamp::MAX)
}

impl Keeper for StoreKeeper<'_> {
    fn bead(&self) -> &DodBead {
        &self.bead
    }

    fn save(
        &mut self,
        progress: &RunProgress,
        version: &str,
    ) -> Result<Option<String>, KeeperError> {
        let meta = self.meta(progress, version)?;
        self.write(vec![meta])?;
        Ok(None)
    }

    fn end(
        &mut self,
        progress: &RunProgress,
        verdict: Verdict,
        version: &str,
    ) -> Result<Option<String>, KeeperError> {
        let meta = self.meta(progress, version)?;
        let n_checks = progress.records.as_ref().map_or(0, Vec::len);
        let end = match verdict {
            Verdict::Done => vec![Edit::Close(format!(
                "Definition of Done met: {n_checks} checks passed"
            ))],
            Verdict::Open => vec![Edit::Reopen],
            Verdict::GivenUp => {
                let human = Label::parse(label::HUMAN).expect("a word is a label");
                vec![Edit::Status(Status::Blocked.into()), Edit::AddLabel(human)]
            }
        };
        self.write([vec![meta], end].concat())?;
        Ok(None)
    }

    fn beat(&mut self) -> Result<(), KeeperError> {
        let now = clock::monotonic();
        if now.saturating_duration_since(self.tried) >= BEAT {
            self.tried = now;
            let beaten = (self.store).heartbeat(&self.id, self.fence, lease_until(clock::now()));
            let since = now.saturating_duration_since(self.beaten);
            match beaten {
                Ok(_) => self.beaten = now,
                // The bead is somebody else's now.
                Err(error @ (StoreError::Stale { .. } | StoreError::NotFound(_))) => {
                    return Err(error.into());
                }
                // The store is busy, or cannot be had for a moment: the lease still holds.
                Err(_) if since + BEAT < LEASE => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn agent_ended(&mut self, iteration: u32, outcome: &Outcome) -> Result<(), KeeperError> {
        let status = outcome.status.as_str();
        self.remark(&format!(
            "attempt {iteration}: agent {status}: {}",
            outcome.reason
        ))
    }

    fn checked(&mut self, iteration: u32, records: &[CheckRecord]) -> Result<(), KeeperError> {
        let verdict = match (is_green(records), verdict(records)) {
            (true, warnings) if warnings.is_empty() => "all checks passed".to_owned(),
            (true, warnings) => format!("all checks passed; {warnings}"),
            (false, verdict) => format!("checks failed: {verdict}"),
        };
        self.remark(&format!("attempt {iteration}: {verdict}"))
    }
}
