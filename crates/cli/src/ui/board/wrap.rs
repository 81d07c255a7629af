//! Long lines on a narrow screen.

use crate::ui::draw::columns;

/// A line as lines of at most so many columns, between words where there are some.
pub(super) fn wrapped(line: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = line;
    loop {
        let end = end_of_fit(rest, width);
        if end == rest.len() {
            break;
        }
        // A line that is mostly one word is cut in it.
        let space = rest[..end].rfind(' ').filter(|at| *at > end / 2);
        let end = space.map_or(end, |at| at + 1);
        lines.push(rest[..end].trim_end().to_owned());
        rest = &rest[end..];
    }
    lines.push(rest.to_owned());
    lines
}

/// Where the part of a text ends that has room; it has one character at least.
fn end_of_fit(text: &str, width: usize) -> usize {
    let mut taken = 0;
    for (at, character) in text.char_indices() {
        taken += columns(character.encode_utf8(&mut [0; 4]));
        if taken > width && at > 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_where_they_can() {
        assert_eq!(wrapped("a few words", 7), ["a few", "words"]);
        assert_eq!(wrapped("a-very-long-word", 6), ["a-very", "-long-", "word"]);
        assert_eq!(wrapped("日本語", 4), ["日本", "語"]);
        assert_eq!(wrapped("日本", 1), ["日", "本"], "one at least");
        assert_eq!(wrapped("", 3), [""]);
        assert_eq!(wrapped("ab", 0), ["a", "b"]);
    }
}
