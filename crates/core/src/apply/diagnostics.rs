//! The words of the findings about a plan and the store that it is applied to.

use crate::bead::BeadId;
use crate::diag::{Diagnostic, WarningCode};
use crate::plan::{Annotation, Sprint};
use crate::text::excerpt;

/// An annotation that names another bead than the store has under the sprint's number.
pub(super) fn stale_annotation(
    sprint: &Sprint,
    annotation: &Annotation,
    known: &BeadId,
) -> Diagnostic {
    let message = format!(
        "sprint {} is bead {} in the store, so its annotation is ignored",
        sprint.id.value,
        excerpt(known.as_str())
    );
    Diagnostic::new(WarningCode::IgnoredBeadId, annotation.line, message)
        .label("not the id that the store has")
        .help("the number of a sprint decides before its annotation; if that is right, `plan annotate` corrects the line")
}

/// An annotation that names the bead of another sprint of the plan.
pub(super) fn taken_bead(annotation: &Annotation, id: &BeadId, holder: &Sprint) -> Diagnostic {
    let message = format!(
        "bead {} belongs to sprint {} in the store, so this annotation is ignored",
        excerpt(id.as_str()),
        holder.id.value
    );
    Diagnostic::new(WarningCode::IgnoredBeadId, annotation.line, message)
        .label("another sprint's bead")
        .also(holder.heading.span, "the sprint that has it")
        .help("the number of a sprint decides before its annotation; remove this line if the sprint is a new one")
}

/// An annotation that names the bead of another plan.
pub(super) fn bead_of_other_plan(
    annotation: &Annotation,
    id: &BeadId,
    plan_file: &str,
) -> Diagnostic {
    let message = format!(
        "bead {} belongs to the plan {}, so this annotation is ignored",
        excerpt(id.as_str()),
        excerpt(plan_file)
    );
    Diagnostic::new(WarningCode::IgnoredBeadId, annotation.line, message)
        .label("another plan's bead")
        .help("an annotation moves a bead to this plan only when the other plan is gone; remove this line")
}

/// A sprint that has more than one bead.
pub(super) fn several_beads(sprint: &Sprint, chosen: &BeadId, n_beads: usize) -> Diagnostic {
    let message = format!(
        "sprint {} has {n_beads} beads in the store; {} is used and the rest left alone",
        sprint.id.value,
        excerpt(chosen.as_str())
    );
    Diagnostic::new(WarningCode::SeveralBeads, sprint.heading.span, message)
        .label("more than one bead")
        .help("close or delete those that are not meant; an annotation decides which one is used")
}
