//! What is noted beside a report about the worker that writes it, so that a dispatcher which comes later knows whose it is (Z-36).

use beads_ralph_core::issue::Fence;
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::hold::Held;
use crate::files::{self, FileError};

/// The record of one worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WorkRecord {
    /// The claim under which it works.
    pub(super) fence: u64,
    /// By what its processes are found.
    pub(super) mark: String,
    /// What was checked out when it began.
    pub(super) head: Option<String>,
    /// Whether it ended well, so that its report is whole.
    #[serde(default)]
    pub(super) is_ended: bool,
    /// What was checked out when it had ended; what others do to it later is not its work.
    #[serde(default)]
    pub(super) candidate: Option<String>,
    /// Whether its dispatcher gave the step back before it could say what came of it.
    #[serde(default)]
    pub(super) is_given_back: bool,
}

impl WorkRecord {
    /// The place of the record of a report.
    pub(super) fn beside(report: &Utf8Path) -> Utf8PathBuf {
        report.with_extension("dispatch.json")
    }

    /// The record at a path; nothing when there is none that can be read.
    pub(super) fn read(path: &Utf8Path) -> Option<Self> {
        let bytes = files::read(path).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    pub(super) fn write(&self, path: &Utf8Path) -> Result<(), FileError> {
        files::write_atomic(path, &files::to_json(self))
    }

    /// Whether nobody has decided about the work yet, which was done under the claim just before this one.
    pub(super) fn is_undecided(&self, held: &Held) -> bool {
        let (before, is_left) = held.before;
        Fence(self.fence) == before && (is_left || (self.is_given_back && self.is_ended))
    }

    /// Notes something about the worker at a path, if there is a record.
    pub(super) fn amend(path: &Utf8Path, change: impl FnOnce(&mut Self)) -> Result<(), FileError> {
        match Self::read(path) {
            Some(mut record) => {
                change(&mut record);
                record.write(path)
            }
            None => Ok(()),
        }
    }

    /// Notes that the step is given back. Where that cannot be noted the work is done again.
    pub(super) fn give_back(path: &Utf8Path) {
        drop(Self::amend(path, |record| record.is_given_back = true));
    }
}
