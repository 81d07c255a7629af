//! Which store belongs to a repository (Z-26): found by `.beads/`, fixed by `init`.

use beads_ralph_core::text::{excerpt, parse_duration};
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::{Opened, Options, SqliteStore, StoreError};
use crate::env::{self, Variable};
use crate::{files, repo};

const DIRECTORY: &str = ".beads";
const MARKER: &str = "beads-ralph.json";
const FILE: &str = "beads-ralph.db";

/// Everything under `.beads/` stays out of commits but for these rules and an export that people want to keep.
const IGNORE: &str = "\
# Written by `beads-ralph init`. The store and its runs belong to this machine.
*
!.gitignore
!issues.jsonl
";

/// What only a store of the real `bd` has.
const BD_MARKS: [&str; 5] = [
    "metadata.json",
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
#[derive(Debug)]
pub struct Initialized {
    /// The store.
    pub store: SqliteStore,
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

/// Finds the store for a directory: `BEADS_DIR`, or the `.beads` of the main worktree, or, outside of linked
/// worktrees, the nearest `.beads` above.
pub fn find(from: &Utf8Path) -> Result<Place, StoreError> {
    let directory = directory_for(from).ok_or_else(|| StoreError::NotInitialized {
        from: from.to_owned(),
    })?;
    let marker = directory.join(MARKER);
    if marker.exists() {
        let file = read_marker(&marker)?;
        let kind = Kind::Sqlite(directory.join(file));
        return Ok(Place { directory, kind });
    }
    if belongs_to_bd(&directory) {
        return Ok(Place {
            directory,
            kind: Kind::Bd,
        });
    }
    Err(StoreError::NotInitialized {
        from: from.to_owned(),
    })
}

impl Place {
    /// Opens the store.
    pub fn open(&self) -> Result<SqliteStore, StoreError> {
        match &self.kind {
            Kind::Sqlite(file) => SqliteStore::open_with(file, options()?),
            Kind::Bd => Err(bd_error(&self.directory)),
        }
    }
}

/// Makes the store of a repository, or finds that it is there. Stopped half-way, it is done by the next call.
pub fn init(from: &Utf8Path) -> Result<Initialized, StoreError> {
    let directory = match env::get(Variable::BeadsDir) {
        Some(directory) => Utf8PathBuf::from(directory),
        None => repo::main_root_of(from)
            .unwrap_or_else(|| from.to_owned())
            .join(DIRECTORY),
    };
    let marker = directory.join(MARKER);
    if !marker.exists() && belongs_to_bd(&directory) {
        return Err(bd_error(&directory));
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
        drop(SqliteStore::open(&file)?);
        file
    } else {
        directory.join(FILE)
    };
    let (store, opened) = SqliteStore::open_or_create(&file)?;
    if !marker.exists() {
        let text = format!("{{\n  \"store\": \"sqlite\",\n  \"file\": \"{FILE}\"\n}}\n");
        files::write_atomic(&marker, text.as_bytes())?;
    }
    Ok(Initialized {
        store,
        directory,
        opened,
    })
}

/// How long others are waited for, by the environment.
fn options() -> Result<Options, StoreError> {
    let Some(text) = env::get(Variable::StoreTimeout) else {
        return Ok(Options::default());
    };
    match parse_duration(&text) {
        Some(busy) => Ok(Options { busy }),
        None => Err(StoreError::Guard {
            what: Variable::StoreTimeout.name().to_owned(),
            expected: "a time such as 5s or 2m".to_owned(),
            found: format!("'{}'", excerpt(&text)),
        }),
    }
}

/// The directory around the nearest `.beads` at or above a path: what stands for a repository where there is none.
pub fn root_of(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let path = path.canonicalize_utf8().ok()?;
    let root = path
        .ancestors()
        .find(|above| above.join(DIRECTORY).is_dir());
    root.map(Utf8Path::to_owned)
}

fn directory_for(from: &Utf8Path) -> Option<Utf8PathBuf> {
    if let Some(directory) = env::get(Variable::BeadsDir) {
        return Some(Utf8PathBuf::from(directory));
    }
    let from = from.canonicalize_utf8().ok()?;
    let root = repo::root_of(&from);
    let main = repo::main_root_of(&from);
    if root != main {
        return main
            .map(|main| main.join(DIRECTORY))
            .filter(|path| path.is_dir());
    }
    from.ancestors()
        .map(|above| above.join(DIRECTORY))
        .find(|path| path.is_dir())
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

fn belongs_to_bd(directory: &Utf8Path) -> bool {
    BD_MARKS.iter().any(|mark| directory.join(mark).exists())
}

fn bd_error(directory: &Utf8Path) -> StoreError {
    StoreError::BelongsToBd {
        path: directory.to_owned(),
        why: if env::find_program("bd").is_some() {
            "which this version cannot speak to yet"
        } else {
            "and there is no bd on the PATH"
        },
    }
}
