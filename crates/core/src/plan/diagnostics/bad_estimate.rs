//! An estimate that is no duration.

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::{Span, excerpt};

/// Points at the value.
pub(crate) fn bad_estimate(span: Span, value: &str) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ValidationInvalidPattern,
        span,
        format!("`{}` is not a duration", excerpt(value)),
    )
    .label("expected hours, minutes and seconds such as `45m` or `1h30m`")
    .help("leave the field out to count the sprint as one unit")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn an_estimate_is_a_duration() {
        let plan = complete_plan("") + "\n**Estimate**: soon\n";
        let line = plan.lines().count();
        check(
            &plan,
            &[&format!("{line}:15 VALIDATION.INVALID_PATTERN «soon»")],
        );
        check(
            &(complete_plan("") + "\n**Estimate**: 1h30m (a guess)\n"),
            &[],
        );
    }
}
