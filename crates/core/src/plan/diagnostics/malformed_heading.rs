//! A heading that is meant as a sprint's and is malformed (P-2).

use crate::diag::{Diagnostic, ErrorCode};
use crate::number::SprintId;
use crate::text::{Span, excerpt};

/// `rest` is what follows `### Sprint` and its spaces. Where the number is right, the fix is certain as
/// soon as there is a title.
pub(crate) fn malformed_heading(
    text: &str,
    line: Span,
    id: Option<&SprintId>,
    rest: Span,
) -> Diagnostic {
    let finding = Diagnostic::new(
        ErrorCode::ParseMarkdown,
        line,
        "this sprint heading is malformed",
    );
    let Some(id) = id else {
        return finding
            .label("the number is not of the form <phase>.<sprint>")
            .help("write `### Sprint 1.2: Title`");
    };
    let title = rest.slice(text)[id.as_str().len()..]
        .trim_start_matches([':', ' ', '-', '–', '—', '\t'])
        .trim();
    if title.is_empty() {
        return finding.label("the title is missing").help(format!(
            "write `### Sprint {}: Title`",
            excerpt(id.as_str())
        ));
    }
    finding
        .label("expected one space, the number, a colon, one space, the title")
        .help(format!("write `### Sprint {}: …`", excerpt(id.as_str())))
        .certain_fix(line, format!("### Sprint {id}: {title}"))
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_2_malformed_headings_and_their_fixes() {
        check("### Sprint 1.1\n", &["1:1 PARSE.MARKDOWN «### Sprint 1.1»"]);
        check("### Sprint #3\n", &["1:1 PARSE.MARKDOWN «### Sprint #3»"]);
        check_fix("### Sprint 1.1:Title\n", "### Sprint 1.1: Title\n");
        check_fix("### Sprint 1.1 - Title\n", "### Sprint 1.1: Title\n");
        check_fix("### Sprint  1.1: Title\r\n", "### Sprint 1.1: Title\r\n");
    }
}
