//! A carriage return that ends no line (P-25).

use crate::diag::{Diagnostic, WarningCode};
use crate::text::Span;

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

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

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
}
