//! The sizes at which a plan is refused.

use crate::diag::ErrorCode;

/// How many edges a compiled graph may have (Z-32).
pub const MAX_EDGES: u64 = 1_000_000;

/// How many different merged letter sets one group or level may have.
///
/// Each set is compared with each, so without a limit a few thousand hostile suffixes would cost
/// seconds. Plans written by people have a handful.
pub const MAX_MERGES: usize = 512;

/// A plan that would compile to a graph of unreasonable size. Nothing of that size was built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphLimit {
    /// More than [`MAX_EDGES`] dependencies (Z-32).
    #[error(
        "the plan has {n_edges} dependencies, more than {MAX_EDGES}; {n_between} of them are those of {waiting} on {awaited}"
    )]
    TooManyEdges {
        /// The group that waits in the largest join: `1.3`.
        waiting: String,
        /// The group or phase that it waits for: `1.2`, `phase 2`.
        awaited: String,
        /// The edges between these two.
        n_between: u64,
        /// The edges of the whole plan.
        n_edges: u64,
    },
    /// More than [`MAX_MERGES`] different merged letter sets in one group or level.
    #[error("{group} has {n_merges} different merged suffixes, more than {MAX_MERGES}")]
    TooManyMerges {
        /// The group or phase level: `1.2`, `phase 3`.
        group: String,
        /// The number of different sets of at least two letters.
        n_merges: usize,
    },
}

impl GraphLimit {
    /// The code that the error carries.
    pub fn code(&self) -> ErrorCode {
        ErrorCode::ValidationConstraint
    }
}
