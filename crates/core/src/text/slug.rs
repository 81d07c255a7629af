//! Names made from titles (B-6, B-27).

/// How many characters of a title's slug go into a bead id (B-6).
pub const NAME_LIMIT: usize = 30;

/// The slug of a title, without a limit (B-27): lower case, runs of white space become `-`, what is
/// outside `[a-z0-9-]` is dropped, runs of `-` collapse. May be empty.
pub fn slug(title: &str) -> String {
    slug_within(title, usize::MAX)
}

/// The name part of a bead id (B-6): the slug cut to [`NAME_LIMIT`] characters, or `sprint` when
/// nothing of the title is left.
pub fn name_from_title(title: &str) -> String {
    let name = slug_within(title, NAME_LIMIT);
    if name.is_empty() {
        "sprint".to_owned()
    } else {
        name
    }
}

// Stops reading once the limit is reached, so that a title of many megabytes costs nothing.
fn slug_within(title: &str, limit: usize) -> String {
    let mut name = String::new();
    for character in title.chars().flat_map(char::to_lowercase) {
        if name.len() >= limit {
            break;
        }
        match character {
            'a'..='z' | '0'..='9' => name.push(character),
            '-' => push_hyphen(&mut name),
            other if other.is_whitespace() => push_hyphen(&mut name),
            _ => {}
        }
    }
    name.truncate(name.trim_end_matches('-').len());
    name
}

fn push_hyphen(name: &mut String) {
    if !name.is_empty() && !name.ends_with('-') {
        name.push('-');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_6_names_follow_the_algorithm() {
        for (title, name) in [
            (
                "Core Schema Validation Script",
                "core-schema-validation-script",
            ),
            ("Example Work Bead (Parallel)", "example-work-bead-parallel"),
            ("Integration & Documentation", "integration-documentation"),
            (
                "Dependency Compilation Logic (Parallel)",
                "dependency-compilation-logic-p",
            ),
            ("Dev/QA Retry Loop", "devqa-retry-loop"),
            (
                "Go Project Setup & Core Loop Structure",
                "go-project-setup-core-loop-str",
            ),
            (
                "Test & Validation (with punctuation)",
                "test-validation-with-punctuati",
            ),
            ("Initial Setup 🚀", "initial-setup"),
            ("🚀", "sprint"),
            ("  --  a\u{a0}\tb -- ", "a-b"),
        ] {
            assert_eq!(name_from_title(title), name, "{title}");
        }
    }

    #[test]
    fn b_27_a_slug_has_no_limit() {
        assert_eq!(
            slug("Test & Validation (with punctuation)"),
            "test-validation-with-punctuation"
        );
        assert_eq!(slug("🚀"), "");
    }
}
