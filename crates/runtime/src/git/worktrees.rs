//! Listing worktrees and branches, looking at them, and removing them.

use std::fs;
use std::time::Duration;

use beads_ralph_core::engine::{CommitId, Trouble};
use camino::{Utf8Path, Utf8PathBuf};

use super::call::{Call, Caller};
use super::locks::{steadily, wait_for};
use super::site::{Linked, Site};
use super::status::{OURS, is_below};
use super::view::{HOME, View};
use super::{Git, Settings, copied, refs};
use crate::os::files::{self, FileError};
use crate::os::process::Units;
use crate::ports::Place;
use crate::repo::shown;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worktree {
    /// Where it is, or was.
    pub path: Utf8PathBuf,
    pub head: Option<CommitId>,
    pub branch: Option<String>,
    pub locked: Option<String>,
    /// Whether git would forget it: it is gone.
    pub is_prunable: bool,
    pub is_main: bool,
}

impl Worktree {
    /// The branch by its full name.
    pub(super) fn branch_ref(&self) -> Option<String> {
        self.branch.as_deref().map(refs::branch)
    }
}

impl Git {
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
        let full = refs::branch(name);
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

    /// Makes git forget a missing worktree, or one that was only begun.
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
                "{path} was not removed: it is locked; see `git worktree list --verbose`"
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
            let branch = self.resolve(&refs::branch(&place.branch))?;
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
        for name in [refs::branch(branch), remote] {
            let arguments = ["merge-base", &name, &head.0];
            let said = self.caller.say(&Call::new(&self.root, &arguments))?;
            if said.is_ok() {
                return Ok(Some(CommitId(said.line())));
            }
        }
        Ok(None)
    }
}

/// How long somebody waits for another who looks at the same place.
const PATIENCE: Duration = Duration::from_mins(2);

/// What a directory of work looks like.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) head: Option<String>,
    /// What differs from it, what is ours left out, from the root of the worktree.
    pub(crate) changed: Vec<String>,
}

/// Looks at the worktree at a path: that of a repository, whose main checkout is known, or this itself.
pub(crate) fn look(units: &Units, path: &Utf8Path, home: &Utf8Path) -> Result<Sight, Trouble> {
    let common = common_of(home).ok_or_else(|| no_repository(home))?;
    let caller = Caller::new(units).in_repository(home, &common, &Settings::default())?;
    let linked = place(path, home, &common)?;
    let _turn = wait_for(&linked.own.join("turn"), PATIENCE, || {
        "another process is looking at the same files".to_owned()
    })?;
    let status = caller.look(&linked)?;
    let is_ours = |path: &str| OURS.into_iter().any(|ours| is_below(path, ours));
    let changed = status.entries.into_iter().map(|entry| entry.path);
    Ok(Sight {
        head: status.head.map(|head| head.0),
        changed: changed.filter(|path| !is_ours(path)).collect(),
    })
}

/// Keeps the user's settings of git as they are now, for as long as this is held.
pub(crate) fn hold(units: &Units, home: &Utf8Path) -> Option<View> {
    View::open(units, home, &common_of(home)?).ok()
}

/// The git directory of a main checkout, by what lies there.
fn common_of(home: &Utf8Path) -> Option<Utf8PathBuf> {
    let link = home.join(".git");
    let git = if link.is_dir() {
        link
    } else if link.is_file() {
        let text = fs::read_to_string(&link).ok()?;
        home.join(text.trim().strip_prefix("gitdir:")?.trim())
    } else {
        home.to_owned()
    };
    let is_one = git.join("HEAD").is_file() && git.join("objects").is_dir();
    is_one.then(|| git.canonicalize_utf8().ok())?
}

fn place(path: &Utf8Path, home: &Utf8Path, common: &Utf8Path) -> Result<Linked, Trouble> {
    let trees = common.join(HOME).join("trees");
    let is_main = path.canonicalize_utf8().ok() == home.canonicalize_utf8().ok();
    if !is_main {
        let linked = Linked::at(path, common)?;
        let own = trees.join(format!("of-{}", linked.git.file_name().unwrap_or_default()));
        seed(&linked.index(), &own)?;
        return Ok(Linked { own, ..linked });
    }
    let own = trees.join("main");
    // What git knows of the files is learned once; it may be a lot to read.
    seed(&common.join("index"), &own)?;
    Ok(Linked {
        path: path.to_owned(),
        git: common.to_owned(),
        common: common.to_owned(),
        own,
    })
}

fn seed(from: &Utf8Path, own: &Utf8Path) -> Result<(), Trouble> {
    let index = own.join("index");
    let made = files::create_directory(own);
    made.map_err(|error| Trouble::for_run(error.to_string()))?;
    if !index.exists()
        && let Ok(bytes) = fs::read(from)
    {
        let written = files::write_passing(&index, &bytes);
        written.map_err(|error| Trouble::for_run(error.to_string()))?;
    }
    Ok(())
}

fn no_repository(home: &Utf8Path) -> Trouble {
    Trouble::for_run(format!("{} is not a git repository", shown(home)))
}
