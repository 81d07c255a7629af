//! A comment that is never closed (P-6).

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::Span;

/// `line` is the opening line. An open comment hides every later sprint, so it is an error.
pub(crate) fn open_comment(line: Span) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        line,
        "this comment is never closed",
    )
    .label("everything after this line is hidden")
    .help("close it with `-->`")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_6_an_open_comment_names_its_opening_line() {
        let plan = complete_plan("") + "<!-- note\n### Sprint 2.1: Lost\n";
        let line = plan.lines().count() - 1;
        check(&plan, &[&format!("{line}:1 PARSE.MARKDOWN «<!-- note»")]);
    }
}
