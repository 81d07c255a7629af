//! Why a verb over beads did nothing.

use beads_ralph_core::bead::{BeadId, Invalid};
use beads_ralph_core::issue::{Blocker, LongTitle};
use beads_ralph_core::text::excerpt;

use crate::store::StoreError;

/// How many ids or blockers a message names at the most.
pub(super) const MAX_NAMED: usize = 5;

/// A refusal. Whoever prints it says what can be done about it.
#[derive(Debug, thiserror::Error)]
pub enum BeadError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("unknown bead '{}'", excerpt(text))]
    Unknown {
        text: String,
        /// The id that may be meant.
        near: Option<String>,
        is_store_empty: bool,
    },
    #[error("several beads start with '{}': {}", excerpt(text), first(found))]
    Ambiguous { text: String, found: Vec<BeadId> },
    #[error("others change the bead all the time")]
    Contended,
    #[error("process {0} does not exist on this machine")]
    NoProcess(u32),
    #[error("the lease ends after the end of time")]
    LeaseTooLong,
    #[error("bead {} cannot be closed: it is blocked by {}", excerpt(id.as_str()), described(blockers))]
    Blocked { id: BeadId, blockers: Vec<Blocker> },
    #[error("bead {} cannot be set to in_progress: nobody would hold it", excerpt(.0.as_str()))]
    NobodyWouldHold(BeadId),
    #[error("unknown status '{}'", excerpt(.0))]
    UnknownStatus(String),
    #[error("bead {} is closed", excerpt(.0.as_str()))]
    Closed(BeadId),
    #[error("bead {} is in progress, and no holder is recorded", excerpt(.0.as_str()))]
    Unheld(BeadId),
    #[error("bead {} is not claimed; its status is {status}", excerpt(id.as_str()))]
    NotClaimed { id: BeadId, status: String },
    #[error("bead {} does not depend on {}", excerpt(id.as_str()), excerpt(on.as_str()))]
    NoDependency { id: BeadId, on: BeadId },
    #[error("'{}' names no other project", excerpt(.0))]
    NoProject(String),
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error(transparent)]
    LongTitle(#[from] LongTitle),
}

fn first(ids: &[BeadId]) -> String {
    let named = ids.iter().take(MAX_NAMED).map(|id| excerpt(id.as_str()));
    let more = (ids.len() > MAX_NAMED).then_some(" and more");
    named.collect::<Vec<_>>().join(", ") + more.unwrap_or_default()
}

/// A blocker and what about it is waited for.
fn described(blockers: &[Blocker]) -> String {
    let named = blockers.iter().take(MAX_NAMED);
    let named = named.map(|it| format!("{} ({})", excerpt(it.id.as_str()), it.waiting.as_str()));
    named.collect::<Vec<_>>().join(", ")
}
