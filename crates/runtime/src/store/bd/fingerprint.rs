//! Whether the real `bd`'s database changed, without asking it.
//!
//! An embedded database only ever appends to its journal or writes new files. So the names and sizes of its files tell two states
//! apart, and nothing in them is read. Where they are not there, as with a server, there is no fingerprint, and every question is
//! asked anew.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use crate::os::files;

/// Files that readers touch too, and that say nothing.
const SILENT: [&str; 3] = ["LOCK", "journal.idx", "manifest"];

/// The names and sizes of the files of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fingerprint(Vec<(String, u64)>);

/// What `bd` writes about its database.
#[derive(Debug, Deserialize)]
struct Metadata {
    dolt_mode: Option<String>,
    dolt_database: Option<String>,
}

/// The directory with the files of an embedded database.
pub(super) fn directory(beads: &Utf8Path) -> Option<Utf8PathBuf> {
    let metadata = files::read(&beads.join("metadata.json")).ok()?;
    let metadata: Metadata = serde_json::from_slice(&metadata).ok()?;
    if metadata.dolt_mode.as_deref() != Some("embedded") {
        return None;
    }
    let name = metadata.dolt_database?;
    let directory = beads.join("embeddeddolt").join(name).join(".dolt/noms");
    directory.is_dir().then_some(directory)
}

/// The state of a database now.
pub(super) fn of(directory: &Utf8Path) -> Option<Fingerprint> {
    let mut found = Vec::new();
    collect(directory, &mut found)?;
    found.sort();
    Some(Fingerprint(found))
}

fn collect(directory: &Utf8Path, found: &mut Vec<(String, u64)>) -> Option<()> {
    for entry in directory.read_dir_utf8().ok()? {
        let entry = entry.ok()?;
        let metadata = entry.metadata().ok()?;
        if metadata.is_dir() {
            collect(entry.path(), found)?;
        } else if !SILENT.contains(&entry.file_name()) {
            found.push((entry.path().to_string(), metadata.len()));
        }
    }
    Some(())
}
