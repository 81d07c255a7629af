//! A database of the real `bd` as a kind of store, and the move of its beads into the embedded store.

use std::sync::Arc;

use beads_ralph_core::issue::{Entry, Query, Record, StatusFilter};
use beads_ralph_core::vocabulary::IssueType;
use camino::{Utf8Path, Utf8PathBuf};

use super::BdStore;
use crate::os::files;
use crate::os::process::Units;
use crate::store::{
    Initialized, Opened, Options, Owner, Place, Result, SqliteStore, Stamp, Store, StoreError,
    StoreKind, Write, find, options, sqlite,
};

/// The file by which `bd` says that the store is elsewhere.
const REDIRECT: &str = "redirect";

/// What only a store of the real `bd` has.
const MARKS: [&str; 7] = [
    REDIRECT,
    "metadata.json",
    "config.yaml",
    "embeddeddolt",
    "dolt",
    "proxieddb",
    "beads.db",
];

/// A store whose database belongs to the real `bd`.
#[derive(Debug)]
pub(in crate::store) struct RealBd;

impl StoreKind for RealBd {
    fn is_in(&self, directory: &Utf8Path) -> bool {
        MARKS.iter().any(|mark| directory.join(mark).exists())
    }

    fn locate(&self, directory: Utf8PathBuf) -> Result<(Utf8PathBuf, Utf8PathBuf)> {
        let directory = redirected(directory);
        Ok((directory.clone(), directory))
    }

    fn open(&self, place: &Place) -> Result<Box<dyn Store>> {
        Ok(Box::new(open(&place.directory, options()?)?))
    }

    /// Makes the real `bd` take our beads: its database stays the store.
    fn init(&self, directory: Utf8PathBuf, options: Options) -> Result<Initialized> {
        let directory = redirected(directory);
        let store = open(&directory, options)?;
        if let Some(too_old) = store.probed.obstacle() {
            return Err(too_old);
        }
        let types: Vec<&str> = IssueType::ALL.iter().map(|kind| kind.as_str()).collect();
        store.prepare(&types)?;
        Ok(Initialized {
            store: Box::new(store),
            directory,
            kind: &Self,
            opened: Opened::Existing,
        })
    }

    fn owner(&self) -> Option<&'static str> {
        Some("bd")
    }

    fn find_owner(&self, place: &Place) -> Result<Owner> {
        let store = open(&place.directory, options()?)?;
        let (program, version) = store.program();
        Ok(Owner {
            program: program.to_owned(),
            version: version.to_owned(),
            obstacle: store.obstacle(),
        })
    }
}

fn open(directory: &Utf8Path, options: Options) -> Result<BdStore> {
    let units = Units::own().map_err(|error| StoreError::Unusable {
        path: directory.to_owned(),
        why: error.to_string(),
    })?;
    BdStore::open(directory, &Arc::new(units), options)
}

/// Where a store is that may be elsewhere: the path is meant from beside the `.beads` directory.
fn redirected(directory: Utf8PathBuf) -> Utf8PathBuf {
    let text = files::read(&directory.join(REDIRECT)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().map(str::trim);
    let target = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let target = target.and_then(|target| Some(directory.parent()?.join(target)));
    let target = target.and_then(|target| target.canonicalize_utf8().ok());
    target.filter(|target| target.is_dir()).unwrap_or(directory)
}

/// What a move brought.
#[expect(
    missing_debug_implementations,
    reason = "a store shows nothing of itself"
)]
pub struct Moved {
    /// The store that replaces the other one.
    pub made: Initialized,
    pub n_beads: usize,
    /// How many notes came that belong to no bead.
    pub n_memories: usize,
}

/// Moves the beads of the real `bd` into an embedded store, which replaces its database; that one stays as it is.
pub fn init_from_bd(from: &Utf8Path, by: Stamp<'_>) -> Result<Moved> {
    let Place {
        directory, kind, ..
    } = find(from)?;
    if kind.owner() != RealBd.owner() {
        return Err(StoreError::Unusable {
            path: directory,
            why: "it is not kept by bd, so there is nothing to move".to_owned(),
        });
    }
    let bd = open(&directory, options()?)?;
    // None of our processes writes until the move is over.
    let _turn = bd.turn()?;
    let (entries, memories) = bd.entries()?;
    let held = bd.find(&Query {
        status: StatusFilter::Any,
        ..Query::default()
    })?;
    if let Some(record) = held.iter().find(|record| record.claim.is_some()) {
        return Err(StoreError::InProgress(record.issue.id().clone()));
    }
    let (n_beads, n_memories) = (entries.len(), memories.len());
    let made = sqlite::replace_in(directory, |store| {
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
        check_moved(store, &entries)
    })?;
    Ok(Moved {
        made,
        n_beads,
        n_memories,
    })
}

/// Reads back everything that was moved.
fn check_moved(store: &SqliteStore, entries: &[Entry]) -> Result<()> {
    for entry in entries {
        let id = entry.issue.id();
        let record = store.get(std::slice::from_ref(id))?.pop();
        let is_same = |record: Record| record.issue == entry.issue && record.fence == entry.fence;
        let is_whole = record.is_some_and(is_same) && store.comments(id)? == entry.comments;
        if !is_whole {
            return Err(StoreError::Damaged {
                path: store.path().to_owned(),
                what: format!("the bead {id} did not arrive as it was sent"),
            });
        }
    }
    Ok(())
}
