//! The worktrees and branches that there are, and removing them.

use beads_ralph_core::engine::{CommitId, Trouble};
use camino::{Utf8Path, Utf8PathBuf};

use super::call::Call;
use super::site::{Linked, Site};
use super::turn::steadily;
use super::{Git, copied, refname};
use crate::os::files::{self, FileError};
use crate::ports::Place;
use crate::repo::shown;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worktree {
    /// Where it is, or was.
    pub path: Utf8PathBuf,
    pub head: Option<CommitId>,
    pub branch: Option<String>,
    /// Why somebody locked it, if so.
    pub locked: Option<String>,
    /// Whether git would forget it: it is gone.
    pub is_prunable: bool,
    pub is_main: bool,
}

impl Worktree {
    /// The branch by its full name.
    pub(super) fn branch_ref(&self) -> Option<String> {
        self.branch.as_deref().map(refname::branch)
    }
}

impl Git {
    /// All worktrees, the main checkout first.
    pub fn worktrees(&self) -> Result<Vec<Worktree>, Trouble> {
        let arguments = ["worktree", "list", "--porcelain", "-z"];
        let answer = steadily(|| {
            let call = Call::new(&self.root, &arguments).of_worktrees();
            self.caller.ask(&call.for_run())
        })?;
        Ok(read(&answer))
    }

    /// Makes git forget worktrees that are gone (L-10).
    pub fn prune(&self) -> Result<(), Trouble> {
        let arguments = ["worktree", "prune", "--expire", "now"];
        let call = Call::new(&self.root, &arguments).of_worktrees().for_run();
        steadily(|| self.caller.act(&call).map(drop))
    }

    /// Removes a branch that is still at a commit and checked out nowhere; `false` when there is no such branch.
    pub fn delete_branch(&self, name: &str, commit: &CommitId) -> Result<bool, Trouble> {
        let full = refname::branch(name);
        match self.resolve(&full)? {
            None => return Ok(false),
            Some(head) if head != *commit => {
                return Err(Trouble::for_bead(format!(
                    "the branch '{name}' is at {}, not at {}; it was left alone",
                    head.short(),
                    commit.short()
                )));
            }
            Some(_) => {}
        }
        let holder = self
            .worktrees()?
            .into_iter()
            .find(|worktree| worktree.branch.as_deref() == Some(name));
        if let Some(holder) = holder {
            return Err(Trouble::for_bead(format!(
                "the branch '{name}' is checked out at {}; it was left alone",
                shown(&holder.path)
            )));
        }
        let arguments = ["update-ref", "-d", &full, &commit.0];
        self.caller
            .act(&Call::new(&self.root, &arguments))
            .map(|_| true)
    }

    /// Removes a worktree that has nothing to lose. It is put aside in one step and then deleted, so that a removal which is cut off is
    /// neither taken for changes that somebody made nor for a directory of somebody else.
    pub(super) fn remove_place(&self, place: &Place) -> Result<(), Trouble> {
        let path = &place.worktree;
        let aside = aside(path);
        remove_aside(&aside)?;
        match Site::look(path, &self.common) {
            Site::Linked(linked) => {
                self.check_removable(&linked, place)?;
                files::rename_directory(path, &aside).map_err(|error| not_removed(&error))?;
                remove_aside(&aside)?;
                if linked.own.exists() {
                    files::remove_directory(&linked.own).map_err(|error| not_removed(&error))?;
                }
                self.prune()
            }
            Site::Free | Site::Stub => self.forget(path),
            Site::Taken(what) => Err(Trouble::for_bead(format!(
                "{} is {what}, not the worktree of {}; it was left alone",
                shown(path),
                place.bead.as_str()
            ))),
        }
    }

    /// Makes git forget a worktree that is not there, or only its beginning.
    fn forget(&self, path: &Utf8Path) -> Result<(), Trouble> {
        let arguments = ["worktree", "remove", "--force", "--", path.as_str()];
        let call = Call::new(&self.root, &arguments).of_worktrees();
        let said = self.caller.say(&call)?;
        if said.is_ok() || said.stderr.contains("is not a working tree") {
            Ok(())
        } else {
            Err(said.trouble())
        }
    }

    fn check_removable(&self, linked: &Linked, place: &Place) -> Result<(), Trouble> {
        let path = shown(&linked.path);
        if linked.has("locked") {
            return Err(Trouble::for_bead(format!(
                "{path} was not removed: somebody locked it; see `git worktree list --verbose`"
            )));
        }
        linked.check_nobody_works()?;
        linked.remove_stale_locks(&self.branch_lock(&place.branch), self.settings.stale_lock)?;
        let status = self.caller.look(linked)?;
        let dirt = status.dirt(&copied::of(linked));
        let dirt = dirt.or_else(|| linked.is_in_the_middle());
        if let Some(dirt) = dirt {
            return Err(Trouble::for_bead(format!("{path} was not removed: {dirt}")));
        }
        if status.branch.is_none()
            && let Some(head) = &status.head
        {
            let branch = self.resolve(&refname::branch(&place.branch))?;
            let is_safe = match &branch {
                Some(branch) => self.contains(branch, head)?,
                None => false,
            };
            if !is_safe {
                return Err(Trouble::for_bead(format!(
                    "{path} was not removed: its commit {} is on no branch",
                    head.short()
                )));
            }
        }
        Ok(())
    }
}

/// Where a worktree is put while it is deleted.
fn aside(worktree: &Utf8Path) -> Utf8PathBuf {
    let name = worktree.file_name().unwrap_or_default();
    worktree.with_file_name(format!(".{name}.beads-ralph-removed"))
}

fn remove_aside(aside: &Utf8Path) -> Result<(), Trouble> {
    if aside.exists() {
        files::remove_directory(aside).map_err(|error| not_removed(&error))?;
    }
    Ok(())
}

fn not_removed(error: &FileError) -> Trouble {
    Trouble::passing(error.to_string())
}

fn read(answer: &[u8]) -> Vec<Worktree> {
    let mut worktrees: Vec<Worktree> = Vec::new();
    for line in super::call::parts(answer) {
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        if word == "worktree" {
            worktrees.push(Worktree {
                path: Utf8PathBuf::from(rest),
                is_main: worktrees.is_empty(),
                ..Worktree::default()
            });
        }
        let Some(worktree) = worktrees.last_mut() else {
            continue;
        };
        match word {
            "HEAD" => worktree.head = Some(CommitId(rest.to_owned())),
            "branch" => {
                let name = rest.strip_prefix("refs/heads/").unwrap_or(rest);
                worktree.branch = Some(name.to_owned());
            }
            "locked" => worktree.locked = Some(rest.to_owned()),
            "prunable" => worktree.is_prunable = true,
            _ => {}
        }
    }
    worktrees
}
