//! A verifier's option with a value that does not fit.

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::{Span, excerpt};

/// Points at the value.
pub(crate) fn bad_verifier_value(span: Span, option: &str, expected: &str) -> Diagnostic {
    let message = format!("the value of `{}` does not fit", excerpt(option));
    Diagnostic::new(ErrorCode::ValidationInvalidPattern, span, message)
        .label(format!("expected {expected}"))
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn values_that_do_not_fit() {
        for (option, place) in [
            ("timeout: 0s", "14 VALIDATION.INVALID_PATTERN «0s»"),
            ("timeout: 500ms", "14 VALIDATION.INVALID_PATTERN «500ms»"),
            ("exit: 256", "11 VALIDATION.INVALID_PATTERN «256»"),
            ("exit: -1", "11 VALIDATION.INVALID_PATTERN «-1»"),
            ("on failure: retry", "17 VALIDATION.INVALID_PATTERN «retry»"),
            ("stdout matches: a(b", "21 VALIDATION.INVALID_PATTERN «a(b»"),
            ("stderr matches:", "20 VALIDATION.INVALID_PATTERN «»"),
            ("min tests: 0", "16 VALIDATION.INVALID_PATTERN «0»"),
            ("stdout contains:", "21 VALIDATION.INVALID_PATTERN «»"),
        ] {
            let plan = complete_plan("") + &format!("\n**Verifiers**:\n- `make`\n  - {option}\n");
            let line = plan.lines().count();
            check(&plan, &[&format!("{line}:{place}")]);
        }
    }
}
