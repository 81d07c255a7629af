//! What a bead stands on: the beads that it waited for, and in the place of a molecule the steps that end it (Z-27).

use std::collections::BTreeSet;

use beads_ralph_core::bead::{BeadId, IssueType};
use beads_ralph_core::issue::{Record, is_made_of_parts};

use crate::store::{Store, StoreError, below as parts_of};

/// The records of some beads; a molecule, or a step that is only its parts, is replaced by those of its steps that the loop does and that no other of them waits for.
pub(super) fn below(store: &dyn Store, ids: &[BeadId]) -> Result<Vec<Record>, StoreError> {
    let mut found = Vec::new();
    for record in store.get(ids)? {
        if is_made_of_parts(&record.issue) {
            found.extend(ends(parts_of(store, record.issue.id())?));
        } else {
            found.push(record);
        }
    }
    Ok(found)
}

/// The steps of a molecule that are not closed: what the loop does of it, and whether there is anything else.
pub(super) fn open_steps(
    store: &dyn Store,
    root: &BeadId,
) -> Result<(Vec<BeadId>, bool), StoreError> {
    let mut work = Vec::new();
    let mut has_more = false;
    for record in parts_of(store, root)? {
        if record.issue.status() == "closed" {
            continue;
        }
        if is_work(&record) {
            work.push(record.issue.id().clone());
        } else if !is_made_of_parts(&record.issue) {
            has_more = true;
        }
    }
    Ok((work, has_more))
}

fn ends(steps: Vec<Record>) -> Vec<Record> {
    // What people and gates wait for is not covered by them: they bring no commit.
    let needed: BTreeSet<BeadId> = (steps.iter())
        .filter(|record| is_work(record))
        .flat_map(|record| record.issue.dependencies())
        .filter(|edge| edge.waits_for_target())
        .map(|edge| edge.target().clone())
        .collect();
    let mut steps = steps;
    steps.retain(|record| is_work(record) && !needed.contains(record.issue.id()));
    steps
}

fn is_work(record: &Record) -> bool {
    IssueType::parse(record.issue.issue_type()).is_ok()
}
