//! The state in which work is handed over: everything committed, checked, and kept reachable.

use beads_ralph_core::engine::CommitId;

use super::super::Dispatcher;
use super::super::assign::Assignment;
use super::super::ending::Stop;
use super::super::settle::Settlement;
use super::{failed, settled};
use crate::config::IntegrationMode;
use crate::run::{Place, Repository as _};

impl Dispatcher<'_> {
    /// Commits what is left in the worktree and keeps it; what is in the way of that ends the stage.
    pub(super) fn sealed(
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

    /// The commit that is handed over at the end. What came after the acceptance was checked is checked again.
    pub(super) fn final_commit(
        &mut self,
        assignment: &Assignment,
        place: &Place,
    ) -> Result<Result<CommitId, Settlement>, Stop> {
        let git = self.site.git;
        let kept = git.kept(&place.bead)?;
        if !git.is_own_worktree(&place.worktree)? {
            let commit = match kept {
                Some(commit) => Some(commit),
                None => git.branch(&place.branch)?,
            };
            let detail = format!("there is no branch {}", place.branch);
            return Ok(commit.ok_or_else(|| failed(assignment, "no-branch", detail)));
        }
        let commit = match self.sealed(assignment, place)? {
            Ok(commit) => commit,
            Err(settlement) => return Ok(Err(settlement)),
        };
        if kept.as_ref() == Some(&commit) {
            return Ok(Ok(commit));
        }
        if let Some(summary) = self.red(assignment, &place.worktree)? {
            return Ok(Err(failed(assignment, "acceptance-not-met", summary)));
        }
        self.decide(
            "Z-35",
            "there are later commits, and the acceptance commands hold for them",
        );
        git.keep(&place.bead, &commit)?;
        if self.site.integration == IntegrationMode::Pr
            && let Err(trouble) = git.push(&place.branch, &commit)
        {
            return settled(assignment, "not-pushed", trouble).map(Err);
        }
        Ok(Ok(commit))
    }
}
