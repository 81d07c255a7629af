//! The stages that need no agent: a program suffices (§9.14).

mod hand_over;
mod preflight;
mod verify_ac;

use beads_ralph_core::engine::{CommitId, Lasting, Trouble};
use beads_ralph_core::implement::report::{Escalation, Report, Status};
use beads_ralph_core::implement::{Outcome, Stage, outcome_of};
use camino::Utf8Path;

pub(super) use self::preflight::REQUIRED;
use super::Dispatcher;
use super::assign::Assignment;
use super::claim::Held;
use super::ending::Stop;
use super::finish::Settlement;
use super::record::place_of;
use crate::config::IntegrationMode;
use crate::ports::{Place, Repository as _};

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

impl Dispatcher<'_> {
    /// Commits what is left in the worktree; what is in the way of that ends the stage.
    fn sealed(
        &mut self,
        assignment: &Assignment,
        place: &Place,
    ) -> Result<Result<CommitId, Settlement>, Stop> {
        let git = self.site.git;
        let head = git.checked_out_at(&place.worktree)?;
        let base = &self.site.config.worktrees.source_branch;
        let fork = match &head {
            Some(head) => git.fork_point(base, head)?,
            None => None,
        };
        let Some(fork) = fork else {
            let branch = &place.branch;
            let detail = format!("the branch {branch} has nothing in common with {base}");
            return Ok(Err(failed(assignment, "no-base", detail)));
        };
        let message = format!("{} ({})", assignment.source.issue.title(), place.bead);
        let sealed = match git.seal(place, &fork, &message) {
            Ok(sealed) => sealed,
            Err(trouble) => return settled(assignment, "not-committed", trouble).map(Err),
        };
        if !sealed.unresolved.is_empty() {
            let files = sealed.unresolved.join(", ");
            let detail = format!("conflicts that nobody solved: {files}");
            return Ok(Err(failed(assignment, "not-committed", detail)));
        }
        if sealed.changed_files.is_empty() {
            let detail = format!("{} is no different from {base}", place.branch);
            return Ok(Err(failed(assignment, "nothing-was-done", detail)));
        }
        Ok(Ok(sealed.commit))
    }

    /// Everything in the worktree as a commit for which the acceptance commands hold, kept reachable. What was checked before is not
    /// checked again.
    pub(super) fn checked(
        &mut self,
        assignment: &Assignment,
        place: &Place,
        held: &mut Held,
    ) -> Result<Result<CommitId, Settlement>, Stop> {
        let commit = match self.sealed(assignment, place)? {
            Ok(commit) => commit,
            Err(settlement) => return Ok(Err(settlement)),
        };
        if self.site.git.kept(&place.bead)?.as_ref() == Some(&commit) {
            return Ok(Ok(commit));
        }
        if let Some(summary) = self.red(assignment, &place.worktree, held)? {
            return Ok(Err(failed(assignment, "acceptance-not-met", summary)));
        }
        let short = commit.short();
        self.decide("Z-35", format!("the acceptance commands hold for {short}"));
        self.site.git.keep(&place.bead, &commit)?;
        Ok(Ok(commit))
    }

    pub(super) fn final_commit(
        &mut self,
        assignment: &Assignment,
        place: &Place,
        held: &mut Held,
    ) -> Result<Result<CommitId, Settlement>, Stop> {
        let git = self.site.git;
        if !git.is_own_worktree(&place.worktree)? {
            return self.without_worktree(assignment, place);
        }
        let before = git.kept(&place.bead)?;
        let commit = match self.checked(assignment, place, held)? {
            Ok(commit) => commit,
            Err(settlement) => return Ok(Err(settlement)),
        };
        let is_later = before.as_ref() != Some(&commit);
        if is_later
            && self.site.integration == IntegrationMode::Pr
            && let Err(trouble) = git.push(&place.branch, &commit)
        {
            return settled(assignment, "not-pushed", trouble).map(Err);
        }
        Ok(Ok(commit))
    }

    /// Without a worktree nothing can be checked any more: what is handed over is what was, and only if it is all.
    fn without_worktree(
        &self,
        assignment: &Assignment,
        place: &Place,
    ) -> Result<Result<CommitId, Settlement>, Stop> {
        let git = self.site.git;
        let (kept, tip) = (git.kept(&place.bead)?, git.branch(&place.branch)?);
        let branch = &place.branch;
        Ok(match (kept, tip) {
            (Some(kept), Some(tip)) if kept != tip => {
                let detail = format!(
                    "the worktree is gone, and {branch} is at {}, but what was checked is {}",
                    tip.short(),
                    kept.short()
                );
                Err(failed(assignment, "not-checked", detail))
            }
            (Some(kept), _) => Ok(kept),
            (None, _) => {
                let detail = format!("the worktree is gone, and nothing of {branch} was checked");
                Err(failed(assignment, "not-checked", detail))
            }
        })
    }
}
