//! What a directory of work looks like: whether it changed, what is checked out, what was not committed.
//!
//! In a git repository git is asked, so that ignored files do not count. Elsewhere every file counts, by its size and the
//! time of its last change; beads need no git (Z-29).

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use camino::{Utf8Path, Utf8PathBuf};
use twox_hash::XxHash3_64;

use crate::repo;
use crate::unit::{Captured, Ending, Units};

/// How long git may take to say what changed.
const GIT_LIMIT: Duration = Duration::from_mins(2);

/// How many files a sentence names.
const MAX_NAMED: usize = 5;

/// What is ours and no work: nobody's change to it counts.
const OURS: [&str; 3] = [".git", ".ralph", ".beads"];

/// What a directory looked like, to be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The commit that was checked out.
    pub head: Option<String>,
    files: u64,
}

/// A directory of work.
#[derive(Debug, Clone, Copy)]
pub struct Tree<'a> {
    units: &'a Units,
    root: &'a Utf8Path,
    is_git: bool,
}

impl<'a> Tree<'a> {
    /// Looks whether it belongs to a git repository.
    pub fn at(root: &'a Utf8Path, units: &'a Units) -> Self {
        Self {
            units,
            root,
            is_git: repo::root_of(root).is_some(),
        }
    }

    /// The commit that is checked out; nothing without git or before the first commit.
    pub fn head(&self) -> Option<String> {
        let head = self.git(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
        let head = str::from_utf8(&head.head).ok()?.trim();
        (!head.is_empty()).then(|| head.to_owned())
    }

    /// What it looks like now.
    pub fn snapshot(&self) -> Snapshot {
        let head = self.head();
        let files = match self.status() {
            Some(status) => self.changed_files(&status),
            None => self.all_files(),
        };
        Snapshot { head, files }
    }

    /// Why what is checked out is not just a commit (Z-29): something is not committed, ignored files apart, or git does not
    /// say. What cannot be known is no reason to believe it.
    pub fn is_not_a_commit(&self) -> Option<String> {
        let (Some(_), Some(status)) = (self.head(), self.status()) else {
            return Some(
                "git does not say what is checked out and whether all of it is committed"
                    .to_owned(),
            );
        };
        let files = paths(&status.head);
        let named: Vec<&str> = files.iter().take(MAX_NAMED).map(String::as_str).collect();
        let more = if files.len() > named.len() {
            ", …"
        } else {
            ""
        };
        let reason = format!("Not everything is committed: {}{more}", named.join(", "));
        (status.n_bytes > 0).then_some(reason)
    }

    fn status(&self) -> Option<Captured> {
        // Ours is left out, so that a log that we write is no change of the agent's.
        self.git(&[
            "status",
            "--porcelain",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            "--",
            ".",
            ":(exclude,top).ralph",
            ":(exclude,top).beads",
        ])
    }

    fn git(&self, arguments: &[&str]) -> Option<Captured> {
        if !self.is_git {
            return None;
        }
        let argv = [&["git", "--no-optional-locks"], arguments].concat();
        let ended = self.units.output(&argv, self.root, GIT_LIMIT).ok()?;
        (ended.ending == Ending::Exited(0) && ended.stopped.is_none()).then_some(ended.stdout)
    }

    /// The state of what differs from the commit. Of very many files only the first are looked at one by one; that there are
    /// others, and which, is in the hash of what git said.
    fn changed_files(&self, status: &Captured) -> u64 {
        let top = repo::root_of(self.root).unwrap_or_else(|| self.root.to_owned());
        let mut look = status.sha256.clone().into_bytes();
        for path in paths(&status.head) {
            describe(&top.join(path), &mut look);
        }
        XxHash3_64::oneshot(&look)
    }

    fn all_files(&self) -> u64 {
        let mut look = Vec::new();
        let mut pending: Vec<Utf8PathBuf> = vec![self.root.to_owned()];
        while let Some(directory) = pending.pop() {
            let entries = directory.read_dir_utf8().into_iter().flatten().flatten();
            let mut paths: Vec<Utf8PathBuf> = entries
                .map(|entry| entry.path().to_owned())
                .filter(|path| !OURS.contains(&path.file_name().unwrap_or_default()))
                .collect();
            paths.sort();
            for path in paths {
                describe(&path, &mut look);
                let kind = fs::symlink_metadata(&path).map(|metadata| metadata.is_dir());
                if kind.unwrap_or(false) {
                    pending.push(path);
                }
            }
        }
        XxHash3_64::oneshot(&look)
    }
}

/// The paths of `git status --porcelain -z`.
fn paths(status: &[u8]) -> Vec<String> {
    let entries = status.split(|byte| *byte == 0);
    entries
        .filter_map(|entry| entry.get(3..))
        .map(|path| String::from_utf8_lossy(path).into_owned())
        .collect()
}

fn describe(path: &Utf8Path, look: &mut Vec<u8>) {
    look.extend_from_slice(path.as_str().as_bytes());
    look.push(0);
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return;
    };
    if metadata.is_dir() {
        return;
    }
    let changed = metadata.modified().ok();
    let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    look.extend_from_slice(&metadata.len().to_le_bytes());
    look.extend_from_slice(&changed.unwrap_or_default().as_nanos().to_le_bytes());
}
