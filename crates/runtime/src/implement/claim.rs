//! The claim on a step, under which a stage is done (Z-36).

use std::time::{Duration, Instant};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::implement::report_folder;
use beads_ralph_core::issue::{Abandoned, Fence, Record};
use camino::Utf8PathBuf;

use super::assign::Assignment;
use super::ending::{ImplementError, Stop};
use super::record::WorkRecord;
use super::{Dispatcher, Site};
use crate::os::{clock, host};
use crate::store::{NewClaim, Store, StoreError};

/// How often a sign of life is given.
const BEAT: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(super) struct Held {
    pub(super) id: BeadId,
    pub(super) fence: Fence,
    /// Whether the store will never take what came of the stage, so that it is not to be found again.
    pub(super) is_refused: bool,
    beaten: Instant,
}

impl Held {
    /// Gives a sign of life, if it is time for one. An error means that the step is somebody else's.
    pub(super) fn beat(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        let now = clock::monotonic();
        if now.saturating_duration_since(self.beaten) < BEAT {
            return Ok(());
        }
        match store.heartbeat(&self.id, self.fence, Site::lease_until()) {
            Ok(_) => {
                self.beaten = now;
                Ok(())
            }
            Err(error @ (StoreError::Stale { .. } | StoreError::NotFound(_))) => Err(error),
            // The store is busy, or cannot be had for a moment: the lease still holds, and the next beat is soon.
            Err(_) => Ok(()),
        }
    }
}

impl Dispatcher<'_> {
    /// Claims the step; from a dispatcher that is gone it is taken over.
    pub(super) fn take(&mut self, assignment: &Assignment) -> Result<Held, Stop> {
        let step = &assignment.step;
        let left = left_by(step);
        let new = NewClaim {
            holder: &self.site.holder,
            lease_until: Site::lease_until(),
            is_forced: false,
            instead_of: left,
        };
        if let Some(folder) = self.audit_folder(assignment) {
            WorkRecord::hand_on(&folder, step.fence, left.is_some());
        }
        let record = self.store.claim(step.issue.id(), &new, self.site.stamp())?;
        let how = match left {
            Some((fence, why)) => format!("taken over from fence {}: {}", fence.0, why.as_str()),
            None => "claimed".to_owned(),
        };
        self.decide(
            "Z-36",
            format!("the step is {how}; fence {}", record.fence.0),
        );
        Ok(Held {
            id: step.issue.id().clone(),
            fence: record.fence,
            is_refused: false,
            beaten: clock::monotonic(),
        })
    }

    /// Whether a step could not be claimed only because it is not any more what it was when it was chosen.
    pub(super) fn is_outdated(
        &self,
        assignment: &Assignment,
        stop: &Stop,
    ) -> Result<bool, StoreError> {
        let Stop::Error(error) = stop else {
            return Ok(false);
        };
        let is_refused = matches!(
            **error,
            ImplementError::Store(
                StoreError::NotClaimable { .. }
                    | StoreError::Blocked { .. }
                    | StoreError::Stale { .. }
                    | StoreError::Guard { .. }
            )
        );
        let step = &assignment.step;
        let now = self.store.get(std::slice::from_ref(step.issue.id()))?.pop();
        Ok(is_refused && now.is_none_or(|now| now.version != step.version))
    }

    /// Where the reports of a step lie, if its id can be a part of a path.
    fn audit_folder(&self, assignment: &Assignment) -> Option<Utf8PathBuf> {
        let folder = report_folder(assignment.step.issue.id()).ok()?;
        Some(self.site.beads.join(folder))
    }

    /// Releases the step. A claim that was lost already is not an error.
    pub(super) fn let_go(&mut self, assignment: &Assignment, held: &Held) {
        if !held.is_refused
            && let Some(folder) = self.audit_folder(assignment)
        {
            WorkRecord::give_back(&folder, held.fence);
        }
        let id = assignment.step.issue.id();
        drop(self.store.release(id, held.fence, self.site.stamp()));
    }
}

/// The claim on a step whose holder is gone.
pub(super) fn left_by(step: &Record) -> Option<(Fence, Abandoned)> {
    let claim = step.claim.as_ref()?;
    let why = claim.is_abandoned(clock::now(), &host::name(), host::liveness)?;
    Some((claim.fence, why))
}
