//! A plan beside a store: what applying it would do (contracts §4.4, Z-10).

use std::collections::{BTreeSet, HashSet};

use beads_ralph_core::apply::{
    ApplyContext, ApplyScope, Difference, Reconciliation, annotated_ids, known_ids,
    molecule_differences, reconcile,
};
use beads_ralph_core::bead::{BeadId, BeadShape};
use beads_ralph_core::compile::{Compiled, KnownIds, plan_graph};
use beads_ralph_core::issue::{Query, Record, StatusFilter};
use beads_ralph_core::plan::{Annotated, Filter, annotate};
use beads_ralph_core::vocabulary::metadata;
use camino::Utf8Path;

use super::pour::{number, pour, unpoured_dependency};
use super::{Conflict, PlanError, PlanInput};
use crate::removed_sprints;
use crate::store::{Store, StoreError};

/// How a plan and a store differ, at one moment.
#[derive(Debug)]
pub struct PlanComparison {
    pub compiled: Compiled,
    pub reconciliation: Reconciliation,
    /// The ids of all sprints, for annotations.
    pub ids: KnownIds,
    /// The roots of molecules that would be new.
    pub molecules: Vec<BeadId>,
    /// Every bead of molecules.
    pub poured: BTreeSet<BeadId>,
}

/// Compares a plan with what a store holds now. `directory` is that of the store, where formulas may be.
pub fn compare(
    input: &PlanInput,
    store: &dyn Store,
    directory: &Utf8Path,
    actor: &str,
) -> Result<PlanComparison, PlanError> {
    let (plan, context) = (&input.plan, &input.context);
    let plan_file = context.plan_file();
    let mut records = match Records::of_plan(store, plan_file, annotated_ids(plan)) {
        Ok(records) => records,
        // What is wrong with the plan comes first.
        Err(error) => return Err(input.validate().err().unwrap_or(error.into())),
    };
    // A copied plan is not taken for a moved one.
    let mut known = known_ids(plan, plan_file, &records.0, |other| context.has_plan(other));
    number(plan, &input.filter, &mut known.ids, store)?;
    let mut compiled = input.compile_for_store(known.ids.clone())?;
    compiled.findings.splice(0..0, known.findings);
    if let Some(finding) = unpoured_dependency(plan, &known.ids, &compiled) {
        return Err(PlanError::Findings(vec![finding]));
    }
    records.add(store, known.ids.values().cloned())?;
    let formulas = input.formulas(Some(directory));
    let given = input.values()?;
    let pours = pour(plan, &mut compiled, &formulas, &given, &records.0, actor)
        .map_err(PlanError::Findings)?;
    let rest = pours.rest.iter().map(|(_, issue)| issue.id().clone());
    let poured: BTreeSet<BeadId> = pours.parts.keys().cloned().chain(rest.clone()).collect();
    let work = compiled.beads.iter().map(|bead| bead.id.clone());
    records.add(store, rest.chain(work))?;
    let settings = input.settings_for_store(known.ids);
    let scope = if input.filter.is_everything() {
        ApplyScope::Whole
    } else {
        ApplyScope::Filtered
    };
    let context = ApplyContext {
        plan,
        settings: &settings,
        scope,
        shape: BeadShape::Both,
        actor,
        parts: &pours.parts,
    };
    let mut reconciliation =
        reconcile(&compiled.beads, &records.0, &context).map_err(PlanError::RejectedBead)?;
    let rest = molecule_differences(pours.rest, &records.0);
    reconciliation.differences.splice(0..0, rest);
    let ids = plan_graph(plan, &settings.known_ids)
        .map(|graph| graph.ids())
        .unwrap_or_default();
    Ok(PlanComparison {
        compiled,
        reconciliation,
        ids,
        molecules: pours.roots,
        poured,
    })
}

impl PlanComparison {
    /// The plan's text with the ids of the selected sprints.
    pub(super) fn annotation(&self, input: &PlanInput) -> Result<Annotated, PlanError> {
        let beads = self.compiled.beads.iter();
        let selected = Filter::of(beads.map(|bead| bead.metadata.sprint.clone()));
        annotate(input.source.text(), &input.plan, &selected, &self.ids)
            .map_err(PlanError::Findings)
    }

    /// Which sprints the plan has, and which it no longer has (Z-44).
    pub(super) fn sprints(&self, input: &PlanInput) -> removed_sprints::Applied {
        if input.filter.is_everything() {
            let differences = self.reconciliation.differences.iter();
            let removed = differences.filter_map(|difference| match difference {
                Difference::Removed(removed) => Some(removed.sprint.to_string()),
                Difference::New { .. } | Difference::Changed(_) | Difference::Conflict { .. } => {
                    None
                }
            });
            return removed_sprints::Applied::Whole(removed.collect());
        }
        let beads = self.compiled.beads.iter();
        removed_sprints::Applied::Some(beads.map(|bead| bead.metadata.sprint.to_string()).collect())
    }

    /// The ids that belong to other beads already.
    pub(super) fn conflicts(&self, input: &PlanInput) -> Vec<Conflict> {
        let differences = self.reconciliation.differences.iter();
        let conflicts = differences.filter_map(|difference| match difference {
            Difference::Conflict { id, sprint, owner } => Some(Conflict {
                id: id.clone(),
                sprint: sprint.clone(),
                has_plan: (owner.plan_file()).is_some_and(|plan| input.context.has_plan(plan)),
                owner: owner.clone(),
            }),
            Difference::New { .. } | Difference::Changed(_) | Difference::Removed(_) => None,
        });
        conflicts.collect()
    }
}

/// Records of a store, each once.
pub(super) struct Records(Vec<Record>);

impl Records {
    /// The beads of a plan, and those that it names.
    pub(super) fn of_plan(
        store: &dyn Store,
        plan_file: &str,
        named: impl IntoIterator<Item = BeadId>,
    ) -> Result<Self, StoreError> {
        let query = Query {
            status: StatusFilter::Any,
            metadata: vec![(metadata::PLAN_FILE.to_owned(), plan_file.to_owned())],
            includes_hidden: true,
            ..Query::default()
        };
        let mut records = Self(store.find(&query)?);
        records.add(store, named)?;
        Ok(records)
    }

    pub(super) fn all(&self) -> &[Record] {
        &self.0
    }

    fn add(
        &mut self,
        store: &dyn Store,
        ids: impl IntoIterator<Item = BeadId>,
    ) -> Result<(), StoreError> {
        let known: HashSet<&BeadId> = self.0.iter().map(|record| record.issue.id()).collect();
        let missing: Vec<BeadId> = ids.into_iter().filter(|id| !known.contains(id)).collect();
        self.0.extend(store.get(&missing)?);
        Ok(())
    }
}
