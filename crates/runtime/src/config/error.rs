//! What can be wrong with a configuration, in words that lead to the place.

use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::text::{excerpt, visible};
use camino::{Utf8Path, Utf8PathBuf};
use serde_saphyr::Error;
use thiserror::Error as DeriveError;

use crate::os::files::FileError;
use crate::repo::shown;

/// How much of the parser's words is passed on; they can quote the file.
const MAX_SAID: usize = 300;

/// What can go wrong with the configuration.
#[derive(Debug, DeriveError)]
pub enum ConfigError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} cannot be used: {reason}", shown(path))]
    Invalid { path: Utf8PathBuf, reason: String },
}

impl ConfigError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::File(error) => error.code(),
            Self::Invalid { .. } => ErrorCode::ValidationConstraint,
        }
    }

    pub(super) fn invalid(path: &Utf8Path) -> impl FnOnce(String) -> Self {
        move |reason| Self::Invalid {
            path: path.to_owned(),
            reason,
        }
    }
}

/// What the parser found wrong, with its line and its key; for what is unknown also the nearest that is known (Z-22).
pub(super) fn reason(text: &str, error: &Error) -> String {
    let error = error.without_snippet();
    let said = match error {
        Error::SerdeUnknownField {
            field, expected, ..
        } => {
            let hint = meant(field, expected.iter().copied());
            format!("unknown key `{}`{hint}", excerpt(field))
        }
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => {
            let (hint, known) = (
                meant(variant, expected.iter().copied()),
                expected.join(", "),
            );
            format!("'{}' is not one of {known}{hint}", excerpt(variant))
        }
        other => {
            let said = other.to_string();
            let end = said.rfind(" at line ").unwrap_or(said.len());
            visible(&said[..end]).chars().take(MAX_SAID).collect()
        }
    };
    let Some(place) = error.location() else {
        return said;
    };
    let key = key_of(text, place.line(), place.column());
    let key = key.filter(|_| !matches!(error, Error::SerdeUnknownField { .. }));
    let key = key.map_or_else(String::new, |key| format!("`{key}`: "));
    format!("line {}: {key}{said}", place.line())
}

/// The key of the value at a place, where both stand on one line; the parser points at either of them.
fn key_of(text: &str, line: u64, column: u64) -> Option<&str> {
    let line = text
        .lines()
        .nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let n_before = usize::try_from(column).ok()?.checked_sub(1)?;
    let at = line.char_indices().nth(n_before).map(|(at, _)| at)?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let key = if let Some(before) = line[..at].trim_end().strip_suffix(':') {
        &before[before.rfind(|c| !is_part(c)).map_or(0, |at| at + 1)..]
    } else {
        let (key, after) = line[at..].split_at(line[at..].find(|c| !is_part(c))?);
        after.starts_with(':').then_some(key)?
    };
    Some(key).filter(|key| !key.is_empty())
}

/// `; did you mean …?`, when there is something near.
pub(super) fn meant<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let near = did_you_mean(word, known);
    near.map_or_else(String::new, |known| format!("; did you mean `{known}`?"))
}
