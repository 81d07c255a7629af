//! What applying a plan would change in a store (Z-10, E-12).
//!
//! A sprint is found again by its plan and number, or else by the annotation in the plan ([`known_ids`]).
//! [`reconcile`] then compares the beads of a plan with what the store holds and says what is new, changed,
//! removed or in the way. The plan owns what it says; a run and people own the rest, and applying never
//! touches that. Nothing is read or written here: whoever asks has fetched the records, and does the edits.

mod difference;
mod identity;
mod wire;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::bead::{BeadId, BeadShape, RalphBead};
use crate::compile::{CompileSettings, MoleculePart};
use crate::issue::{EditError, Record, Standing, apply, is_step};
use crate::number::SprintId;
use crate::plan::Plan;

pub use difference::{
    Changed, Detail, Difference, Reconciliation, RefusalReason, RejectedBead, Removed, Verdict,
};
pub use identity::{BeadOwner, KnownBeads, annotated_ids, known_ids};
pub use wire::{FieldChange, ShownChange, molecule_differences};

use difference::ChangeDraft;
use wire::{LastApplied, entry, fields};

/// What a comparison depends on besides the beads and the records.
#[derive(Debug, Clone)]
pub struct ApplyContext<'a> {
    /// The whole plan, also when only some of its sprints are applied.
    pub plan: &'a Plan,
    /// What the beads were compiled with; its known ids are those of [`known_ids`].
    pub settings: &'a CompileSettings<'a>,
    /// Whether sprints that are gone from the plan are looked for.
    pub scope: ApplyScope,
    /// The shape in which beads are written.
    pub shape: BeadShape,
    /// Who makes the dependencies, as their records say.
    pub actor: &'a str,
    /// What beads have besides that are parts of a molecule (F-16).
    pub parts: &'a BTreeMap<BeadId, MoleculePart>,
}

/// How much of a plan is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyScope {
    /// All of it: what the store has beyond it was removed from the plan.
    Whole,
    /// The sprints of a filter: nothing can be said about the others.
    Filtered,
}

/// Compares the beads of a plan with the records of a store: those of the plan, and those that have the id
/// of one of the beads. On an error nothing can be applied, and every bead that is at fault is named (E-10).
pub fn reconcile(
    beads: &[RalphBead],
    records: &[Record],
    context: &ApplyContext<'_>,
) -> Result<Reconciliation, Vec<RejectedBead>> {
    let by_id: BTreeMap<&BeadId, &Record> = records.iter().map(|r| (r.issue.id(), r)).collect();
    let mut found = Reconciliation::default();
    let mut unfit = Vec::new();
    for bead in beads {
        match compare(bead, by_id.get(&bead.id).copied(), context) {
            Ok(Some(difference)) => found.differences.push(difference),
            Ok(None) => found.unchanged.push(bead.id.clone()),
            Err(error) => unfit.push(RejectedBead {
                id: bead.id.clone(),
                sprint: bead.metadata.sprint.clone(),
                error,
            }),
        }
    }
    if !unfit.is_empty() {
        return Err(unfit);
    }
    if context.scope == ApplyScope::Whole {
        let removed = removed(beads, by_id.values().copied(), context);
        found
            .differences
            .extend(removed.into_iter().map(Difference::Removed));
    }
    Ok(found)
}

/// What becomes of one bead; nothing when the store has it already.
fn compare(
    bead: &RalphBead,
    record: Option<&Record>,
    context: &ApplyContext<'_>,
) -> Result<Option<Difference>, EditError> {
    let last_applied = LastApplied::of(bead);
    let entry = entry(bead, &last_applied, context).map_err(EditError::Invalid)?;
    let sprint = bead.metadata.sprint.clone();
    let Some(record) = record else {
        return Ok(Some(Difference::New {
            sprint,
            entry: Box::new(entry),
        }));
    };
    if !is_of_sprint(record, bead, context) {
        return Ok(Some(Difference::Conflict {
            id: bead.id.clone(),
            sprint,
            owner: BeadOwner::of(record),
        }));
    }
    let mut draft = ChangeDraft::default();
    fields::compare(&entry.issue, &record.issue, &mut draft);
    last_applied.compare(&entry.issue, &record.issue, &mut draft);
    fields::compare_source(&entry.issue, &record.issue, &mut draft);
    let verdict = Verdict::about(record);
    match verdict {
        // Nobody waits for the bookkeeping of a bead that is not touched.
        Verdict::Refused(_) if draft.details.is_empty() => return Ok(None),
        Verdict::Refused(_) => {}
        Verdict::Safe => {
            if apply(&record.issue, &draft.edits, &context.settings.now)?.is_none() {
                return Ok(None);
            }
            draft.details.append(&mut draft.minor);
        }
    }
    Ok(Some(Difference::Changed(Box::new(Changed {
        id: bead.id.clone(),
        sprint,
        details: draft.details,
        edits: draft.edits,
        version: record.version,
        verdict,
    }))))
}

/// Whether a record is the bead's own: it was found for the sprint, or it says so itself.
fn is_of_sprint(record: &Record, bead: &RalphBead, context: &ApplyContext<'_>) -> bool {
    let sprint = &bead.metadata.sprint;
    let known = context.settings.known_ids.get(sprint);
    let part = context.parts.get(&bead.id);
    known == Some(&bead.id)
        || part.is_some_and(|part| known == Some(&part.root))
        || BeadOwner::of(record).is(context.settings.plan_file, sprint)
}

/// The unfinished records of sprints that the plan no longer has.
fn removed<'r>(
    beads: &[RalphBead],
    records: impl Iterator<Item = &'r Record>,
    context: &ApplyContext<'_>,
) -> Vec<Removed> {
    let settings = context.settings;
    let sprints: BTreeSet<&SprintId> = context.plan.unique().map(|s| &s.id.value).collect();
    let in_use: BTreeSet<&BeadId> = settings
        .known_ids
        .values()
        .chain(beads.iter().map(|b| &b.id))
        .collect();
    let mut removed: Vec<Removed> = records
        .filter(|record| {
            record.issue.standing() != Standing::Closed && !in_use.contains(record.issue.id())
        })
        // A step belongs to its molecule, whose root is the sprint's bead (Z-27).
        .filter(|record| !is_step(&record.issue))
        .filter_map(|record| {
            let sprint = BeadOwner::of(record).sprint_of(settings.plan_file)?;
            (!sprints.contains(&sprint)).then(|| Removed {
                id: record.issue.id().clone(),
                sprint,
                status: record.issue.status().to_owned(),
            })
        })
        .collect();
    removed.sort_by(|a, b| (&a.sprint, &a.id).cmp(&(&b.sprint, &b.id)));
    removed
}
