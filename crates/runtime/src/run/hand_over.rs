//! Handing over verified work: into the target branch, or as a pull request.

use std::fmt::Write as _;

use beads_ralph_core::bead::RalphBead;
use beads_ralph_core::engine::{Answer, CommitId, Effect, Trouble};
use beads_ralph_core::issue::{Query, Record};

use super::below::below;
use super::keeping::trouble;
use super::perform::{Performer, normal};
use crate::ports::{Integrated, NewPullRequest, PullRequest, PullState};

impl Performer<'_> {
    pub(super) fn merge(
        &self,
        effect: &Effect,
        commit: &CommitId,
        target: &str,
    ) -> Result<Answer, Trouble> {
        let (bead, _) = self.bead_and_place(effect)?;
        let message = format!("Merge {} ({})", bead.title, bead.id);
        let source = &bead.metadata.source_branch;
        Ok(
            match self
                .repository
                .integrate(target, source, commit, &message)?
            {
                Integrated::In { commit, .. } => Answer::Merged { commit },
                Integrated::Conflict { target, files } => Answer::Conflicted { target, files },
            },
        )
    }

    /// Finds the pull request of a verified commit, in whatever state, or makes one (L-18, Z-12).
    pub(super) fn propose(
        &self,
        effect: &Effect,
        commit: &CommitId,
        may_create: bool,
    ) -> Result<Answer, Trouble> {
        let Some(forge) = self.forge else {
            return Err(Trouble::for_run(
                "there is no place for pull requests: `gh` is not set up",
            ));
        };
        let (bead, _) = self.bead_and_place(effect)?;
        let branch = bead.metadata.branch.as_str();
        let found = forge.find(branch)?;
        // An open one follows its branch; one that was merged or closed counts only for this very commit.
        let fits = found
            .into_iter()
            .find(|found| found.request.state == PullState::Open || found.head == *commit);
        let request = match fits {
            Some(found) => found.request,
            None if may_create => forge.create(&self.new_pull(&bead)?)?,
            None => return Ok(Answer::NotProposed),
        };
        let PullRequest { url, number, .. } = request;
        Ok(Answer::Proposed { url, number })
    }

    fn new_pull(&self, bead: &RalphBead) -> Result<NewPullRequest, Trouble> {
        let below = below(&**self.store(), &bead.dependencies).map_err(trouble)?;
        let mut body = format!(
            "Sprint {}\n\nBead: {}\n\n{}\n",
            bead.metadata.sprint, bead.id, bead.description
        );
        if !below.is_empty() {
            body.push_str("\nStands on:\n");
            for record in &below {
                let pull = record.issue.text("external_ref").unwrap_or_default();
                _ = writeln!(body, "- {} {pull}", record.issue.id());
            }
        }
        Ok(NewPullRequest {
            title: bead.title.clone(),
            body,
            head: bead.metadata.branch.to_string(),
            base: bead.metadata.source_branch.clone(),
        })
    }

    /// Removes the worktree of a closed bead, unless another bead still works there.
    pub(super) fn clean_up(&self, effect: &Effect) -> Result<Answer, Trouble> {
        let (_, own) = self.bead_and_place(effect)?;
        let unfinished = self.store().find(&Query::default()).map_err(trouble)?;
        let shares = |record: &Record| {
            let path = record
                .issue
                .metadata()
                .and_then(|it| it.get("worktree_path")?.as_str());
            path.is_some_and(|path| normal(&self.site.root.join(path)) == own.worktree)
        };
        if !unfinished.iter().any(shares) {
            self.repository.remove(&own)?;
        }
        Ok(Answer::Done)
    }
}
