//! A code fence that is never closed (P-5).

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::Span;

/// `line` is the opening line. An open fence hides every later sprint, so it is an error.
pub(crate) fn open_fence(text: &str, line: Span) -> Diagnostic {
    let opening = line.slice(text).trim_start();
    let mark: String = opening
        .chars()
        .take_while(|c| *c == '`' || *c == '~')
        .take(40)
        .collect();
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        line,
        "this code fence is never closed",
    )
    .label("everything after this line is hidden")
    .help(format!("close it with the line {mark}"))
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_5_an_open_fence_names_its_opening_line() {
        let plan = complete_plan("") + "```sh\n### Sprint 2.1: Lost\n";
        let line = plan.lines().count() - 1;
        check(&plan, &[&format!("{line}:1 PARSE.MARKDOWN «```sh»")]);
    }
}
