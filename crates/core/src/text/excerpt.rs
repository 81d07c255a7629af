//! User text quoted inside a message.

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
}
