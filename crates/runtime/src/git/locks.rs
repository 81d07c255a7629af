//! Locks that a git left which was killed: git itself never removes them, and whoever needs the ref waits for ever.
//!
//! Only locks of branches, of our own refs and of linked worktrees are removed, never those of the main checkout. A lock counts as left
//! when it is old and no process has it open.

use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::occupants;
use crate::{clock, files};

/// A lock this old, that nobody holds open in a place where nobody works, was left by a git that was killed.
const STALE: Duration = Duration::from_secs(10);

/// Where locks may be removed, below the git directory that all worktrees share.
const PLACES: [&str; 3] = ["refs/heads", "refs/beads-ralph", "worktrees"];

/// Removes the lock that git complains of, if it was left; git can then be asked again.
pub(super) fn remove_named(words: &str, common: &Utf8Path) {
    for lock in named(words) {
        let is_place = PLACES
            .iter()
            .any(|place| lock.starts_with(common.join(place)));
        if is_place && is_left(&lock) {
            files::remove_leftover(&lock);
        }
    }
}

/// Whether a lock was left by a git that was killed.
pub(super) fn is_left(lock: &Utf8Path) -> bool {
    age(lock).is_some_and(|age| age >= STALE) && !occupants::is_open(lock.as_std_path())
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

/// How long ago a file was written.
fn age(file: &Utf8Path) -> Option<Duration> {
    let written = fs::metadata(file).ok()?.modified().ok()?;
    let written = jiff::Timestamp::try_from(written).ok()?;
    Duration::try_from(clock::wall().duration_since(written)).ok()
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
