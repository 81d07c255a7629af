//! A plan without any sprint heading (P-8).

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::Span;

/// Points at the start of the text.
pub(crate) fn no_sprints(text: &str) -> Diagnostic {
    let first_line = Span::new(0, text.lines().next().map_or(0, str::len).min(80));
    let span = if text.is_char_boundary(first_line.end()) {
        first_line
    } else {
        Span::at(0)
    };
    let finding = Diagnostic::new(
        ErrorCode::ParseMarkdown,
        span,
        "there is no sprint heading in this plan",
    )
    .help("add at least one `### Sprint 1.1: Title`; `beads-ralph plan new` writes a template");
    if text.trim().is_empty() {
        finding.label("the file is empty")
    } else {
        finding
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_8_no_sprint_heading() {
        check("", &["1:1 PARSE.MARKDOWN «»"]);
        check("# Title\n", &["1:1 PARSE.MARKDOWN «# Title»"]);
        check(
            "```\n### Sprint 1.1: X\n```\n",
            &["1:1 PARSE.MARKDOWN «```»"],
        );
    }
}
