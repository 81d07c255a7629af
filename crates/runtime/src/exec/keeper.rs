//! Whoever keeps a bead while it is worked on: a file or a store.

use beads_ralph_core::agent::Outcome;
use beads_ralph_core::check::CheckRecord;
use beads_ralph_core::dod::{DodBead, Progress};
use thiserror::Error;

use crate::bead_files::BeadFileError;
use crate::store::StoreError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Done,
    Open,
    GivenUp,
}

/// Why a bead cannot be kept.
#[derive(Debug, Error)]
pub enum KeeperError {
    #[error(transparent)]
    File(#[from] BeadFileError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Whoever keeps a bead while it is worked on. It is told every step, so that nothing is lost when the power goes.
pub trait Keeper {
    fn bead(&self) -> &DodBead;

    /// How far the work is. The answer is something that people should know.
    fn save(&mut self, progress: &Progress, version: &str) -> Result<Option<String>, KeeperError>;

    fn end(
        &mut self,
        progress: &Progress,
        verdict: Verdict,
        version: &str,
    ) -> Result<Option<String>, KeeperError>;

    /// The work goes on; told several times a second. An error means that the bead is ours no longer.
    fn beat(&mut self) -> Result<(), KeeperError> {
        Ok(())
    }

    /// An agent has ended (Z-9).
    fn agent_ended(&mut self, _iteration: u32, _outcome: &Outcome) -> Result<(), KeeperError> {
        Ok(())
    }

    /// The checks were run (Z-9).
    fn checked(&mut self, _iteration: u32, _records: &[CheckRecord]) -> Result<(), KeeperError> {
        Ok(())
    }
}
