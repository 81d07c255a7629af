//! Bringing a verified commit into the target branch (Z-11).
//!
//! It is merged without any checkout, always by a merge commit, and the branch is moved only if it is still where it was.
//! Whoever loses that race merges again.

use std::sync::PoisonError;
use std::time::Duration;

use beads_ralph_core::engine::{CommitId, Lasting, Trouble};

use super::call::{Call, parts};
use super::locks::steadily;
use super::{Git, add, refs};
use crate::ports::Integrated;
use crate::repo::shown;

/// How often a merge is tried while others move the target.
const MAX_TRIES: u32 = 30;

/// The pause between two tries grows by this.
const PAUSE: Duration = Duration::from_millis(5);

/// What git says to a command that it does not know the options of.
const USAGE: i32 = 129;

#[derive(Debug)]
struct Target {
    name: String,
    full: String,
    /// Where it is, or would start.
    head: CommitId,
    is_there: bool,
    has_commit: bool,
    checked_out: Option<String>,
}

enum Merged {
    Tree(String),
    Conflict(Vec<String>),
}

impl Git {
    pub(super) fn integrate_commit(
        &self,
        target: &str,
        source: &str,
        commit: &CommitId,
        message: &str,
    ) -> Result<Integrated, Trouble> {
        // Those of this process take turns, which is cheaper than to lose.
        let _turn = self
            .integrating
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for attempt in 0..MAX_TRIES {
            if let Some(integrated) = self.try_integrate(target, source, commit, message)? {
                return Ok(integrated);
            }
            std::thread::sleep(PAUSE * attempt);
        }
        Err(Trouble::passing(format!(
            "the branch '{target}' keeps moving: other processes commit to it"
        )))
    }

    /// Nothing, when somebody else was faster.
    fn try_integrate(
        &self,
        name: &str,
        source: &str,
        commit: &CommitId,
        message: &str,
    ) -> Result<Option<Integrated>, Trouble> {
        let target = self.target(name, source, commit)?;
        if target.has_commit {
            return self.was_there(&target, commit);
        }
        if let Some(place) = &target.checked_out {
            return Err(Trouble::occupied(format!(
                "the branch '{name}' is checked out at {}, and a checked-out branch is never moved; set another one with integration.target",
                shown(place.as_str().into())
            )));
        }
        let tree = match self.merge_trees(&target.head, commit)? {
            Merged::Tree(tree) => tree,
            Merged::Conflict(files) => {
                let target = target.head;
                return Ok(Some(Integrated::Conflict { target, files }));
            }
        };
        let parents = [target.head.clone(), commit.clone()];
        let merge = self.commit_tree(&tree, &parents, message)?;
        let is_moved = self.move_target(&target, &merge)?;
        Ok(is_moved.then_some(Integrated::In {
            commit: merge,
            was_there: false,
        }))
    }

    /// The target as it is, and whether the commit is in it. Mostly it is there and the commit is not, so git is first asked for just
    /// that.
    fn target(&self, name: &str, source: &str, commit: &CommitId) -> Result<Target, Trouble> {
        let full = refs::branch(name);
        let without = format!("--no-contains={commit}");
        let (mut found, mut has_commit) = (self.find_target(&full, &[&without])?, false);
        if found.is_none() {
            found = self.find_target(&full, &[])?;
            // Not because the first question left it out: somebody may have made the branch since.
            if let Some((head, _)) = &found {
                has_commit = self.contains(head, commit)?;
            }
        }
        if let Some((head, checked_out)) = found {
            return Ok(Target {
                name: name.to_owned(),
                full,
                head,
                is_there: true,
                has_commit,
                checked_out,
            });
        }
        let head = self.base(source)?.commit;
        Ok(Target {
            name: name.to_owned(),
            full,
            is_there: false,
            has_commit: self.contains(&head, commit)?,
            head,
            checked_out: None,
        })
    }

    fn find_target(
        &self,
        full: &str,
        filter: &[&str],
    ) -> Result<Option<(CommitId, Option<String>)>, Trouble> {
        let format = "--format=%(refname) %(objectname) %(worktreepath)";
        let arguments = [&["for-each-ref", format], filter, &[full]].concat();
        let call = Call::new(&self.root, &arguments).of_worktrees().for_run();
        let answer = steadily(|| self.caller.ask(&call))?;
        let answer = String::from_utf8_lossy(&answer);
        let mut lines = answer.lines().map(|line| line.splitn(3, ' '));
        let line = lines.find(|line| line.clone().next() == Some(full));
        Ok(line.map(|mut line| {
            let head = line.nth(1).unwrap_or_default();
            let place = line.next().filter(|place| !place.is_empty());
            (CommitId(head.to_owned()), place.map(str::to_owned))
        }))
    }

    /// The answer for a commit that is in the target; the branch is made if it is not there.
    fn was_there(&self, target: &Target, commit: &CommitId) -> Result<Option<Integrated>, Trouble> {
        if !target.is_there && !self.move_target(target, &target.head)? {
            return Ok(None);
        }
        Ok(Some(Integrated::In {
            commit: self.came_in_by(target, commit)?,
            was_there: true,
        }))
    }

    /// The merge by which a commit came in; the target's head, if it came in with something else.
    fn came_in_by(&self, target: &Target, commit: &CommitId) -> Result<CommitId, Trouble> {
        let without = format!("^{commit}");
        let arguments = [
            "rev-list",
            "--first-parent",
            "--parents",
            &target.head.0,
            &without,
            "--",
        ];
        let answer = self.caller.ask(&Call::new(&self.root, &arguments))?;
        let answer = String::from_utf8_lossy(&answer);
        let brought = answer.lines().find_map(|line| {
            let (merge, parents) = line.split_once(' ')?;
            let is_brought = parents.split(' ').skip(1).any(|parent| parent == commit.0);
            is_brought.then(|| CommitId(merge.to_owned()))
        });
        Ok(brought.unwrap_or_else(|| target.head.clone()))
    }

    fn merge_trees(&self, head: &CommitId, commit: &CommitId) -> Result<Merged, Trouble> {
        let arguments = [
            "merge-tree",
            "--write-tree",
            "-z",
            "--name-only",
            "--no-messages",
            &head.0,
            &commit.0,
        ];
        let said = self.caller.say(&Call::new(&self.root, &arguments))?;
        let text = said.stdout.text();
        let mut parts = parts(text.as_bytes());
        match (said.code, parts.next()) {
            (0, Some(tree)) => Ok(Merged::Tree(tree.trim().to_owned())),
            (1, Some(_)) => Ok(Merged::Conflict(parts.collect())),
            (USAGE, _) => Err(Trouble::for_run(
                "git 2.38 or newer is needed to merge without a checkout; update git, or use another integration",
            )),
            _ => Err(said.trouble()),
        }
    }

    /// Moves the target, unless somebody else did meanwhile.
    fn move_target(&self, target: &Target, commit: &CommitId) -> Result<bool, Trouble> {
        let nothing = "0".repeat(target.head.0.len());
        let old = if target.is_there {
            &target.head.0
        } else {
            &nothing
        };
        let arguments = [
            "update-ref",
            "-m",
            "beads-ralph",
            &target.full,
            &commit.0,
            old,
        ];
        let said = self
            .caller
            .say(&Call::new(&self.root, &arguments).for_run())?;
        if said.is_ok() {
            return Ok(true);
        }
        let words = said.text();
        if let Some(other) = add::clash_in(&words) {
            return Err(Trouble::for_run(add::clash_message(&target.name, other)));
        }
        let trouble = said.trouble();
        match trouble.lasting {
            Lasting::Passing => Ok(false),
            _ => Err(trouble),
        }
    }
}
