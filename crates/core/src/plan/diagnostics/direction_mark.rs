//! A mark that changes the order in which text is displayed.

use crate::diag::{Diagnostic, WarningCode};
use crate::text::Span;

/// Points at the mark.
pub(crate) fn direction_mark(span: Span, mark: char) -> Diagnostic {
    let message = format!(
        "U+{:04X} changes the direction of the text: this line may not say what it shows",
        mark as u32
    );
    Diagnostic::new(WarningCode::DeceptiveText, span, message)
        .label("remove it")
        .certain_fix(span, "")
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
}
