//! A bead id that no file can be named after.

use crate::bead::BeadId;
use crate::diag::{Diagnostic, ErrorCode};
use crate::plan::Sprint;
use crate::text::excerpt;

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
