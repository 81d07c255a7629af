//! A line that is almost a sprint heading and therefore is not read as one.

use crate::diag::{Diagnostic, WarningCode};
use crate::text::Span;

/// The whole line is meant.
pub(crate) fn near_miss_heading(text: &str, line: Span) -> Diagnostic {
    let rest = line.slice(text).trim_start_matches('#').trim_start();
    let rest = rest.get("sprint".len()..).unwrap_or_default().trim_start();
    Diagnostic::new(
        WarningCode::IgnoredHeading,
        line,
        "this looks like a sprint heading and is not read as one",
    )
    .label("expected exactly `### Sprint `, then the number")
    .help("write `### Sprint 1.2: Title`")
    .possible_fix(line, format!("### Sprint {rest}"))
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn a_heading_that_is_almost_a_sprint_is_reported() {
        check(
            &complete_plan("###Sprint 7.1: X\n"),
            &["1:1 ignored-heading «###Sprint 7.1: X»"],
        );
        check(
            &complete_plan("### sprint 7.1: X\n"),
            &["1:1 ignored-heading «### sprint 7.1: X»"],
        );
    }

    #[test]
    fn p_3_ordinary_headings_are_silent() {
        check(
            &complete_plan(
                "### ✅ Sprint 1.1: X\n#### Sprint 9.1: X\n## Sprint 9.1: X\n ### Sprint 9.1: X\n",
            ),
            &[],
        );
    }
}
