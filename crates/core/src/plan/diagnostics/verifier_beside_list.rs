//! A verifier on the line of the list's name, where it would not be run.

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::Span;

/// Points at the text.
pub(crate) fn verifier_beside_list(span: Span) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        span,
        "a verifier on this line would not be run",
    )
    .label("expected `- ` items on the lines below")
    .help("write - tests: `cargo test` on a line of its own")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn a_verifier_beside_the_name_is_an_error() {
        let plan = complete_plan("") + "\n**Verifiers**: `make`\n";
        let line = plan.lines().count();
        check(&plan, &[&format!("{line}:16 PARSE.MARKDOWN «`make`»")]);
    }
}
