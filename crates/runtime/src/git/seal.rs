//! Committing what an attempt left, and saying what it made (Z-5).

use beads_ralph_core::engine::{CommitId, Trouble};

use super::call::{Call, parts};
use super::site::Linked;
use super::status::{Entry, Status, is_below};
use super::{Git, copied, guard, refs};
use crate::ports::{Place, Sealed};
use crate::repo::shown;

/// How many pairs of commits are remembered with what differs between them, and how many files there may be to each.
const MAX_REMEMBERED_CHANGES: usize = 100;
const MAX_REMEMBERED_FILES: usize = 1000;

/// The mode of a link to another repository.
const REPOSITORY: &str = "160000";

impl Git {
    pub(super) fn seal_place(
        &self,
        place: &Place,
        base: &CommitId,
        message: &str,
    ) -> Result<Sealed, Trouble> {
        guard::mend_head(&place.worktree, &self.common, &place.branch);
        let linked = Linked::at(&place.worktree, &self.common)?;
        linked.remove_stale_locks(&self.branch_lock(&place.branch), self.settings.stale_lock)?;
        let copied = copied::of(&linked);
        let status = self.caller.look(&linked)?;
        let head = self.on_branch(&linked, place, &status)?;
        let unresolved = self.unresolved(&linked, &status)?;
        if !unresolved.is_empty() {
            return self.sealed(&linked, Some(head), base, unresolved);
        }
        if let Some(path) = status.repositories(&copied).next() {
            let refused = Some(inside(path.trim_end_matches('/')));
            let sealed = self.sealed(&linked, Some(head), base, Vec::new())?;
            return Ok(Sealed { refused, ..sealed });
        }
        let has_work = status.work(&copied).next().is_some();
        let is_merging = linked.merge_head().is_some();
        let head = if has_work || is_merging {
            if let Some(path) = self.add_all(&linked, &status, &copied)?.first() {
                let sealed = self.sealed(&linked, Some(head), base, Vec::new())?;
                let refused = Some(not_for_git(path));
                return Ok(Sealed { refused, ..sealed });
            }
            self.commit(&linked, message)?;
            None
        } else {
            Some(head)
        };
        let sealed = self.sealed(&linked, head, base, Vec::new())?;
        check_nothing_copied(&sealed, &copied)?;
        self.put_as_checked_out(&linked)?;
        linked.index_is_at(Some(&sealed.commit));
        linked.give_index(true)?;
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
        let branch = refs::branch(&place.branch);
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
                "the agent left the worktree {where_} {what}, and its own branch '{}' does not have that work",
                place.branch
            )));
        };
        for arguments in [
            ["update-ref", &branch, &head.0, &old.0].as_slice(),
            &["symbolic-ref", "HEAD", &branch],
        ] {
            self.caller.act(&Call::inside(linked, arguments))?;
        }
        Ok(head)
    }

    /// Puts everything that is work into our index, and gives what git does not take.
    pub(super) fn add_all(
        &self,
        linked: &Linked,
        status: &Status,
        copied: &[String],
    ) -> Result<Vec<String>, Trouble> {
        let work: Vec<&Entry> = status.work(copied).collect();
        self.caller.put(linked, &work)
    }

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
        let said = self.caller.say(&Call::inside(linked, &arguments))?;
        let is_nothing = said.code == 1 && said.stderr.trim().is_empty();
        if said.is_ok() || is_nothing {
            Ok(())
        } else {
            Err(said.trouble())
        }
    }

    pub(super) fn head_of(&self, linked: &Linked) -> Result<CommitId, Trouble> {
        let arguments = ["rev-parse", "--verify", "HEAD"];
        let said = self.caller.act(&Call::inside(linked, &arguments))?;
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
        let changes = self.between(base, &commit)?;
        Ok(Sealed {
            refused: changes.repositories.first().map(|path| inside(path)),
            changed_files: changes.files,
            commit,
            tree,
            unresolved,
        })
    }

    pub(super) fn files_between(
        &self,
        base: &CommitId,
        commit: &CommitId,
    ) -> Result<Vec<String>, Trouble> {
        Ok(self.between(base, commit)?.files)
    }

    /// What differs between two commits. It never changes, so it is remembered for a while.
    fn between(&self, base: &CommitId, commit: &CommitId) -> Result<Between, Trouble> {
        if base == commit {
            return Ok(Between::default());
        }
        let key = (base.clone(), commit.clone());
        if let Some(known) = self.memory().changes.get(&key) {
            return Ok(known.clone());
        }
        let arguments = [
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-renames",
            "--no-ext-diff",
            &base.0,
            &commit.0,
        ];
        let answer = self.caller.ask(&Call::new(&self.root, &arguments))?;
        let changes = Between::read(&answer);
        if changes.files.len() <= MAX_REMEMBERED_FILES {
            let mut memory = self.memory();
            if memory.changes.len() >= MAX_REMEMBERED_CHANGES {
                memory.changes.clear();
            }
            memory.changes.insert(key, changes.clone());
        }
        Ok(changes)
    }

    fn tree_of(&self, linked: &Linked, commit: &CommitId) -> Result<String, Trouble> {
        let tree = format!("{commit}^{{tree}}");
        let arguments = ["rev-parse", "--verify", &tree];
        let said = self.caller.act(&Call::inside(linked, &arguments))?;
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
        let answer = self.caller.ask(&Call::inside(linked, &arguments))?;
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
            "what is checked out at {} ({}) does not descend from the commit that the work started from ({}): the agent dropped commits",
            shown(&linked.path),
            head.short(),
            base.short()
        )))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Between {
    pub files: Vec<String>,
    /// The repositories that were none before: no submodules of the user's.
    repositories: Vec<String>,
}

impl Between {
    /// What `git diff-tree --raw -z` says.
    fn read(answer: &[u8]) -> Self {
        let mut found = Self::default();
        let mut parts = parts(answer);
        while let (Some(modes), Some(path)) = (parts.next(), parts.next()) {
            let mut modes = modes.trim_start_matches(':').split(' ');
            let (before, after) = (modes.next(), modes.next());
            if after == Some(REPOSITORY) && before != Some(REPOSITORY) {
                found.repositories.push(path.clone());
            }
            found.files.push(path);
        }
        found
    }
}

/// Why work with a repository inside is not taken (C-2).
fn inside(path: &str) -> String {
    format!(
        "'{path}' is a separate git repository, and a commit would contain only a link to it; remove its '.git' or all of '{path}' (from your commits too), or ignore it"
    )
}

/// Why work with a name that git keeps for itself is not taken.
fn not_for_git(path: &str) -> String {
    format!(
        "'{path}' cannot be committed, because git reserves such names ('.git' in any spelling, or one that another system reads as it); rename or remove it, or ignore it"
    )
}

/// An error if the agent committed what was copied in: it may be secret, and it is never to be pushed.
fn check_nothing_copied(sealed: &Sealed, copied: &[String]) -> Result<(), Trouble> {
    let is_copied = |path: &&String| copied.iter().any(|directory| is_below(path, directory));
    match sealed.changed_files.iter().find(is_copied) {
        None => Ok(()),
        Some(path) => Err(Trouble::for_bead(format!(
            "the agent committed '{path}', which worktrees.copy put there and must not be committed; add it to .gitignore"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_2_only_repositories_that_are_new_are_found() {
        let answer = b":100644 160000 a b T\0turned\0:160000 160000 a b M\0lib\0:000000 160000 0 b A\0new one\0:160000 000000 a 0 D\0gone\0";
        let found = Between::read(answer);
        assert_eq!(found.files, ["turned", "lib", "new one", "gone"]);
        assert_eq!(found.repositories, ["turned", "new one"]);
    }
}
