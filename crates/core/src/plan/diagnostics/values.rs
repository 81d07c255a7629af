//! Findings about the values of single fields.

use crate::diag::{Diagnostic, ErrorCode, did_you_mean};
use crate::text::{Span, excerpt};

/// An invalid bead id in a plan (P-12).
/// Points at the value.
pub(crate) fn bad_bead_id(span: Span, value: &str) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ValidationInvalidPattern,
        span,
        format!("`{}` is not a bead id", excerpt(value)),
    )
    .label("expected `bd-` and parts of a-z and 0-9, joined by single `-`")
    .help("for example `bd-1-1-schema`, or leave the field out")
}

/// A branch name that git or the bead schema does not take (B-25, B-29).
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

/// An estimate that is not a duration.
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

/// A `Type` that is neither merge, work nor gate (B-30).
/// Points at the value.
pub(crate) fn unknown_type(span: Span, value: &str) -> Diagnostic {
    let message = format!("`{}` is not a type of sprint", excerpt(value));
    let finding = Diagnostic::new(ErrorCode::ValidationInvalidPattern, span, message)
        .label("expected `merge`, `work` or `gate`")
        .help("leave the field out to let the title and the branches decide");
    match did_you_mean(value, ["merge", "work", "gate"]) {
        Some(word) => finding.possible_fix(span, word),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_12_a_bead_id_must_match() {
        for id in ["bd-", "xx-1", "bd-A", "bd--a", "bd-a-"] {
            let plan = complete_plan("") + &format!("\n**Bead ID**: `{id}`\n");
            let line = plan.lines().count();
            check(
                &plan,
                &[&format!("{line}:15 VALIDATION.INVALID_PATTERN «{id}»")],
            );
        }
        check(&(complete_plan("") + "\n**Bead ID**: bd-1-1-schema\n"), &[]);
    }

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

    #[test]
    fn b_30_the_type_is_merge_or_work() {
        let plan = complete_plan("") + "\n**Type**: Merge\n";
        let line = plan.lines().count();
        check(
            &plan,
            &[&format!("{line}:11 VALIDATION.INVALID_PATTERN «Merge»")],
        );
        check(&(complete_plan("") + "\n**Type**: merge\n"), &[]);
    }
}
