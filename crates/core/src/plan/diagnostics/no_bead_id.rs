//! A selected sprint for which there is no bead id to write.

use crate::diag::{Diagnostic, ErrorCode};
use crate::plan::Sprint;

/// Points at the heading.
pub(crate) fn no_bead_id(sprint: &Sprint) -> Diagnostic {
    let message = format!(
        "there is no bead for sprint {} to annotate",
        sprint.id.value
    );
    Diagnostic::new(
        ErrorCode::DependencyUnresolved,
        sprint.heading.span,
        message,
    )
    .label("selected, but its bead id is not known")
}
