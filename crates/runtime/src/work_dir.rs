//! What a directory of work looks like: whether it changed, what is checked out, what was not committed.
//!
//! In a git repository git is asked, by an index of ours, so that ignored files do not count and hidden ones do. Elsewhere every file counts, by its size and the
//! time of its last change; beads need no git (Z-29).

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use camino::{Utf8Path, Utf8PathBuf};
use twox_hash::XxHash3_64;

use crate::git::{self, Sight, View};
use crate::os::process::{Ending, Units};
use crate::repo;

/// How long git may take to say what changed.
const GIT_LIMIT: Duration = Duration::from_mins(2);

/// How many files a sentence names.
const MAX_NAMED: usize = 5;

/// What is ours and no work: nobody's change to it counts.
const OURS: [&str; 3] = [".git", ".ralph", ".beads"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub head: Option<String>,
    files: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct Tree<'a> {
    units: &'a Units,
    root: &'a Utf8Path,
    home: &'a Utf8Path,
}

/// Git's settings, kept as they are for as long as this is held: what an agent sets meanwhile changes nothing that trees say (C-2).
#[derive(Debug)]
pub struct Kept(#[expect(dead_code, reason = "it is held, not read")] Option<View>);

impl<'a> Tree<'a> {
    /// A directory, which may be in the main checkout of a repository, whose root is given, or in a worktree of it.
    pub fn at(root: &'a Utf8Path, home: &'a Utf8Path, units: &'a Units) -> Self {
        Self { units, root, home }
    }

    pub fn keep_settings(&self) -> Kept {
        Kept(self.top().and_then(|_| git::hold(self.units, self.home)))
    }

    /// The commit that is checked out; nothing without git or before the first commit.
    pub fn head(&self) -> Option<String> {
        self.top()?;
        let argv = ["git", "rev-parse", "--verify", "--quiet", "HEAD"];
        let ended = self.units.output(&argv, self.root, GIT_LIMIT).ok()?;
        let is_said = ended.ending == Ending::Exited(0) && ended.stopped.is_none();
        let head = str::from_utf8(&ended.stdout.head).ok()?.trim();
        (is_said && !head.is_empty()).then(|| head.to_owned())
    }

    pub fn snapshot(&self) -> Snapshot {
        match self.sight() {
            Some(sight) => Snapshot {
                files: self.changed_files(&sight),
                head: sight.head,
            },
            None => Snapshot {
                head: self.head(),
                files: self.all_files(),
            },
        }
    }

    /// Why what is checked out is not just a commit (Z-29): something is not committed, ignored files apart, or git does not
    /// say. What is unknown counts as uncommitted.
    pub fn is_not_a_commit(&self) -> Option<String> {
        let sight = self.sight().filter(|sight| sight.head.is_some());
        let Some(sight) = sight else {
            return Some(
                "git cannot tell what is checked out and whether everything is committed"
                    .to_owned(),
            );
        };
        let files = &sight.changed;
        let named: Vec<&str> = files.iter().take(MAX_NAMED).map(String::as_str).collect();
        let more = if files.len() > named.len() {
            ", …"
        } else {
            ""
        };
        let reason = format!("Not everything is committed: {}{more}", named.join(", "));
        (!files.is_empty()).then_some(reason)
    }

    fn top(&self) -> Option<Utf8PathBuf> {
        repo::root_of(self.root)
    }

    /// What git says of it, as far as that is in the directory.
    fn sight(&self) -> Option<Sight> {
        let top = self.top()?;
        let mut sight = git::look(self.units, &top, self.home).ok()?;
        let root = self.root.canonicalize_utf8().ok()?;
        let inside = root.strip_prefix(&top).ok()?;
        sight
            .changed
            .retain(|path| Utf8Path::new(path).starts_with(inside));
        Some(sight)
    }

    /// The state of what differs from the commit.
    fn changed_files(&self, sight: &Sight) -> u64 {
        let top = self.top().unwrap_or_else(|| self.root.to_owned());
        let mut look = Vec::new();
        for path in &sight.changed {
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
