//! What only a store of the real `bd` can fail with.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::text::excerpt;
use camino::Utf8PathBuf;
use thiserror::Error;

use crate::repo::shown;
use crate::store::{SpecificError, StoreError};

/// Nothing was changed by the first four; after the others it is to be looked at what `bd` did.
#[derive(Debug, Error)]
pub(super) enum BdError {
    #[error("the beads in {} are kept by bd, and there is no bd on the PATH", shown(.0))]
    Missing(Utf8PathBuf),
    #[error("bd {} in {} is too old to be written to: {why}", excerpt(.found), shown(path))]
    TooOld {
        path: Utf8PathBuf,
        found: String,
        why: &'static str,
    },
    /// Other machines may use it too, and nobody takes turns with them.
    #[error("the database of bd in {} is behind a server, where a run could not keep others off its beads", shown(.0))]
    Server(Utf8PathBuf),
    #[error("bd finds no database: {0}")]
    Uninitialized(String),
    #[error("`{command}` failed{}: {said}", code.map_or_else(String::new, |code| format!(" with exit code {code}")))]
    Failed {
        command: String,
        code: Option<i32>,
        said: String,
    },
    #[error("`{command}` did not end within {seconds} seconds")]
    Timeout { command: String, seconds: u64 },
    #[error("bead {} is not what was written", excerpt(.0.as_str()))]
    NotAsWritten(BeadId),
    /// A change of several steps met somebody else's in the middle.
    #[error("{0} changed after a part of the change was made")]
    HalfDone(String),
}

const LOOK: &str =
    "look at the bead with `bd show`, then try again; `bd doctor` says more about the database";

impl From<BdError> for StoreError {
    fn from(error: BdError) -> Self {
        let (code, is_passing, advice) = match &error {
            BdError::Missing(_) => (
                ErrorCode::DatabaseCliNotFound,
                false,
                "install bd 1.3 or newer, or correct the PATH; to keep the beads in the embedded store instead, move them with `beads-ralph init --from-bd` while bd is there",
            ),
            BdError::TooOld { .. } => (
                ErrorCode::DatabaseCliNotFound,
                false,
                "install bd 1.3 or newer; reading works with this one",
            ),
            BdError::Server(_) => (
                ErrorCode::ValidationConstraint,
                false,
                "run on an embedded database of bd, or move the beads with `beads-ralph init --from-bd`",
            ),
            BdError::Uninitialized(_) => (
                ErrorCode::DatabaseNotInitialized,
                false,
                "run `bd init`, or `beads-ralph init` for the embedded store",
            ),
            BdError::Timeout { .. } => (
                ErrorCode::DatabaseTimeout,
                true,
                "try again; look whether another bd keeps the database, or allow more time with BEADS_RALPH_STORE_TIMEOUT=2m",
            ),
            BdError::Failed { .. } | BdError::NotAsWritten(_) | BdError::HalfDone(_) => {
                (ErrorCode::DatabaseInsertFailed, true, LOOK)
            }
        };
        Self::Specific(Box::new(SpecificError {
            code,
            message: error.to_string(),
            advice,
            is_passing,
        }))
    }
}
