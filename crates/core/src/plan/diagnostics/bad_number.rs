//! A sprint heading whose number is none (P-2, N-5).

use crate::diag::{Diagnostic, ErrorCode};
use crate::number::SprintId;
use crate::text::{Span, excerpt};

/// `token` is what stands where the number should be.
pub(crate) fn bad_number(text: &str, token: Span) -> Diagnostic {
    let number = token.slice(text);
    let message = format!("`{}` is not a sprint number", excerpt(number));
    let finding = Diagnostic::new(ErrorCode::ParseInvalidPattern, token, message)
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

/// The number with capitals lowered and full-width forms made plain, which are what people paste.
fn ascii_spelling(number: &str) -> Option<String> {
    number
        .chars()
        .map(|character| match character {
            '０'..='９' | 'ａ'..='ｚ' | 'Ａ'..='Ｚ' | '．' => {
                char::from_u32(character as u32 - 0xFEE0).map(|plain| plain.to_ascii_lowercase())
            }
            other if other.is_ascii() => Some(other.to_ascii_lowercase()),
            other => other
                .to_digit(10)
                .and_then(|digit| char::from_digit(digit, 10)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

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
        check_fix("### Sprint １.２: X\n", "### Sprint 1.2: X\n");
    }
}
