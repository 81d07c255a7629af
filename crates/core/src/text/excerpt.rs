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
        if character.is_control() || is_invisible(character) {
            quoted.extend(character.escape_unicode());
        } else {
            quoted.push(character);
        }
    }
    quoted
}

fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_short_and_harmless() {
        assert_eq!(excerpt("plain é"), "plain é");
        assert_eq!(excerpt("a\u{1b}[31m\u{202e}"), "a\\u{1b}[31m\\u{202e}");
        assert_eq!(
            excerpt(&"x".repeat(100)).chars().count(),
            MAX_EXCERPT_CHARS + 1
        );
    }
}
