//! What `git status` says of a worktree: what is checked out, and what is not committed.

use std::ops::Deref;

use beads_ralph_core::engine::{CommitId, Trouble};
use camino::Utf8Path;

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
    /// What is checked out; nothing before the first commit.
    pub head: Option<CommitId>,
    pub branch: Option<String>,
    /// What differs from the commit, ignored files apart.
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
    /// The index has something else than the commit.
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
