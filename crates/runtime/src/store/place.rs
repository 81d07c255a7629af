//! Which store belongs to a repository (Z-26): found by `.beads/`, fixed by `init`.

use std::sync::Arc;

use beads_ralph_core::bead::IssueType;
use beads_ralph_core::issue::{Entry, Query, Record, StatusFilter};
use beads_ralph_core::text::{excerpt, parse_duration};
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::{BdStore, Opened, Options, SqliteStore, Stamp, Store, StoreError, Write};
use crate::os::env::{self, Variable};
use crate::os::files;
use crate::os::process::Units;
use crate::repo::{self, Home};

const DIRECTORY: &str = ".beads";
const MARKER: &str = "beads-ralph.json";
const FILE: &str = "beads-ralph.db";

/// Everything under `.beads/` stays out of commits but for these rules, the formulas, and an export that people want to keep.
const IGNORE: &str = "\
# Written by `beads-ralph init`. The store and its runs belong to this machine.
*
!.gitignore
!issues.jsonl
!formulas/
!formulas/*
";

/// The file by which `bd` says that the store is elsewhere.
const REDIRECT: &str = "redirect";

/// What only a store of the real `bd` has.
const BD_MARKS: [&str; 7] = [
    REDIRECT,
    "metadata.json",
    "config.yaml",
    "embeddeddolt",
    "dolt",
    "proxieddb",
    "beads.db",
];

/// Where a repository's beads are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The `.beads` directory.
    pub directory: Utf8PathBuf,
    /// Who keeps them.
    pub kind: Kind,
}

/// Who keeps the beads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// We do, in this file.
    Sqlite(Utf8PathBuf),
    /// The real `bd` does.
    Bd,
}

/// What `init` fixed.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    store: String,
    file: String,
}

/// What `init` did.
#[expect(
    missing_debug_implementations,
    reason = "a store shows nothing of itself"
)]
pub struct Initialized {
    /// The store.
    pub store: Box<dyn Store>,
    /// Who keeps the beads.
    pub kind: Kind,
    /// The `.beads` directory.
    pub directory: Utf8PathBuf,
    /// Whether the store was there.
    pub opened: Opened,
}

/// A store that is gone when it is dropped, for whoever wants to try something.
#[derive(Debug)]
pub struct Scratch {
    /// The store.
    pub store: SqliteStore,
    _directory: TempDir,
}

impl Scratch {
    /// Makes one in the system's directory for such things.
    pub fn new() -> Result<Self, StoreError> {
        let unusable = |why: String| StoreError::Unusable {
            path: Utf8PathBuf::from("in a temporary directory"),
            why,
        };
        let directory = tempfile::tempdir().map_err(|error| unusable(error.to_string()))?;
        let path = Utf8Path::from_path(directory.path())
            .ok_or_else(|| unusable("its path is not UTF-8".to_owned()))?;
        let (store, _) = SqliteStore::open_or_create(&path.join(FILE))?;
        Ok(Self {
            store,
            _directory: directory,
        })
    }
}

/// Finds the store for a directory: `BEADS_DIR`, or the one at the repository's home when that is elsewhere, or the
/// nearest above, but for a directory in a repository not beyond its root.
pub fn find(from: &Utf8Path) -> Result<Place, StoreError> {
    let directory = directory_for(from).ok_or_else(|| StoreError::NotInitialized {
        from: from.to_owned(),
    })?;
    match find_in(directory) {
        Err(StoreError::NotInitialized { .. }) if env::get(Variable::BeadsDir).is_none() => {
            Err(StoreError::NotInitialized {
                from: from.to_owned(),
            })
        }
        found => found,
    }
}

/// The store in a `.beads` directory.
pub fn find_in(directory: Utf8PathBuf) -> Result<Place, StoreError> {
    let marker = directory.join(MARKER);
    if marker.exists() {
        let file = read_marker(&marker)?;
        let kind = Kind::Sqlite(directory.join(file));
        return Ok(Place { directory, kind });
    }
    if belongs_to_bd(&directory) {
        return Ok(Place {
            directory: redirected(directory),
            kind: Kind::Bd,
        });
    }
    Err(StoreError::NotInitialized { from: directory })
}

/// The store that a path leads to: its `.beads` directory, or a file or directory in or below the one that has it.
pub fn find_by(path: &Utf8Path) -> Result<Place, StoreError> {
    for directory in path.ancestors() {
        // A directory with another name may have files that only look like those of a store.
        let is_named = directory.file_name() == Some(DIRECTORY) || directory.join(MARKER).exists();
        let own = is_named.then(|| directory.to_owned());
        for candidate in own.into_iter().chain([directory.join(DIRECTORY)]) {
            match find_in(candidate) {
                Err(StoreError::NotInitialized { .. }) => {}
                found => return found,
            }
        }
    }
    Err(StoreError::NotInitialized {
        from: path.to_owned(),
    })
}

impl Place {
    /// Opens the store.
    pub fn open(&self) -> Result<Box<dyn Store>, StoreError> {
        match &self.kind {
            Kind::Sqlite(file) => Ok(Box::new(SqliteStore::open_with(file, options()?)?)),
            Kind::Bd => Ok(Box::new(self.open_bd()?)),
        }
    }

    /// Opens the store of the real `bd`.
    pub fn open_bd(&self) -> Result<BdStore, StoreError> {
        let units = Units::own().map_err(|error| StoreError::Unusable {
            path: self.directory.clone(),
            why: error.to_string(),
        })?;
        BdStore::open(&self.directory, &Arc::new(units), options()?)
    }
}

/// Makes the store of a repository, or finds that it is there. Stopped half-way, it is done by the next call.
pub fn init(from: &Utf8Path) -> Result<Initialized, StoreError> {
    let options = options()?;
    let directory = match env::get(Variable::BeadsDir) {
        Some(directory) => Utf8PathBuf::from(directory),
        None => home_directory(from),
    };
    if is_of_bd(&directory) {
        return init_bd(redirected(directory));
    }
    init_in(directory, options)
}

/// Makes the real `bd` take our beads: its database stays the store.
fn init_bd(directory: Utf8PathBuf) -> Result<Initialized, StoreError> {
    let kind = Kind::Bd;
    let place = Place { directory, kind };
    let store = place.open_bd()?;
    if let Some(obstacle @ StoreError::BdTooOld { .. }) = store.obstacle() {
        return Err(obstacle);
    }
    let types: Vec<&str> = IssueType::ALL.iter().map(|kind| kind.as_str()).collect();
    store.prepare(&types)?;
    Ok(Initialized {
        store: Box::new(store),
        kind: place.kind,
        directory: place.directory,
        opened: Opened::Existing,
    })
}

/// Moves the beads of the real `bd` into an embedded store of their own, which takes its place: nothing else does that. The
/// database of `bd` stays as it is. What marks the embedded store is written last, so that a move that is cut off never happened.
pub fn init_from_bd(from: &Utf8Path, by: Stamp<'_>) -> Result<Moved, StoreError> {
    let Place { directory, kind } = find(from)?;
    if kind != Kind::Bd {
        return Err(StoreError::Unusable {
            path: directory,
            why: "it is not kept by bd, so there is nothing to move".to_owned(),
        });
    }
    let place = Place { directory, kind };
    let bd = place.open_bd()?;
    // Nobody of ours writes until the move is over.
    let _turn = bd.turn()?;
    let (entries, memories) = bd.entries()?;
    let held = bd.find(&Query {
        status: StatusFilter::Any,
        ..Query::default()
    })?;
    if let Some(record) = held.iter().find(|record| record.claim.is_some()) {
        return Err(StoreError::InProgress(record.issue.id().clone()));
    }
    let file = place.directory.join(FILE);
    // What an earlier move left that was cut off is worth nothing.
    for leftover in ["", "-wal", "-shm"] {
        files::remove_leftover(&Utf8PathBuf::from(format!("{file}{leftover}")));
    }
    let (mut store, opened) = SqliteStore::open_or_create_with(&file, options()?)?;
    let n_beads = entries.len();
    let writes: Vec<Write> = (entries.iter().cloned())
        .map(|entry| Write::Insert(Box::new(entry)))
        .collect();
    store.write(&writes, by)?;
    for (key, value) in &memories {
        store.set_control(&format!("memory/{key}"), &value.as_str().into(), 0, by)?;
    }
    for row in bd.controls("")? {
        store.set_control(&row.key, &row.value, 0, by)?;
    }
    check_moved(&store, &entries, &file)?;
    write_marker(&place.directory)?;
    Ok(Moved {
        made: Initialized {
            store: Box::new(store),
            kind: Kind::Sqlite(file),
            directory: place.directory,
            opened,
        },
        n_beads,
        n_memories: memories.len(),
    })
}

/// What a move brought.
#[expect(
    missing_debug_implementations,
    reason = "a store shows nothing of itself"
)]
pub struct Moved {
    /// The store that has taken the place of the other one.
    pub made: Initialized,
    /// How many beads came.
    pub n_beads: usize,
    /// How many notes came that belong to no bead.
    pub n_memories: usize,
}

/// Reads back what was moved, every word of it.
fn check_moved(store: &SqliteStore, entries: &[Entry], file: &Utf8Path) -> Result<(), StoreError> {
    for entry in entries {
        let id = entry.issue.id();
        let record = store.get(std::slice::from_ref(id))?.pop();
        let is_same = |record: Record| record.issue == entry.issue && record.fence == entry.fence;
        let is_whole = record.is_some_and(is_same) && store.comments(id)? == entry.comments;
        if !is_whole {
            return Err(StoreError::Damaged {
                path: file.to_owned(),
                what: format!("the bead {id} did not arrive as it was sent"),
            });
        }
    }
    Ok(())
}

/// Makes the store in a directory, or opens the one that is there.
pub fn init_in(directory: Utf8PathBuf, options: Options) -> Result<Initialized, StoreError> {
    let marker = directory.join(MARKER);
    if is_of_bd(&directory) {
        return Err(StoreError::BelongsToBd {
            path: directory,
            why: "and no second store is made beside it",
        });
    }
    files::create_directory(&directory)?;
    let ignore = directory.join(".gitignore");
    if !ignore.exists() {
        files::write_atomic(&ignore, IGNORE.as_bytes())?;
    }
    let file = if marker.exists() {
        let file = directory.join(read_marker(&marker)?);
        if !file.exists() {
            return Err(StoreError::Unusable {
                path: file,
                why: "the file is missing".to_owned(),
            });
        }
        // The marker is written last, so a file without anything in it was not left by a call that was stopped.
        drop(SqliteStore::open_with(&file, options)?);
        file
    } else {
        directory.join(FILE)
    };
    let (store, opened) = SqliteStore::open_or_create_with(&file, options)?;
    if !marker.exists() {
        write_marker(&directory)?;
    }
    Ok(Initialized {
        store: Box::new(store),
        kind: Kind::Sqlite(file),
        directory,
        opened,
    })
}

fn write_marker(directory: &Utf8Path) -> Result<(), StoreError> {
    let text = format!("{{\n  \"store\": \"sqlite\",\n  \"file\": \"{FILE}\"\n}}\n");
    Ok(files::write_atomic(
        &directory.join(MARKER),
        text.as_bytes(),
    )?)
}

/// Whether a directory is a store of the real `bd`, and of nobody else.
fn is_of_bd(directory: &Utf8Path) -> bool {
    belongs_to_bd(directory) && !directory.join(MARKER).exists()
}

/// How long others are waited for, by the environment.
pub fn options() -> Result<Options, StoreError> {
    let Some(text) = env::get(Variable::StoreTimeout) else {
        return Ok(Options::default());
    };
    match parse_duration(&text) {
        Some(busy) => Ok(Options { busy }),
        None => Err(StoreError::Timeout { found: text }),
    }
}

/// The directory around the nearest store at or above a path: what stands for a repository where there is none.
pub fn root_of(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let path = path.canonicalize_utf8().ok()?;
    let mut above = path.ancestors();
    let root = above.find(|above| is_store(&above.join(DIRECTORY)));
    root.map(Utf8Path::to_owned)
}

fn directory_for(from: &Utf8Path) -> Option<Utf8PathBuf> {
    if let Some(directory) = env::get(Variable::BeadsDir) {
        return Some(Utf8PathBuf::from(directory));
    }
    let from = from.canonicalize_utf8().ok()?;
    let Some(home) = repo::home_of(&from) else {
        return nearest(from.ancestors());
    };
    let root = repo::root_of(&from);
    if root.as_deref() == Some(home.path()) {
        let within = from.ancestors();
        return nearest(within.take_while(|above| above.starts_with(home.path())));
    }
    nearest([home.path()].into_iter()).or_else(|| bd_beside(&home, &from))
}

/// The `.beads` of the repository's home, for `init`.
fn home_directory(from: &Utf8Path) -> Utf8PathBuf {
    let Some(home) = repo::home_of(from) else {
        return from.join(DIRECTORY);
    };
    let directory = home.path().join(DIRECTORY);
    match bd_beside(&home, from) {
        Some(theirs) if !is_store(&directory) => theirs,
        _ => directory,
    }
}

/// The store of the real `bd` in a worktree of a repository that has no main one, which would be looked at else.
fn bd_beside(home: &Home, from: &Utf8Path) -> Option<Utf8PathBuf> {
    match home {
        Home::Worktree(_) => None,
        Home::GitDirectory(_) => {
            let directory = repo::root_of(from)?.join(DIRECTORY);
            is_of_bd(&directory).then_some(directory)
        }
    }
}

fn nearest<'a>(mut directories: impl Iterator<Item = &'a Utf8Path>) -> Option<Utf8PathBuf> {
    directories.find_map(|above| Some(above.join(DIRECTORY)).filter(|path| is_store(path)))
}

/// Whether a `.beads` is a store. One that is empty, or holds only an export, hides none further up.
fn is_store(directory: &Utf8Path) -> bool {
    directory.join(MARKER).exists() || belongs_to_bd(directory)
}

fn read_marker(path: &Utf8Path) -> Result<String, StoreError> {
    let bytes = files::read(path)?;
    let unusable = |why: String| StoreError::Unusable {
        path: path.to_owned(),
        why,
    };
    let marker: Marker =
        serde_json::from_slice(&bytes).map_err(|error| unusable(error.to_string()))?;
    let is_name = !marker.file.contains(['/', '\\']) && !matches!(&*marker.file, "" | "." | "..");
    match marker.store.as_str() {
        "sqlite" if is_name => Ok(marker.file),
        "sqlite" => Err(unusable("`file` is not a name".to_owned())),
        other => Err(unusable(format!(
            "this program knows no store `{}`",
            excerpt(other)
        ))),
    }
}

/// Where a store of the real `bd` is that may be elsewhere: the path is meant from beside the `.beads` directory.
fn redirected(directory: Utf8PathBuf) -> Utf8PathBuf {
    let text = files::read(&directory.join(REDIRECT)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().map(str::trim);
    let target = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let target = target.and_then(|target| Some(directory.parent()?.join(target)));
    let target = target.and_then(|target| target.canonicalize_utf8().ok());
    target.filter(|target| target.is_dir()).unwrap_or(directory)
}

fn belongs_to_bd(directory: &Utf8Path) -> bool {
    BD_MARKS.iter().any(|mark| directory.join(mark).exists())
}
