//! What `git status` says of a worktree: what is checked out, what is not committed, and which conflicts are not resolved.
//!
//! A file that git holds for unmerged counts as resolved when it changed since the merge stopped and contains no conflict markers: people
//! and agents often forget `git add`. A file that git holds for merged counts as unresolved while the markers are still there. Both are
//! read from the index of whoever works there; what is committed is the content of the files.

use std::fs;
use std::ops::Deref;

use beads_ralph_core::engine::{CommitId, Trouble};
use camino::Utf8Path;

use super::Git;
use super::call::{Call, Caller, parts};
use super::site::Linked;
use crate::os::process::Units;

/// What is ours and no work of an agent, wherever it is written.
pub(super) const OURS: [&str; 2] = [".ralph", ".beads"];

/// The files that say how git treats those beside them.
const ATTRIBUTES: &str = ".gitattributes";

/// How many files a sentence names.
const MAX_NAMED: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Status {
    pub head: Option<CommitId>,
    pub branch: Option<String>,
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// From the root of the worktree; a directory ends in `/`.
    pub path: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Staged,
    Changed,
    /// Two sides of a merge do not agree.
    Unmerged,
    /// Git does not know it.
    Untracked,
    /// A repository inside, which is never looked into.
    Repository,
}

impl Status {
    /// What our index says of a worktree; git then starts nothing in submodules.
    pub(super) fn by_index<U>(caller: &Caller<U>, linked: &Linked) -> Result<Self, Trouble>
    where
        U: Deref<Target = Units>,
    {
        // What is not committed inside of a submodule cannot be committed here. What is ignored is only looked at for attributes.
        let arguments = [
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "--no-renames",
            "--untracked-files=all",
            "--ignored=matching",
            "--ignore-submodules=dirty",
        ];
        Ok(read(&caller.ask(&Call::inside(linked, &arguments))?))
    }

    /// The files that are the agent's: neither ours, nor copied in.
    pub(super) fn work<'a>(&'a self, copied: &'a [String]) -> impl Iterator<Item = &'a Entry> {
        let is_work = move |entry: &&Entry| !is_left_out(&entry.path, copied);
        self.entries.iter().filter(is_work)
    }

    /// The repositories inside that are no submodules.
    pub(super) fn repositories<'a>(
        &'a self,
        copied: &'a [String],
    ) -> impl Iterator<Item = &'a str> {
        let found = self
            .work(copied)
            .filter(|entry| entry.kind == Kind::Repository);
        found.map(|entry| entry.path.as_str())
    }

    /// Why the worktree is not just a commit.
    pub(super) fn dirt(&self, copied: &[String]) -> Option<String> {
        let mut files = self.work(copied).map(|entry| entry.path.as_str());
        let named: Vec<&str> = files.by_ref().take(MAX_NAMED).collect();
        let more = if files.next().is_some() { ", …" } else { "" };
        let reason = format!("Not everything is committed: {}{more}", named.join(", "));
        (!named.is_empty()).then_some(reason)
    }
}

/// Whether a file is ours or was copied in.
pub(super) fn is_left_out(path: &str, copied: &[String]) -> bool {
    let copied = copied.iter().map(String::as_str);
    OURS.into_iter()
        .chain(copied)
        .any(|directory| is_below(path, directory))
}

/// Whether a path is this file, or inside of this directory.
pub(super) fn is_below(path: &str, directory: &str) -> bool {
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn read(answer: &[u8]) -> Status {
    let mut status = Status {
        head: None,
        branch: None,
        entries: Vec::new(),
    };
    for line in parts(answer) {
        let (kind, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match kind {
            "#" => read_header(rest, &mut status),
            "1" => {
                let kind = if rest.starts_with('.') {
                    Kind::Changed
                } else {
                    Kind::Staged
                };
                push(&mut status, rest.splitn(8, ' ').nth(7), kind);
            }
            "u" => push(&mut status, rest.splitn(10, ' ').nth(9), Kind::Unmerged),
            "?" if rest.ends_with('/') => push(&mut status, Some(rest), Kind::Repository),
            "?" => push(&mut status, Some(rest), Kind::Untracked),
            // Attributes say how files are compared, so those that are no part of the commit are no secret.
            "!" if is_attributes(rest) => push(&mut status, Some(rest), Kind::Untracked),
            _ => {}
        }
    }
    status
}

fn is_attributes(path: &str) -> bool {
    Utf8Path::new(path).file_name() == Some(ATTRIBUTES) && !path.ends_with('/')
}

fn push(status: &mut Status, path: Option<&str>, kind: Kind) {
    let entry = path.map(|path| Entry {
        path: path.to_owned(),
        kind,
    });
    status.entries.extend(entry);
}

fn read_header(header: &str, status: &mut Status) {
    match header.split_once(' ') {
        Some(("branch.oid", "(initial)")) => {}
        Some(("branch.oid", commit)) => status.head = Some(CommitId(commit.to_owned())),
        Some(("branch.head", "(detached)")) => {}
        Some(("branch.head", branch)) => status.branch = Some(branch.to_owned()),
        _ => {}
    }
}

/// A file this large is not looked through.
const MAX_LOOKED_AT: u64 = 64 << 20;

impl Git {
    /// The files whose conflicts nobody solved.
    pub(super) fn unresolved(
        &self,
        linked: &Linked,
        status: &Status,
    ) -> Result<Vec<String>, Trouble> {
        if status.entries.is_empty() && linked.merge_head().is_none() {
            // The files are just the commit, whatever an index says.
            return Ok(Vec::new());
        }
        let unmerged = self.caller.unmerged(linked);
        if !unmerged.is_empty() {
            let edited = self.edited(linked, &unmerged)?;
            let is_open =
                |path: &String| !edited.contains(path) || has_markers(&linked.path.join(path));
            return Ok(unmerged.into_iter().filter(is_open).collect());
        }
        if linked.merge_head().is_none() {
            return Ok(Vec::new());
        }
        let were = self.once_unmerged(linked)?;
        let has_markers = |path: &String| has_markers(&linked.path.join(path));
        Ok(were.into_iter().filter(has_markers).collect())
    }

    /// Which of these files are not as the merge left them. Git keeps what it left as `AUTO_MERGE`.
    fn edited(&self, linked: &Linked, unmerged: &[String]) -> Result<Vec<String>, Trouble> {
        if !linked.has("AUTO_MERGE") {
            return Ok(Vec::new());
        }
        let literal: Vec<String> = unmerged
            .iter()
            .map(|path| format!(":(literal){path}"))
            .collect();
        let mut arguments = vec!["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff"];
        // Nothing is started in a repository inside.
        arguments.extend(["--ignore-submodules=dirty", "AUTO_MERGE", "--"]);
        arguments.extend(literal.iter().map(String::as_str));
        let answer = self
            .caller
            .ask(&Call::with_their_index(linked, &arguments))?;
        Ok(parts(&answer).collect())
    }

    /// The files that were in conflict before somebody added them.
    fn once_unmerged(&self, linked: &Linked) -> Result<Vec<String>, Trouble> {
        let arguments = ["ls-files", "--resolve-undo", "-z"];
        let answer = self
            .caller
            .ask(&Call::with_their_index(linked, &arguments))?;
        let mut paths: Vec<String> = parts(&answer)
            .filter_map(|line| line.split_once('\t').map(|(_, path)| path.to_owned()))
            .collect();
        paths.dedup();
        Ok(paths)
    }
}

/// Whether a file has the lines between which git puts the two sides of a conflict.
fn has_markers(file: &Utf8Path) -> bool {
    let is_small = |metadata: fs::Metadata| metadata.is_file() && metadata.len() <= MAX_LOOKED_AT;
    if !fs::symlink_metadata(file).is_ok_and(is_small) {
        return false;
    }
    let bytes = fs::read(file).unwrap_or_default();
    let has = |mark: &[u8; 7]| {
        let mut lines = bytes.split(|&byte| byte == b'\n');
        lines.any(|line| {
            let rest = line.strip_prefix(mark);
            rest.is_some_and(|rest| {
                rest.first()
                    .is_none_or(|&next| matches!(next, b' ' | b'\r'))
            })
        })
    };
    has(b"<<<<<<<") && has(b">>>>>>>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_5_what_git_says_is_read_whole() {
        let answer = "# branch.oid abc\0# branch.head feature/a b\0\
            1 .M N... 100644 100644 100644 1 1 with space.txt\0\
            1 A. N... 000000 100644 100644 0 1 new\0\
            u UU N... 100644 100644 100644 100644 1 2 3 both sides\0\
            ? a/ü\0? sub/\0? .ralph/x\0? env/x\0\
            ! target/\0! x.o\0! d/.gitattributes\0";
        let status = read(answer.as_bytes());
        assert_eq!(status.head, Some(CommitId("abc".to_owned())));
        assert_eq!(status.branch.as_deref(), Some("feature/a b"));
        let copied = ["env".to_owned()];
        let work: Vec<(&str, Kind)> = (status.work(&copied))
            .map(|entry| (entry.path.as_str(), entry.kind))
            .collect();
        let expected = [
            ("with space.txt", Kind::Changed),
            ("new", Kind::Staged),
            ("both sides", Kind::Unmerged),
            ("a/ü", Kind::Untracked),
            ("sub/", Kind::Repository),
            ("d/.gitattributes", Kind::Untracked),
        ];
        assert_eq!(work, expected);
        let detached = read(b"# branch.oid (initial)\0# branch.head (detached)\0");
        assert_eq!((detached.head, detached.branch), (None, None));
    }

    #[test]
    fn z_5_a_name_that_begins_like_one_of_ours_is_work() {
        assert!(is_left_out(".ralph", &[]) && is_left_out(".beads/x", &[]));
        assert!(!is_left_out(".ralphs", &[]) && !is_left_out("a/.ralph", &[]));
        let copied = [".env".to_owned()];
        assert!(is_left_out(".env", &copied) && !is_left_out(".envrc", &copied));
    }
}
