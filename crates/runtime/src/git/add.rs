//! A worktree for a bead: found, finished or made (L-15).
//!
//! What a git left that was killed is found and finished; what belongs to somebody else is named and left alone.

use std::sync::PoisonError;

use beads_ralph_core::engine::{CommitId, Trouble};

use super::call::{Call, Said};
use super::prepare::MERGING;
use super::remote::Start;
use super::site::{INITIALIZING, Linked, Site};
use super::status::Status;
use super::{Git, guard, refs};
use crate::os::files;
use crate::ports::{Origin, Place};
use crate::repo::shown;

#[derive(Debug)]
pub(super) struct Ready {
    pub linked: Linked,
    pub head: CommitId,
    pub from: String,
    /// The status of a worktree that already existed.
    pub status: Option<Status>,
}

impl Git {
    pub(super) fn ready(&self, place: &Place, origin: &Origin) -> Result<Ready, Trouble> {
        guard::mend_head(&place.worktree, &self.common, &place.branch);
        match Site::look(&place.worktree, &self.common) {
            Site::Linked(linked) => {
                linked.check_nobody_works()?;
                linked.remove_stale_locks(
                    &self.branch_lock(&place.branch),
                    self.settings.stale_lock,
                )?;
                if linked.is_unfinished() {
                    self.finish_worktree(&linked, place)?;
                }
                self.used_again(linked, place, origin)
            }
            Site::Stub => {
                files::remove_leftover(&place.worktree.join(".git"));
                self.add_worktree(place, origin)
            }
            Site::Free => self.add_worktree(place, origin),
            Site::Taken(what) => Err(Trouble::for_run(format!(
                "the worktree of {} cannot be at {}, where there is {what}; move that away, or give the bead another worktree",
                place.bead.as_str(),
                shown(&place.worktree)
            ))),
        }
    }

    fn add_worktree(&self, place: &Place, origin: &Origin) -> Result<Ready, Trouble> {
        let (path, branch) = (place.worktree.as_str(), place.branch.as_str());
        let start = self.start(branch, &origin.source)?;
        let mut arguments = vec!["worktree", "add", "--quiet", "--no-checkout"];
        // As git does while it makes one, so that one that was cut off is known.
        arguments.extend(["--lock", "--reason", INITIALIZING]);
        match &start {
            Start::Branch(_) => arguments.extend(["--", path, branch]),
            Start::Base(base) => {
                let commit = base.commit.0.as_str();
                arguments.extend(["--no-track", "-b", branch, "--", path, commit]);
            }
        }
        let call = Call::new(&self.root, &arguments).of_worktrees().for_run();
        // Those of this process take turns: one that meets another which is half made fails, and would have to try again.
        let turn = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let said = self.caller.say(&call)?;
        drop(turn);
        if !said.is_ok() {
            return Err(self.not_added(place, &said)?);
        }
        let (head, from) = match start {
            Start::Branch(commit) => (commit, format!("{branch}, which already existed")),
            Start::Base(base) => (base.commit, base.from),
        };
        let linked = Linked::at(&place.worktree, &self.common)?;
        self.fill(&linked, Some(&head))?;
        Ok(Ready {
            linked,
            head,
            from,
            status: None,
        })
    }

    /// Makes the files of a worktree that has none yet, with our index of them.
    fn fill(&self, linked: &Linked, head: Option<&CommitId>) -> Result<(), Trouble> {
        if linked.own.exists() {
            // That of another one, which had the same name.
            let removed = files::remove_directory(&linked.own);
            removed.map_err(|error| Trouble::for_run(error.to_string()))?;
        }
        let made = files::create_directory(&linked.own);
        made.map_err(|error| Trouble::for_run(error.to_string()))?;
        self.caller.wrote(&linked.copied());
        let arguments = ["reset", "--quiet", "--hard", "--no-recurse-submodules"];
        self.caller
            .act(&Call::inside(linked, &arguments).for_run())?;
        linked.index_is_at(head);
        linked.give_index(true)?;
        self.note_checked_out(linked)?;
        files::remove_leftover(&linked.git.join("locked"));
        Ok(())
    }

    /// Why git created no worktree. What can be fixed is fixed; then a retry may help.
    fn not_added(&self, place: &Place, said: &Said) -> Result<Trouble, Trouble> {
        let words = said.text();
        let has = |phrase: &str| words.contains(phrase);
        if let Some(clash) = clash_in(&words) {
            return Ok(Trouble::for_run(clash_message(&place.branch, clash)));
        }
        if has("already checked out") || has("already used by worktree") || has("missing but") {
            return self.clear_the_way(place);
        }
        if has("a branch named") && has("already exists") {
            return Ok(Trouble::passing(
                "another process has just created the branch",
            ));
        }
        let trouble = said.trouble();
        let worktree = shown(&place.worktree);
        Ok(Trouble {
            message: format!("cannot make the worktree {worktree}: {}", trouble.message),
            ..trouble
        })
    }

    /// Removes what git remembers of worktrees that are gone, unless one that is there holds the branch.
    fn clear_the_way(&self, place: &Place) -> Result<Trouble, Trouble> {
        let branch = refs::branch(&place.branch);
        // Git lists real paths, and what is gone has none but for its parent's.
        let above = place
            .worktree
            .parent()
            .and_then(|above| above.canonicalize_utf8().ok());
        let name = place.worktree.file_name().unwrap_or_default();
        let here = above.map_or_else(|| place.worktree.clone(), |above| above.join(name));
        for worktree in self.worktrees()? {
            let is_here = worktree.path == here;
            // An empty directory is left of a worktree, too.
            let is_gone = !worktree.path.join(".git").exists();
            if worktree.branch.as_deref() == Some(place.branch.as_str()) && !is_gone {
                return Ok(Trouble::for_run(format!(
                    "the branch '{}' is checked out at {}, so it cannot be checked out at {}",
                    place.branch,
                    shown(&worktree.path),
                    shown(&place.worktree)
                )));
            }
            let is_ours = is_here || worktree.branch_ref() == Some(branch.clone());
            if is_gone
                && is_ours
                && let Some(reason) = &worktree.locked
            {
                if reason != "initializing" {
                    return Ok(Trouble::for_run(format!(
                        "the worktree {} is missing, but locked ({reason}); run `git worktree unlock` to let it be created again",
                        shown(&worktree.path)
                    )));
                }
                let arguments = ["worktree", "unlock", "--", worktree.path.as_str()];
                let call = Call::new(&self.root, &arguments).of_worktrees();
                self.caller.act(&call.for_run())?;
            }
        }
        self.prune()?;
        Ok(Trouble::passing(format!(
            "git still lists a missing worktree at {}",
            shown(&place.worktree)
        )))
    }

    /// Finishes the work of a killed git: everything exists except the files.
    fn finish_worktree(&self, linked: &Linked, place: &Place) -> Result<(), Trouble> {
        let branch = refs::branch(&place.branch);
        if self.resolve(&branch)?.is_none() {
            let path = linked.path.as_str();
            let arguments = ["worktree", "remove", "--force", "--force", "--", path];
            let call = Call::new(&self.root, &arguments).of_worktrees();
            self.caller.act(&call.for_run())?;
            return Err(Trouble::passing(
                "a worktree was created without its branch",
            ));
        }
        let call = Call::inside(linked, &["symbolic-ref", "HEAD", &branch]);
        self.caller.act(&call.for_run())?;
        self.fill(linked, None)
    }

    /// An existing worktree, if it is in order (Z-7).
    fn used_again(&self, linked: Linked, place: &Place, origin: &Origin) -> Result<Ready, Trouble> {
        let mut status = self.caller.look(&linked)?;
        let where_ = shown(&linked.path);
        match &status.branch {
            Some(branch) if *branch == place.branch => {}
            Some(branch) => {
                return Err(Trouble::for_run(format!(
                    "the worktree {where_} is on the branch '{branch}', not on '{}'",
                    place.branch
                )));
            }
            None => {
                let what = linked.unfinished().unwrap_or("a commit without a branch");
                return Err(Trouble::for_bead(format!(
                    "the worktree {where_} is at {what}, not on the branch '{}'; run `git switch` there",
                    place.branch
                )));
            }
        }
        let Some(head) = status.head.clone() else {
            return Err(Trouble::for_bead(format!(
                "the worktree {where_} has no commit"
            )));
        };
        self.check_related(&head, place, origin)?;
        if linked.own.join(MERGING).exists() && linked.merge_head().is_none() {
            // A merge of ours was cut off before it came to anything.
            self.make_clean(&linked, "HEAD")?;
            status.entries.clear();
        }
        files::remove_leftover(&linked.own.join(MERGING));
        Ok(Ready {
            linked,
            head,
            from: format!("{}, which already existed", place.branch),
            status: Some(status),
        })
    }

    /// An error if an existing branch has no commit in common with its source (Z-7).
    fn check_related(
        &self,
        head: &CommitId,
        place: &Place,
        origin: &Origin,
    ) -> Result<(), Trouble> {
        // Of a shallow clone git does not know enough to say so.
        if self.is_shallow {
            return Ok(());
        }
        let source = refs::branch(&origin.source);
        let arguments = ["merge-base", &source, &head.0];
        let said = self.caller.say(&Call::new(&self.root, &arguments))?;
        match said.code {
            1 => Err(Trouble::for_bead(format!(
                "the branch '{}' has no commit in common with its source '{}'",
                place.branch, origin.source
            ))),
            // A source that is gone says nothing about the branch.
            _ => Ok(()),
        }
    }
}

/// The ref that stands in the way of another one, by what git says of it (B-28).
pub(super) fn clash_in(words: &str) -> Option<&str> {
    let (before, _) = words.split_once("' exists; cannot create")?;
    let (_, name) = before.rsplit_once('\'')?;
    Some(name.strip_prefix("refs/heads/").unwrap_or(name))
}

/// Tells of two branches that cannot both be.
pub(super) fn clash_message(branch: &str, other: &str) -> String {
    format!(
        "the branch '{branch}' cannot be created, because the branch '{other}' exists and git cannot have one branch below another; rename one of them"
    )
}
