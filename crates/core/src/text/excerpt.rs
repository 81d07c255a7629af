//! Text of others, fit to be shown: without control characters, without colours, cut to a length, side by side.

use std::borrow::Cow;

/// How many characters of a user's text a message quotes at the most.
pub const MAX_EXCERPT_CHARS: usize = 60;

/// A short, printable quotation of a user's text: cut to [`MAX_EXCERPT_CHARS`], with control and
/// direction-changing characters escaped, so that a hostile plan can neither flood nor steer a
/// terminal.
pub fn excerpt(text: &str) -> String {
    let mut quoted = String::new();
    for (n, character) in text.chars().enumerate() {
        if n == MAX_EXCERPT_CHARS {
            quoted.push('…');
            break;
        }
        push_visible(&mut quoted, character);
    }
    quoted
}

/// A text in full, with control, invisible and direction-changing characters escaped.
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for character in text.chars() {
        push_visible(&mut visible, character);
    }
    visible
}

/// A text of many lines in full: its lines and columns as they are, everything else as [`visible`] has it.
pub fn visible_lines(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => visible.push(character),
            character => push_visible(&mut visible, character),
        }
    }
    visible
}

/// Line ends and tabs as everybody writes them in quotes; everything else that cannot be printed by its number.
fn push_visible(text: &mut String, character: char) {
    match character {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        character if is_unprintable(character) => text.extend(character.escape_unicode()),
        character => text.push(character),
    }
}

/// Whether a character has no place in anything that is shown: it steers a terminal, takes no room, or
/// changes the direction of the text.
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || is_direction_mark(character)
        || matches!(
            character,
            '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fdd0}'..='\u{fdef}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// Whether a character changes the direction of the text: embeddings, overrides, isolates and plain marks.
pub fn is_direction_mark(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
}

/// How much of what two texts have in common is shown before they part.
const CONTEXT: usize = 20;

/// Both texts as [`excerpt`](super::excerpt) would show them, but cut around the first place where they differ: two long texts never
/// look the same unless they are.
pub fn contrast(one: &str, other: &str) -> (String, String) {
    let n_common = one
        .chars()
        .zip(other.chars())
        .take_while(|(one, other)| one == other)
        .count();
    let longest = one.chars().count().max(other.chars().count());
    let start = if longest <= MAX_EXCERPT_CHARS {
        0
    } else {
        n_common.saturating_sub(CONTEXT)
    };
    (window(one, start), window(other, start))
}

/// What fits of a text from a character on, with `…` for what does not.
fn window(text: &str, start: usize) -> String {
    let shown: String = text.chars().skip(start).take(MAX_EXCERPT_CHARS).collect();
    let before = if start > 0 { "…" } else { "" };
    let has_more = text.chars().nth(start + MAX_EXCERPT_CHARS).is_some();
    let after = if has_more { "…" } else { "" };
    format!("{before}{}{after}", visible(&shown))
}
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

/// The first few of many items, and how many more there are: `a, b and 3 more`.
pub fn list_first<T>(items: &[T], most: usize, shown: impl Fn(&T) -> String) -> String {
    let named: Vec<String> = items.iter().take(most).map(shown).collect();
    let more = match items.len().saturating_sub(most) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    named.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_shown_as_they_are() {
        let text = "a\tb\r\n\u{1b}]0;title\u{7}é\n";
        assert_eq!(visible_lines(text), "a\tb\\r\n\\u{1b}]0;title\\u{7}é\n");
    }

    #[test]
    fn a_quotation_is_short_and_harmless() {
        assert_eq!(excerpt("plain é"), "plain é");
        assert_eq!(
            visible("two\r\nlines\tand more"),
            "two\\r\\nlines\\tand more"
        );
        assert_eq!(excerpt("a\u{1b}[31m\u{202e}"), "a\\u{1b}[31m\\u{202e}");
        assert_eq!(
            excerpt(&"x".repeat(100)).chars().count(),
            MAX_EXCERPT_CHARS + 1
        );
    }

    #[test]
    fn short_texts_are_shown_whole() {
        assert_eq!(
            contrast("same a", "same b\n"),
            ("same a".to_owned(), "same b\\n".to_owned())
        );
    }

    #[test]
    fn long_texts_are_cut_around_their_difference() {
        let common = "x".repeat(100);
        let (one, other) = contrast(&format!("{common}this"), &format!("{common}other things"));
        assert_eq!(one, format!("…{}this", "x".repeat(20)));
        assert_eq!(other, format!("…{}other things", "x".repeat(20)));
        let (one, other) = contrast(&common, &format!("{common}é"));
        assert_ne!(one, other, "an end that was added is seen");
        let (one, other) = contrast(&format!("a{common}"), &format!("b{common}"));
        assert!(one.starts_with('a') && other.starts_with('b') && one.ends_with('…'));
    }

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
