//! Evidence about the work on a bead: captured output, and the record of how it ended (V-15).

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde::Serialize;
use thiserror::Error;

use crate::os::files::{self, FileError, Lock};

/// How many runs may begin in one second, or records be written; more is a mistake.
const MAX_SAME_SECOND: usize = 1000;

#[derive(Debug, Clone)]
pub struct Evidence {
    directory: Utf8PathBuf,
}

/// The captured output of one run, in a directory of its own.
#[derive(Debug, Clone)]
pub struct LogDirectory(Utf8PathBuf);

impl LogDirectory {
    pub fn path(&self) -> &Utf8Path {
        &self.0
    }

    pub fn below(&self, name: &str) -> Result<Utf8PathBuf, FileError> {
        let path = self.0.join(name);
        files::create_directory(&path)?;
        Ok(path)
    }
}

#[derive(Debug, Error)]
pub enum EvidenceError {
    #[error("Evidence cannot be written: {0}")]
    File(#[from] FileError),
    /// A file that must be there is not.
    #[error("Evidence missing: {0}")]
    Artifact(String),
}

impl Evidence {
    pub(super) fn new(directory: Utf8PathBuf) -> Self {
        Self { directory }
    }

    pub fn directory(&self) -> &Utf8Path {
        &self.directory
    }

    /// Keeps everybody else from working on the bead while the lock is held; nothing when somebody else does.
    pub fn lock(&self) -> Result<Option<Lock>, FileError> {
        files::create_directory(&self.directory)?;
        files::lock(&self.directory.join("lock"))
    }

    /// A new directory for the output of a run that begins now.
    pub fn begin(&self, now: Timestamp) -> Result<LogDirectory, FileError> {
        let logs = self.directory.join("logs");
        files::create_directory(&logs)?;
        let names = names(now).map(|name| logs.join(name));
        for path in names {
            if files::create_new_directory(&path)? {
                return Ok(LogDirectory(path));
            }
        }
        Err(FileError::Exists { path: logs })
    }

    /// The runs whose output is kept, oldest first.
    pub fn runs(&self) -> Vec<LogDirectory> {
        let entries = self.directory.join("logs").read_dir_utf8();
        let entries = entries.into_iter().flatten().flatten();
        // A link is no run, and may lead anywhere.
        let mut runs: Vec<Utf8PathBuf> = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path().to_owned())
            .collect();
        // A second run in one second has a number behind its name, and ten comes after nine.
        runs.sort_by_key(|path| (path.as_str().len(), path.to_string()));
        runs.sort_by_key(|path| {
            let name = path.file_name().unwrap_or_default();
            name.get(..STAMP.len()).map(str::to_owned)
        });
        runs.into_iter().map(LogDirectory).collect()
    }

    /// Writes a record that must not be there yet: `<kind>-<yyyyMMdd-HHmmss>.json`.
    pub fn record(
        &self,
        kind: &str,
        now: Timestamp,
        record: &impl Serialize,
    ) -> Result<Utf8PathBuf, FileError> {
        self.keep(kind, now, &files::to_json(record))
    }

    pub fn keep(&self, kind: &str, now: Timestamp, bytes: &[u8]) -> Result<Utf8PathBuf, FileError> {
        files::create_directory(&self.directory)?;
        for name in names(now) {
            let path = self.directory.join(format!("{kind}-{name}.json"));
            match files::create_new(&path, bytes) {
                Err(FileError::Exists { .. }) => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(path),
            }
        }
        let path = self.directory.clone();
        Err(FileError::Exists { path })
    }
}

const STAMP: &str = "yyyyMMdd-HHmmss";

/// Names for what happens now, each tried when the one before it is taken.
pub(crate) fn names(now: Timestamp) -> impl Iterator<Item = String> {
    let stamp = now.strftime("%Y%m%d-%H%M%S").to_string();
    (1..=MAX_SAME_SECOND).map(move |n| match n {
        1 => stamp.clone(),
        n => format!("{stamp}-{n}"),
    })
}
/// Whether every glob of artifacts matches something below a root (V-15).
pub(crate) fn check_artifacts(root: &Utf8Path, globs: &[String]) -> Result<(), EvidenceError> {
    let is_there = |pattern: &str| {
        if Utf8Path::new(pattern)
            .components()
            .any(|part| part == Utf8Component::ParentDir)
        {
            return false;
        }
        let escaped = glob::Pattern::escape(root.as_str());
        let found = glob::glob(&format!("{escaped}/{pattern}"));
        found.is_ok_and(|mut paths| paths.any(|path| path.is_ok()))
    };
    match globs.iter().find(|pattern| !is_there(pattern)) {
        Some(pattern) => Err(EvidenceError::Artifact(pattern.clone())),
        None => Ok(()),
    }
}
