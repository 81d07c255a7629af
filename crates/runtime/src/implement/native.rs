//! The stages that need no agent (§9.14), and `verify-ac`, which runs the acceptance lines that are commands (Z-35).

mod hand_over;
mod preflight;

use beads_ralph_core::check::{is_green, no_verdict, summary};
use beads_ralph_core::engine::{CommitId, IntegrationMode, Lasting, Trouble};
use beads_ralph_core::implement::report::{Escalation, Report, ReportStatus};
use beads_ralph_core::implement::{Judge, Mode, Outcome, Stage, outcome_of};
use beads_ralph_core::vocabulary::metadata;
use camino::Utf8Path;

pub(super) use self::preflight::REQUIRED;
use super::assign::Assignment;
use super::calling::Examination;
use super::claim::Held;
use super::ending::{ImplementError, Stop};
use super::finish::Settlement;
use super::record::place_of;
use super::{Dispatcher, Site};
use crate::check::Ground;
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
    Settlement::new(ended(
        assignment,
        ReportStatus::Failed,
        reason,
        detail.into(),
    ))
}

fn ended(assignment: &Assignment, status: ReportStatus, reason: &str, detail: String) -> Outcome {
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
            let detail = format!("the branch {branch} has no commit in common with {base}");
            return Ok(Err(failed(assignment, "no-base", detail)));
        };
        let message = format!("{} ({})", assignment.source.issue.title(), place.bead);
        let sealed = match git.seal(place, &fork, &message) {
            Ok(sealed) => sealed,
            Err(trouble) => return settled(assignment, "not-committed", trouble).map(Err),
        };
        if !sealed.unresolved.is_empty() {
            let files = sealed.unresolved.join(", ");
            let detail = format!("unresolved conflicts: {files}");
            return Ok(Err(failed(assignment, "not-committed", detail)));
        }
        if sealed.changed_files.is_empty() {
            let detail = format!("{} has no changes compared to {base}", place.branch);
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
        self.decide("Z-35", format!("the acceptance commands pass for {short}"));
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
                    "the worktree is missing, and {branch} is at {}, but what was checked is {}",
                    tip.short(),
                    kept.short()
                );
                Err(failed(assignment, "not-checked", detail))
            }
            (Some(kept), _) => Ok(kept),
            (None, _) => {
                let detail =
                    format!("the worktree is missing, and no commit of {branch} was checked");
                Err(failed(assignment, "not-checked", detail))
            }
        })
    }
}

impl Dispatcher<'_> {
    /// Runs the commands; nothing comes back when they hold and an agent must judge the rest.
    pub(super) fn verify_ac(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
    ) -> Result<Option<Settlement>, Stop> {
        let head = self.site.git.checked_out_at(&assignment.place)?;
        if let Some(summary) = self.red(assignment, &assignment.place, held)? {
            return Ok(Some(failed(assignment, "acceptance-not-met", summary)));
        }
        if let Some(head) = head {
            self.site.git.keep(assignment.source.issue.id(), &head)?;
        }
        let n = checks_of(self.site, assignment).len();
        self.decide(
            "Z-35",
            format!("{n} command(s) of the bead and the project pass"),
        );
        let lines = assignment.acceptance.iter();
        let words = lines.filter(|it| it.judge == Judge::Machine && it.command.is_none());
        let n_words = words.count();
        if n_words > 0 {
            self.decide(
                "Z-35",
                format!("{n_words} acceptance line(s) are judged by an agent"),
            );
            self.told.worker = Some(assignment.agent.as_str().to_owned());
            return Ok(None);
        }
        let reason = format!("verify-ac complete; {n} command(s) pass");
        Ok(Some(Settlement::new(Outcome::Complete(reason))))
    }

    /// Which acceptance commands fail in a worktree, if any. Commands that the environment keeps from running prove nothing: the step is
    /// given back.
    pub(super) fn red(
        &mut self,
        assignment: &Assignment,
        worktree: &Utf8Path,
        held: &mut Held,
    ) -> Result<Option<String>, Stop> {
        let site = self.site;
        let commands = checks_of(site, assignment);
        if commands.is_empty() {
            return Ok(None);
        }
        self.make_audit_directory(assignment)?;
        let logs = site.beads.join(assignment.report(&assignment.agent, None)?);
        let base = self.began_from(assignment, worktree)?;
        let examination = Examination {
            commands: &commands,
            worktree,
            ground: Ground::Clean,
            logs: &logs.with_file_name("verify-ac.run"),
            base: base.as_ref(),
        };
        let records = self.examined(held, examination)?;
        if let Some(why) = no_verdict(&records) {
            return Err(ImplementError::NotRun(why).into());
        }
        Ok((!is_green(&records)).then(|| summary(&records)))
    }

    /// The commit that the work in a worktree began from, where somebody wants to know: what was made of the beads before this one, else where
    /// it left the source branch.
    fn began_from(
        &self,
        assignment: &Assignment,
        worktree: &Utf8Path,
    ) -> Result<Option<CommitId>, Stop> {
        if self.site.config.flaky_retries == 0 {
            return Ok(None);
        }
        let git = self.site.git;
        let Some(head) = git.checked_out_at(worktree)? else {
            return Ok(None);
        };
        let kept = (assignment.root().issue).metadata_text(metadata::BASE_COMMIT);
        if let Some(kept) = kept.map(|kept| CommitId(kept.to_owned()))
            && git.is_in(&kept, &head)?
        {
            return Ok(Some(kept));
        }
        Ok(git.fork_point(&self.site.config.worktrees.source_branch, &head)?)
    }
}

/// What is run before work counts as done: the acceptance lines that are commands, and the commands of the project, but for
/// documents.
pub(super) fn checks_of<'c>(site: &'c Site<'_>, assignment: &'c Assignment) -> Vec<&'c str> {
    let own = assignment.acceptance.iter();
    let own = own.filter_map(|line| line.command.as_deref());
    let gates = site.config.gates.commands();
    let gates = gates.filter(|_| assignment.mode != Mode::DocsOnly);
    let mut commands: Vec<&str> = Vec::new();
    for command in own.chain(gates.map(|(_, command)| command)) {
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands
}
