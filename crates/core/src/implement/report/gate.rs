//! What the evidence of a report amounts to (W-5). It is for the record: outcomes do not depend on it.

use super::model::Evidence;

/// What the evidence shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Nothing was run.
    NotApplicable,
    /// Something that was run failed.
    Fail,
    /// Something was skipped.
    Partial,
    /// All that was run succeeded.
    Pass,
}

impl Gate {
    /// The word in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotApplicable => "n/a",
            Self::Fail => "fail",
            Self::Partial => "partial",
            Self::Pass => "pass",
        }
    }
}

/// Derives the gate; an exit code that is not known counts as a failure.
pub fn gate(evidence: &Evidence) -> Gate {
    let blocks = || evidence.blocks().map(|(_, block)| block);
    if blocks().next().is_none() {
        Gate::NotApplicable
    } else if blocks().any(|block| !block.is_skipped && block.exit_code != Some(0)) {
        Gate::Fail
    } else if blocks().any(|block| block.is_skipped) {
        Gate::Partial
    } else {
        Gate::Pass
    }
}
