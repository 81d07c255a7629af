//! What applying a plan would change in a store (Z-10, E-12).
//!
//! A sprint is found again by its plan and number, or else by the annotation in the plan ([`known_ids`]).
//! [`reconcile`] then compares the beads of a plan with what the store holds and says what is new, changed,
//! removed or in the way. The plan owns what it says; a run and people own the rest, and applying never
//! touches that. Nothing is read or written here: whoever asks has fetched the records, and does the edits.

mod bead_fields;
mod diagnostics;
mod difference;
mod identity;
mod items;
mod memory;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::bead::{BeadId, BeadShape, FieldError, RalphBead};
use crate::compile::{Part, Settings};
use crate::issue::{Dependency, EditError, Entry, Record, apply, is_step};
use crate::number::SprintId;
use crate::plan::Plan;
use crate::vocabulary::EdgeType;

pub use difference::{
    Changed, Detail, Difference, Reconciliation, RefusedBecause, Removed, Unfit, Verdict,
};
pub use identity::{Known, Owner, annotated_ids, known_ids};

use difference::Draft;
use memory::Memory;

/// What a comparison depends on besides the beads and the records.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    /// The whole plan, also when only some of its sprints are applied.
    pub plan: &'a Plan,
    /// What the beads were compiled with; its known ids are those of [`known_ids`].
    pub settings: &'a Settings<'a>,
    /// Whether sprints that are gone from the plan are looked for.
    pub scope: Scope,
    /// The shape in which beads are written.
    pub shape: BeadShape,
    /// Who makes the dependencies, as their records say.
    pub actor: &'a str,
    /// What beads have besides that are parts of a molecule (F-16).
    pub parts: &'a BTreeMap<BeadId, Part>,
}

/// How much of a plan is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
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
    context: &Context<'_>,
) -> Result<Reconciliation, Vec<Unfit>> {
    let by_id: BTreeMap<&BeadId, &Record> = records.iter().map(|r| (r.issue.id(), r)).collect();
    let mut found = Reconciliation::default();
    let mut unfit = Vec::new();
    for bead in beads {
        match compare(bead, by_id.get(&bead.id).copied(), context) {
            Ok(Some(difference)) => found.differences.push(difference),
            Ok(None) => found.unchanged.push(bead.id.clone()),
            Err(error) => unfit.push(Unfit {
                id: bead.id.clone(),
                sprint: bead.metadata.sprint.clone(),
                error,
            }),
        }
    }
    if !unfit.is_empty() {
        return Err(unfit);
    }
    if context.scope == Scope::Whole {
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
    context: &Context<'_>,
) -> Result<Option<Difference>, EditError> {
    let memory = Memory::of(bead);
    let entry = entry(bead, &memory, context).map_err(EditError::Invalid)?;
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
            owner: Owner::of(record),
        }));
    }
    let mut draft = Draft::default();
    bead_fields::compare(&entry.issue, &record.issue, &mut draft);
    memory.compare(&entry.issue, &record.issue, &mut draft);
    bead_fields::compare_source(&entry.issue, &record.issue, &mut draft);
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
fn is_of_sprint(record: &Record, bead: &RalphBead, context: &Context<'_>) -> bool {
    let sprint = &bead.metadata.sprint;
    let known = context.settings.known_ids.get(sprint);
    let part = context.parts.get(&bead.id);
    known == Some(&bead.id)
        || part.is_some_and(|part| known == Some(&part.root))
        || Owner::of(record).is(context.settings.plan_file, sprint)
}

/// The entry of a bead: its document with dependencies that say when and by whom they were made, and with
/// what the plan says now, for the next time.
fn entry(
    bead: &RalphBead,
    memory: &Memory,
    context: &Context<'_>,
) -> Result<Entry, Vec<FieldError>> {
    let mut document = bead.to_document(context.shape);
    let edges = bead.dependencies.iter().map(|target| {
        Dependency::new(target.clone(), EdgeType::Blocks)
            .expect("`blocks` is a type")
            .with("created_at", context.settings.now.as_str().into())
            .with("created_by", context.actor.into())
            .to_value(&bead.id)
    });
    let edges: Vec<Value> = edges.collect();
    document["dependencies"] = edges.into();
    document["metadata"][Memory::KEY] = memory.to_value();
    if let Some(part) = context.parts.get(&bead.id) {
        add_part(&mut document, bead, part, context);
    }
    Entry::from_document(document)
}

/// What a bead has besides as a part of a molecule. What the sprint says comes before what the formula says.
fn add_part(document: &mut Value, bead: &RalphBead, part: &Part, context: &Context<'_>) {
    let parent = Dependency::new(part.parent.clone(), EdgeType::ParentChild)
        .expect("`parent-child` is a type")
        .with("created_at", context.settings.now.as_str().into())
        .with("created_by", context.actor.into());
    if let Some(edges) = document["dependencies"].as_array_mut() {
        let more = std::iter::once(&parent).chain(&part.edges);
        edges.extend(more.map(|edge| edge.to_value(&bead.id)));
    }
    if let Some(metadata) = document["metadata"].as_object_mut() {
        for (key, value) in &part.metadata {
            metadata.entry(key).or_insert_with(|| value.clone());
        }
    }
    if !part.notes.is_empty() {
        document["notes"] = part.notes.as_str().into();
    }
}

/// The unfinished records of sprints that the plan no longer has.
fn removed<'r>(
    beads: &[RalphBead],
    records: impl Iterator<Item = &'r Record>,
    context: &Context<'_>,
) -> Vec<Removed> {
    let settings = context.settings;
    let sprints: BTreeSet<&SprintId> = context.plan.unique().map(|s| &s.id.value).collect();
    let in_use: BTreeSet<&BeadId> = settings
        .known_ids
        .values()
        .chain(beads.iter().map(|b| &b.id))
        .collect();
    let mut removed: Vec<Removed> = records
        .filter(|record| record.issue.status() != "closed" && !in_use.contains(record.issue.id()))
        // A step belongs to its molecule, whose root is the sprint's bead (Z-27).
        .filter(|record| !is_step(&record.issue))
        .filter_map(|record| {
            let sprint = Owner::of(record).sprint_of(settings.plan_file)?;
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

/// A value that is there; null counts as absent.
fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}
