//! Molecules in a store: a root with everything below it, and which roots a change closed.

use std::collections::HashSet;

use crate::store::{Store, StoreError, below};
use beads_ralph_core::bead::BeadId;
use beads_ralph_core::implement::{link_label, linked_source};
use beads_ralph_core::issue::{Order, Query, Record, Standing, StatusFilter};
use beads_ralph_core::molecule::{Molecule, is_root};
use beads_ralph_core::vocabulary::IssueType;

/// A root with everything below it.
pub fn load(store: &dyn Store, root: Record) -> Result<Molecule, StoreError> {
    let below = below(store, root.issue.id())?;
    Ok(Molecule::new(root, below))
}

/// The roots of the molecules that were poured for beads, or for one of them, closed ones too, the oldest first.
pub fn roots(store: &dyn Store, source: Option<&BeadId>) -> Result<Vec<Record>, StoreError> {
    let mut roots = store.find(&Query {
        status: StatusFilter::Any,
        types: vec![IssueType::Molecule.into()],
        labels_all: source.map(link_label).into_iter().collect(),
        order: Order::Oldest,
        ..Query::default()
    })?;
    roots.retain(|root| linked_source(&root.issue).is_some());
    Ok(roots)
}

/// The molecules that were poured for a bead, closed ones too, the oldest first.
pub fn of_bead(store: &dyn Store, source: &BeadId) -> Result<Vec<Molecule>, StoreError> {
    let roots = roots(store, Some(source))?.into_iter();
    roots.map(|root| load(store, root)).collect()
}

/// The root of the molecule that a bead is a part of, or is itself.
pub fn root_of(store: &dyn Store, record: &Record) -> Result<Option<Record>, StoreError> {
    if is_root(&record.issue) {
        return Ok(Some(record.clone()));
    }
    let above = above(store, record)?;
    Ok(above.into_iter().find(|above| is_root(&above.issue)))
}

/// The bead that a molecule was poured for of which this one is a part.
pub fn source_of(store: &dyn Store, record: &Record) -> Result<Option<Record>, StoreError> {
    let root = root_of(store, record)?;
    match root.and_then(|root| linked_source(&root.issue)) {
        Some(source) => Ok(store.get(&[source])?.pop()),
        None => Ok(None),
    }
}

/// What a bead is a part of, the nearest first.
pub fn above(store: &dyn Store, record: &Record) -> Result<Vec<Record>, StoreError> {
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
pub fn open_above(store: &dyn Store, record: &Record) -> Result<Vec<BeadId>, StoreError> {
    let above = above(store, record)?.into_iter();
    let open = above.filter(|record| record.issue.standing() != Standing::Closed);
    Ok(open.map(|record| record.issue.id().clone()).collect())
}

/// Those of some beads that are closed now: the molecules that a close completed (F-14).
pub fn closed_of(store: &dyn Store, open: &[BeadId]) -> Result<Vec<Record>, StoreError> {
    let mut records = store.get(open)?;
    records.retain(|record| record.issue.standing() == Standing::Closed);
    Ok(records)
}
