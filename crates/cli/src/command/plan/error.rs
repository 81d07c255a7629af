//! From errors about plans to failures of commands.

use beads_ralph_core::apply::BeadOwner;
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::plan::{Conflict, PlanError, PlanReadError, PlanSource};

use crate::failure::{Failure, Validation};
use crate::ui::{Ui, quoted};

/// The failure that an error amounts to; findings are shown where they are.
pub(crate) fn failure(error: PlanError, source: &PlanSource, ui: &Ui) -> Failure {
    let told = Failure::new(error.code(), error.to_string()).details(error.details());
    match error {
        PlanError::Findings(findings) => ui.refuse(source, findings),
        PlanError::Filter(fault) => fault.into(),
        PlanError::Variable(bad) => bad.into(),
        PlanError::Read(error) => error.into(),
        PlanError::Store(error) => error.into(),
        PlanError::RejectedBead(_) => told,
        PlanError::Invalid(beads) => told.with_validation(
            (beads.iter())
                .map(|bead| Validation::of(&bead.id, &bead.errors))
                .collect(),
        ),
        PlanError::Conflicts(conflicts) => match conflicts.first() {
            Some(first) => told.action(solution(first, source)),
            None => told,
        },
        PlanError::Exists(_) => told.action(
            "pass --check-existing to skip them; `beads-ralph plan apply` without --insert-only updates them",
        ),
        PlanError::MissingDependencies(_) => told.action(
            "apply the sprints that these wait for first, or leave out --require-deps-in-store",
        ),
        PlanError::NotAsWritten(_) => {
            told.action("run `beads-ralph doctor`, then apply the plan again")
        }
    }
}

impl From<PlanReadError> for Failure {
    fn from(error: PlanReadError) -> Self {
        match error {
            PlanReadError::File(error) => error.into(),
            PlanReadError::Config(error) => error.into(),
            PlanReadError::Filter(fault) => fault.into(),
        }
    }
}

/// What can be done about an id that belongs to something else.
fn solution(conflict: &Conflict, source: &PlanSource) -> String {
    let own = "give the sprint another **Bead ID**";
    let annotate = format!("`beads-ralph plan annotate {}`", quoted(source.path()));
    match &conflict.owner {
        _ if source.is_stdin() => own.to_owned(),
        BeadOwner::Sprint { .. } if conflict.has_plan => format!("{own}, or another title"),
        BeadOwner::Sprint { plan_file, .. } => format!(
            "if this is {} under a new name, run {annotate} and apply again; else {own}",
            excerpt(plan_file)
        ),
        BeadOwner::NoPlan => format!(
            "to make it the bead of this sprint, run {annotate} and apply again; else {own}"
        ),
    }
}
