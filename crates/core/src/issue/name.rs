//! Ids, labels and titles that stores take: they can be shown, typed and used as file names.

use thiserror::Error;

use crate::bead::{BeadId, Invalid};
use crate::text::{excerpt, is_unprintable};

const MAX_BYTES: usize = 255;

/// Reads an id that a store takes: at most 255 bytes, nothing invisible, no space, no part of a path,
/// nothing that looks like a flag.
pub fn check_id(text: &str) -> Result<BeadId, Invalid> {
    let wrong = if text.len() > MAX_BYTES {
        Some("is longer than 255 bytes")
    } else if text.chars().any(|c| is_unprintable(c) || c.is_whitespace()) {
        Some("holds spaces or invisible characters")
    } else if text.contains(['/', '\\']) || text.contains("..") || text.starts_with('.') {
        Some("looks like a path")
    } else if text.starts_with('-') {
        Some("looks like a flag")
    } else {
        None
    };
    match wrong {
        Some(wrong) => Err(Invalid::pattern(format!("id '{}' {wrong}", excerpt(text)))),
        None => BeadId::parse(text),
    }
}

/// A label that a store takes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(Box<str>);

impl Label {
    /// Reads a label: at most 255 bytes, nothing invisible, no comma (lists are written with commas), no
    /// space around it, no step of a path.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_step = |part: &str| matches!(part, "." | "..");
        let wrong = if text.trim().is_empty() {
            Some("is empty")
        } else if text.len() > MAX_BYTES {
            Some("is longer than 255 bytes")
        } else if text.chars().any(is_unprintable) {
            Some("holds invisible characters")
        } else if text.trim() != text || text.contains(',') {
            Some("holds a comma or spaces at its ends")
        } else if text.starts_with(['/', '\\']) || text.split(['/', '\\']).any(is_step) {
            Some("looks like a path")
        } else {
            None
        };
        match wrong {
            Some(wrong) => Err(Invalid::pattern(format!(
                "label '{}' {wrong}",
                excerpt(text)
            ))),
            None => Ok(Self(text.into())),
        }
    }

    /// The text as it was read.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The most bytes of a title, as the real `bd` has it. Titles become subjects of commits, titles of pull requests and arguments of programs,
/// none of which take a text of any length. What a store holds already is read whatever its length.
pub const MAX_TITLE: usize = 500;

/// A title that is too long.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the title has {n_bytes} bytes, and at most {MAX_TITLE} are allowed")]
pub struct LongTitle {
    /// How many bytes it has.
    pub n_bytes: usize,
}

/// Refuses a title that is too long for what is done with titles.
pub fn check_title(title: &str) -> Result<(), LongTitle> {
    match title.len() {
        0..=MAX_TITLE => Ok(()),
        n_bytes => Err(LongTitle { n_bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_21_ids_can_be_shown_typed_and_used_as_file_names() {
        for id in ["bd-1-2a-login", "gt-a3f.1", "x", "été-1", "a_b:c"] {
            assert!(check_id(id).is_ok(), "{id}");
        }
        let long = "x".repeat(256);
        for id in [
            "",
            "a b",
            "a\nb",
            "a\u{202e}b",
            "../x",
            "a/b",
            "a\\b",
            ".git",
            "a..b",
            "-f",
            &long,
        ] {
            assert!(check_id(id).is_err(), "{id:?}");
        }
    }

    #[test]
    fn z_21_labels_can_be_shown_and_listed() {
        for label in ["human", "area/frontend", "worktree:x_y", "two words", "a.b"] {
            assert!(Label::parse(label).is_ok(), "{label}");
        }
        for label in [
            "",
            " ",
            "a,b",
            " a",
            "a\u{0}",
            "../x",
            "a/../b",
            "/etc",
            "a\u{200b}",
        ] {
            assert!(Label::parse(label).is_err(), "{label:?}");
        }
    }

    #[test]
    fn a_title_has_at_most_500_bytes() {
        assert_eq!(check_title(&"x".repeat(500)), Ok(()));
        let long = check_title(&"ü".repeat(251)).unwrap_err();
        assert_eq!(
            long.to_string(),
            "the title has 502 bytes, and at most 500 are allowed"
        );
    }
}
