//! DoD beads in files, and what is kept of the work on them: `.ralph/`, `.beads/active` and `.beads/completed` (contracts §8.4).

mod bead_file;
mod evidence;

pub use bead_file::{BeadFile, BeadFileError, Written};
pub(crate) use evidence::check_artifacts;
pub use evidence::{Evidence, EvidenceError, LogDirectory};

use beads_ralph_core::dod::check_name;
use camino::{Utf8Path, Utf8PathBuf};

use crate::files::{self, FileError};

/// Directories that a project has for its DoD beads, from its root.
const DIRECTORIES: [&str; 9] = [
    ".ralph/beads",
    ".ralph/gates",
    ".ralph/evidence",
    ".ralph/logs",
    ".ralph/metrics",
    ".ralph/patrol",
    ".ralph/nudges",
    ".ralph/alerts",
    ".beads/active",
];

/// Where a bead is looked for by its id, in this order (V-17).
const PLACES: [&str; 3] = [".ralph/beads", ".ralph/gates", ACTIVE];

const ACTIVE: &str = ".beads/active";
const COMPLETED: &str = ".beads/completed";

/// The DoD beads of a project.
#[derive(Debug, Clone)]
pub struct Ralph {
    root: Utf8PathBuf,
}

impl Ralph {
    /// Those of a project with this root.
    pub fn new(root: &Utf8Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// The project's root.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Makes the directories (V-17).
    pub fn init(&self) -> Result<(), FileError> {
        for directory in DIRECTORIES.into_iter().chain([COMPLETED]) {
            files::create_directory(&self.root.join(directory))?;
        }
        Ok(())
    }

    /// The file of a bead, by its id: the file that is named so, else one that says so inside. A completed bead is found
    /// last, so that asking for it again says that it is done.
    pub fn find(&self, id: &str) -> Option<Utf8PathBuf> {
        check_name(id).ok()?;
        let places = || PLACES.into_iter().chain([COMPLETED]);
        let named = places().map(|place| self.root.join(place).join(format!("{id}.json")));
        let mut named = named.filter(|path| path.is_file());
        named
            .next()
            .or_else(|| places().find_map(|place| says_so(&self.root.join(place), id)))
    }

    /// The ids of the beads in files, for "did you mean".
    pub fn ids(&self) -> Vec<String> {
        let places = PLACES.into_iter().map(|place| self.root.join(place));
        let files = places.flat_map(|place| json_files(&place));
        files
            .filter_map(|path| path.file_stem().map(str::to_owned))
            .collect()
    }

    /// Where the evidence about a bead is kept.
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

fn json_files(directory: &Utf8Path) -> Vec<Utf8PathBuf> {
    let entries = directory.read_dir_utf8().into_iter().flatten().flatten();
    let mut files: Vec<Utf8PathBuf> = entries
        .map(|entry| entry.path().to_owned())
        .filter(|path| path.extension() == Some("json") && path.is_file())
        .collect();
    files.sort();
    files
}
