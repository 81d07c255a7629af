//! Findings about sprint headings and their numbers.

use crate::diag::{Diagnostic, ErrorCode, WarningCode};
use crate::number::SprintId;
use crate::plan::Sprint;
use crate::text::{Span, excerpt};

/// A heading that is meant as a sprint's and is malformed (P-2).
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

/// A line that is almost a sprint heading and therefore is not read as one.
/// The whole line is meant.
pub(crate) fn near_miss_heading(text: &str, line: Span) -> Diagnostic {
    let rest = line.slice(text).trim_start_matches('#').trim_start();
    let rest = rest.get("sprint".len()..).unwrap_or_default().trim_start();
    Diagnostic::new(
        WarningCode::IgnoredHeading,
        line,
        "this looks like a sprint heading but is not read as one",
    )
    .label("expected exactly `### Sprint `, then the number")
    .help("write `### Sprint 1.2: Title`")
    .possible_fix(line, format!("### Sprint {rest}"))
}

/// A heading that starts like a sprint's and carries no number (P-2).
/// The whole heading is meant.
pub(crate) fn not_a_sprint(line: Span) -> Diagnostic {
    Diagnostic::new(
        WarningCode::IgnoredHeading,
        line,
        "this heading is not a sprint: it has no number",
    )
    .label("ignored")
    .help("write `### Sprint 1.2: Title` if it is one, or another word than `Sprint` first")
}

/// A sprint heading with an invalid number (P-2, N-5).
/// `token` is what stands where the number should be.
pub(crate) fn bad_number(text: &str, token: Span) -> Diagnostic {
    let number = token.slice(text);
    let message = format!("`{}` is not a sprint number", excerpt(number));
    let finding = Diagnostic::new(ErrorCode::ParseInvalidPattern, token, message);
    if number.split('.').count() == 2 && number.split('.').all(is_well_formed) {
        return finding
            .label("too large")
            .help("a phase and a sprint go up to 18446744073709551615");
    }
    let finding = finding
        .label("expected <phase>.<sprint>, such as 1.2 or 3a.2b")
        .help(
            "a number is ASCII digits and optional lower-case letters, twice, with one dot between",
        );
    match ascii_spelling(number).filter(|spelling| SprintId::parse(spelling).is_some()) {
        Some(spelling) if number.is_ascii() => finding.possible_fix(token, spelling),
        Some(spelling) => finding
            .help(format!(
                "the digits or letters only look like `{spelling}`: they are other characters"
            ))
            .certain_fix(token, spelling),
        None => finding,
    }
}

fn is_well_formed(part: &str) -> bool {
    let letters = part.trim_start_matches(|c: char| c.is_ascii_digit());
    letters.len() < part.len() && letters.bytes().all(|letter| letter.is_ascii_lowercase())
}

/// The number with capitals lowered and the digits and letters of other alphabets made plain, which are
/// what people paste.
fn ascii_spelling(number: &str) -> Option<String> {
    number.chars().map(plain).collect()
}

fn plain(character: char) -> Option<char> {
    /// Where other scripts start to count: full-width, Arabic, Persian, Devanagari, bold mathematical.
    const ZEROS: [char; 5] = ['０', '٠', '۰', '०', '𝟎'];
    let digit = |zero: char| {
        (character as u32)
            .checked_sub(zero as u32)
            .filter(|digit| *digit < 10)
    };
    match character {
        'ａ'..='ｚ' | 'Ａ'..='Ｚ' | '．' => {
            char::from_u32(character as u32 - 0xFEE0).map(|letter| letter.to_ascii_lowercase())
        }
        other if other.is_ascii() => Some(other.to_ascii_lowercase()),
        _ => ZEROS
            .into_iter()
            .find_map(digit)
            .and_then(|digit| char::from_digit(digit, 10)),
    }
}

/// One number for two sprints (P-7, N-5).
/// Points at the later of the two, and names both lines.
pub(crate) fn duplicate_sprint(first: &Sprint, second: &Sprint) -> Diagnostic {
    let (one, other) = (first.id.value.as_str(), second.id.value.as_str());
    let message = if one == other {
        format!(
            "sprint {one} is defined twice: in line {} and in line {}",
            first.line, second.line
        )
    } else {
        format!(
            "sprints {one} (line {}) and {other} (line {}) have the same number",
            first.line, second.line
        )
    };
    Diagnostic::new(ErrorCode::DependencyDuplicateId, second.id.span, message)
        .label("this number is taken")
        .also(first.id.span, "first used here")
        .help("give one of the two another number")
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

    #[test]
    fn p_2_a_heading_without_a_number_is_ignored() {
        let plan = complete_plan("### Sprint Planning Notes\n");
        check(&plan, &["1:1 ignored-heading «### Sprint Planning Notes»"]);
    }

    #[test]
    fn p_2_a_number_that_is_none() {
        check(
            "### Sprint 3A.1: X\n",
            &["1:12 PARSE.INVALID_PATTERN «3A.1»"],
        );
        check(
            "### Sprint 1.2.3: X\n",
            &["1:12 PARSE.INVALID_PATTERN «1.2.3»"],
        );
        check("### Sprint ABC: X\n", &["1:12 PARSE.INVALID_PATTERN «ABC»"]);
    }

    #[test]
    fn n_1_digits_that_only_look_like_digits() {
        check(
            "### Sprint １.２: X\n",
            &["1:12 PARSE.INVALID_PATTERN «１.２»"],
        );
        for number in ["１.２", "١.٢", "۱.۲", "१.२", "𝟏.𝟐"] {
            check_fix(&format!("### Sprint {number}: X\n"), "### Sprint 1.2: X\n");
        }
    }

    #[test]
    fn n_5_a_number_that_is_too_large_is_called_so() {
        let text = "### Sprint 1.99999999999999999999a: X\n";
        check(
            text,
            &["1:12 PARSE.INVALID_PATTERN «1.99999999999999999999a»"],
        );
        assert_eq!(findings(text)[0].primary.text, "too large");
    }

    #[test]
    fn p_7_n_5_a_number_stands_twice() {
        let plan = complete_plan("") + &sprint("1.01", "Again");
        let line = plan
            .lines()
            .position(|line| line.contains("Again"))
            .unwrap()
            + 1;
        check(
            &plan,
            &[&format!("{line}:12 DEPENDENCY.DUPLICATE_ID «1.01»")],
        );
    }
}
