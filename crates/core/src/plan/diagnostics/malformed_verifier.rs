//! A verifier item without a command, or with more than one (Definition of Done).

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::Span;

/// Points at the item.
pub(crate) fn malformed_verifier(span: Span) -> Diagnostic {
    Diagnostic::new(ErrorCode::ParseMarkdown, span, "this verifier is malformed")
        .label("expected a command in backticks, with a name and a colon before it or nothing")
        .help("write - tests: `cargo test`")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn an_item_is_a_command_with_or_without_a_name() {
        for item in [
            "cargo test",
            "tests: cargo test",
            "`a` and `b`",
            "tests `a`",
            "``",
            ": `a`",
            "` `",
        ] {
            let plan = complete_plan("") + &format!("\n**Verifiers**:\n- {item}\n");
            let line = plan.lines().count();
            check(&plan, &[&format!("{line}:3 PARSE.MARKDOWN «{item}»")]);
        }
        check(
            &(complete_plan("") + "\n**Verifiers**:\n- `make`\n- unit tests: `make test`\n"),
            &[],
        );
    }
}
