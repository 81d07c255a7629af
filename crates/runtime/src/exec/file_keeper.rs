//! A bead in a file, worked on by nobody else.

use beads_ralph_core::bead::Timestamp;
use beads_ralph_core::dod::{DodBead, Progress};
use camino::Utf8Path;

use super::keeper::{Keeper, KeeperError, Verdict};
use crate::bead_files::{BeadFile, Evidence, Written};
use crate::os::clock;
use crate::os::files::Lock;
use crate::repo::shown;

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
                "{path} was removed during the work, and is written anew"
            ));
        }
        let kept = (self.evidence).keep("bead-changed", clock::now(), &bytes);
        let kept = match kept {
            Ok(path) => format!("what it said is kept in {}", shown(&path)),
            Err(error) => format!("what it said is lost: {error}"),
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

    fn save(&mut self, progress: &Progress, version: &str) -> Result<Option<String>, KeeperError> {
        let now = Timestamp::from_instant(clock::now());
        let written = self.file.write(progress, version, &now)?;
        Ok(self.keep(written))
    }

    fn end(
        &mut self,
        progress: &Progress,
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
