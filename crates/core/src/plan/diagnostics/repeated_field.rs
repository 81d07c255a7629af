//! A field that stands twice in one section (P-15).

use crate::diag::{Diagnostic, ErrorCode};
use crate::plan::Field;
use crate::text::Span;

/// Points at the second one.
pub(crate) fn repeated_field(field: Field, second: Span, first: Span) -> Diagnostic {
    let message = format!("`{}` stands twice in this sprint", field.name());
    Diagnostic::new(ErrorCode::ParseMarkdown, second, message)
        .label("this one is ignored")
        .also(first, "first given here")
        .help("keep one of the two")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_15_a_repeated_field() {
        let plan = complete_plan("") + "\n**Branch**: `b`\n";
        let line = plan.lines().count();
        check(&plan, &[&format!("{line}:3 PARSE.MARKDOWN «Branch»")]);
    }
}
