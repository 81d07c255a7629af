//! One bead id for two sprints.

use crate::bead::BeadId;
use crate::diag::{Diagnostic, ErrorCode};
use crate::plan::Sprint;
use crate::text::excerpt;

/// Points at the later of the two.
pub(crate) fn shared_bead_id(id: &BeadId, first: &Sprint, second: &Sprint) -> Diagnostic {
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
    .help("give one of the sprints a `**Bead ID**` of its own")
}
