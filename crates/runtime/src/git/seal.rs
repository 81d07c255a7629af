//! Committing what an attempt left, and saying what it made (Z-5).

use beads_ralph_core::engine::{CommitId, Trouble};
use camino::Utf8Path;

use super::call::{Call, parts};
use super::site::Linked;
use super::status::{Kind, Status, is_below};
use super::{Git, copied, refname};
use crate::repo::shown;
use crate::run::{Place, Sealed};

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
            return self.sealed(&linked, head, base, unresolved);
        }
        let has_work = status.work(&copied).next().is_some();
        let is_merging = linked.merge_head().is_some();
        let head = if has_work || is_merging {
            self.unstage(&linked, &status, &copied)?;
            self.add_all(&linked, &status, &copied)?;
            self.commit(&linked, message)?;
            self.head_of(&linked)?
        } else {
            head
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

    /// What there is at a commit, against the base, which must be in it (Z-6, Z-7).
    /// The files that differ between two commits.
    pub(super) fn differing(
        &self,
        at: &Utf8Path,
        base: &CommitId,
        commit: &CommitId,
    ) -> Result<Vec<String>, Trouble> {
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
        let answer = self.caller.ask(&Call::new(at, &arguments))?;
        Ok(parts(&answer).collect())
    }

    fn sealed(
        &self,
        linked: &Linked,
        commit: CommitId,
        base: &CommitId,
        unresolved: Vec<String>,
    ) -> Result<Sealed, Trouble> {
        let mut sealed = Sealed {
            tree: self.tree_on(linked, &commit, base)?,
            commit,
            changed_files: Vec::new(),
            unresolved,
        };
        if sealed.commit != *base {
            sealed.changed_files = self.differing(&linked.path, base, &sealed.commit)?;
        }
        Ok(sealed)
    }

    /// The tree of a commit that goes on from the base. Git is asked for both at once: some commit after the base has it as
    /// a parent.
    fn tree_on(
        &self,
        linked: &Linked,
        commit: &CommitId,
        base: &CommitId,
    ) -> Result<String, Trouble> {
        let tree = format!("{commit}^{{tree}}");
        if commit == base {
            let arguments = ["rev-parse", "--verify", &tree];
            return Ok(self
                .caller
                .act(&Call::new(&linked.path, &arguments))?
                .line());
        }
        let without = format!("^{base}");
        let arguments = ["log", "--format=%H %T %P", &commit.0, &without, "--"];
        let answer = self.caller.ask(&Call::new(&linked.path, &arguments))?;
        let answer = String::from_utf8_lossy(&answer);
        let goes_on = |line: &str| line.split(' ').skip(2).any(|parent| parent == base.0);
        if !answer.lines().any(goes_on) {
            return Err(Trouble::for_bead(format!(
                "what is checked out at {} ({}) does not go on from where the work began ({}): the agent has dropped commits",
                shown(&linked.path),
                commit.short(),
                base.short()
            )));
        }
        let is_commit = |line: &&str| line.starts_with(commit.0.as_str());
        let line = answer.lines().find(is_commit).unwrap_or_default();
        Ok(line.split(' ').nth(1).unwrap_or_default().to_owned())
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
