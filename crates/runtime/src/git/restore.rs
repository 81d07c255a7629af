//! Making a worktree be a commit again, with nothing lost (Z-39).
//!
//! What is there is first committed beside the branch and kept under a ref. A repository that somebody made inside of the worktree is
//! kept as far as git keeps it, and is not removed; nor is what is ignored, ours, or copied in.

use beads_ralph_core::engine::{CommitId, Trouble};

use super::call::Call;
use super::prepare::FULL_NAME;
use super::site::Linked;
use super::status::{OURS, Status};
use super::{Git, copied, guard, refs};
use crate::os::files;
use crate::ports::Place;

impl Git {
    pub(super) fn restore_place(
        &self,
        place: &Place,
        commit: &CommitId,
        attempt: u32,
    ) -> Result<Option<CommitId>, Trouble> {
        guard::mend_head(&place.worktree, &self.common, &place.branch);
        let linked = Linked::at(&place.worktree, &self.common)?;
        linked.check_nobody_works()?;
        linked.remove_stale_locks(&self.branch_lock(&place.branch), self.settings.stale_lock)?;
        let status = self.caller.look(&linked)?;
        let branch = refs::branch(&place.branch);
        let keeper = refs::interrupted(&place.bead, attempt);
        let mut refs = self.refs(&[&branch, &keeper])?;
        let (head, kept) = (refs.remove(&branch), refs.remove(&keeper));
        let found = Found {
            linked: &linked,
            status: &status,
            branch: head,
            kept,
        };
        let kept = self.keep_state(&found, commit, &keeper, attempt)?;
        self.reset(&found, &branch, commit)?;
        Ok(kept)
    }

    /// Keeps what would be lost; what is kept under that name already stays reachable from it.
    fn keep_state(
        &self,
        found: &Found<'_>,
        commit: &CommitId,
        keeper: &str,
        attempt: u32,
    ) -> Result<Option<CommitId>, Trouble> {
        let copied = copied::of(found.linked);
        let merging = found.linked.merge_head().map(CommitId);
        let is_dirty = found.status.work(&copied).next().is_some() || merging.is_some();
        let heads = [&found.status.head, &found.branch, &merging];
        let mut parents: Vec<CommitId> = Vec::new();
        for head in heads.into_iter().flatten() {
            let is_safe = self.contains(commit, head)?;
            if (is_dirty || !is_safe) && !parents.contains(head) {
                parents.push(head.clone());
            }
        }
        if parents.is_empty() && !is_dirty {
            return Ok(found.kept.clone());
        }
        if !is_dirty && let ([only], None) = (parents.as_slice(), &found.kept) {
            self.set_ref(keeper, only)?;
            return Ok(Some(only.clone()));
        }
        let tree = self.tree_of_everything(found, &copied)?;
        if let Some(kept) = &found.kept
            && self.is_same(kept, &tree, &parents)?
        {
            return Ok(Some(kept.clone()));
        }
        parents.extend(found.kept.clone());
        let message = format!("What attempt {attempt} had done when it was interrupted");
        let state = self.commit_tree(&tree, &parents, &message)?;
        self.set_ref(keeper, &state)?;
        Ok(Some(state))
    }

    /// The tree of all the files, conflicts and all.
    fn tree_of_everything(&self, found: &Found<'_>, copied: &[String]) -> Result<String, Trouble> {
        let linked = found.linked;
        self.add_all(linked, found.status, copied)?;
        let said = self.caller.act(&Call::inside(linked, &["write-tree"]))?;
        Ok(said.line())
    }

    /// Whether a commit that is kept holds just this.
    fn is_same(&self, kept: &CommitId, tree: &str, parents: &[CommitId]) -> Result<bool, Trouble> {
        let name = format!("{kept}^{{tree}}");
        if self.resolve(&name)?.is_none_or(|known| known.0 != tree) {
            return Ok(false);
        }
        for parent in parents {
            if !self.contains(kept, parent)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn reset(&self, found: &Found<'_>, branch: &str, commit: &CommitId) -> Result<(), Trouble> {
        let Found { linked, status, .. } = found;
        let act = |arguments: &[&str]| {
            let call = Call::inside(linked, arguments);
            self.caller.act(&call).map(drop)
        };
        match linked.unfinished() {
            Some("a rebase") => act(&["rebase", "--quit"]).or_else(|_| act(&["am", "--quit"]))?,
            Some(_) => act(&["bisect", "reset", "HEAD"])?,
            None => {}
        }
        let is_on_branch = status
            .branch
            .as_ref()
            .is_some_and(|name| refs::branch(name) == branch);
        if !is_on_branch {
            self.set_ref_if_absent(branch, commit, found.branch.is_some())?;
            act(&["symbolic-ref", "HEAD", branch])?;
        }
        self.make_clean(linked, &commit.0)?;
        files::remove_leftover(&linked.own.join(super::prepare::MERGING));
        Ok(())
    }

    fn set_ref_if_absent(
        &self,
        name: &str,
        commit: &CommitId,
        is_there: bool,
    ) -> Result<(), Trouble> {
        if is_there {
            Ok(())
        } else {
            self.set_ref(name, commit)
        }
    }

    /// Makes all files be those of a commit; ignored files, ours and those that were copied in stay.
    pub(super) fn make_clean(&self, linked: &Linked, commit: &str) -> Result<(), Trouble> {
        let arguments = [
            "reset",
            "--quiet",
            "--hard",
            "--no-recurse-submodules",
            commit,
        ];
        self.caller.act(&Call::inside(linked, &arguments))?;
        let copied = copied::of(linked);
        let left_out = OURS.into_iter().chain(copied.iter().map(String::as_str));
        let left_out: Vec<String> = left_out
            .map(|path| format!("--exclude=/{}", escaped(path)))
            .collect();
        let mut arguments = vec!["clean", "--quiet", "--force", "-d"];
        arguments.extend(left_out.iter().map(String::as_str));
        self.caller.act(&Call::inside(linked, &arguments))?;
        let is_name = commit.len() >= FULL_NAME;
        let at = is_name.then(|| CommitId(commit.to_owned()));
        linked.index_is_at(at.as_ref());
        linked.give_index(true)?;
        self.put_submodules_back(linked)
    }

    pub(super) fn commit_tree(
        &self,
        tree: &str,
        parents: &[CommitId],
        message: &str,
    ) -> Result<CommitId, Trouble> {
        let mut arguments = self.identity().options().to_vec();
        arguments.extend(["commit-tree", "--no-gpg-sign", tree, "-m", message]);
        for parent in parents {
            arguments.extend(["-p", &parent.0]);
        }
        let said = self.caller.act(&Call::new(&self.root, &arguments))?;
        Ok(CommitId(said.line()))
    }
}

#[derive(Debug)]
struct Found<'a> {
    linked: &'a Linked,
    status: &'a Status,
    branch: Option<CommitId>,
    kept: Option<CommitId>,
}

/// A path as a pattern of `.gitignore` that stands for nothing else.
fn escaped(path: &str) -> String {
    let special = |character: char| matches!(character, '*' | '?' | '[' | '\\' | ' ' | '!' | '#');
    path.chars()
        .flat_map(|character| {
            special(character)
                .then_some('\\')
                .into_iter()
                .chain([character])
        })
        .collect()
}
