//! Committing what an attempt left, and saying what it made (Z-5).

use beads_ralph_core::engine::{CommitId, Trouble};

use super::call::{Call, parts};
use super::site::Linked;
use super::status::{Kind, Status, is_below};
use super::{Git, copied, refname};
use crate::repo::shown;
use crate::run::{Place, Sealed};

/// How many pairs of commits are remembered with what differs between them, and how many files there may be to each.
const MAX_REMEMBERED_CHANGES: usize = 100;
const MAX_REMEMBERED_FILES: usize = 1000;

impl Git {
    pub(super) fn seal_place(
        &self,
        place: &Place,
        base: &CommitId,
        message: &str,
    ) -> Result<Sealed, Trouble> {
        let linked = Linked::at(&place.worktree, &self.common)?;
        linked.remove_stale_locks(&self.branch_lock(&place.branch));
        let copied = copied::of(&linked);
        let status = Status::of(&self.caller, &linked.path)?;
        let head = self.on_branch(&linked, place, &status)?;
        let unresolved = self.unresolved(&linked, &status)?;
        if !unresolved.is_empty() {
            return self.sealed(&linked, Some(head), base, unresolved);
        }
        let has_work = status.work(&copied).next().is_some();
        let is_merging = linked.merge_head().is_some();
        let head = if has_work || is_merging {
            self.unstage(&linked, &status, &copied)?;
            self.add_all(&linked, &status, &copied)?;
            self.commit(&linked, message)?;
            None
        } else {
            Some(head)
        };
        let sealed = self.sealed(&linked, head, base, Vec::new())?;
        check_nothing_copied(&sealed, &copied)?;
        Ok(sealed)
    }

    /// What is checked out, which must be on the branch. An agent that went on from it without the branch is led back.
    fn on_branch(
        &self,
        linked: &Linked,
        place: &Place,
        status: &Status,
    ) -> Result<CommitId, Trouble> {
        let where_ = shown(&linked.path);
        let Some(head) = status.head.clone() else {
            return Err(Trouble::for_bead(format!(
                "the worktree {where_} has no commit"
            )));
        };
        if status.branch.as_deref() == Some(place.branch.as_str()) {
            return Ok(head);
        }
        let branch = refname::branch(&place.branch);
        let old = self.resolve(&branch)?;
        let is_further = match &old {
            Some(old) => linked.unfinished().is_none() && self.contains(&head, old)?,
            None => false,
        };
        let Some(old) = old.filter(|_| is_further) else {
            let what = match (linked.unfinished(), &status.branch) {
                (Some(what), _) => format!("in {what} that was not finished"),
                (None, Some(branch)) => format!("on the branch '{branch}'"),
                (None, None) => "at a commit without a branch".to_owned(),
            };
            return Err(Trouble::for_bead(format!(
                "the agent left the worktree {where_} {what}, and its own branch '{}' has not got that work",
                place.branch
            )));
        };
        for arguments in [
            ["update-ref", &branch, &head.0, &old.0].as_slice(),
            &["symbolic-ref", "HEAD", &branch],
        ] {
            self.caller.act(&Call::new(&linked.path, arguments))?;
        }
        Ok(head)
    }

    /// Takes what was copied in out of the index, if the agent put it there.
    fn unstage(&self, linked: &Linked, status: &Status, copied: &[String]) -> Result<(), Trouble> {
        let is_copied = |path: &str| copied.iter().any(|directory| is_below(path, directory));
        let staged = status
            .entries
            .iter()
            .filter(|entry| entry.kind == Kind::Staged);
        let staged: Vec<String> = staged
            .filter(|entry| is_copied(&entry.path))
            .map(|entry| format!(":(literal){}", entry.path))
            .collect();
        if staged.is_empty() {
            return Ok(());
        }
        let mut arguments = vec!["reset", "--quiet", "--"];
        arguments.extend(staged.iter().map(String::as_str));
        self.caller
            .act(&Call::new(&linked.path, &arguments))
            .map(drop)
    }

    /// Puts everything that is work into the index. Git is not told to leave out what it ignores anyway: it would take that for a mistake.
    pub(super) fn add_all(
        &self,
        linked: &Linked,
        status: &Status,
        copied: &[String],
    ) -> Result<(), Trouble> {
        let left_out: Vec<String> = status
            .left_out(copied)
            .map(|path| format!(":(exclude,literal){path}"))
            .collect();
        let mut arguments = vec!["add", "--all", "--", "."];
        arguments.extend(left_out.iter().map(String::as_str));
        self.caller
            .act(&Call::new(&linked.path, &arguments))
            .map(drop)
    }

    /// Commits the index. That there is nothing to commit is no error.
    pub(super) fn commit(&self, linked: &Linked, message: &str) -> Result<(), Trouble> {
        let mut arguments = self.identity().options().to_vec();
        arguments.extend([
            "commit",
            "--quiet",
            "--no-verify",
            "--no-gpg-sign",
            "--no-status",
            "--allow-empty-message",
            "--cleanup=whitespace",
            "-m",
            message,
        ]);
        let said = self.caller.say(&Call::new(&linked.path, &arguments))?;
        let is_nothing = said.code == 1 && said.stderr.trim().is_empty();
        if said.is_ok() || is_nothing {
            Ok(())
        } else {
            Err(said.trouble())
        }
    }

    /// What is checked out in a worktree.
    pub(super) fn head_of(&self, linked: &Linked) -> Result<CommitId, Trouble> {
        let arguments = ["rev-parse", "--verify", "HEAD"];
        let said = self.caller.act(&Call::new(&linked.path, &arguments))?;
        Ok(CommitId(said.line()))
    }

    /// What there is against the base, which must be in it (Z-6, Z-7). Where the commit is not known it is what is checked out.
    fn sealed(
        &self,
        linked: &Linked,
        commit: Option<CommitId>,
        base: &CommitId,
        unresolved: Vec<String>,
    ) -> Result<Sealed, Trouble> {
        let (commit, tree) = match commit {
            Some(commit) if commit == *base => {
                let tree = self.tree_of(linked, &commit)?;
                (commit, tree)
            }
            _ => self.head_on(linked, base)?,
        };
        Ok(Sealed {
            changed_files: self.files_between(base, &commit)?,
            commit,
            tree,
            unresolved,
        })
    }

    /// The files that differ between two commits. It never changes, so it is remembered for a while.
    pub(super) fn files_between(
        &self,
        base: &CommitId,
        commit: &CommitId,
    ) -> Result<Vec<String>, Trouble> {
        if base == commit {
            return Ok(Vec::new());
        }
        let key = (base.clone(), commit.clone());
        if let Some(known) = self.memory().changes.get(&key) {
            return Ok(known.clone());
        }
        let arguments = [
            "diff-tree",
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            "--no-ext-diff",
            &base.0,
            &commit.0,
        ];
        let answer = self.caller.ask(&Call::new(&self.root, &arguments))?;
        let files: Vec<String> = parts(&answer).collect();
        if files.len() <= MAX_REMEMBERED_FILES {
            let mut memory = self.memory();
            if memory.changes.len() >= MAX_REMEMBERED_CHANGES {
                memory.changes.clear();
            }
            memory.changes.insert(key, files.clone());
        }
        Ok(files)
    }

    fn tree_of(&self, linked: &Linked, commit: &CommitId) -> Result<String, Trouble> {
        let tree = format!("{commit}^{{tree}}");
        let arguments = ["rev-parse", "--verify", &tree];
        let said = self.caller.act(&Call::new(&linked.path, &arguments))?;
        Ok(said.line())
    }

    /// What is checked out, with its tree; it must go on from the base. Git is asked for all of it at once: the first commit that it lists
    /// is what is checked out, and some commit after the base has that as a parent.
    fn head_on(&self, linked: &Linked, base: &CommitId) -> Result<(CommitId, String), Trouble> {
        let without = format!("^{base}");
        let arguments = [
            "log",
            "--no-show-signature",
            "--format=%H %T %P",
            "HEAD",
            &without,
            "--",
        ];
        let answer = self.caller.ask(&Call::new(&linked.path, &arguments))?;
        let answer = String::from_utf8_lossy(&answer);
        let goes_on = |line: &str| line.split(' ').skip(2).any(|parent| parent == base.0);
        let first = answer.lines().next().and_then(|line| {
            let mut words = line.split(' ').map(str::to_owned);
            Some((CommitId(words.next()?), words.next()?))
        });
        if answer.lines().any(goes_on)
            && let Some(first) = first
        {
            return Ok(first);
        }
        let head = self.head_of(linked)?;
        if head == *base {
            let tree = self.tree_of(linked, &head)?;
            return Ok((head, tree));
        }
        Err(Trouble::for_bead(format!(
            "what is checked out at {} ({}) does not go on from where the work began ({}): the agent has dropped commits",
            shown(&linked.path),
            head.short(),
            base.short()
        )))
    }
}

/// An error if the agent committed what was copied in: it may be secret, and it is never to be pushed.
fn check_nothing_copied(sealed: &Sealed, copied: &[String]) -> Result<(), Trouble> {
    let is_copied = |path: &&String| copied.iter().any(|directory| is_below(path, directory));
    match sealed.changed_files.iter().find(is_copied) {
        None => Ok(()),
        Some(path) => Err(Trouble::for_bead(format!(
            "the agent committed '{path}', which worktrees.copy had put there and which must not be committed; add it to .gitignore"
        ))),
    }
}
