//! The embedded store as a kind: a marker in `.beads` names its file.

use std::collections::BTreeMap;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Entry;
use beads_ralph_core::text::excerpt;
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::{CheckReport, RepairReport, SqliteStore, check, repair};
use crate::os::files;
use crate::store::{
    Doctor, Initialized, Options, Place, Result, Stamp, Store, StoreError, StoreKind, options,
};

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

/// The store in a file of our own.
#[derive(Debug)]
pub(in crate::store) struct Embedded;

/// What `init` fixed.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    store: String,
    file: String,
}

impl StoreKind for Embedded {
    fn is_in(&self, directory: &Utf8Path) -> bool {
        directory.join(MARKER).exists()
    }

    fn is_marked_in(&self, directory: &Utf8Path) -> bool {
        self.is_in(directory)
    }

    fn locate(&self, directory: Utf8PathBuf) -> Result<(Utf8PathBuf, Utf8PathBuf)> {
        let file = directory.join(read_marker(&directory.join(MARKER))?);
        Ok((directory, file))
    }

    fn open(&self, place: &Place) -> Result<Box<dyn Store>> {
        Ok(Box::new(SqliteStore::open_with(
            &place.database,
            options()?,
        )?))
    }

    fn init(&self, directory: Utf8PathBuf, options: Options) -> Result<Initialized> {
        files::create_directory(&directory)?;
        let ignore = directory.join(".gitignore");
        if !ignore.exists() {
            files::write_atomic(&ignore, IGNORE.as_bytes())?;
        }
        let is_marked = self.is_in(&directory);
        let file = if is_marked {
            let (_, file) = self.locate(directory.clone())?;
            // The marker is written last, so a missing or empty file was not left by a call that was stopped.
            drop(SqliteStore::open_with(&file, options)?);
            file
        } else {
            directory.join(FILE)
        };
        let (store, opened) = SqliteStore::open_or_create_with(&file, options)?;
        if !is_marked {
            write_marker(&directory)?;
        }
        Ok(Initialized {
            store: Box::new(store),
            directory,
            kind: &Self,
            opened,
        })
    }

    fn doctor(&self) -> Option<&'static dyn Doctor> {
        Some(&Self)
    }
}

impl Doctor for Embedded {
    fn check(&self, place: &Place, options: Options) -> Result<CheckReport> {
        check(&place.database, options)
    }

    fn repair(
        &self,
        place: &Place,
        export: BTreeMap<BeadId, Entry>,
        by: Stamp<'_>,
        options: Options,
    ) -> Result<Option<RepairReport>> {
        repair(&place.database, export, by, options)
    }
}

/// Makes an embedded store in the directory of another one, whose place it takes once it is filled: the marker is written last, so that
/// a move that is cut off never happened.
pub(in crate::store) fn replace_in(
    directory: Utf8PathBuf,
    fill: impl FnOnce(&mut SqliteStore) -> Result<()>,
) -> Result<Initialized> {
    let file = directory.join(FILE);
    // An earlier move that was cut off may have left a part of it.
    for leftover in ["", "-wal", "-shm"] {
        files::remove_leftover(&Utf8PathBuf::from(format!("{file}{leftover}")));
    }
    let (mut store, opened) = SqliteStore::open_or_create_with(&file, options()?)?;
    fill(&mut store)?;
    write_marker(&directory)?;
    Ok(Initialized {
        store: Box::new(store),
        directory,
        kind: &Embedded,
        opened,
    })
}

fn write_marker(directory: &Utf8Path) -> Result<()> {
    let text = format!("{{\n  \"store\": \"sqlite\",\n  \"file\": \"{FILE}\"\n}}\n");
    Ok(files::write_atomic(
        &directory.join(MARKER),
        text.as_bytes(),
    )?)
}

fn read_marker(path: &Utf8Path) -> Result<String> {
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
            "unknown kind of store `{}`",
            excerpt(other)
        ))),
    }
}
