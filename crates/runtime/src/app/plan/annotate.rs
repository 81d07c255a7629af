//! The bead ids of a plan, written into it.

use beads_ralph_core::apply::{annotated_ids, known_ids};
use beads_ralph_core::compile::{KnownIds, plan_graph};
use beads_ralph_core::diag::has_errors;
use beads_ralph_core::plan::{self, Annotated, Filter, Plan};
use camino::Utf8Path;

use super::compare::Records;
use super::{AppliedPlan, PlanContext, PlanError, PlanInput, PlanReadError, PlanSource};
use crate::os::files::{self, FileError};
use crate::store;

/// The plan's text with the ids of the selected sprints. What is wrong with the plan needs no store (E-11); what is right in it has
/// the ids of the store that `directory` belongs to (Z-10).
pub fn annotate(
    source: &PlanSource,
    plan: &Plan,
    filter: &Filter,
    directory: &Utf8Path,
) -> Result<Annotated, PlanError> {
    with_ids(source, plan, filter, &KnownIds::new())?;
    with_ids(
        source,
        plan,
        filter,
        &ids_in_store(source, plan, directory)?,
    )
}

fn with_ids(
    source: &PlanSource,
    plan: &Plan,
    filter: &Filter,
    known: &KnownIds,
) -> Result<Annotated, PlanError> {
    let errors_of_plan = (plan.problems.iter())
        .filter(|finding| finding.error_code().is_some())
        .cloned();
    let annotated = match plan_graph(plan, known) {
        Err(finding) => Err(errors_of_plan.chain([*finding]).collect()),
        Ok(graph) if has_errors(&graph.findings) => {
            Err(errors_of_plan.chain(graph.findings).collect())
        }
        Ok(graph) => plan::annotate(source.text(), plan, filter, &graph.ids()),
    };
    annotated.map_err(PlanError::Findings)
}

/// The beads that a plan's sprints have in the store, if there is one.
fn ids_in_store(
    source: &PlanSource,
    plan: &Plan,
    directory: &Utf8Path,
) -> Result<KnownIds, PlanError> {
    let Ok(place) = store::find(directory) else {
        return Ok(KnownIds::new());
    };
    let context = PlanContext::of(source).map_err(PlanReadError::from)?;
    let plan_file = context.plan_file();
    let records = Records::of_plan(place.open()?.as_ref(), plan_file, annotated_ids(plan))?;
    let known = known_ids(plan, plan_file, records.all(), |other| {
        context.has_plan(other)
    });
    Ok(known.ids)
}

/// How a plan's file stands after it was applied (E-5).
#[derive(Debug, Clone, Copy)]
pub struct AnnotationState {
    /// Whether every selected sprint carries its id.
    pub is_annotated: bool,
    /// Whether the file was written.
    pub is_updated: bool,
}

impl AppliedPlan {
    /// The plan's text with the ids of the selected sprints.
    pub(super) fn annotation(&self, input: &PlanInput) -> Result<Annotated, PlanError> {
        self.comparison.annotation(input)
    }

    /// Writes the ids into the plan, if `writes`; otherwise the file is only looked at (E-5).
    pub fn annotate(&self, input: &PlanInput, writes: bool) -> Result<AnnotationState, FileError> {
        let source = &input.source;
        let Ok(annotated) = self.annotation(input) else {
            return Ok(AnnotationState {
                is_annotated: false,
                is_updated: false,
            });
        };
        let is_updated = writes && annotated.n_changed > 0;
        if is_updated {
            let (before, after) = (source.text().as_bytes(), annotated.text.as_bytes());
            files::replace(source.path(), before, after)?;
        }
        Ok(AnnotationState {
            is_annotated: is_updated || annotated.n_changed == 0,
            is_updated,
        })
    }
}
