//! Findings about verifier items and their options.

use crate::diag::{Diagnostic, ErrorCode, did_you_mean};
use crate::text::{Span, excerpt};

/// A verifier item without a command, or with more than one (Definition of Done).
/// Points at the item.
pub(crate) fn malformed_verifier(span: Span) -> Diagnostic {
    Diagnostic::new(ErrorCode::ParseMarkdown, span, "this verifier is malformed")
        .label("expected a command in backticks, with a name and a colon before it or nothing")
        .help("write - tests: `cargo test`")
}

/// A verifier on the line of the list's name, where it would not be run.
/// Points at the text.
pub(crate) fn verifier_beside_list(span: Span) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        span,
        "a verifier on this line would not be run",
    )
    .label("expected `- ` items on the lines below")
    .help("write - tests: `cargo test` on a separate line")
}

/// Text in a verifier item that would silently mean nothing.
/// Points at the text.
pub(crate) fn stray_verifier_text(span: Span) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        span,
        "this text is not part of the verifier",
    )
    .label("not understood")
    .help("a verifier is one line; its options are bullets below it, indented by two spaces")
}

const OPTIONS: [&str; 8] = [
    "timeout",
    "exit",
    "stdout contains",
    "stderr contains",
    "stdout matches",
    "stderr matches",
    "min tests",
    "on failure",
];

/// A bullet below a verifier that sets nothing known.
/// Points at the option's name.
pub(crate) fn unknown_verifier_option(span: Span, name: &str) -> Diagnostic {
    let message = format!("`{}` is not an option of a verifier", excerpt(name));
    let finding = Diagnostic::new(ErrorCode::ParseMarkdown, span, message)
        .help("the options are `timeout: 90s`, `exit: 2`, `stdout contains: text`, `stderr contains: text`, `stdout matches: regex`, `stderr matches: regex`, `min tests: 5`, `on failure: continue`");
    match did_you_mean(name, OPTIONS) {
        Some(option) => finding
            .label(format!("did you mean `{option}`?"))
            .certain_fix(span, option),
        None => finding.label("not understood"),
    }
}

/// A verifier's option that is set twice.
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

/// A verifier's option with a value that does not fit.
/// Points at the value.
pub(crate) fn bad_verifier_value(span: Span, option: &str, expected: &str) -> Diagnostic {
    let message = format!("invalid value for `{}`", excerpt(option));
    Diagnostic::new(ErrorCode::ValidationInvalidPattern, span, message)
        .label(format!("expected {expected}"))
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

    #[test]
    fn a_verifier_beside_the_name_is_an_error() {
        let plan = complete_plan("") + "\n**Verifiers**: `make`\n";
        let line = plan.lines().count();
        check(&plan, &[&format!("{line}:16 PARSE.MARKDOWN «`make`»")]);
    }

    #[test]
    fn text_that_belongs_to_nothing_is_reported() {
        let plan = complete_plan("")
            + "\n**Verifiers**:\n- `make`\n  and so on\n  - exit: 1\n    or two\n";
        let line = plan.lines().count();
        check(
            &plan,
            &[
                &format!("{}:3 PARSE.MARKDOWN «and so on»", line - 2),
                &format!("{line}:5 PARSE.MARKDOWN «or two»"),
            ],
        );
    }

    #[test]
    fn an_unknown_option_is_reported_and_a_misspelt_one_fixed() {
        let plan = |option: &str| {
            complete_plan("") + &format!("\n**Verifiers**:\n- `make`\n  - {option}\n")
        };
        let line = plan("x").lines().count();
        check(
            &plan("quickly"),
            &[&format!("{line}:5 PARSE.MARKDOWN «quickly»")],
        );
        check(
            &plan("timeot: 9s"),
            &[&format!("{line}:5 PARSE.MARKDOWN «timeot»")],
        );
        check_fix(&plan("timeot: 9s"), &plan("timeout: 9s"));
    }

    #[test]
    fn an_option_is_set_once() {
        let plan = complete_plan("") + "\n**Verifiers**:\n- `make`\n  - exit: 1\n  - exit: 2\n";
        let line = plan.lines().count();
        check(&plan, &[&format!("{line}:5 PARSE.MARKDOWN «exit»")]);
    }

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
