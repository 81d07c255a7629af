//! DoD beads in files, and the evidence of the work on them: `.ralph/`, `.beads/active` and `.beads/completed` (contracts §8.4).

mod bead_file;

use beads_ralph_core::dod::check_name;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde::Serialize;
use thiserror::Error;

pub use self::bead_file::{BeadFile, BeadFileError, Written};
use crate::os::files::{self, FileError, Lock};

/// Directories that a project has for its DoD beads, from its root.
const DIRECTORIES: [&str; 8] = [
    BEADS,
    GATES,
    ".ralph/evidence",
    ".ralph/logs",
    ".ralph/metrics",
    ".ralph/patrol",
    ".ralph/nudges",
    ".ralph/alerts",
];

const BEADS: &str = ".ralph/beads";
const GATES: &str = ".ralph/gates";
const ACTIVE: &str = "active";
const COMPLETED: &str = "completed";
const FORMULA_DIRECTORY: &str = "formulas";

/// What stays out of commits: everything but the beads and the gates.
const IGNORE: &str = "\
# Written by beads-ralph. What runs leave behind belongs to this machine; beads and gates are yours to commit.
*
!.gitignore
!beads/
!beads/*.json
!gates/
!gates/*.json
";

macro_rules! formulas {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("bead_files/formulas/", $name)))),*]
    };
}

const FORMULAS: [(&str, &str); 3] = formulas![
    "molecule-ralph-work.formula.toml",
    "molecule-ralph-patrol.formula.toml",
    "molecule-ralph-gate.formula.toml",
];

#[derive(Debug, Clone)]
pub struct Ralph {
    root: Utf8PathBuf,
    store: Utf8PathBuf,
}

impl Ralph {
    /// Those of a project with this root, whose store is where stores are.
    pub fn new(root: &Utf8Path) -> Self {
        Self::with_store(root, &root.join(".beads"))
    }

    pub fn with_store(root: &Utf8Path, store: &Utf8Path) -> Self {
        Self {
            root: root.to_owned(),
            store: store.to_owned(),
        }
    }

    /// The same beads and store, at another root: that of the main worktree.
    #[must_use]
    pub fn at(&self, root: &Utf8Path) -> Self {
        Self::with_store(root, &self.store)
    }

    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Makes the directories and writes the formulas, unless they are there (V-17).
    pub fn init(&self) -> Result<(), FileError> {
        self.prepare()?;
        for directory in DIRECTORIES {
            files::create_directory(&self.root.join(directory))?;
        }
        for directory in [ACTIVE, COMPLETED, FORMULA_DIRECTORY] {
            files::create_directory(&self.store.join(directory))?;
        }
        for (name, text) in FORMULAS {
            let path = self.store.join(FORMULA_DIRECTORY).join(name);
            match files::create_new(&path, text.as_bytes()) {
                // Somebody may have made it their own.
                Err(FileError::Exists { .. }) | Ok(()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Makes the place for beads in files, and keeps what runs leave there out of commits: an agent that commits everything
    /// must not commit our logs.
    pub fn prepare(&self) -> Result<(), FileError> {
        files::create_directory(&self.root.join(BEADS))?;
        let ignore = self.root.join(".ralph/.gitignore");
        match files::create_new(&ignore, IGNORE.as_bytes()) {
            Err(FileError::Exists { .. }) => Ok(()),
            made => made,
        }
    }

    pub fn beads(&self) -> Utf8PathBuf {
        self.root.join(BEADS)
    }

    /// The file of a bead, by its id: the file that is named so, else one that says so inside.
    pub fn find(&self, id: &str) -> Option<Utf8PathBuf> {
        Self::find_in(&self.places(), id)
    }

    /// The file of a bead that is completed, so that asking for it again says that it is done.
    pub fn find_completed(&self, id: &str) -> Option<Utf8PathBuf> {
        Self::find_in(&[self.store.join(COMPLETED)], id)
    }

    fn find_in(places: &[Utf8PathBuf], id: &str) -> Option<Utf8PathBuf> {
        check_name(id).ok()?;
        let named = places.iter().map(|place| place.join(format!("{id}.json")));
        let mut named = named.filter(|path| path.is_file());
        named
            .next()
            .or_else(|| places.iter().find_map(|place| says_so(place, id)))
    }

    /// Where a bead is looked for by its id, in this order (V-17).
    fn places(&self) -> [Utf8PathBuf; 3] {
        [
            self.root.join(BEADS),
            self.root.join(GATES),
            self.store.join(ACTIVE),
        ]
    }

    /// The ids of the beads in files, for "did you mean".
    pub fn ids(&self) -> Vec<String> {
        let files = self
            .places()
            .into_iter()
            .flat_map(|place| json_files(&place));
        files
            .filter_map(|path| path.file_stem().map(str::to_owned))
            .collect()
    }

    pub fn gates(&self) -> Utf8PathBuf {
        self.root.join(GATES)
    }

    /// The directories that may hold gates, in the order in which a bead is looked for by its id, and then that of completed ones.
    pub(crate) fn all_places(&self) -> Vec<Utf8PathBuf> {
        let completed = self.store.join(COMPLETED);
        self.places().into_iter().chain([completed]).collect()
    }

    pub fn work_files(&self) -> Vec<Utf8PathBuf> {
        let places = self.places().into_iter();
        places.flat_map(|place| json_files(&place)).collect()
    }

    /// The files of beads that are no gates by their place, and not completed.
    pub fn todo_files(&self) -> Vec<Utf8PathBuf> {
        let places = [self.root.join(BEADS), self.store.join(ACTIVE)];
        places.iter().flat_map(|place| json_files(place)).collect()
    }

    pub fn evidence(&self, id: &str) -> Evidence {
        Evidence::new(self.root.join(".ralph/evidence").join(id))
    }

    /// Where a completed bead goes when its file is among the active ones.
    pub(crate) fn completed_place(path: &Utf8Path) -> Option<Utf8PathBuf> {
        let directory = path.parent()?;
        let is_active = directory.ends_with(ACTIVE);
        let place = directory.parent()?.join("completed");
        is_active.then(|| place.join(path.file_name().unwrap_or_default()))
    }
}

/// The file in a directory whose bead has an id.
fn says_so(directory: &Utf8Path, id: &str) -> Option<Utf8PathBuf> {
    json_files(directory).into_iter().find(|path| {
        let document = files::read(path).ok();
        let document: Option<serde_json::Value> =
            document.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        document.is_some_and(|document| document["id"] == id)
    })
}

/// The files in a directory that may hold beads, by name; none where it cannot be listed.
pub(crate) fn json_files(directory: &Utf8Path) -> Vec<Utf8PathBuf> {
    let entries = directory.read_dir_utf8().into_iter().flatten().flatten();
    let mut files: Vec<Utf8PathBuf> = entries
        .map(|entry| entry.path().to_owned())
        .filter(|path| path.extension() == Some("json") && path.is_file())
        .collect();
    files.sort();
    files
}

/// How many runs may begin in one second, or records be written; more is a mistake.
const MAX_SAME_SECOND: usize = 1000;

#[derive(Debug, Clone)]
pub struct Evidence {
    directory: Utf8PathBuf,
}

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
        // Links are skipped: they may lead anywhere.
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
        write_new(&self.directory, kind, now, bytes)
    }
}

/// Writes `<kind>-<yyyyMMdd-HHmmss>.json`, with a number where that is taken.
pub(crate) fn write_new(
    directory: &Utf8Path,
    kind: &str,
    now: Timestamp,
    bytes: &[u8],
) -> Result<Utf8PathBuf, FileError> {
    files::create_directory(directory)?;
    for name in names(now) {
        let path = directory.join(format!("{kind}-{name}.json"));
        match files::create_new(&path, bytes) {
            Err(FileError::Exists { .. }) => {}
            Err(error) => return Err(error),
            Ok(()) => return Ok(path),
        }
    }
    let path = directory.to_owned();
    Err(FileError::Exists { path })
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
