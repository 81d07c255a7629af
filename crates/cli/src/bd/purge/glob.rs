//! Patterns for ids: `*` is any text, `?` any letter, `[a-z]` one of some letters, `[^a]` none of them, `\` takes the next letter
//! as it is. `*` and `?` stop at a slash.

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Any,
    One,
    Letter(char),
    Class {
        is_turned: bool,
        ranges: Vec<(char, char)>,
    },
}

/// Whether a pattern is one.
pub(super) fn is_valid(pattern: &str) -> bool {
    parse(pattern).is_some()
}

/// Whether a text is as a pattern says; nothing is as a pattern says that is none.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    parse(pattern).is_some_and(|parts| matches_parts(&parts, &letters))
}

fn parse(pattern: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        parts.push(match letter {
            '*' => Part::Any,
            '?' => Part::One,
            '\\' => Part::Letter(letters.next()?),
            '[' => {
                let is_turned = letters.next_if_eq(&'^').is_some();
                let mut ranges = Vec::new();
                while ranges.is_empty() || letters.peek() != Some(&']') {
                    let low = class_letter(&mut letters)?;
                    let high = match letters.next_if_eq(&'-') {
                        Some(_) => class_letter(&mut letters)?,
                        None => low,
                    };
                    ranges.push((low, high));
                }
                letters.next()?;
                Part::Class { is_turned, ranges }
            }
            letter => Part::Letter(letter),
        });
    }
    Some(parts)
}

fn class_letter(letters: &mut impl Iterator<Item = char>) -> Option<char> {
    match letters.next()? {
        '-' | ']' => None,
        '\\' => letters.next(),
        letter => Some(letter),
    }
}

/// Goes on greedily, and back to the last `*` where that fails.
fn matches_parts(parts: &[Part], letters: &[char]) -> bool {
    let (mut part, mut at) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < letters.len() || part < parts.len() {
        let is_ahead = match (parts.get(part), letters.get(at)) {
            (Some(Part::Any), _) => {
                star = Some((part, at));
                part += 1;
                continue;
            }
            (Some(wanted), Some(letter)) => is_one(wanted, *letter),
            _ => false,
        };
        if is_ahead {
            (part, at) = (part + 1, at + 1);
            continue;
        }
        match star {
            Some((behind, begun)) if begun < letters.len() && letters[begun] != '/' => {
                star = Some((behind, begun + 1));
                (part, at) = (behind + 1, begun + 1);
            }
            _ => return false,
        }
    }
    true
}

fn is_one(part: &Part, letter: char) -> bool {
    match part {
        Part::Any => false,
        Part::One => letter != '/',
        Part::Letter(own) => *own == letter,
        Part::Class { is_turned, ranges } => {
            let is_in = ranges
                .iter()
                .any(|(low, high)| (*low..=*high).contains(&letter));
            is_in != *is_turned
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_match_patterns() {
        for (pattern, text, is_so) in [
            ("*", "tt-a1", true),
            ("*-wisp-*", "tt-wisp-9x", true),
            ("*-wisp-*", "tt-a1", false),
            ("tt-?1", "tt-a1", true),
            ("tt-[a-c]1", "tt-b1", true),
            ("tt-[^a-c]1", "tt-b1", false),
            ("tt-\\*", "tt-*", true),
            ("tt-*1*", "tt-a1.2", true),
            ("a*b*c", "axxbxxb", false),
            ("*", "a/b", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, text), is_so, "{pattern} {text}");
        }
        for pattern in ["[", "[a", "[]", "a\\", "[a-]"] {
            assert!(!is_valid(pattern), "{pattern}");
        }
    }
}
