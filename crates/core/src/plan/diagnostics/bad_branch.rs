//! A branch name that git or the bead schema does not take (B-25, B-29).

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::{Span, excerpt};

/// Points at the value; `reason` says what is wrong with it.
pub(crate) fn bad_branch(span: Span, value: &str, reason: String) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ValidationInvalidPattern,
        span,
        format!("`{}` cannot be a branch name", excerpt(value)),
    )
    .label(reason)
    .help("use letters, digits, `_`, `-` and single `/` between parts, such as `feature/1-2-login`")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn b_25_b_29_branch_names() {
        for branch in ["main/1.2", "a b", "/a", "a/", "a//b", "-a"] {
            let plan = complete_plan("").replace("`feature/1-1`", &format!("`{branch}`"));
            check(
                &plan,
                &[&format!("4:14 VALIDATION.INVALID_PATTERN «{branch}»")],
            );
        }
    }
}
