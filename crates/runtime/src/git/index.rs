//! Our index of a worktree (C-2): what is compared and committed is never what somebody's index says of the files.
//!
//! It lies outside the worktree and stays from attempt to attempt, so that git need not read again what did not change. Beside it stands
//! the commit that it was made for. Whoever works in the worktree has a separate index, which gets a copy of ours when a
//! commit was made or restored.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt as _;

use beads_ralph_core::engine::{CommitId, Trouble};
use camino::Utf8Path;
use tempfile::TempDir;

use super::call::{Call, Caller, no_place, parts};
use super::site::Linked;
use super::status::{Entry, Kind, Status};
use crate::os::files;
use crate::os::process::Units;
use crate::repo::shown;

/// The commit that the index was made for.
const AT: &str = "at";

/// What the index of whoever works there looked like when they got it.
const GIVEN: &str = "given";

impl<U: Deref<Target = Units>> Caller<U> {
    /// Looks at a worktree: all that differs from the commit that is checked out.
    pub(super) fn look(&self, linked: &Linked) -> Result<Status, Trouble> {
        let own = files::create_directory(&linked.own);
        own.map_err(|error| Trouble::for_run(error.to_string()))?;
        // Whoever holds the turn is the only one; what lies there is of one that was killed.
        files::remove_leftover(&linked.own.join("index.lock"));
        // What somebody else made of our index is not believed.
        let is_changed = self.is_changed(&linked.index());
        if is_changed.unwrap_or_else(|| self.is_after_a_kill()) {
            files::remove_leftover(&linked.index());
        }
        if self.is_changed(&linked.copied()) == Some(true) {
            return Err(Trouble::for_bead(format!(
                "{} was changed by another program, so it is unknown which files were copied in; check what the agent did, then retry the bead",
                shown(&linked.copied())
            )));
        }
        let at = linked.index_at();
        let guess = head_of(linked);
        if at.is_none() || (guess.is_some() && guess != at) {
            self.take_head(linked)?;
            let status = Status::by_index(self, linked)?;
            linked.index_is_at(status.head.as_ref());
            return Ok(status);
        }
        let status = Status::by_index(self, linked)?;
        if status.head == at {
            return Ok(status);
        }
        self.take_head(linked)?;
        let status = Status::by_index(self, linked)?;
        linked.index_is_at(status.head.as_ref());
        Ok(status)
    }

    /// Makes our index be that of the commit which is checked out; what it knows of files that are the same stays.
    fn take_head(&self, linked: &Linked) -> Result<(), Trouble> {
        let said = self.say(&Call::inside(linked, &["read-tree", "--reset", "HEAD"]))?;
        if !said.is_ok() {
            // A damaged one is made anew, and there may be no commit yet.
            files::remove_leftover(&linked.index());
            let again = self.say(&Call::inside(linked, &["read-tree", "--reset", "HEAD"]))?;
            if !again.is_ok() {
                self.act(&Call::inside(linked, &["read-tree", "--empty"]))?;
            }
        }
        self.leave_out(linked)
    }

    /// In a sparse checkout, files that were left out of the worktree are no deleted files.
    fn leave_out(&self, linked: &Linked) -> Result<(), Trouble> {
        if !self.is_sparse() || !linked.their_index().is_file() {
            return Ok(());
        }
        let arguments = ["ls-files", "-t", "-z"];
        let answer = self.ask(&Call::with_their_index(linked, &arguments))?;
        let marked = parts(&answer).filter_map(|line| Some(line.strip_prefix("S ")?.to_owned()));
        let is_absent = |path: &String| fs::symlink_metadata(linked.path.join(path)).is_err();
        let mut marked: Vec<String> = marked.filter(is_absent).collect();
        if marked.is_empty() {
            return Ok(());
        }
        // A path outside the commit would be an error.
        let known = self.ask(&Call::inside(linked, &["ls-files", "-z"]))?;
        let known: BTreeSet<String> = parts(&known).collect();
        marked.retain(|path| known.contains(path));
        self.feed(
            linked,
            &["update-index", "--skip-worktree", "-z", "--stdin"],
            &marked,
        )
        .map(drop)
    }

    /// Puts files into our index as they are, or takes them out of it when they are gone. The answer is what git does not take for its name.
    pub(super) fn put(&self, linked: &Linked, entries: &[&Entry]) -> Result<Vec<String>, Trouble> {
        let is_file = |entry: &&&Entry| entry.kind != Kind::Repository;
        let paths = entries
            .iter()
            .filter(is_file)
            .map(|entry| entry.path.clone());
        // Git does not look for a file beyond a link.
        let (beyond, there): (Vec<String>, Vec<String>) =
            paths.partition(|path| is_beyond_a_link(&linked.path, path));
        let remove = ["update-index", "--force-remove", "-z", "--stdin"];
        self.feed(linked, &remove, &beyond)?;
        let update = [
            "update-index",
            "--add",
            "--remove",
            "--replace",
            "-z",
            "--stdin",
        ];
        let words = self.feed(linked, &update, &there)?;
        let ignored = words
            .lines()
            .filter_map(|line| line.strip_prefix("Ignoring path "));
        Ok(ignored.map(str::to_owned).collect())
    }

    /// Tells git of paths; the answer is what it complained of.
    pub(super) fn feed(
        &self,
        linked: &Linked,
        arguments: &[&str],
        paths: &[String],
    ) -> Result<String, Trouble> {
        if paths.is_empty() {
            return Ok(String::new());
        }
        let directory = TempDir::new().map_err(|error| no_place(&error))?;
        let input = Utf8Path::from_path(directory.path());
        let input = input.ok_or_else(|| no_place(&"its path is not UTF-8"))?;
        let input = input.join("paths");
        let text: String = paths.iter().flat_map(|path| [path, "\0"]).collect();
        files::write_passing(&input, text.as_bytes()).map_err(|error| no_place(&error))?;
        let call = Call {
            input: Some(&input),
            ..Call::inside(linked, arguments)
        };
        Ok(self.act(&call)?.stderr)
    }

    /// The files of which whoever works there has two versions that do not agree.
    pub(super) fn unmerged(&self, linked: &Linked) -> Vec<String> {
        if linked.is_given() {
            return Vec::new();
        }
        let arguments = ["ls-files", "-u", "-z"];
        // An index that cannot be read says nothing.
        let answer = self.ask(&Call::with_their_index(linked, &arguments));
        let answer = answer.unwrap_or_default();
        let names = parts(&answer).filter_map(|line| Some(line.split_once('\t')?.1.to_owned()));
        let names: BTreeSet<String> = names.collect();
        names.into_iter().collect()
    }
}

impl Linked {
    fn index_at(&self) -> Option<CommitId> {
        let at = fs::read_to_string(self.own.join(AT)).ok()?;
        let is_there = self.index().is_file() && !at.is_empty();
        is_there.then_some(CommitId(at))
    }

    /// Notes the commit that our index was made for. With nothing here it is made anew when it is needed.
    pub(super) fn index_is_at(&self, commit: Option<&CommitId>) {
        let file = self.own.join(AT);
        match commit {
            Some(commit) if self.index_at().as_ref() == Some(commit) => {}
            Some(commit) => drop(files::write_passing(&file, commit.0.as_bytes())),
            None => files::remove_leftover(&file),
        }
    }

    /// Gives whoever works there a copy of our index, which is that of a commit or of a merge that stopped.
    pub(super) fn give_index(&self, is_merged: bool) -> Result<(), Trouble> {
        let unwritten = |error: &dyn std::fmt::Display| {
            Trouble::passing(format!("cannot write the index of the worktree: {error}"))
        };
        let given = self.own.join(GIVEN);
        if is_merged && self.is_given() {
            let ours = fs::read(self.index()).map_err(|error| unwritten(&error))?;
            if fs::read(self.their_index()).is_ok_and(|theirs| theirs == ours) {
                return Ok(());
            }
        }
        files::remove_leftover(&given);
        let bytes = fs::read(self.index()).map_err(|error| unwritten(&error))?;
        files::write_passing(&self.their_index(), &bytes).map_err(|error| unwritten(&error))?;
        if is_merged && let Some(look) = recognised(&self.their_index()) {
            drop(files::write_passing(&given, look.as_bytes()));
        }
        Ok(())
    }

    /// Whether the index of whoever works there is still the one that we gave them.
    fn is_given(&self) -> bool {
        let given = fs::read_to_string(self.own.join(GIVEN)).ok();
        given.is_some() && given == recognised(&self.their_index())
    }
}

/// What a file is recognised by; nobody can set the time of its change.
pub(super) fn recognised(file: &Utf8Path) -> Option<String> {
    let it = fs::symlink_metadata(file).ok()?;
    let (seconds, nanos) = (it.ctime(), it.ctime_nsec());
    Some(format!("{} {} {seconds} {nanos}", it.ino(), it.len()))
}

/// The commit that is checked out, where git need not be asked.
fn head_of(linked: &Linked) -> Option<CommitId> {
    let commit = |text: &str| {
        let text = text.trim();
        let is_name = text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_name.then(|| CommitId(text.to_owned()))
    };
    let head = fs::read_to_string(linked.git.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref: ") else {
        return commit(&head);
    };
    let is_branch = name.starts_with("refs/heads/") && !name.contains("..");
    let text = is_branch.then(|| fs::read_to_string(linked.common.join(name)).ok())??;
    commit(&text)
}

/// Whether a link stands on the way to a file of a worktree.
pub(super) fn is_beyond_a_link(root: &Utf8Path, path: &str) -> bool {
    let above = Utf8Path::new(path).ancestors().skip(1);
    let mut above = above.filter(|above| !above.as_str().is_empty());
    above.any(|above| fs::symlink_metadata(root.join(above)).is_ok_and(|it| it.is_symlink()))
}
