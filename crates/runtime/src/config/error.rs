//! What can be wrong with a configuration, in words that lead to the place.

use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::text::excerpt;
use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::files::FileError;
use crate::repo::shown;

/// What can go wrong with the configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not what it should be.
    #[error("{} cannot be used: {reason}", shown(path))]
    Invalid {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong, with its line.
        reason: String,
    },
}

impl ConfigError {
    /// The code of contracts §4.2.
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

/// What the parser found wrong; for an unknown key also the nearest known one (Z-22).
pub(super) fn reason(error: &serde_saphyr::Error) -> String {
    let serde_saphyr::Error::SerdeUnknownField {
        field,
        expected,
        location,
    } = error.without_snippet()
    else {
        return error.to_string();
    };
    let hint = meant(field, expected.iter().copied());
    let field = excerpt(field);
    format!("line {}: unknown key `{field}`{hint}", location.line())
}

/// `; did you mean …?`, when there is something near.
pub(super) fn meant<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let near = did_you_mean(word, known);
    near.map_or_else(String::new, |known| format!("; did you mean `{known}`?"))
}
