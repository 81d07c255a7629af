//! Waiting for worktrees, and removing locks that a killed git left.
//!
//! Claims keep two orchestrators from one bead, but not from one worktree: one of them may just have lost its claim. And git fails when two
//! processes create the same worktree. So whoever changes a worktree holds a system lock, which ends with its process.
//!
//! Git never removes its own stale locks. Only locks of branches, of our own refs and of linked worktrees are removed, never those of the main
//! checkout. A lock counts as stale when no process has it open and no git lives that could be its owner, or when it is old. For any
//! other the error says what to do. Processes are looked up in `/proc` (Z-7): elsewhere, or without permission, none is found.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use beads_ralph_core::engine::{Lasting, Trouble};
use camino::{Utf8Path, Utf8PathBuf};
use twox_hash::XxHash3_64;

use super::Git;
use crate::os::clock;
use crate::os::files::{self, Lock};
use crate::repo::shown;

/// A lock this old, that nobody holds open in a place where nobody works, was left by a git that was killed.
pub(super) const STALE: Duration = Duration::from_secs(10);

/// How often it is looked whether a lock is gone.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Where locks may be removed, below the git directory that all worktrees share.
const PLACES: [&str; 3] = ["refs/heads", "refs/beads-ralph", "worktrees"];

/// Removes the lock that git complains of, if it was left; git can then be asked again. Otherwise the answer is what to say of it.
pub(super) fn remove_named(words: &str, common: &Utf8Path, stale: Duration) -> Option<String> {
    let mut said = None;
    for lock in named(words) {
        let is_place = PLACES
            .iter()
            .any(|place| lock.starts_with(common.join(place)));
        if is_place && is_left(&lock, stale) {
            remove(&lock);
        } else if lock.exists() {
            said = Some(remedy(&lock));
        }
    }
    said
}

/// What to do about a lock that is not ours to remove.
fn remedy(lock: &Utf8Path) -> String {
    let path = shown(lock);
    let what = format!("Unable to create '{path}': File exists");
    match holder_of(lock.as_std_path()) {
        Some(holder) => format!("{what}; {holder} has it open; wait until it ends, or end it"),
        None => {
            format!("{what}; no process has it open; if no git runs here, remove it: rm '{path}'")
        }
    }
}

/// Whether a lock was left by a git that was killed: no git lives that could be its owner, or it is old. Nobody sets the time of a change.
fn is_left(lock: &Utf8Path, stale: Duration) -> bool {
    let is_old = || age(lock).is_some_and(|age| age >= stale);
    holder_of(lock.as_std_path()).is_none() && (is_no_other_git() || is_old())
}

/// Removes a lock that was left in a worktree where nobody works, and waits for one that another git may hold.
pub(super) fn clear(lock: &Utf8Path, is_of_worktree: bool, stale: Duration) -> Result<(), Trouble> {
    let until = clock::monotonic() + stale;
    while fs::symlink_metadata(lock).is_ok() {
        let is_held = holder_of(lock.as_std_path()).is_some();
        let is_free = is_of_worktree && can_see() && !is_held;
        if is_free || is_left(lock, stale) {
            remove(lock);
        } else if is_held || clock::monotonic() >= until {
            return Err(Trouble::passing(remedy(lock)));
        } else {
            std::thread::sleep(LOOK_EVERY);
        }
    }
    Ok(())
}

fn remove(lock: &Utf8Path) {
    let is_directory = fs::symlink_metadata(lock).is_ok_and(|it| it.is_dir());
    if is_directory {
        drop(files::remove_directory(lock));
    } else {
        files::remove_leftover(lock);
    }
}

/// The locks in git's words: `Unable to create '/repo/.git/refs/heads/a.lock': File exists.`
fn named(words: &str) -> impl Iterator<Item = Utf8PathBuf> {
    let quoted = words.split("Unable to create '").skip(1);
    let paths = quoted.filter_map(|rest| Some(rest.split_once("': File exists")?.0));
    let is_lock = |path: &Utf8Path| path.extension() == Some("lock") && path.is_absolute();
    paths
        .map(Utf8PathBuf::from)
        .filter(move |path| is_lock(path))
}

fn age(file: &Utf8Path) -> Option<Duration> {
    let it = fs::symlink_metadata(file).ok()?;
    let changed = Duration::from_secs(u64::try_from(it.ctime()).ok()?);
    let now = clock::wall().as_duration();
    Duration::try_from(now).ok()?.checked_sub(changed)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Occupant {
    pub pid: u32,
    pub name: String,
}

impl std::fmt::Display for Occupant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} ({})", self.pid, self.name)
    }
}

/// A process, other than ourselves and whoever waits for us, whose working directory is here.
pub(super) fn somebody_in(directory: &Utf8Path) -> Option<Occupant> {
    let directory = directory.canonicalize_utf8().ok()?;
    let is_inside = |pid: u32| {
        let place = fs::read_link(format!("/proc/{pid}/cwd"));
        place.is_ok_and(|place| place.starts_with(&directory))
    };
    let found: Vec<u32> = pids().filter(|&pid| is_inside(pid)).collect();
    if found.is_empty() {
        return None;
    }
    let own = own_line();
    // Our direct children are shims, which work nowhere.
    let is_ours = |pid: u32| own.contains(&pid) || parent(pid) == Some(std::process::id());
    let pid = found.into_iter().find(|&pid| !is_ours(pid))?;
    Some(Occupant {
        pid,
        name: name(pid),
    })
}

/// Whether it can be seen here who is at work.
fn can_see() -> bool {
    parent(std::process::id()).is_some()
}

/// The process that has a file open, if there is one.
fn holder_of(file: &Path) -> Option<Occupant> {
    let file = file.canonicalize().ok()?;
    let has_open = |pid: &u32| {
        let open = fs::read_dir(format!("/proc/{pid}/fd"));
        let mut links = open.into_iter().flatten().flatten();
        links.any(|link| fs::read_link(link.path()).is_ok_and(|target| target == file))
    };
    let pid = pids().find(has_open)?;
    Some(Occupant {
        pid,
        name: name(pid),
    })
}

/// Whether no git lives but those that we started ourselves.
fn is_no_other_git() -> bool {
    can_see() && !pids().any(|pid| name(pid).starts_with("git") && !is_ours(pid))
}

/// Whether we started a process, by a shim or without one; what an agent started is further away.
fn is_ours(pid: u32) -> bool {
    let own = Some(std::process::id());
    let above = parent(pid);
    above == own || above.and_then(parent) == own
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// This process, and those that wait for it: the shell that it was started from may stand anywhere.
fn own_line() -> Vec<u32> {
    let mut line = vec![std::process::id()];
    while let Some(above) = line.last().copied().and_then(parent) {
        if above == 0 || line.contains(&above) {
            break;
        }
        line.push(above);
    }
    line
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name is in brackets and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

fn name(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    beads_ralph_core::text::excerpt(name.trim_end())
}

/// How many locks there are. Worktrees that share one wait for each other, and for nothing worse.
const N_LOCKS: u64 = 256;

const PATIENCE: Duration = Duration::from_mins(10);

/// How often it is looked whether it is one's turn.
const TURN_EVERY: Duration = Duration::from_millis(5);

/// How often something is tried while others are at it.
const MAX_TRIES: u32 = 8;

/// The first pause between two tries; each is longer than the one before.
const PAUSE: Duration = Duration::from_millis(20);

impl Git {
    /// Does something to a worktree while nobody else does, a few times if others are in the way. It must be such that doing it again
    /// does no harm.
    pub(super) fn at<T>(
        &self,
        worktree: &Utf8Path,
        act: impl Fn() -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let _turn = self.turn(worktree)?;
        steadily(act)
    }

    /// Waits until nobody else changes a worktree. The turn ends with what this gives.
    fn turn(&self, worktree: &Utf8Path) -> Result<Lock, Trouble> {
        let directory = self.common.join("beads-ralph");
        if !directory.is_dir() {
            let made = files::create_directory(&directory);
            made.map_err(|error| Trouble::for_run(error.to_string()))?;
        }
        let number = XxHash3_64::oneshot(worktree.as_str().as_bytes()) % N_LOCKS;
        let path = directory.join(format!("worktree-{number:03}.lock"));
        wait_for(&path, PATIENCE, || {
            format!("another process is using the worktree {}", shown(worktree))
        })
    }
}

/// Takes a lock of ours that another process may hold for a while.
pub(super) fn wait_for(
    path: &Utf8Path,
    patience: Duration,
    busy: impl FnOnce() -> String,
) -> Result<Lock, Trouble> {
    let until = clock::monotonic() + patience;
    loop {
        match files::lock(path) {
            Ok(Some(lock)) => return Ok(lock),
            Ok(None) if clock::monotonic() >= until => return Err(Trouble::passing(busy())),
            Ok(None) => std::thread::sleep(TURN_EVERY),
            Err(error) => return Err(Trouble::for_run(error.to_string())),
        }
    }
}

/// Tries something a few times while it is others who are in the way.
pub(super) fn steadily<T>(act: impl Fn() -> Result<T, Trouble>) -> Result<T, Trouble> {
    let mut pause = PAUSE;
    for _ in 1..MAX_TRIES {
        match act() {
            Err(trouble) if trouble.lasting == Lasting::Passing => {
                std::thread::sleep(pause);
                pause = pause.mul_f32(1.6);
            }
            answer => return answer,
        }
    }
    act()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l_15_the_lock_that_git_names_is_found_in_its_words() {
        let words = "error: update_ref failed for ref 'HEAD': cannot lock ref 'HEAD': Unable to create '/a b/.git/refs/heads/x.lock': File exists.\n\nAnother git process";
        let found: Vec<Utf8PathBuf> = named(words).collect();
        assert_eq!(found, ["/a b/.git/refs/heads/x.lock"]);
        for nothing in [
            "",
            "Unable to create '/x': File exists.",
            "Unable to create '/x.lock': No space left",
        ] {
            assert_eq!(named(nothing).count(), 0, "{nothing}");
        }
    }
}
