//! Text on the line of a list's name, which belongs to no item (P-13).

use crate::diag::{Diagnostic, WarningCode};
use crate::text::Span;

/// Points at the text.
pub(crate) fn text_beside_list(span: Span) -> Diagnostic {
    Diagnostic::new(
        WarningCode::IgnoredText,
        span,
        "this text is not part of the list, and is ignored",
    )
    .label("ignored")
    .help("put it on a line of its own, after `- `")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_13_text_beside_a_list_is_reported() {
        let plan = complete_plan("").replace("**Tasks**:", "**Tasks**: do this first");
        check(&plan, &["13:12 ignored-text «do this first»"]);
        check(
            &complete_plan("").replace("**Tasks**:", "**Tasks**: (in order)"),
            &[],
        );
    }
}
