//! Sprint headings: which lines are one, and what is wrong with those that almost are (P-1…P-3).

use crate::number::SprintId;
use crate::text::Span;

/// What a level-three heading line is, as far as sprints are concerned.
#[derive(Debug)]
pub(super) enum Heading {
    /// A sprint heading (P-1), with the place of its id and of its title.
    Sprint {
        id: SprintId,
        id_span: Span,
        title: Span,
    },
    /// Meant as a sprint heading, but its number is none (P-2).
    BadNumber { token: Span },
    /// Meant as a sprint heading, but malformed otherwise (P-2).
    Malformed { id: Option<SprintId>, rest: Span },
    /// Starts like a sprint heading, but carries no number (P-2).
    NoNumber,
    /// Not a sprint heading at all (P-3).
    Other,
}

const PREFIX: &str = "### Sprint";

/// Reads a heading line that stands at `line` in the plan.
pub(super) fn classify(text: &str, line: Span) -> Heading {
    let content = line.slice(text);
    let Some(rest) = content.strip_prefix(PREFIX) else {
        return Heading::Other;
    };
    if !rest.is_empty() && !rest.starts_with(' ') {
        return Heading::Other;
    }
    if let Some(heading) = well_formed(content, line.start()) {
        return heading;
    }
    let trimmed = rest.trim_start_matches(' ');
    let token = trimmed
        .split(char::is_whitespace)
        .next()
        .unwrap_or_default();
    let start = line.end() - trimmed.len();
    let number = token.split(':').next().unwrap_or_default();
    match SprintId::parse(number) {
        Some(id) => Heading::Malformed {
            id: Some(id),
            rest: Span::new(start, line.end()),
        },
        None if token.contains(':') => Heading::BadNumber {
            token: Span::new(start, start + number.len()),
        },
        None if token.chars().any(char::is_numeric) => Heading::Malformed {
            id: None,
            rest: Span::new(start, line.end()),
        },
        None => Heading::NoNumber,
    }
}

fn well_formed(content: &str, start: usize) -> Option<Heading> {
    let rest = content.strip_prefix("### Sprint ")?;
    let (number, title) = rest.split_once(": ")?;
    let id = SprintId::parse(number)?;
    let trimmed = title.trim();
    if trimmed.is_empty() {
        return None;
    }
    let id_start = start + content.len() - rest.len();
    let title_start = start + content.len() - title.trim_start().len();
    Some(Heading::Sprint {
        id,
        id_span: Span::new(id_start, id_start + number.len()),
        title: Span::new(title_start, title_start + trimmed.len()),
    })
}

/// Whether an ordinary line or heading was probably meant as a sprint heading: `###Sprint 1.1: X`,
/// `### sprint 1.1: X`, `### Sprint1.1: X`. The shapes of P-3 are silent and not among them.
pub(super) fn looks_like_a_sprint(line: &str) -> bool {
    let Some(rest) = line
        .strip_prefix("###")
        .filter(|rest| !rest.starts_with('#'))
    else {
        return false;
    };
    let rest = rest.trim_start();
    let Some(word) = rest
        .get(..6)
        .filter(|word| word.eq_ignore_ascii_case("sprint"))
    else {
        return false;
    };
    let number = rest[word.len()..].trim_start();
    number.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(line: &str) -> &'static str {
        match classify(line, Span::new(0, line.len())) {
            Heading::Sprint { .. } => "sprint",
            Heading::BadNumber { .. } => "PARSE.INVALID_PATTERN",
            Heading::Malformed { .. } => "PARSE.MARKDOWN",
            Heading::NoNumber => "warning",
            Heading::Other => "ordinary",
        }
    }

    #[test]
    fn p_1_p_2_p_3_the_shapes_of_headings() {
        for (line, expected) in [
            ("### Sprint 1.2a: UI (Parallel)", "sprint"),
            ("### Sprint 1.1: X ✅", "sprint"),
            ("### Sprint 1.1: a: b", "sprint"),
            ("### Sprint 1: X", "PARSE.INVALID_PATTERN"),
            ("### Sprint 1A.2: X", "PARSE.INVALID_PATTERN"),
            ("### Sprint 3A.1: X", "PARSE.INVALID_PATTERN"),
            ("### Sprint 1.2.3: X", "PARSE.INVALID_PATTERN"),
            ("### Sprint ABC: X", "PARSE.INVALID_PATTERN"),
            ("### Sprint １.1: X", "PARSE.INVALID_PATTERN"),
            (
                "### Sprint 1.99999999999999999999: X",
                "PARSE.INVALID_PATTERN",
            ),
            ("### Sprint 1.1", "PARSE.MARKDOWN"),
            ("### Sprint 1.1:", "PARSE.MARKDOWN"),
            ("### Sprint 1.1:   ", "PARSE.MARKDOWN"),
            ("### Sprint 1.1:Title", "PARSE.MARKDOWN"),
            ("### Sprint 1.1 - X", "PARSE.MARKDOWN"),
            ("### Sprint  1.1: X", "PARSE.MARKDOWN"),
            ("### Sprint #3", "PARSE.MARKDOWN"),
            ("### Sprint Planning Notes", "warning"),
            ("### Sprint", "warning"),
            ("### Sprint ", "warning"),
            ("### ✅ Sprint 1.1: X", "ordinary"),
            ("### ~~Sprint 3.1a: X~~ (SKIPPED)", "ordinary"),
            ("### Phase Summary", "ordinary"),
            ("#### Sprint 1.1: X", "ordinary"),
            ("## Sprint 1.1: X", "ordinary"),
            (" ### Sprint 1.1: X", "ordinary"),
            ("### Sprints 1.1: X", "ordinary"),
        ] {
            assert_eq!(shape(line), expected, "{line}");
        }
    }

    #[test]
    fn a_near_miss_is_noticed() {
        for line in [
            "###Sprint 1.1: X",
            "### sprint 1.1: X",
            "### Sprint1.1: X",
            "### SPRINT\t2",
            "### Sprint\u{a0}1.1: X",
        ] {
            assert!(looks_like_a_sprint(line), "{line}");
        }
        for line in [
            "#### Sprint 1.1: X",
            " ### Sprint 1.1: X",
            "### Sprints",
            "### ✅ Sprint 1.1: X",
        ] {
            assert!(!looks_like_a_sprint(line), "{line}");
        }
    }
}
