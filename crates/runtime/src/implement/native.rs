//! The stages that need no agent: a program suffices (§9.14).

mod create_pr;
mod hand_off;
mod preflight;
mod sealing;
mod verify_ac;

pub(super) use self::preflight::REQUIRED;

use beads_ralph_core::engine::{Lasting, Trouble};
use beads_ralph_core::implement::report::{Escalation, Report, Status};
use beads_ralph_core::implement::{Outcome, Stage, outcome_of};
use camino::Utf8Path;

use super::Dispatcher;
use super::assign::Assignment;
use super::ending::Stop;
use super::hold::Held;
use super::kept::place_of;
use super::settle::Settlement;
use crate::ports::Place;

impl Dispatcher<'_> {
    /// Does a stage without an agent; nothing when the rest of it is for one.
    pub(super) fn native(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
    ) -> Result<Option<Settlement>, Stop> {
        match assignment.stage {
            Stage::Preflight => self.preflight(assignment, held).map(Some),
            Stage::VerifyAc => self.verify_ac(assignment, held),
            Stage::CreatePr => self.create_pr(assignment, held).map(Some),
            Stage::MergeOrHandoff => self.hand_off(assignment, held).map(Some),
            _ => Ok(None),
        }
    }
}

/// The end of a stage that did not work, for a person.
fn failed(assignment: &Assignment, reason: &str, detail: impl Into<String>) -> Settlement {
    Settlement::new(ended(assignment, Status::Failed, reason, detail.into()))
}

fn ended(assignment: &Assignment, status: Status, reason: &str, detail: String) -> Outcome {
    let mut report = Report::new(status);
    report.escalations.push(Escalation {
        reason: reason.to_owned(),
        detail,
    });
    let gate = beads_ralph_core::implement::report::gate(&report.evidence);
    outcome_of(assignment.stage, &report, gate)
}

/// Trouble that stays is for a person; what may pass is tried again.
fn settled(assignment: &Assignment, reason: &str, trouble: Trouble) -> Result<Settlement, Stop> {
    match trouble.lasting {
        Lasting::ForBead | Lasting::Occupied => Ok(failed(assignment, reason, trouble.message)),
        Lasting::Passing | Lasting::ForRun | Lasting::Lost => Err(trouble.into()),
    }
}

/// Where the work of a source is, from the path of its worktree.
pub(super) fn place_at(assignment: &Assignment, worktree: &Utf8Path) -> Option<Place> {
    place_of(assignment.source.issue.id(), worktree)
}
