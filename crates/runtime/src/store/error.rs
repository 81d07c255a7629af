//! What can go wrong with a store.

use beads_ralph_core::bead::{BeadId, FieldError, Timestamp};
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Blocker, EditError, Fence, Holder};
use beads_ralph_core::text::excerpt;
use camino::Utf8PathBuf;
use thiserror::Error;

use super::Capability;
use crate::os::files::FileError;
use crate::repo::shown;

/// Why a store refused or failed. Nothing was changed, but for a failure of the real `bd`: what it did is then to be looked at.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is no store here.
    #[error("there is no bead store in {} or above it", shown(from))]
    NotInitialized { from: Utf8PathBuf },
    #[error("unknown bead {}", excerpt(.0.as_str()))]
    NotFound(BeadId),
    /// An id is taken; `duplicate key` is what callers of `bd` look for.
    #[error("duplicate key: there is already a bead {}", excerpt(.0.as_str()))]
    Exists(BeadId),
    #[error("bead {}: {error}", excerpt(.id.as_str()))]
    Edit { id: BeadId, error: EditError },
    /// An issue is not one that a store takes.
    #[error("bead {}: {}", excerpt(.id), listed(.errors))]
    Invalid {
        /// The issue, as far as it has a name.
        id: String,
        errors: Vec<FieldError>,
    },
    /// Edges would go round in a circle.
    #[error("these beads would wait for each other: {}", circle(.0))]
    Cycle(Vec<BeadId>),
    /// Somebody else holds the issue.
    #[error(
        "bead {} is already claimed by {} on {} (fence {fence}, lease until {})",
        excerpt(.id.as_str()), excerpt(&.holder.run), excerpt(&.holder.host), Timestamp::from_instant(*.lease_until)
    )]
    Held {
        id: BeadId,
        holder: Box<Holder>,
        fence: Fence,
        lease_until: jiff::Timestamp,
    },
    /// The issue is being worked on by somebody that left no record of it.
    #[error("bead {} is already claimed: it is in progress, and no holder is recorded", excerpt(.0.as_str()))]
    InProgress(BeadId),
    /// The issue cannot be claimed as it stands.
    #[error("bead {} cannot be claimed: its status is {}", excerpt(.id.as_str()), excerpt(.status))]
    NotClaimable { id: BeadId, status: String },
    #[error("bead {} cannot be claimed: it waits for {}", excerpt(.id.as_str()), waited_for(.blockers))]
    Blocked { id: BeadId, blockers: Vec<Blocker> },
    /// The writer does not hold the issue any more.
    #[error("bead {}: fence {given} is stale; {now}", excerpt(.id.as_str()))]
    Stale {
        /// The issue, or the name of the lease.
        id: BeadId,
        given: Fence,
        now: String,
    },
    /// Something is not as the writer said it should be.
    #[error("{what} is {found}, not {expected}; nothing was changed")]
    Guard {
        what: String,
        expected: String,
        found: String,
    },
    /// The environment does not say how long to wait.
    #[error("BEADS_RALPH_STORE_TIMEOUT is '{}', which is not a duration such as 5s or 2m", excerpt(.found))]
    Timeout { found: String },
    /// Another process kept the store for too long.
    #[error(
        "the store {} was busy for {seconds} seconds: another process keeps it locked",
        shown(path)
    )]
    Busy { path: Utf8PathBuf, seconds: u64 },
    /// The store is not what was written.
    #[error("the store {} is damaged: {what}", shown(path))]
    Damaged { path: Utf8PathBuf, what: String },
    #[error("the store {} cannot be used: {why}", shown(path))]
    Unusable { path: Utf8PathBuf, why: String },
    /// The disk is full, or writing failed in another way.
    #[error("the store {} could not be written: {why}", shown(path))]
    WriteFailed { path: Utf8PathBuf, why: String },
    /// An edge to an issue that does not exist, in a store that takes none.
    #[error("bead {} depends on {}, which does not exist", excerpt(.id.as_str()), excerpt(.target.as_str()))]
    Unresolved { id: BeadId, target: BeadId },
    #[error("this store cannot {}", .0.words())]
    Unsupported(Capability),
    /// A file beside the store.
    #[error(transparent)]
    File(#[from] FileError),
    /// Something that only one kind of store can fail with.
    #[error(transparent)]
    Specific(Box<SpecificError>),
}

/// A failure that only one kind of store knows, with all that callers need of it.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct SpecificError {
    pub code: ErrorCode,
    pub message: String,
    /// What to do about it.
    pub advice: &'static str,
    /// Whether it may be over at the next try.
    pub is_passing: bool,
}

impl StoreError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotInitialized { .. } => ErrorCode::DatabaseNotInitialized,
            Self::NotFound(_) | Self::Unresolved { .. } => ErrorCode::DependencyUnresolved,
            Self::Exists(_) => ErrorCode::DependencyDuplicateId,
            Self::Edit { error, .. } => error.code(),
            Self::Invalid { errors, .. } => beads_ralph_core::bead::error_code(errors),
            Self::Cycle(_) => ErrorCode::DependencyCycleDetected,
            Self::Held { .. }
            | Self::InProgress(_)
            | Self::NotClaimable { .. }
            | Self::Blocked { .. }
            | Self::Stale { .. }
            | Self::Guard { .. }
            | Self::Timeout { .. }
            | Self::Unsupported(_) => ErrorCode::ValidationConstraint,
            Self::Busy { .. } => ErrorCode::DatabaseTimeout,
            Self::Damaged { .. } | Self::Unusable { .. } => ErrorCode::IoPermissionDenied,
            Self::WriteFailed { .. } => ErrorCode::DatabaseInsertFailed,
            Self::File(error) => error.code(),
            Self::Specific(error) => error.code,
        }
    }

    /// Whether the same call may succeed a little later: somebody else is writing, or the store is slow.
    pub fn is_temporary(&self) -> bool {
        self.code() == ErrorCode::DatabaseTimeout
    }

    /// Whether somebody else was faster (contracts §4.3: exit code 4).
    pub fn is_already_claimed(&self) -> bool {
        matches!(self, Self::Held { .. } | Self::InProgress(_))
    }
}

fn listed(errors: &[FieldError]) -> String {
    let errors: Vec<String> = errors.iter().map(FieldError::to_string).collect();
    errors.join("; ")
}

fn circle(ids: &[BeadId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| excerpt(id.as_str())).collect();
    ids.join(" → ")
}

fn waited_for(blockers: &[Blocker]) -> String {
    let ids: Vec<String> = (blockers.iter().take(5))
        .map(|blocker| excerpt(blocker.id.as_str()))
        .collect();
    let more = blockers.len().saturating_sub(ids.len());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{more}", ids.join(", "))
}
