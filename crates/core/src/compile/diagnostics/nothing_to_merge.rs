//! A merge sprint that joins fewer than two branches (B-31).

use crate::diag::{Diagnostic, WarningCode};
use crate::plan::Sprint;

/// Points at the heading.
pub(crate) fn nothing_to_merge(sprint: &Sprint, n_branches: usize) -> Diagnostic {
    let message = format!(
        "sprint {} is a merge of {n_branches} branch(es)",
        sprint.id.value
    );
    Diagnostic::new(WarningCode::NothingToMerge, sprint.heading.span, message).help(
        "a merge joins the branches of at least two dependencies; write `**Type**: work` otherwise",
    )
}
