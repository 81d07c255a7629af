//! Findings about bead ids that are written into the plan.

use std::collections::HashMap;

use crate::bead::BeadId;
use crate::diag::{Diagnostic, ErrorCode};
use crate::plan::Sprint;
use crate::text::{Span, excerpt};

/// Annotations that are not where they belong.
/// Points at the first annotation that is not directly after the heading, or at the second of two.
pub(crate) fn misplaced_annotation(sprint: &Sprint) -> Diagnostic {
    let wrong = sprint
        .annotations
        .iter()
        .find(|annotation| !annotation.is_in_place)
        .or(sprint.annotations.last());
    let span = wrong.map_or(sprint.heading.span, |annotation| annotation.line);
    let message = format!(
        "sprint {} has {} annotation(s), and one is not directly after its heading",
        sprint.id.value,
        sprint.annotations.len()
    );
    Diagnostic::new(ErrorCode::DependencyDuplicateId, span, message)
        .label("remove this line")
        .also(
            sprint.heading.span,
            "the annotation belongs on the line after this one",
        )
}

/// An annotation that is not closed on its line.
/// Points at the line.
pub(crate) fn unfinished_annotation(line: Span) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        line,
        "this annotation is not closed on its line",
    )
    .label("expected `-->` here")
    .help("close the comment, or remove it")
}

/// A selected sprint whose bead id is unknown.
/// Points at the heading.
pub(crate) fn no_bead_id(sprint: &Sprint) -> Diagnostic {
    let message = format!("sprint {} has no bead to annotate", sprint.id.value);
    Diagnostic::new(
        ErrorCode::DependencyUnresolved,
        sprint.heading.span,
        message,
    )
    .label("selected, but its bead id is not known")
}

/// One bead id for two sprints.
/// Points at the later of the two.
fn shared_bead_id(id: &BeadId, first: &Sprint, second: &Sprint) -> Diagnostic {
    let message = format!(
        "bead {} belongs to two sprints, {} and {}",
        excerpt(id.as_str()),
        first.id.value,
        second.id.value
    );
    Diagnostic::new(
        ErrorCode::DependencyDuplicateId,
        second.heading.span,
        message,
    )
    .label("the same bead id")
    .also(first.heading.span, "first used here")
    .help("give one of the sprints another `**Bead ID**`")
}

/// Reports every sprint whose bead id an earlier one has already.
pub(crate) fn shared_bead_ids<'p>(
    named: impl Iterator<Item = (&'p Sprint, &'p BeadId)>,
) -> Vec<Diagnostic> {
    let mut owners: HashMap<&BeadId, &Sprint> = HashMap::new();
    let mut findings = Vec::new();
    for (sprint, id) in named {
        if let Some(earlier) = owners.insert(id, sprint) {
            findings.push(shared_bead_id(id, earlier, sprint));
        }
    }
    findings
}
