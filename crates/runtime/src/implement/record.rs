//! What is noted beside a report about the worker that writes it, so that a dispatcher which comes later knows whose it is (Z-36).

use beads_ralph_core::issue::Fence;
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::hold::Held;
use crate::os::files::{self, FileError};

const SUFFIX: &str = "dispatch.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WorkRecord {
    pub(super) fence: u64,
    /// The last claim that may still decide about its work: later ones were made because a dispatcher was gone before it could.
    pub(super) through: u64,
    pub(super) mark: String,
    /// What was checked out when it began.
    pub(super) head: Option<String>,
    /// Whether it ended well, so that its report is whole.
    #[serde(default)]
    pub(super) is_ended: bool,
    /// What was checked out when it had ended; what others do to it later is not its work.
    #[serde(default)]
    pub(super) candidate: Option<String>,
    /// The claim with which the step was given back before anybody could say what came of it.
    #[serde(default)]
    pub(super) given_back: Option<u64>,
}

impl WorkRecord {
    /// The record of a worker that begins now.
    pub(super) fn new(held: &Held, mark: &str, head: Option<String>) -> Self {
        Self {
            fence: held.fence.0,
            through: held.fence.0,
            mark: mark.to_owned(),
            head,
            is_ended: false,
            candidate: None,
            given_back: None,
        }
    }

    pub(super) fn beside(report: &Utf8Path) -> Utf8PathBuf {
        report.with_extension(SUFFIX)
    }

    /// The record at a path; nothing when there is none that can be read.
    pub(super) fn read(path: &Utf8Path) -> Option<Self> {
        let bytes = files::read(path).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    pub(super) fn write(&self, path: &Utf8Path) -> Result<(), FileError> {
        files::write_atomic(path, &files::to_json(self))
    }

    /// Whether nobody has decided about the work yet, so that whoever holds the step now does.
    pub(super) fn is_undecided(&self, held: &Held) -> bool {
        self.fence < held.fence.0 && held.fence.0 <= self.through
    }

    /// Hands what is undecided on to the next claim, before it is made: a dispatcher that is gone right after it loses no work.
    pub(super) fn hand_on(folder: &Utf8Path, last: Fence, is_left: bool) {
        for (path, record) in Self::all_of(folder, last) {
            if is_left || record.given_back == Some(last.0) {
                let through = last.0.saturating_add(1);
                // Where that cannot be noted the work is done again.
                drop(Self { through, ..record }.write(&path));
            }
        }
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

    /// Notes that the step is given back with a claim.
    pub(super) fn give_back(folder: &Utf8Path, fence: Fence) {
        for (path, record) in Self::all_of(folder, fence) {
            let given_back = Some(fence.0);
            let record = Self {
                given_back,
                ..record
            };
            drop(record.write(&path));
        }
    }

    /// The records in a folder about which a claim decides.
    fn all_of(folder: &Utf8Path, fence: Fence) -> Vec<(Utf8PathBuf, Self)> {
        let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
        let paths = entries.map(camino::Utf8DirEntry::into_path);
        let paths = paths.filter(|path| path.as_str().ends_with(SUFFIX));
        let records = paths.filter_map(|path| Some((path.clone(), Self::read(&path)?)));
        records
            .filter(|(_, record)| (record.fence..=record.through).contains(&fence.0))
            .collect()
    }
}
