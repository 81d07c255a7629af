//! The kinds of stores, and which store belongs to a repository (Z-26): found by `.beads/`, made by `init`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Entry;
use beads_ralph_core::text::parse_duration;
use camino::{Utf8Path, Utf8PathBuf};

use super::{CheckReport, RepairReport, Result, Stamp, Store, StoreError, bd, sqlite};
use crate::os::env::{self, Variable};
use crate::repo::{self, Home};

/// Every kind. A directory belongs to the first that is in it; where none is, the first one is made.
const KINDS: [&dyn StoreKind; 2] = [&sqlite::Embedded, &bd::RealBd];

const DIRECTORY: &str = ".beads";

/// A kind of store: how one is found, opened, made and looked after.
pub trait StoreKind: Debug + Sync {
    /// Whether a `.beads` directory is a store of this kind.
    fn is_in(&self, directory: &Utf8Path) -> bool;

    /// The same for a directory of any name, whose files may only look like those of a store.
    fn is_marked_in(&self, _directory: &Utf8Path) -> bool {
        false
    }

    /// The `.beads` directory that is meant, which may be elsewhere, and the file or directory of the database.
    fn locate(&self, directory: Utf8PathBuf) -> Result<(Utf8PathBuf, Utf8PathBuf)>;

    fn open(&self, place: &Place) -> Result<Box<dyn Store>>;

    /// Makes the store in a directory, or prepares the one that is there. A call that was stopped half-way is completed by the next.
    fn init(&self, directory: Utf8PathBuf, options: Options) -> Result<Initialized>;

    /// The name of the program that owns the database, where we do not.
    fn owner(&self) -> Option<&'static str> {
        None
    }

    /// That program as it is found for a store; an error for kinds that have no [`owner`](Self::owner).
    fn find_owner(&self, place: &Place) -> Result<Owner> {
        Err(StoreError::Unusable {
            path: place.directory.clone(),
            why: "no other program owns it".to_owned(),
        })
    }

    /// Finds and repairs damage, where we own the database.
    fn doctor(&self) -> Option<&'static dyn Doctor> {
        None
    }
}

/// Looks after the database of a store.
pub trait Doctor: Sync {
    /// Fails only when somebody else has the store, or when it is not ours.
    fn check(&self, place: &Place, options: Options) -> Result<CheckReport>;

    /// Rebuilds a damaged store from what is left of it and from an export; nothing happens to a store without damage.
    fn repair(
        &self,
        place: &Place,
        export: BTreeMap<BeadId, Entry>,
        by: Stamp<'_>,
        options: Options,
    ) -> Result<Option<RepairReport>>;
}

/// The program that owns the database of a store.
#[derive(Debug)]
pub struct Owner {
    pub program: Utf8PathBuf,
    pub version: String,
    /// Why it would not be safe to write through it.
    pub obstacle: Option<StoreError>,
}

/// Where a repository's beads are.
#[derive(Debug, Clone)]
pub struct Place {
    pub directory: Utf8PathBuf,
    /// The file or directory of the database.
    pub database: Utf8PathBuf,
    pub kind: &'static dyn StoreKind,
}

impl Place {
    pub fn open(&self) -> Result<Box<dyn Store>> {
        self.kind.open(self)
    }

    /// Whether another program owns the database.
    pub fn is_foreign(&self) -> bool {
        self.kind.owner().is_some()
    }
}

#[expect(
    missing_debug_implementations,
    reason = "a store shows nothing of itself"
)]
pub struct Initialized {
    pub store: Box<dyn Store>,
    pub directory: Utf8PathBuf,
    pub kind: &'static dyn StoreKind,
    pub opened: Opened,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    Existing,
    Created,
    /// It had an older format, of which this is a copy.
    Migrated(Utf8PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How long to wait for other processes (contracts §4.2: `DATABASE.TIMEOUT`).
    pub busy: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy: Duration::from_secs(30),
        }
    }
}

/// The options that the environment sets.
pub fn options() -> Result<Options> {
    let Some(text) = env::get(Variable::StoreTimeout) else {
        return Ok(Options::default());
    };
    match parse_duration(&text) {
        Some(busy) => Ok(Options { busy }),
        None => Err(StoreError::Timeout { found: text }),
    }
}

/// Finds the store for a directory: `BEADS_DIR`, or the one at the repository's home when that is elsewhere, or the nearest above,
/// but for a directory in a repository not beyond its root.
pub fn find(from: &Utf8Path) -> Result<Place> {
    let none = || StoreError::NotInitialized {
        from: from.to_owned(),
    };
    match find_in(directory_for(from).ok_or_else(none)?) {
        Err(StoreError::NotInitialized { .. }) if env::get(Variable::BeadsDir).is_none() => {
            Err(none())
        }
        found => found,
    }
}

/// The store in a `.beads` directory.
pub fn find_in(directory: Utf8PathBuf) -> Result<Place> {
    let Some(kind) = kind_of(&directory) else {
        return Err(StoreError::NotInitialized { from: directory });
    };
    let (directory, database) = kind.locate(directory)?;
    Ok(Place {
        directory,
        database,
        kind,
    })
}

/// The store that a path leads to: its `.beads` directory, or a file or directory in or below the one that has it.
pub fn find_by(path: &Utf8Path) -> Result<Place> {
    for directory in path.ancestors() {
        let is_marked = KINDS.iter().any(|kind| kind.is_marked_in(directory));
        let is_named = directory.file_name() == Some(DIRECTORY) || is_marked;
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

/// Makes the store of a repository, or finds that it is there.
pub fn init(from: &Utf8Path) -> Result<Initialized> {
    let options = options()?;
    let directory = match env::get(Variable::BeadsDir) {
        Some(directory) => Utf8PathBuf::from(directory),
        None => home_directory(from),
    };
    init_in(directory, options)
}

/// The same for a `.beads` directory.
pub fn init_in(directory: Utf8PathBuf, options: Options) -> Result<Initialized> {
    let kind = kind_of(&directory).unwrap_or(KINDS[0]);
    kind.init(directory, options)
}

/// The directory around the nearest store at or above a path: what stands for a repository where there is none.
pub fn root_of(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let path = path.canonicalize_utf8().ok()?;
    let mut above = path.ancestors();
    let root = above.find(|above| is_store(&above.join(DIRECTORY)));
    root.map(Utf8Path::to_owned)
}

fn kind_of(directory: &Utf8Path) -> Option<&'static dyn StoreKind> {
    KINDS.into_iter().find(|kind| kind.is_in(directory))
}

/// Whether a `.beads` is a store. One that is empty, or holds only an export, hides none further up.
fn is_store(directory: &Utf8Path) -> bool {
    kind_of(directory).is_some()
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
    nearest([home.path()].into_iter()).or_else(|| foreign_beside(&home, &from))
}

/// The `.beads` of the repository's home, for `init`.
fn home_directory(from: &Utf8Path) -> Utf8PathBuf {
    let Some(home) = repo::home_of(from) else {
        return from.join(DIRECTORY);
    };
    let directory = home.path().join(DIRECTORY);
    match foreign_beside(&home, from) {
        Some(theirs) if !is_store(&directory) => theirs,
        _ => directory,
    }
}

/// The store of another program in a worktree of a repository that has no main one, where it would be missed.
fn foreign_beside(home: &Home, from: &Utf8Path) -> Option<Utf8PathBuf> {
    match home {
        Home::Worktree(_) => None,
        Home::GitDirectory(_) => {
            let directory = repo::root_of(from)?.join(DIRECTORY);
            let is_foreign = kind_of(&directory)?.owner().is_some();
            is_foreign.then_some(directory)
        }
    }
}

fn nearest<'a>(mut directories: impl Iterator<Item = &'a Utf8Path>) -> Option<Utf8PathBuf> {
    directories.find_map(|above| Some(above.join(DIRECTORY)).filter(|path| is_store(path)))
}
