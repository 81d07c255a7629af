//! A NUL character, which no command line and no path can carry.

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::Span;

/// Points at the character.
pub(crate) fn nul_character(span: Span) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        span,
        "the plan holds a NUL character",
    )
    .label("remove it")
    .help("the file may be UTF-16 or binary: save it as UTF-8 text")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_8_a_nul_character_is_an_error() {
        check(&complete_plan("a\0b\n"), &["1:2 PARSE.MARKDOWN «\0»"]);
    }
}
