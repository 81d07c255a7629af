//! Every store is held to the contract, and all stores agree.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod operation;

use beads_ralph_runtime::store::{MemoryStore, SqliteStore};
use beads_ralph_testkit::store_contract;
use camino::{Utf8Path, Utf8PathBuf};

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
    let directory = beads_ralph_testkit::scratch();
    let mut fresh = fresh_files(Utf8Path::from_path(directory.path()).unwrap());
    store_contract::run("sqlite", || {
        let (store, _) = SqliteStore::open_or_create(&fresh()).unwrap();
        Box::new(store)
    });
}
