//! Findings about the text as a whole: characters, fences and comments that hide the rest, no sprint at all.

use crate::diag::{Diagnostic, ErrorCode, WarningCode};
use crate::text::Span;

/// A plan without any sprint heading (P-8).
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
        "this plan has no sprint heading",
    )
    .help("add at least one `### Sprint 1.1: Title`; `beads-ralph plan new` writes a template");
    if text.trim().is_empty() {
        finding.label("the file is empty")
    } else {
        finding
    }
}

/// A code fence that is never closed (P-5).
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

/// A comment that is never closed (P-6).
/// `line` is the opening line. An open comment hides every later sprint, so it is an error.
pub(crate) fn open_comment(line: Span) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        line,
        "this comment is never closed",
    )
    .label("everything after this line is hidden")
    .help("close it with `-->`")
}

/// A NUL character, which no command line and no path can carry.
/// Points at the character.
pub(crate) fn nul_character(span: Span) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        span,
        "the plan contains a NUL character",
    )
    .label("remove it")
    .help("the file may be UTF-16 or binary: save it as UTF-8 text")
}

/// A carriage return that ends no line (P-25).
/// Points at the first one.
pub(crate) fn lone_carriage_return(span: Span) -> Diagnostic {
    Diagnostic::new(
        WarningCode::LoneCarriageReturn,
        span,
        "this carriage return does not end a line",
    )
    .label("what follows is read as part of the same line")
    .help("save the file with LF or CRLF line ends")
}

/// A mark that changes the order in which text is displayed.
/// Points at the first mark of a line; `rest` is from there to the line's last mark, and `cleaned` what
/// stays of it without any.
pub(crate) fn direction_mark(span: Span, mark: char, rest: Span, cleaned: String) -> Diagnostic {
    let message = format!(
        "U+{:04X} changes the direction of the text: this line may not say what it shows",
        mark as u32
    );
    Diagnostic::new(WarningCode::DeceptiveText, span, message)
        .label("remove it")
        .certain_fix(rest, cleaned)
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

    #[test]
    fn p_5_an_open_fence_names_its_opening_line() {
        let plan = complete_plan("") + "```sh\n### Sprint 2.1: Lost\n";
        let line = plan.lines().count() - 1;
        check(&plan, &[&format!("{line}:1 PARSE.MARKDOWN «```sh»")]);
    }

    #[test]
    fn p_6_an_open_comment_names_its_opening_line() {
        let plan = complete_plan("") + "<!-- note\n### Sprint 2.1: Lost\n";
        let line = plan.lines().count() - 1;
        check(&plan, &[&format!("{line}:1 PARSE.MARKDOWN «<!-- note»")]);
    }

    #[test]
    fn p_8_a_nul_character_is_an_error() {
        check(&complete_plan("a\0b\n"), &["1:2 PARSE.MARKDOWN «\0»"]);
    }

    #[test]
    fn p_25_a_lone_carriage_return_is_reported() {
        check(&complete_plan("a\rb\n"), &["1:2 lone-carriage-return «\r»"]);
        check(
            &complete_plan("a\r\n")
                .replace('\n', "\r\n")
                .replace("\r\r", "\r"),
            &[],
        );
    }

    #[test]
    fn a_direction_mark_is_reported_once_a_line() {
        check(
            &complete_plan("a\u{202e}b\u{202c}\n\u{200f}\n"),
            &[
                "1:2 deceptive-text «\u{202e}»",
                "2:1 deceptive-text «\u{200f}»",
            ],
        );
    }

    #[test]
    fn all_marks_of_a_line_go_at_once() {
        let marks = "\u{202e}".repeat(100);
        check_fix(
            &complete_plan(&format!("a{marks}b\u{61c} c\n{marks}d\n")),
            &complete_plan("ab c\nd\n"),
        );
    }
}
