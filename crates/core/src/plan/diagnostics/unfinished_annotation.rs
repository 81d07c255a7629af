//! An annotation that is not closed on its line.

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::Span;

/// Points at the line.
pub(crate) fn unfinished_annotation(line: Span) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        line,
        "this annotation is not closed on its line",
    )
    .label("expected `-->` here")
    .help("close the comment, or remove it")
}
