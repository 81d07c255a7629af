//! A `Type` that is neither merge, work nor gate (B-30).

use crate::diag::{Diagnostic, ErrorCode, did_you_mean};
use crate::text::{Span, excerpt};

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
