//! A sprint heading whose number is none (P-2, N-5).

use crate::diag::{Diagnostic, ErrorCode};
use crate::number::SprintId;
use crate::text::{Span, excerpt};

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
}
