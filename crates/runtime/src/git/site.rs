//! What is at the path of a worktree, found out without asking git.
//!
//! Everything that is done to a worktree begins here, so that nothing is ever done to the main checkout, nor to what
//! belongs to somebody else.

use std::fs;
use std::io::ErrorKind;
use std::time::Duration;

use beads_ralph_core::engine::Trouble;
use camino::{Utf8Path, Utf8PathBuf};

use super::view::HOME;
use super::{guard, locks};
use crate::repo::shown;

/// The reason that git gives for its lock while it creates a worktree.
pub(super) const INITIALIZING: &str = "initializing";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Site {
    Free,
    Linked(Linked),
    /// The beginning of a worktree of this repository: only the link, and nothing behind it.
    Stub,
    Taken(String),
}

/// A worktree of this repository that is not the main one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Linked {
    pub path: Utf8PathBuf,
    pub git: Utf8PathBuf,
    pub common: Utf8PathBuf,
    pub own: Utf8PathBuf,
}

impl Site {
    pub(super) fn look(path: &Utf8Path, common: &Utf8Path) -> Self {
        if fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink()) && path.exists() {
            return Self::Taken("a link to something else".to_owned());
        }
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return without_anything(path),
            Err(error) => {
                return Self::Taken(format!("something unreadable: {error}"));
            }
        };
        if !metadata.is_dir() {
            return Self::Taken("a file".to_owned());
        }
        let link = path.join(".git");
        match fs::symlink_metadata(&link) {
            Ok(metadata) if metadata.is_file() => behind(path, &link, common),
            Ok(_) => Self::Taken("a separate git repository".to_owned()),
            Err(_) if n_entries(path) == Some(0) => Self::Free,
            Err(_) => Self::Taken("a non-empty directory that is not a worktree".to_owned()),
        }
    }
}

/// A link that leads nowhere is something, too.
fn without_anything(path: &Utf8Path) -> Site {
    if fs::symlink_metadata(path).is_ok() {
        Site::Taken("a link that leads nowhere".to_owned())
    } else {
        Site::Free
    }
}

fn behind(path: &Utf8Path, link: &Utf8Path, common: &Utf8Path) -> Site {
    let text = fs::read_to_string(link).unwrap_or_default();
    let named = text.trim().strip_prefix("gitdir:").map(str::trim);
    let git = named.map(|named| path.join(named));
    let is_whole = |git: &Utf8Path| git.join("HEAD").is_file() && git.join("commondir").is_file();
    let is_ours = |git: &Utf8Path| {
        let home = git.parent().and_then(|home| home.canonicalize_utf8().ok());
        home.is_some_and(|home| {
            Ok(home) == common.join("worktrees").canonicalize_utf8().map_err(drop)
        })
    };
    let has_only_link = n_entries(path) == Some(1);
    match git {
        Some(git) if is_ours(&git) && is_whole(&git) => match Linked::of(path, &git, common) {
            Some(linked) => Site::Linked(linked),
            None => Site::Taken(
                "a worktree whose git directory is damaged or belongs to another worktree"
                    .to_owned(),
            ),
        },
        Some(git) if has_only_link && (is_ours(&git) || git.starts_with(common)) => Site::Stub,
        None if has_only_link && text.trim().is_empty() => Site::Stub,
        Some(git) if is_ours(&git) => Site::Taken("a worktree that git no longer knows".to_owned()),
        Some(_) => Site::Taken("a worktree of another repository".to_owned()),
        None => Site::Taken("a directory with a '.git' that git did not write".to_owned()),
    }
}

fn n_entries(path: &Utf8Path) -> Option<usize> {
    Some(fs::read_dir(path).ok()?.take(2).count())
}

impl Linked {
    /// A worktree and its git directory, which must name each other.
    fn of(path: &Utf8Path, git: &Utf8Path, common: &Utf8Path) -> Option<Self> {
        let name = git.file_name()?;
        let git = common.join("worktrees").join(name);
        let own = common.join(HOME).join("worktrees").join(name);
        let linked = Self {
            path: path.to_owned(),
            git,
            common: common.to_owned(),
            own,
        };
        let git = &linked.git;
        let is_directory = fs::symlink_metadata(git).is_ok_and(|it| it.is_dir());
        if !is_directory || !linked.make_safe() || !guard::has_head(git) {
            return None;
        }
        let back = fs::read_to_string(git.join("gitdir")).ok()?;
        let back = git.join(back.trim()).parent()?.canonicalize_utf8().ok()?;
        let is_same = path.canonicalize_utf8().is_ok_and(|path| path == back);
        is_same.then_some(linked)
    }

    /// Our index of it.
    pub(super) fn index(&self) -> Utf8PathBuf {
        self.own.join("index")
    }

    pub(super) fn copied(&self) -> Utf8PathBuf {
        self.own.join("beads-ralph-copied")
    }

    /// The index of whoever works in it.
    pub(super) fn their_index(&self) -> Utf8PathBuf {
        self.git.join("index")
    }

    pub(super) fn at(path: &Utf8Path, common: &Utf8Path) -> Result<Self, Trouble> {
        let what = match Site::look(path, common) {
            Site::Linked(linked) => return Ok(linked),
            Site::Free | Site::Stub => "nothing".to_owned(),
            Site::Taken(what) => what,
        };
        Err(Trouble::for_bead(format!(
            "expected a worktree of this repository at {}, found {what}",
            shown(path)
        )))
    }

    /// Whether git was killed while it made the worktree: it locks it until it is done.
    pub(super) fn is_unfinished(&self) -> bool {
        let reason = fs::read_to_string(self.git.join("locked"));
        reason.is_ok_and(|reason| reason.trim() == INITIALIZING)
    }

    /// Whether there is a file of this name in its git directory.
    pub(super) fn has(&self, name: &str) -> bool {
        self.git.join(name).exists()
    }

    /// What is being merged, while that is not finished.
    pub(super) fn merge_head(&self) -> Option<String> {
        let text = fs::read_to_string(self.git.join("MERGE_HEAD")).ok()?;
        text.lines().next().map(|line| line.trim().to_owned())
    }

    /// What git began here and did not finish, besides a merge.
    pub(super) fn unfinished(&self) -> Option<&'static str> {
        let states = [
            ("rebase-merge", "a rebase"),
            ("rebase-apply", "a rebase"),
            ("BISECT_LOG", "a bisection"),
        ];
        let state = states.into_iter().find(|(name, _)| self.has(name));
        state.map(|(_, what)| what)
    }

    /// Why the worktree is not just a commit, although no file differs.
    pub(super) fn is_in_the_middle(&self) -> Option<String> {
        let merge = self.merge_head().map(|_| "a merge");
        let what = merge.or_else(|| self.unfinished())?;
        Some(format!("Git has not finished {what}"))
    }

    /// An error while anybody is at work in it (Z-7).
    pub(super) fn check_nobody_works(&self) -> Result<(), Trouble> {
        match locks::somebody_in(&self.path) {
            None => Ok(()),
            Some(occupant) => Err(Trouble::occupied(format!(
                "{occupant} is using the worktree {}; end it, or leave the directory",
                shown(&self.path)
            ))),
        }
    }

    /// Removes the locks that a git left which was killed; an error while one that lives has them.
    pub(super) fn remove_stale_locks(
        &self,
        branch_lock: &Utf8Path,
        stale: Duration,
    ) -> Result<(), Trouble> {
        let own = ["index.lock", "HEAD.lock"].map(|name| self.git.join(name));
        let is_there = |lock: &&Utf8Path| fs::symlink_metadata(lock).is_ok();
        let locks = own.iter().map(Utf8PathBuf::as_path).chain([branch_lock]);
        for lock in locks.filter(is_there) {
            self.check_nobody_works()?;
            locks::clear(lock, lock != branch_lock, stale)?;
        }
        Ok(())
    }
}
