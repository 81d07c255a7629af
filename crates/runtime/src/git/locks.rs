//! Locks that a git left which was killed: git itself never removes them, and whoever needs the ref waits for ever.
//!
//! Only locks of branches, of our own refs and of linked worktrees are removed, never those of the main checkout. A lock counts as left
//! when no process has it open and no git lives that could be its owner, or when it is old. Any other is named, with what to do.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use beads_ralph_core::engine::Trouble;
use camino::{Utf8Path, Utf8PathBuf};

use super::occupants;
use crate::repo::shown;
use crate::{os::clock, os::files};

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
    match occupants::holder_of(lock.as_std_path()) {
        Some(holder) => format!("{what}; {holder} has it open; wait until it ends, or end it"),
        None => {
            format!("{what}; no process has it open; if no git runs here, remove it: rm '{path}'")
        }
    }
}

/// Whether a lock was left by a git that was killed: no git lives that could be its owner, or it is old. Nobody sets the time of a change.
fn is_left(lock: &Utf8Path, stale: Duration) -> bool {
    let is_old = || age(lock).is_some_and(|age| age >= stale);
    occupants::holder_of(lock.as_std_path()).is_none() && (occupants::is_no_other_git() || is_old())
}

/// Removes a lock that was left in a worktree where nobody works, and waits for one that another git may hold.
pub(super) fn clear(lock: &Utf8Path, is_of_worktree: bool, stale: Duration) -> Result<(), Trouble> {
    let until = clock::monotonic() + stale;
    while fs::symlink_metadata(lock).is_ok() {
        let is_held = occupants::holder_of(lock.as_std_path()).is_some();
        let is_free = is_of_worktree && occupants::can_see() && !is_held;
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
