//! Titles and texts of pull requests, as GitHub takes them; and words of others, as people may see them.

use beads_ralph_core::text::{excerpt, visible, without_colour};

/// How long a title may be: GitHub takes 256 characters.
const MAX_TITLE: usize = 250;

/// How long a text may be. GitHub takes 65,536 characters and does not say of which kind, so the units of UTF-16 are counted, of
/// which there are never fewer than characters.
const MAX_BODY: usize = 65_536;

/// What is at the end of a text that was cut.
const CUT: &str = "\n\n*(The rest is left out: a pull request takes 65,536 characters. All of it is in the bead.)*\n";

/// How much of what a program says goes into a message.
const MAX_SAID: usize = 400;

/// A title in one line that is not too long; that of the branch if there is none.
pub(super) fn title(title: &str, branch: &str) -> String {
    let plain: String = title
        .chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let line = if words.is_empty() {
        branch.to_owned()
    } else {
        words.join(" ")
    };
    shortened(&line, MAX_TITLE)
}

/// A text that is not too long, without what no text can hold.
pub(super) fn body(body: &str) -> String {
    let whole: String = body
        .chars()
        .filter(|character| *character != '\0')
        .collect();
    if whole.encode_utf16().count() <= MAX_BODY {
        return whole;
    }
    let room = MAX_BODY - CUT.encode_utf16().count();
    let mut length = 0;
    let fitting = whole.chars().take_while(|character| {
        length += character.len_utf16();
        length <= room
    });
    let mut kept: String = fitting.collect();
    kept.push_str(CUT);
    kept
}

pub(super) fn branch(name: &str) -> String {
    format!("branch '{}'", excerpt(name))
}

/// What a program said, in one harmless line. What comes after an empty line is help, or advice for people at a terminal.
pub(super) fn said(text: &str) -> String {
    let plain = without_colour(text);
    let lines = plain.trim().lines().map(str::trim);
    let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let line = visible(&lines.join("; "));
    if line.is_empty() {
        return "nothing".to_owned();
    }
    shortened(&line, MAX_SAID)
}

fn shortened(text: &str, max: usize) -> String {
    let mut characters = text.chars();
    let mut kept: String = characters.by_ref().take(max).collect();
    if characters.next().is_some() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l_18_a_title_is_one_line_that_github_takes() {
        assert_eq!(title("Add a thing", "b"), "Add a thing");
        assert_eq!(
            title(" --help \n\"two\"\tlines\0", "b"),
            "--help \"two\" lines"
        );
        assert_eq!(title(" \n", "sprint/1.1"), "sprint/1.1");
        let long = title(&"é".repeat(1000), "b");
        assert_eq!(long.chars().count(), MAX_TITLE + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn l_18_a_text_that_fits_is_left_alone() {
        let text = "-- \"quoted\" $(x) `y`\r\n\n'é'\u{1F980}\n";
        assert_eq!(body(text), text);
        assert_eq!(body("a\0b"), "ab");
        let full = "x".repeat(MAX_BODY);
        assert_eq!(body(&full), full);
    }

    #[test]
    fn l_18_a_text_that_is_too_long_is_cut_and_says_so() {
        for character in ['x', 'é', '\u{1F980}'] {
            let long: String = std::iter::repeat_n(character, 70_000).collect();
            let cut = body(&long);
            let length = cut.encode_utf16().count();
            assert!(length <= MAX_BODY && length > MAX_BODY - 2, "{length}");
            assert!(cut.ends_with(CUT) && cut.starts_with(character));
        }
    }

    #[test]
    fn what_a_program_said_is_one_harmless_line() {
        assert_eq!(said("one\n two \n\nUsage: gh\n"), "one; two");
        assert_eq!(said("\n\u{1b}[31mred\u{1b}[0m\u{202e}"), "red\\u{202e}");
        assert_eq!(said(" \n"), "nothing");
        assert_eq!(said(&"x".repeat(1000)).chars().count(), MAX_SAID + 1);
    }
}
