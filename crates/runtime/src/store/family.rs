//! Walking from a bead to its parts, for whoever has a store.

use std::collections::HashSet;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Record;
use beads_ralph_core::vocabulary::EdgeType;

use super::{Store, StoreError};

/// Everything below a bead, each once.
pub fn below(store: &dyn Store, root: &BeadId) -> Result<Vec<Record>, StoreError> {
    let mut seen = HashSet::from([root.clone()]);
    let mut level = vec![root.clone()];
    let mut found = Vec::new();
    while !level.is_empty() {
        let mut parts = Vec::new();
        for id in &level {
            let dependents = store.dependents(id)?.into_iter();
            let children = dependents.filter(|(_, kind)| kind == EdgeType::ParentChild);
            parts.extend(children.map(|(child, _)| child));
        }
        parts.retain(|id| seen.insert(id.clone()));
        found.extend(store.get(&parts)?);
        level = parts;
    }
    Ok(found)
}
