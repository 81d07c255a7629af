//! The results of verified work: merged or proposed as a pull request, written into the bead, and read back (L-20).

use std::fmt::Write as _;

use beads_ralph_core::bead::RalphBead;
use beads_ralph_core::engine::{Action, Answer, CommitId, Effect, Progress, Pull, Trouble};
use beads_ralph_core::issue::{Query, Record};
use beads_ralph_core::vocabulary::{Status, metadata as keys};

use super::origin::below;
use super::perform::{Performer, normal};
use super::store_writes::{Keeping, Last, fetch};
use crate::ports::{Integrated, NewPullRequest, PullRequest};

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
                "pull requests are not available: `gh` is not set up",
            ));
        };
        let (bead, _) = self.bead_and_place(effect)?;
        let branch = bead.metadata.branch.as_str();
        let request = match forge.find_for(branch, commit)? {
            Some(request) => request,
            None if may_create => forge.create(&self.new_pull(&bead)?)?,
            None => return Ok(Answer::NotProposed),
        };
        let PullRequest { url, number, .. } = request;
        Ok(Answer::Proposed { url, number })
    }

    fn new_pull(&self, bead: &RalphBead) -> Result<NewPullRequest, Trouble> {
        let below = below(&**self.store(), &bead.dependencies)?;
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
        let unfinished = self.store().find(&Query::default())?;
        let shares = |record: &Record| {
            let path = record.issue.metadata_text(keys::WORKTREE_PATH);
            path.is_some_and(|path| normal(&self.site.root.join(path)) == own.worktree)
        };
        if !unfinished.iter().any(shares) {
            self.repository.remove(&own)?;
        }
        Ok(Answer::Done)
    }
}

impl Performer<'_> {
    /// Writes into the bead. A bead that is closed is read again, to see that it is (L-20).
    pub(super) fn write(&self, effect: &Effect) -> Result<Answer, Trouble> {
        let (progress, last) = self.last_of(effect);
        if effect.fence.is_none() {
            self.free_if_left(&effect.bead)?;
        }
        let keeping = Keeping {
            run: &self.site.run,
            session: format!("{}/{}", self.site.run, self.team_of(effect)),
            by: self.stamp(),
        };
        let is_new = keeping.write(&mut **self.store(), effect, progress, &last)?;
        if let Last::Closed { pull, .. } = last {
            self.see_closed(effect, pull, is_new)?;
        }
        if !matches!(last, Last::None) {
            self.free_slot(&effect.bead);
        }
        Ok(Answer::Done)
    }

    fn last_of<'e>(&self, effect: &'e Effect) -> (&'e Progress, Last<'e>) {
        match &effect.action {
            Action::Record { progress } => (progress, Last::None),
            Action::Close {
                progress,
                commit,
                pull,
            } => {
                let pull = pull.as_ref();
                (progress, Last::Closed { commit, pull })
            }
            Action::Block {
                progress,
                reason,
                is_fatal,
                commit,
            } => {
                let last = Last::Blocked {
                    reason,
                    is_fatal: *is_fatal,
                    help: self.help(effect, commit.as_ref()),
                };
                (progress, last)
            }
            Action::Release { progress } => (progress, Last::Released),
            _ => unreachable!("only writes come here"),
        }
    }

    fn team_of(&self, effect: &Effect) -> String {
        let known = self.known(&effect.bead);
        known.map_or_else(
            || "default-team".to_owned(),
            |bead| bead.metadata.team_name.clone(),
        )
    }

    fn see_closed(
        &self,
        effect: &Effect,
        pull: Option<&Pull>,
        is_new: bool,
    ) -> Result<(), Trouble> {
        let record = fetch(&**self.store(), &effect.bead)?;
        let url = record.issue.metadata_text(keys::PR_URL);
        let is_named = pull.is_none_or(|pull| url == Some(pull.url.as_str()));
        if record.issue.status() == Status::Closed && is_named {
            return Ok(());
        }
        if !is_new {
            return Err(Trouble::lost("it was reopened"));
        }
        Err(Trouble::passing(format!(
            "{} was closed and is not",
            effect.bead
        )))
    }

    /// What a person who must look at a bead needs: where the work is, and how to go on.
    fn help(&self, effect: &Effect, commit: Option<&CommitId>) -> String {
        let id = &effect.bead;
        let place = self.bead_and_place(effect).ok().map(|(_, place)| place);
        let place = place.map_or_else(String::new, |place| {
            let commit =
                commit.map_or_else(String::new, |commit| format!(" at {}", commit.short()));
            format!(
                "branch: {}{commit}\nworktree: {}\n",
                place.branch, place.worktree
            )
        });
        format!(
            "{place}what happened: beads-ralph logs {id}\nto fix it yourself: commit in the worktree, then retry or close\nto try again: beads-ralph retry {id}\nif it is done: beads-ralph close {id}"
        )
    }
}
