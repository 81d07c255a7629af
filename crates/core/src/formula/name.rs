//! Names that a formula gives: its own, those of its steps and of its variables.

use crate::text::excerpt;

/// The longest name, so that a bead's id that is made of two of them still fits (see `issue::check_id`).
const MAX_CHARS: usize = 100;

/// Why a name cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{}` is not a safe name: {wrong}", excerpt(.text))]
pub struct UnsafeName {
    what: &'static str,
    text: String,
    wrong: &'static str,
}

/// The name of a formula, which is also the name of its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormulaName(Box<str>);

impl FormulaName {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, UnsafeName> {
        check("the formula", text).map(|()| Self(text.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of a step within its formula.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(Box<str>);

impl StepId {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, UnsafeName> {
        check("the step", text).map(|()| Self(text.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A name can be a part of an id, of a label and of a file's name.
fn check(what: &'static str, text: &str) -> Result<(), UnsafeName> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let wrong = if text.is_empty() {
        "it is empty"
    } else if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        "it must begin with a letter or a digit"
    } else if !text.chars().all(is_plain) {
        "only letters, digits, `.`, `_` and `-` are allowed"
    } else if text.contains("..") || text.ends_with('.') {
        "it looks like a path"
    } else if text.len() > MAX_CHARS {
        "it has more than 100 characters"
    } else {
        return Ok(());
    };
    Err(UnsafeName {
        what,
        text: text.to_owned(),
        wrong,
    })
}

/// Whether a text can be the name of a variable (F-2): `[A-Za-z_][A-Za-z0-9_-]*`.
pub fn is_variable_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_5_a_step_has_a_safe_name() {
        for id in ["work", "qa-1", "loop.iter2.draft", "A_b", "1"] {
            assert!(StepId::parse(id).is_ok(), "{id}");
        }
        let long = "x".repeat(101);
        for id in [
            "", "../x", "a b", "-a", ".a", "a..b", "a.", "ä", "a/b", "{x}", &long,
        ] {
            assert!(StepId::parse(id).is_err(), "{id}");
        }
    }

    #[test]
    fn f_2_a_variable_may_have_hyphens() {
        for name in ["bead-id", "_x", "Sprint_1"] {
            assert!(is_variable_name(name), "{name}");
        }
        for name in ["", "1a", "-a", "a b", "a.b", "é"] {
            assert!(!is_variable_name(name), "{name}");
        }
    }
}
