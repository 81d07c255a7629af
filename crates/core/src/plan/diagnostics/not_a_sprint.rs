//! A heading that starts like a sprint's and carries no number (P-2).

use crate::diag::{Diagnostic, WarningCode};
use crate::text::Span;

/// The whole heading is meant.
pub(crate) fn not_a_sprint(line: Span) -> Diagnostic {
    Diagnostic::new(
        WarningCode::IgnoredHeading,
        line,
        "this heading is not a sprint: it has no number",
    )
    .label("ignored")
    .help("write `### Sprint 1.2: Title` if it is one, or another word than `Sprint` first")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_2_a_heading_without_a_number_is_ignored() {
        let plan = complete_plan("### Sprint Planning Notes\n");
        check(&plan, &["1:1 ignored-heading «### Sprint Planning Notes»"]);
    }
}
