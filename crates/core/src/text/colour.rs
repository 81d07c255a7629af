//! The codes by which programs colour what they write.

use std::borrow::Cow;

/// What such a code begins with.
const BEGINNING: &str = "\u{1b}[";

/// A text without the codes that colour it or move the cursor. One that is cut off at the end is left out too; what only begins like
/// one stays.
pub fn without_colour(text: &str) -> Cow<'_, str> {
    if !text.contains(BEGINNING) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGINNING) {
        plain.push_str(before);
        // Parameters, then one character that says what they are for.
        let code = after.trim_start_matches(|c: char| matches!(c, ' '..='?'));
        rest = match code.chars().next() {
            None => "",
            Some('@'..='~') => &code[1..],
            Some(_) => {
                plain.push_str(BEGINNING);
                after
            }
        };
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_left_out_and_nothing_else() {
        for (text, plain) in [
            ("", ""),
            ("no code [0m", "no code [0m"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[32;1m  é\u{1b}[m é", "  é é"),
            ("\u{1b}[2K\u{1b}[?25l\u{1b}[1~x", "x"),
            ("cut \u{1b}[38;5", "cut "),
            ("cut \u{1b}[", "cut "),
            ("\u{1b}[3\u{7}x", "\u{1b}[3\u{7}x"),
            ("\u{1b}[é\u{1b}[1mx", "\u{1b}[éx"),
        ] {
            assert_eq!(without_colour(text), plain, "{text:?}");
        }
    }
}
