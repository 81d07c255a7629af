//! `verify-ac`: acceptance lines that are commands are run by us; those that are words are for an agent (Z-35).

use beads_ralph_core::check::{is_green, no_verdict, summary};
use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::{Judge, Mode, Outcome};
use camino::Utf8Path;

use super::super::assign::Assignment;
use super::super::calling::Examination;
use super::super::claim::Held;
use super::super::ending::{ImplementError, Stop};
use super::super::finish::Settlement;
use super::super::{Dispatcher, Site};
use super::failed;
use super::preflight::BASE;
use crate::check::Ground;
use crate::ports::Repository as _;

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
            format!("{n} command(s) of the bead and the project hold"),
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
        let reason = format!("verify-ac complete; {n} command(s) hold");
        Ok(Some(Settlement::new(Outcome::Complete(reason))))
    }

    /// What does not hold in a worktree, if something does not. Commands that the surroundings keep from running say nothing about it: the step is
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
        let metadata = assignment.root().issue.metadata();
        let kept = metadata.and_then(|metadata| metadata.get(BASE)?.as_str());
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
