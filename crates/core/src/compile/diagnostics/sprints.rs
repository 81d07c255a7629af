//! Findings about one sprint, or about what some sprints lack.

use crate::bead::BeadId;
use crate::diag::{Diagnostic, ErrorCode, WarningCode};
use crate::issue::{Label, check_title};
use crate::plan::Sprint;
use crate::text::{Spanned, excerpt, list_first};

/// A title that is too long.
/// Points at the heading.
pub(crate) fn long_title(sprint: &Sprint) -> Option<Diagnostic> {
    let long = check_title(&sprint.title.value).err()?;
    let message = format!("sprint {}: {long}", sprint.id.value);
    let finding = Diagnostic::new(
        ErrorCode::ValidationConstraint,
        sprint.heading.span,
        message,
    );
    Some(
        finding
            .label("the title of the sprint")
            .help("keep the heading short, and put the rest below it"),
    )
}

/// A label that no store takes (Z-21).
/// Points at every such label.
pub(crate) fn wrong_labels(sprint: &Sprint) -> impl Iterator<Item = Diagnostic> {
    sprint.body().labels.iter().filter_map(|label| {
        let wrong = Label::parse(&label.value).err()?;
        let message = format!("sprint {}: {wrong}", sprint.id.value);
        Some(Diagnostic::new(
            ErrorCode::ValidationInvalidPattern,
            label.span,
            message,
        ))
    })
}

/// A bead id that is too long for a file name.
/// Points at the heading.
pub(crate) fn long_bead_id(sprint: &Sprint, id: &BeadId) -> Diagnostic {
    let message = format!(
        "the bead id {} is too long to name a file",
        excerpt(id.as_str())
    );
    Diagnostic::new(
        ErrorCode::ValidationConstraint,
        sprint.heading.span,
        message,
    )
    .label("its number or its `Bead ID` is too long")
    .help("bead ids of up to 200 characters fit everywhere")
}

/// A `Bead ID` for a sprint that has another one in the store (Z-10).
/// Points at the id in the plan.
pub(crate) fn overruled_bead_id(
    sprint: &Sprint,
    own: &Spanned<BeadId>,
    known: &BeadId,
) -> Diagnostic {
    let known = excerpt(known.as_str());
    let message = format!(
        "sprint {} is bead {known} in the store, so its `Bead ID` is ignored",
        sprint.id.value
    );
    Diagnostic::new(WarningCode::IgnoredBeadId, own.span, message)
        .label("not the id that the store has")
        .help(format!(
            "the id of a bead in the store cannot change; write {known} here, or remove the field"
        ))
}

/// A formula that a compilation without a store does not pour (F-16).
/// Points at the formula's name.
pub(crate) fn formula_not_poured(formula: &Spanned<String>) -> Diagnostic {
    let message = format!(
        "the formula `{}` is not poured here: the sprint becomes an ordinary bead",
        excerpt(&formula.value)
    );
    Diagnostic::new(WarningCode::FormulaNotPoured, formula.span, message)
        .help("formulas are poured when a plan goes into a store")
}

/// A sprint without a verifier where the configuration demands one (Z-31).
/// Points at the heading.
pub(crate) fn machine_check_required(sprint: &Sprint) -> Diagnostic {
    let message = format!(
        "sprint {} has no `Verifiers`, and verify.require_machine_check is set",
        sprint.id.value
    );
    Diagnostic::new(ErrorCode::ParseMissingSection, sprint.heading.span, message)
        .help("add, with your own command:\n**Verifiers**:\n- tests: `cargo test`")
}

/// How many sprints the message names.
const NAMED: usize = 5;

/// Sprints whose Definition of Done no machine checks (Z-31).
/// Points at the first of them; one warning for the whole plan, because plans without verifiers are legal.
pub(crate) fn no_machine_check(unchecked: &[&Sprint]) -> Option<Diagnostic> {
    let first = unchecked.iter().min_by_key(|sprint| sprint.line)?;
    let message = match unchecked {
        [only] => format!(
            "sprint {} has no machine check: QA agents alone will judge it",
            only.id.value
        ),
        several => format!(
            "{} sprints have no machine check: QA agents alone will judge them ({})",
            several.len(),
            list_first(several, NAMED, |sprint| sprint.id.value.to_string())
        ),
    };
    let finding = Diagnostic::new(WarningCode::NoMachineCheck, first.heading.span, message)
        .help("add, with your own command:\n**Verifiers**:\n- tests: `cargo test`");
    Some(finding)
}

/// A plan in which only some sprints carry an estimate.
/// Points at the first sprint without an estimate; nothing when all or none have one.
pub(crate) fn partly_estimated(sprints: &[&Sprint]) -> Option<Diagnostic> {
    let (with, without): (Vec<&Sprint>, Vec<&Sprint>) = sprints
        .iter()
        .partition(|sprint| sprint.body().estimate.is_some());
    let first = without.iter().min_by_key(|sprint| sprint.line)?;
    if with.is_empty() {
        return None;
    }
    let message = format!(
        "{} of {} sprints have no estimate",
        without.len(),
        sprints.len()
    );
    let finding = Diagnostic::new(WarningCode::PartlyEstimated, first.heading.span, message)
        .label("counts as one minute on the critical path")
        .help("add `**Estimate**: 45m` to every sprint, or to none");
    Some(finding)
}
