//! Text in a verifier item that would silently mean nothing.

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::Span;

/// Points at the text.
pub(crate) fn stray_verifier_text(span: Span) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        span,
        "this text is not part of the verifier",
    )
    .label("not understood")
    .help("a verifier is one line; its options are bullets below it, indented by two spaces")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn text_that_belongs_to_nothing_is_reported() {
        let plan = complete_plan("")
            + "\n**Verifiers**:\n- `make`\n  and so on\n  - exit: 1\n    or two\n";
        let line = plan.lines().count();
        check(
            &plan,
            &[
                &format!("{}:3 PARSE.MARKDOWN «and so on»", line - 2),
                &format!("{line}:5 PARSE.MARKDOWN «or two»"),
            ],
        );
    }
}
