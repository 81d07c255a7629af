//! A mark that changes the order in which text is displayed.

use crate::diag::{Diagnostic, WarningCode};
use crate::text::Span;

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
