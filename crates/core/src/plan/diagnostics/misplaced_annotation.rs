//! Annotations that are not where they belong.

use crate::diag::{Diagnostic, ErrorCode};
use crate::plan::Sprint;

/// Points at the first annotation that is not directly after the heading, or at the second of two.
pub(crate) fn misplaced_annotation(sprint: &Sprint) -> Diagnostic {
    let wrong = sprint
        .annotations
        .iter()
        .find(|annotation| !annotation.is_in_place)
        .or(sprint.annotations.last());
    let span = wrong.map_or(sprint.heading.span, |annotation| annotation.line);
    let message = format!(
        "sprint {} has {} annotation(s), and one does not stand directly after its heading",
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
