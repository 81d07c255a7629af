//! Patterns of steps: `*` stands for any text and `?` for one character.

/// Whether a name matches a pattern. Of several `*` only the last one is tried again, so that the time is at most the product of
/// both lengths.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut in_name) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => match &mut star {
                None => return false,
                Some((starred, from)) => {
                    *from += 1;
                    (at, in_name) = (*starred + 1, *from);
                }
            },
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_bd() {
        for (pattern, name, is_match) in [
            ("design", "design", true),
            ("design", "redesign", false),
            ("design", "designs", false),
            ("*", "anything.at-all", true),
            ("*.implement", "shiny.implement", true),
            ("*.implement", "implement", false),
            ("shiny.*", "shiny.a.b", true),
            ("a.*.z", "a.b.z", true),
            ("a.*.z", "a.b.z.y", false),
            ("*a*b*", "xxaxxbxx", true),
            ("qa-?", "qa-1", true),
            ("qa-?", "qa-", false),
            ("a+b", "aab", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
        assert!(!matches(&"*a".repeat(50), &"b".repeat(5000)));
    }
}
