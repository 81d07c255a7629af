//! Writes into a bead what became of it, and reads back what must not be believed unseen (L-20).

use beads_ralph_core::engine::{Action, Answer, CommitId, Effect, Progress, Pull, Trouble};
use serde_json::Value;

use super::keeping::{Keeping, Last, fetch};
use super::perform::Performer;

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
        let metadata = record.issue.metadata();
        let url = metadata.and_then(|it| it.get("pr_url").and_then(Value::as_str));
        let is_named = pull.is_none_or(|pull| url == Some(pull.url.as_str()));
        if record.issue.status() == "closed" && is_named {
            return Ok(());
        }
        if !is_new {
            return Err(Trouble::lost("somebody opened it again"));
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
            "{place}what happened: beads-ralph logs {id}\nto mend it yourself: commit in the worktree, then retry or close\nto try again: beads-ralph retry {id}\nif it is done: beads-ralph close {id}"
        )
    }
}
