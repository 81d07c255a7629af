//! An agent item that does not fit the grammar (P-19).

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::Span;

/// Points at the part that does not fit and says why.
pub(crate) fn malformed_agent(span: Span, why: &'static str) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        span,
        "this agent item is malformed",
    )
    .label(why)
    .help("write - `name` (model) - text, where model and text may be left out")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_19_an_item_that_does_not_fit() {
        let plan = complete_plan("").replace("`qa` (haiku) - judge it", "`qa` (haiku) judge it");
        check(&plan, &["11:16 PARSE.MARKDOWN «judge it»"]);
    }
}
