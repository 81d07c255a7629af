//! A verifier's option that is set twice.

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::{Span, excerpt};

/// Points at the second one.
pub(crate) fn repeated_verifier_option(span: Span, option: &str) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        span,
        format!("`{}` is set twice for this verifier", excerpt(option)),
    )
    .label("set again")
    .help("keep one of the two")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn an_option_is_set_once() {
        let plan = complete_plan("") + "\n**Verifiers**:\n- `make`\n  - exit: 1\n  - exit: 2\n";
        let line = plan.lines().count();
        check(&plan, &[&format!("{line}:5 PARSE.MARKDOWN «exit»")]);
    }
}
