//! A sprint without a verifier where the configuration demands one (Z-31).

use crate::diag::{Diagnostic, ErrorCode};
use crate::plan::Sprint;

/// Points at the heading.
pub(crate) fn machine_check_required(sprint: &Sprint) -> Diagnostic {
    let message = format!(
        "sprint {} has no `Verifiers`, and verify.require_machine_check is set",
        sprint.id.value
    );
    Diagnostic::new(ErrorCode::ParseMissingSection, sprint.heading.span, message)
        .help("add, with your own command:\n**Verifiers**:\n- tests: `cargo test`")
}
