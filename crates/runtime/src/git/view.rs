//! The user's settings of git as they were at the start, which our git reads instead of what an agent may have made of them (C-2).
//!
//! A *view* is a git directory beside the repository's own: its objects and refs are links to the repository's, and its config, ignore
//! rules, attributes and hooks are copies. Git takes it by `GIT_COMMON_DIR`.
//!
//! All processes that are at work in a repository share one view, so that none takes for the user's what the agents of another wrote.
//! Whoever uses it holds a lock in it. The first takes it anew, unless a process was killed: then its run resumes with the settings from its start.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use beads_ralph_core::engine::Trouble;
use camino::{Utf8Path, Utf8PathBuf};

use super::locks::wait_for;
use super::user_settings::{self, Setup};
use crate::os::files::{self, FileError, Lock};
use crate::os::process::Units;
use crate::repo::shown;

/// Where what is ours lies, below the git directory that all worktrees share.
pub(super) const HOME: &str = "beads-ralph";

/// How long somebody waits for another process that takes a view.
const PATIENCE: Duration = Duration::from_mins(2);

/// What of the repository is seen through the view, there or not.
const SEEN: [&str; 5] = ["objects", "refs", "packed-refs", "logs", "worktrees"];

/// What the view replaces or hides. Everything else is visible through it, such as what a filter keeps there.
const OWN: [&str; 14] = [
    HOME,
    "branches",
    "config",
    "config.worktree",
    "description",
    "grafts",
    "hooks",
    "index",
    "info",
    "modules",
    "rebase-apply",
    "rebase-merge",
    "remotes",
    "sequencer",
];

/// The files that say how git works; nobody changes them while the view is used.
const GUARDED: [&str; 6] = [
    "config",
    user_settings::GLOBAL,
    user_settings::EXCLUDES,
    user_settings::ATTRIBUTES,
    "info/exclude",
    "info/attributes",
];

/// How many files there may be among the hooks.
const MAX_HOOKS: usize = 1000;

/// The settings of git as they were at the start.
#[derive(Debug)]
pub(crate) struct View {
    home: Utf8PathBuf,
    is_sparse: bool,
    is_after_a_kill: bool,
    /// What its files looked like when it was opened.
    seen: Vec<Option<Look>>,
    /// That we use it.
    user: User,
}

/// A file's state, which nobody changes without its time of change.
type Look = (u64, u64, i64, i64);

#[derive(Debug)]
struct User {
    path: Utf8PathBuf,
    _lock: Lock,
}

impl Drop for User {
    fn drop(&mut self) {
        files::remove_leftover(&self.path);
    }
}

impl View {
    /// The view of the repository at a root, whose git directory is known.
    pub(crate) fn open(units: &Units, root: &Utf8Path, common: &Utf8Path) -> Result<Self, Trouble> {
        let base = common.join(HOME);
        let users = base.join("users");
        files::create_directory(&users).map_err(|error| broken(&error))?;
        let _turn = wait_for(&base.join("view.lock"), PATIENCE, || {
            "another process is reading git's settings".to_owned()
        })?;
        let home = base.join("view");
        let others = files::names(&users).map_err(|error| broken(&error))?;
        let user = User::new(&users)?;
        let is_after_a_kill = forget_dead(&users, &others);
        if others.is_empty() || !home.join("config").is_file() {
            let setup = Setup::of(units, root, common)?;
            take(&setup, common, &home).map_err(|error| broken(&error))?;
        }
        Ok(Self {
            seen: look(&home),
            is_after_a_kill,
            is_sparse: user_settings::is_sparse(&home),
            home,
            user,
        })
    }

    /// The directory that git takes for the one that all worktrees share.
    pub(crate) fn home(&self) -> &Utf8Path {
        &self.home
    }

    pub(crate) fn global(&self) -> Utf8PathBuf {
        self.home.join(user_settings::GLOBAL)
    }

    /// Whether somebody who used it was killed: nobody looked at what agents did then.
    pub(crate) fn is_after_a_kill(&self) -> bool {
        self.is_after_a_kill
    }

    pub(crate) fn is_sparse(&self) -> bool {
        self.is_sparse
    }

    /// An error if somebody has changed how git works since this was opened.
    pub(crate) fn check(&self) -> Result<(), Trouble> {
        if look(&self.home) == self.seen && self.user.path.exists() {
            return Ok(());
        }
        // Whoever comes next takes it anew.
        drop(files::remove_directory(&self.home));
        Err(Trouble::for_run(format!(
            "git's settings in {} were changed during the run, which only this program may do; check what your agents did, then run again",
            shown(&self.home)
        )))
    }
}

impl User {
    fn new(users: &Utf8Path) -> Result<Self, Trouble> {
        static N_USERS: AtomicU64 = AtomicU64::new(0);
        let number = N_USERS.fetch_add(1, Ordering::Relaxed);
        let path = users.join(format!("{}-{number}", std::process::id()));
        let lock = files::lock(&path).map_err(|error| broken(&error))?;
        let lock = lock.ok_or_else(|| Trouble::passing(format!("{path} is locked")))?;
        Ok(Self { path, _lock: lock })
    }
}

/// Removes what users left that were killed, and says whether there were any. From now on we are the one who keeps the view.
fn forget_dead(users: &Utf8Path, others: &[String]) -> bool {
    let mut is_any = false;
    for path in others.iter().map(|other| users.join(other)) {
        if let Ok(Some(_lock)) = files::lock(&path) {
            files::remove_leftover(&path);
            is_any = true;
        }
    }
    is_any
}

/// Makes a view of what holds now.
fn take(setup: &Setup, common: &Utf8Path, home: &Utf8Path) -> Result<(), FileError> {
    if fs::symlink_metadata(home).is_ok() {
        files::remove_directory(home)?;
    }
    files::create_directory(&home.join("info"))?;
    // Git writes no log below a link that leads nowhere.
    files::create_directory(&common.join("logs"))?;
    let mut seen: Vec<String> = SEEN.map(str::to_owned).to_vec();
    let others = files::names(common)?.into_iter();
    seen.extend(others.filter(|name| !SEEN.contains(&name.as_str()) && is_seen(name)));
    for name in seen {
        files::link(&common.join(&name), &home.join(&name))?;
    }
    if !setup.has_hooks_elsewhere {
        copy_hooks(&common.join("hooks"), &home.join("hooks"))?;
    }
    for (name, bytes) in &setup.files {
        files::write_atomic(&home.join(name), bytes)?;
    }
    Ok(())
}

/// Copies hooks, and what links among them lead to.
fn copy_hooks(from: &Utf8Path, to: &Utf8Path) -> Result<(), FileError> {
    let entries = from.read_dir_utf8().into_iter().flatten().flatten();
    let hooks = entries.filter(|entry| !entry.file_name().ends_with(".sample"));
    files::create_directory(to)?;
    for hook in hooks.take(MAX_HOOKS) {
        if let Ok(real) = hook.path().canonicalize_utf8() {
            files::copy_over(&real, &to.join(hook.file_name()))?;
        }
    }
    Ok(())
}

fn is_seen(name: &str) -> bool {
    let is_state = ["HEAD", "_MSG", ".lock"]
        .iter()
        .any(|end| name.ends_with(end));
    !is_state && !OWN.contains(&name) && !name.starts_with("sharedindex.")
}

fn look(home: &Utf8Path) -> Vec<Option<Look>> {
    let look = |name: &&str| {
        let metadata = fs::symlink_metadata(home.join(name)).ok()?;
        Some((
            metadata.ino(),
            metadata.len(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        ))
    };
    GUARDED.iter().map(look).collect()
}

fn broken(error: &FileError) -> Trouble {
    Trouble::for_run(format!("cannot save a copy of git's settings: {error}"))
}
