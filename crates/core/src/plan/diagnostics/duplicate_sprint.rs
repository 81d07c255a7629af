//! One number for two sprints (P-7, N-5).

use crate::diag::{Diagnostic, ErrorCode};
use crate::plan::Sprint;

/// Points at the later of the two, and names both lines.
pub(crate) fn duplicate_sprint(first: &Sprint, second: &Sprint) -> Diagnostic {
    let (one, other) = (first.id.value.as_str(), second.id.value.as_str());
    let message = if one == other {
        format!(
            "sprint {one} stands twice: in line {} and in line {}",
            first.line, second.line
        )
    } else {
        format!(
            "sprints {one} (line {}) and {other} (line {}) have one number",
            first.line, second.line
        )
    };
    Diagnostic::new(ErrorCode::DependencyDuplicateId, second.id.span, message)
        .label("this number is taken")
        .also(first.id.span, "first used here")
        .help("give one of the two another number")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_7_n_5_a_number_stands_twice() {
        let plan = complete_plan("") + &sprint("1.01", "Again");
        let line = plan
            .lines()
            .position(|line| line.contains("Again"))
            .unwrap()
            + 1;
        check(
            &plan,
            &[&format!("{line}:12 DEPENDENCY.DUPLICATE_ID «1.01»")],
        );
    }
}
