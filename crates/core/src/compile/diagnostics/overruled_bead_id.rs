//! A `Bead ID` for a sprint that has another one in the store (Z-10).

use crate::bead::BeadId;
use crate::diag::{Diagnostic, WarningCode};
use crate::plan::Sprint;
use crate::text::{Spanned, excerpt};

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
            "an id stands fast once it is in the store; write {known} here, or remove the field"
        ))
}
