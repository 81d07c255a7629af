//! Folders for what tests make.

use beads_ralph_runtime::{os::env, os::files};
use camino::Utf8Path;
use tempfile::TempDir;

/// A file system in memory. Tests make hundreds of repositories and stores, and on a disk they would mostly wait for it.
const IN_MEMORY: &str = "/dev/shm";

/// What must be free there: containers often have 64 MB, and other programs need some too.
const ENOUGH: u64 = 4 << 30;

/// A new folder, which goes with its guard. It lies in memory where there is room, unless `TMPDIR` says where.
#[must_use]
pub fn scratch() -> TempDir {
    let is_chosen = env::inherited().any(|(name, _)| name == "TMPDIR");
    let has_room = files::free_bytes(Utf8Path::new(IN_MEMORY)).is_ok_and(|free| free >= ENOUGH);
    let made = if has_room && !is_chosen {
        tempfile::tempdir_in(IN_MEMORY)
    } else {
        tempfile::tempdir()
    };
    made.expect("a folder for temporary files can be made")
}
