//! Molecules in a store as commands meet them: a root with everything below it, and which roots a change closed.

use std::collections::HashSet;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Record, Standing};
use beads_ralph_core::molecule::Molecule;
use beads_ralph_runtime::store::{Store, StoreError, below};

/// A root with everything below it.
pub(crate) fn load(store: &dyn Store, root: Record) -> Result<Molecule, StoreError> {
    let below = below(store, root.issue.id())?;
    Ok(Molecule::new(root, below))
}

/// What a bead is a part of, the nearest first.
pub(crate) fn above(store: &dyn Store, record: &Record) -> Result<Vec<Record>, StoreError> {
    let mut seen = HashSet::from([record.issue.id().clone()]);
    let mut found = Vec::new();
    let mut level = vec![record.clone()];
    while !level.is_empty() {
        let parents = level.iter().flat_map(|record| record.issue.parents());
        let parents: Vec<BeadId> = parents
            .filter(|id| seen.insert((*id).clone()))
            .cloned()
            .collect();
        level = store.get(&parents)?;
        found.extend(level.iter().cloned());
    }
    Ok(found)
}

/// What a bead is a part of and is not closed.
pub(crate) fn open_above(store: &dyn Store, record: &Record) -> Result<Vec<BeadId>, StoreError> {
    let above = above(store, record)?.into_iter();
    let open = above.filter(|record| record.issue.standing() != Standing::Closed);
    Ok(open.map(|record| record.issue.id().clone()).collect())
}

/// Those of some beads that are closed now: the molecules that a close completed (F-14).
pub(crate) fn closed_of(store: &dyn Store, open: &[BeadId]) -> Result<Vec<Record>, StoreError> {
    let mut records = store.get(open)?;
    records.retain(|record| record.issue.standing() == Standing::Closed);
    Ok(records)
}
