//! Making a worktree ready for a bead (L-15, L-21, contracts §7.6).
//!
//! Whatever was begun before and cut off is found and finished: a worktree that git was making, a merge of ours, a conflict that
//! waits for somebody.

use std::time::Duration;

use beads_ralph_core::engine::{CommitId, Lasting, Trouble};

use super::base::Start;
use super::call::{Call, Said};
use super::site::{Linked, Site};
use super::status::Status;
use super::{Git, copied, refname};
use crate::files;
use crate::repo::shown;
use crate::run::{Origin, Place, Prepared, Wanted};

/// How often making a worktree is tried while others are at it.
const MAX_TRIES: u32 = 8;

/// The first pause between two tries; each is longer than the one before.
const PAUSE: Duration = Duration::from_millis(20);

/// The file in a worktree's git directory that says: a merge of ours is under way, and the worktree was clean before.
pub(super) const MERGING: &str = "beads-ralph-merging";

/// A worktree, and what is checked out there.
#[derive(Debug)]
struct Ready {
    linked: Linked,
    head: CommitId,
    from: String,
    /// What git says of a worktree that was there before.
    status: Option<Status>,
}

impl Git {
    pub(super) fn prepare_place(
        &self,
        place: &Place,
        origin: &Origin,
    ) -> Result<Prepared, Trouble> {
        let ready = self.ready(place, origin)?;
        copied::copy(&self.root, &ready.linked, &self.settings.copy)?;
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

    /// A worktree on the branch, made if it is not there.
    fn ready(&self, place: &Place, origin: &Origin) -> Result<Ready, Trouble> {
        let mut pause = PAUSE;
        for _ in 1..MAX_TRIES {
            match self.try_ready(place, origin) {
                Err(trouble) if trouble.lasting == Lasting::Passing => {
                    std::thread::sleep(pause);
                    pause = pause.mul_f32(1.6);
                }
                ready => return ready,
            }
        }
        self.try_ready(place, origin)
    }

    fn try_ready(&self, place: &Place, origin: &Origin) -> Result<Ready, Trouble> {
        match Site::look(&place.worktree, &self.common) {
            Site::Linked(linked) => {
                linked.check_nobody_works()?;
                linked.remove_stale_locks(&self.branch_lock(&place.branch));
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
        let arguments = match &start {
            Start::Branch(_) => vec!["worktree", "add", "--quiet", "--", path, branch],
            Start::Base(base) => {
                let commit = base.commit.0.as_str();
                let new = [
                    "worktree",
                    "add",
                    "--quiet",
                    "--no-track",
                    "-b",
                    branch,
                    "--",
                ];
                [new.as_slice(), &[path, commit]].concat()
            }
        };
        let said = self
            .caller
            .say(&Call::new(&self.root, &arguments).for_run())?;
        if !said.is_ok() {
            return Err(self.not_added(place, &said)?);
        }
        let (head, from) = match start {
            Start::Branch(commit) => (commit, format!("{branch}, which was there")),
            Start::Base(base) => (base.commit, base.from),
        };
        Ok(Ready {
            linked: Linked::at(&place.worktree, &self.common)?,
            head,
            from,
            status: None,
        })
    }

    /// Why git made no worktree. What can be mended is mended, and then it is worth another try.
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
            return Ok(Trouble::passing("somebody else has just made the branch"));
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
        let branch = refname::branch(&place.branch);
        for worktree in self.worktrees()? {
            let is_here = worktree.path == place.worktree;
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
                        "the worktree {} is gone, but locked ({reason}); say git worktree unlock if it is to be made again",
                        shown(&worktree.path)
                    )));
                }
                let arguments = ["worktree", "unlock", "--", worktree.path.as_str()];
                self.caller
                    .act(&Call::new(&self.root, &arguments).for_run())?;
            }
        }
        self.prune()?;
        Ok(Trouble::passing(format!(
            "git still remembers a worktree at {} that is gone",
            shown(&place.worktree)
        )))
    }

    /// Finishes what git was killed at: everything was there but the files.
    fn finish_worktree(&self, linked: &Linked, place: &Place) -> Result<(), Trouble> {
        let branch = refname::branch(&place.branch);
        if self.resolve(&branch)?.is_none() {
            let path = linked.path.as_str();
            let arguments = ["worktree", "remove", "--force", "--force", "--", path];
            self.caller
                .act(&Call::new(&self.root, &arguments).for_run())?;
            return Err(Trouble::passing("a worktree was begun without its branch"));
        }
        for arguments in [
            ["symbolic-ref", "HEAD", &branch].as_slice(),
            &[
                "reset",
                "--quiet",
                "--hard",
                "--no-recurse-submodules",
                "HEAD",
            ],
            &["worktree", "unlock", "--", "."],
        ] {
            self.caller
                .act(&Call::new(&linked.path, arguments).for_run())?;
        }
        Ok(())
    }

    /// A worktree that was there, if it is what it should be (Z-7).
    fn used_again(&self, linked: Linked, place: &Place, origin: &Origin) -> Result<Ready, Trouble> {
        let mut status = Status::of(&self.caller, &linked.path)?;
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
                    "the worktree {where_} is at {what}, not on the branch '{}'; say git switch there",
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
        if linked.has(MERGING) && linked.merge_head().is_none() {
            // A merge of ours was cut off before it came to anything.
            self.make_clean(&linked, "HEAD")?;
            status.entries.clear();
        }
        files::remove_leftover(&linked.git.join(MERGING));
        Ok(Ready {
            linked,
            head,
            from: format!("{}, which was there", place.branch),
            status: Some(status),
        })
    }

    /// An error if a branch that was there has nothing in common with its source (Z-7).
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
        let source = refname::branch(&origin.source);
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
        let status = Status::of(&self.caller, &linked.path)?;
        self.add_all(linked, &status, &copied::of(linked))?;
        self.commit(linked, &message)?;
        self.head_of(linked).map(Some)
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
        let mark = linked.git.join(MERGING);
        let mut is_moved = false;
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
                is_moved |= !said.stdout.text().contains("Already up to date");
                continue;
            }
            let status = Status::of(&self.caller, &linked.path)?;
            prepared.conflicts = status.unmerged();
            if prepared.conflicts.is_empty() {
                return Err(self.not_merged(linked, wanted, place, &said));
            }
            prepared.head = status.head.unwrap_or(prepared.head);
            prepared.merging = Some(wanted.clone());
            files::remove_leftover(&mark);
            return Ok(prepared);
        }
        if is_moved {
            prepared.head = self.head_of(linked)?;
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
        self.caller.say(&Call::new(&linked.path, &arguments))
    }

    fn not_merged(&self, linked: &Linked, wanted: &Wanted, place: &Place, said: &Said) -> Trouble {
        let trouble = said.trouble();
        let advice = if self.is_shallow && said.text().contains("unrelated histories") {
            "; this is a shallow clone: say git fetch --unshallow"
        } else {
            ""
        };
        // A merge that did not begin leaves nothing behind.
        if linked.merge_head().is_none() && trouble.lasting != Lasting::Passing {
            files::remove_leftover(&linked.git.join(MERGING));
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

/// What is wanted, by its commit.
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

/// The ref that stands in the way of another one, by what git says of it (B-28).
pub(super) fn clash_in(words: &str) -> Option<&str> {
    let (before, _) = words.split_once("' exists; cannot create")?;
    let (_, name) = before.rsplit_once('\'')?;
    Some(name.strip_prefix("refs/heads/").unwrap_or(name))
}

/// Tells of two branches that cannot both be.
pub(super) fn clash_message(branch: &str, other: &str) -> String {
    format!(
        "the branch '{branch}' cannot be made, because there is a branch '{other}' and git has no branch below another; rename one of them"
    )
}
