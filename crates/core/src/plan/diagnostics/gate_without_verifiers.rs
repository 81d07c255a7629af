//! A gate that nothing decides about (G-1).

use crate::diag::{Diagnostic, ErrorCode};
use crate::plan::Sprint;
use crate::text::excerpt;

/// Points at the heading.
pub(crate) fn gate_without_verifiers(sprint: &Sprint) -> Diagnostic {
    let message = format!(
        "sprint {} is a gate and has no `Verifiers`, so it could never be green",
        excerpt(sprint.id.value.as_str())
    );
    Diagnostic::new(ErrorCode::ParseMissingSection, sprint.heading.span, message)
        .help("add, with your own command:\n**Verifiers**:\n- tests: `cargo test`")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    const GATE: &str = "### Sprint 1.1: Green\n\n**Worktree**: `../w`\n\n**Branch**: `gate/green`\n\n**Source Branch**: `main`\n\n**Type**: gate\n";

    #[test]
    fn g_1_a_gate_needs_verifiers_and_nobody_who_works() {
        check(GATE, &["1:1 PARSE.MISSING_SECTION «### Sprint 1.1: Green»"]);
        check(&format!("{GATE}\n**Verifiers**:\n- tests: `true`\n"), &[]);
    }
}
