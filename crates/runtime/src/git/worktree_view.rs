//! Looking at a worktree whose path somebody else wrote down: whether it is one of this repository, and what is in it.

use beads_ralph_core::engine::{CommitId, Trouble};
use camino::Utf8Path;

use super::call::Call;
use super::site::Site;
use super::{Git, copied, refname};

impl Git {
    /// Whether a path is a worktree of this repository beside the main one (I-11).
    pub fn is_own_worktree(&self, path: &Utf8Path) -> Result<bool, Trouble> {
        let Site::Linked(linked) = Site::look(path, &self.common) else {
            return Ok(false);
        };
        let arguments = ["rev-parse", "--is-inside-work-tree"];
        let said = self.caller.say(&Call::inside(&linked, &arguments))?;
        Ok(said.is_ok() && said.line() == "true")
    }

    /// What is checked out at a path; nothing before the first commit.
    pub fn checked_out_at(&self, path: &Utf8Path) -> Result<Option<CommitId>, Trouble> {
        let arguments = ["rev-parse", "--verify", "--quiet", "HEAD"];
        let said = match Site::look(path, &self.common) {
            Site::Linked(linked) => self.caller.say(&Call::inside(&linked, &arguments))?,
            _ => self.caller.say(&Call::new(path, &arguments).elsewhere())?,
        };
        match said.code {
            0 => Ok(Some(CommitId(said.line()))),
            1 => Ok(None),
            _ => Err(said.trouble()),
        }
    }

    /// What is not committed in a worktree beside the main one. What the user has in the main one is nobody's work.
    pub fn dirt_of(&self, path: &Utf8Path) -> Result<Option<String>, Trouble> {
        let Site::Linked(linked) = Site::look(path, &self.common) else {
            return Ok(None);
        };
        let status = self.at(path, || self.caller.look(&linked))?;
        let dirt = status.dirt(&copied::of(&linked));
        Ok(dirt.or_else(|| linked.is_in_the_middle()))
    }

    /// The commit at which work left a branch.
    pub fn fork_point(&self, branch: &str, head: &CommitId) -> Result<Option<CommitId>, Trouble> {
        let remote = format!("refs/remotes/{}/{branch}", self.settings.remote);
        for name in [refname::branch(branch), remote] {
            let arguments = ["merge-base", &name, &head.0];
            let said = self.caller.say(&Call::new(&self.root, &arguments))?;
            if said.is_ok() {
                return Ok(Some(CommitId(said.line())));
            }
        }
        Ok(None)
    }
}
