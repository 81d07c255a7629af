//! A bullet below a verifier that sets nothing known.

use crate::diag::{Diagnostic, ErrorCode, did_you_mean};
use crate::text::{Span, excerpt};

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

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

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
}
