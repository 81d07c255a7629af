//! Making a worktree ready for a bead: there, with everything merged in that is wanted (L-21, contracts §7.6).
//!
//! Whatever was begun before and cut off is found and finished: a merge of ours, or a conflict that waits for somebody.

use beads_ralph_core::engine::{CommitId, Lasting, Trouble};

use super::call::{Call, Said};
use super::site::Linked;
use super::status::Status;
use super::{Git, copied};
use crate::os::files;
use crate::ports::{Origin, Place, Prepared, Wanted};

/// The file beside our index of a worktree that says: a merge of ours is under way, and the worktree was clean before.
pub(super) const MERGING: &str = "beads-ralph-merging";

/// How long the name of a commit is, at least.
pub(super) const FULL_NAME: usize = 40;

impl Git {
    pub(super) fn prepare_place(
        &self,
        place: &Place,
        origin: &Origin,
    ) -> Result<Prepared, Trouble> {
        let ready = self.ready(place, origin)?;
        copied::copy(&self.root, &ready.linked, &self.settings.copy)?;
        self.caller.wrote(&ready.linked.copied());
        let mut prepared = Prepared {
            head: ready.head,
            from: ready.from,
            merging: None,
            conflicts: Vec::new(),
        };
        let mut is_clean = match &ready.status {
            None => true,
            Some(status) => {
                if self.report_conflict(&ready.linked, status, origin, &mut prepared)? {
                    return Ok(prepared);
                }
                status.dirt(&copied::of(&ready.linked)).is_none()
            }
        };
        if let Some(head) = self.conclude(&ready.linked, &place.branch, origin)? {
            prepared.head = head;
            is_clean = true;
        }
        self.merge_wanted(place, origin, &ready.linked, is_clean, prepared)
    }

    /// Tells of a conflict that still waits for somebody; whether there is one.
    fn report_conflict(
        &self,
        linked: &Linked,
        status: &Status,
        origin: &Origin,
        prepared: &mut Prepared,
    ) -> Result<bool, Trouble> {
        prepared.conflicts = self.unresolved(linked, status)?;
        if prepared.conflicts.is_empty() {
            return Ok(false);
        }
        prepared.merging = linked.merge_head().map(|commit| named(&commit, origin));
        Ok(true)
    }

    /// Commits a merge that is solved and was not committed.
    fn conclude(
        &self,
        linked: &Linked,
        branch: &str,
        origin: &Origin,
    ) -> Result<Option<CommitId>, Trouble> {
        let Some(commit) = linked.merge_head() else {
            return Ok(None);
        };
        let message = merge_message(&named(&commit, origin).name, branch);
        let status = self.caller.look(linked)?;
        self.add_all(linked, &status, &copied::of(linked))?;
        self.commit(linked, &message)?;
        let head = self.head_of(linked)?;
        linked.index_is_at(Some(&head));
        linked.give_index(true)?;
        Ok(Some(head))
    }

    /// Merges what is wanted, one by one, until one does not fit.
    fn merge_wanted(
        &self,
        place: &Place,
        origin: &Origin,
        linked: &Linked,
        is_clean: bool,
        mut prepared: Prepared,
    ) -> Result<Prepared, Trouble> {
        let mark = linked.own.join(MERGING);
        let mut is_moved = false;
        let mut at = None;
        for wanted in &origin.wanted {
            if !is_moved && wanted.commit == prepared.head {
                continue;
            }
            if is_clean && !mark.exists() {
                let made = files::stream_into(&mark).map(drop);
                made.map_err(|error| Trouble::for_run(format!("cannot write {mark}: {error}")))?;
            }
            let said = self.merge(linked, wanted, &place.branch)?;
            if said.is_ok() {
                let words = said.stdout.text();
                if !words.contains("Already up to date") {
                    is_moved = true;
                    at = forwarded(&words, wanted);
                }
                continue;
            }
            // From now on ours is that of the commit, and whoever works there has the one with both sides.
            linked.index_is_at(None);
            linked.give_index(false)?;
            prepared.conflicts = self.caller.unmerged(linked);
            if prepared.conflicts.is_empty() {
                return Err(self.not_merged(linked, wanted, place, &said));
            }
            prepared.head = self.head_of(linked)?;
            prepared.merging = Some(wanted.clone());
            files::remove_leftover(&mark);
            return Ok(prepared);
        }
        if is_moved {
            prepared.head = match at {
                Some(head) => head,
                None => self.head_of(linked)?,
            };
            linked.index_is_at(Some(&prepared.head));
        }
        if is_moved || is_clean {
            linked.give_index(true)?;
        }
        files::remove_leftover(&mark);
        Ok(prepared)
    }

    fn merge(&self, linked: &Linked, wanted: &Wanted, branch: &str) -> Result<Said, Trouble> {
        let message = merge_message(&wanted.name, branch);
        let mut arguments = self.identity().options().to_vec();
        arguments.extend([
            "merge",
            "--ff",
            "--commit",
            "--no-edit",
            "--no-verify",
            "--no-gpg-sign",
            "--no-signoff",
            "--no-squash",
            "--no-autostash",
            "--no-verify-signatures",
            "--no-rerere-autoupdate",
            "--no-stat",
            "--no-log",
            "--strategy=ort",
            "-m",
            &message,
            &wanted.commit.0,
        ]);
        self.caller.say(&Call::inside(linked, &arguments))
    }

    fn not_merged(&self, linked: &Linked, wanted: &Wanted, place: &Place, said: &Said) -> Trouble {
        let trouble = said.trouble();
        let advice = if self.is_shallow && said.text().contains("unrelated histories") {
            "; this is a shallow clone: run `git fetch --unshallow`"
        } else {
            ""
        };
        // A merge that did not begin leaves nothing behind.
        if linked.merge_head().is_none() && trouble.lasting != Lasting::Passing {
            files::remove_leftover(&linked.own.join(MERGING));
        }
        Trouble {
            message: format!(
                "cannot merge {} ({}) into '{}': {}{advice}",
                wanted.name,
                wanted.commit.short(),
                place.branch,
                trouble.message
            ),
            ..trouble
        }
    }
}

/// What is checked out after a merge that made no commit, but moved the branch; a short name of a commit is not believed.
fn forwarded(words: &str, wanted: &Wanted) -> Option<CommitId> {
    let is_forward = words.lines().any(|line| line.starts_with("Fast-forward"));
    (is_forward && wanted.commit.0.len() >= FULL_NAME).then(|| wanted.commit.clone())
}

fn named(commit: &str, origin: &Origin) -> Wanted {
    let commit = CommitId(commit.to_owned());
    let known = origin.wanted.iter().find(|wanted| wanted.commit == commit);
    known.cloned().unwrap_or_else(|| Wanted {
        name: commit.short().to_owned(),
        commit,
    })
}

fn merge_message(name: &str, branch: &str) -> String {
    format!("Merge {name} into {branch}")
}
