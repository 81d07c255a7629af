//! Every store is held to the contract, and all stores agree.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod operation;

use beads_ralph_runtime::store::{MemoryStore, SqliteStore};
use beads_ralph_testkit::store_contract;
use camino::{Utf8Path, Utf8PathBuf};

/// A directory for stores that are thrown away. Every write waits for the disk, and there are many: where the
/// system has a directory in memory, that is the better place.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .expect("there is a place for temporary files")
}

/// A place for a new file with each call.
fn fresh_files(directory: &Utf8Path) -> impl FnMut() -> Utf8PathBuf {
    let mut numbers = 0..;
    move || directory.join(format!("{}.db", numbers.next().unwrap_or(0)))
}

#[test]
fn memory_keeps_the_contract() {
    store_contract::run("memory", || Box::new(MemoryStore::new()));
}

#[test]
fn sqlite_keeps_the_contract() {
    let directory = directory();
    let mut fresh = fresh_files(Utf8Path::from_path(directory.path()).unwrap());
    store_contract::run("sqlite", || {
        let (store, _) = SqliteStore::open_or_create(&fresh()).unwrap();
        Box::new(store)
    });
}
