//! A merge sprint that depends on a sprint without a readable branch (B-31).

use crate::diag::{Diagnostic, ErrorCode};
use crate::plan::Sprint;

/// Points at the sprint that lacks the branch.
pub(crate) fn branch_to_merge_missing(merge: &Sprint, dependency: &Sprint) -> Diagnostic {
    let message = format!(
        "sprint {} (line {}) has no `Branch`, and sprint {} merges it",
        dependency.id.value, dependency.line, merge.id.value
    );
    Diagnostic::new(
        ErrorCode::ParseMissingSection,
        dependency.heading.span,
        message,
    )
    .also(merge.heading.span, "merged here")
    .help("add **Branch**: `feature/…` to it, or **Type**: work to the merging sprint")
}
