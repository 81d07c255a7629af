//! What somebody may have put where our git writes: links, pipes, files of two names, and the way to another repository (C-2).
//!
//! Git follows a link at most of these places, and waits for ever at a pipe. So they are looked at before it is called.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;

use beads_ralph_core::engine::Trouble;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::call::{At, Call};
use super::site::Linked;
use super::view::HOME;
use crate::os::files;
use crate::repo::shown;

/// What of a git directory nobody may lead elsewhere during a run. Some users have links there; those stay.
const PLACES: [&str; 7] = [
    "objects",
    "refs",
    "packed-refs",
    "logs",
    "logs/refs",
    "worktrees",
    HOME,
];

/// The directories of a worktree's git directory in which git writes.
const DEEP: [&str; 6] = [
    "info",
    "logs",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "sequencer",
];

/// What is a file in a worktree's git directory, and never a directory.
const FILES: [&str; 8] = [
    "AUTO_MERGE",
    "COMMIT_EDITMSG",
    "HEAD",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "ORIG_HEAD",
    "index",
];

/// What git reads of every worktree when it looks at one of them.
const READ_BY_ALL: [&str; 4] = ["HEAD", "commondir", "gitdir", "locked"];

/// How much of a file with two names is copied; a larger one is removed.
const MAX_COPIED: u64 = 256 << 20;

/// Where the files of a repository's git directory were at the start.
#[derive(Debug)]
pub(super) struct Guard {
    common: Utf8PathBuf,
    places: Vec<(Utf8PathBuf, Option<Utf8PathBuf>)>,
    /// The links among the refs, and what they led to.
    links: BTreeMap<Utf8PathBuf, Utf8PathBuf>,
}

impl Guard {
    pub(super) fn of(common: &Utf8Path) -> Self {
        let places = PLACES.map(|name| {
            let path = common.join(name);
            let real = path.canonicalize_utf8().ok();
            (path, real)
        });
        let links = odd_among_refs(common).into_iter();
        let links = links.filter_map(|path| {
            let target = path.read_link_utf8().ok()?;
            Some((path, target))
        });
        Self {
            common: common.to_owned(),
            places: places.to_vec(),
            links: links.collect(),
        }
    }

    /// Looks at where a call may write: what leads elsewhere is removed where that costs nothing, and an error where it does.
    pub(super) fn check(&self, call: &Call<'_>) -> Result<(), Trouble> {
        match call.at {
            At::Elsewhere | At::Module(_) => return Ok(()),
            At::Worktrees => self.remove_pipes_of_worktrees(),
            At::Repository | At::Inside(_) | At::Theirs(_) => {}
        }
        for (path, before) in &self.places {
            let is_same = match before {
                Some(before) => path.canonicalize_utf8().map_or(true, |now| now == *before),
                None => !is_link(path),
            };
            if !is_same {
                return Err(leads_away(path));
            }
        }
        for path in odd_among_refs(&self.common) {
            let is_known = self
                .links
                .get(&path)
                .is_some_and(|target| path.read_link_utf8().is_ok_and(|now| now == *target));
            if is_known {
                continue;
            }
            if path.is_dir() {
                return Err(leads_away(&path));
            }
            files::remove_leftover(&path);
        }
        for name in named(call) {
            self.clear_log(&name);
        }
        Ok(())
    }

    /// Removes a link on the way to the log of a ref, to which git would append.
    fn clear_log(&self, name: &str) {
        let parts = Utf8Path::new(name).components();
        if !parts
            .clone()
            .all(|part| matches!(part, Utf8Component::Normal(_)))
        {
            return;
        }
        let logs = self.common.join("logs");
        let mut path = logs.clone();
        for part in parts {
            path.push(part.as_str());
            // The user may have one there, and then nobody has changed it.
            if path == logs.join("refs") {
                continue;
            }
            let Ok(metadata) = fs::symlink_metadata(&path) else {
                return;
            };
            if !metadata.is_dir() {
                make_plain(&path, &metadata);
                return;
            }
        }
    }

    fn remove_pipes_of_worktrees(&self) {
        let worktrees = self.common.join("worktrees");
        for worktree in files::names(&worktrees).unwrap_or_default() {
            for name in READ_BY_ALL {
                let path = worktrees.join(&worktree).join(name);
                let metadata = fs::symlink_metadata(&path);
                if metadata.is_ok_and(|it| !it.is_file() && !it.is_dir() && !it.is_symlink()) {
                    files::remove_leftover(&path);
                }
            }
        }
    }
}

/// What among the refs is neither a file nor a directory.
fn odd_among_refs(common: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut odd = Vec::new();
    let mut pending = vec![common.join("refs")];
    while let Some(directory) = pending.pop() {
        let entries = directory.read_dir_utf8().into_iter().flatten().flatten();
        for entry in entries {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(entry.into_path()),
                Ok(kind) if !kind.is_file() => odd.push(entry.into_path()),
                _ => {}
            }
        }
    }
    odd
}

/// The refs that a call may change, and some that it does not.
fn named(call: &Call<'_>) -> Vec<String> {
    let words = call.arguments.iter().filter(|word| !word.starts_with('-'));
    let mut names = vec!["HEAD".to_owned(), "refs/stash".to_owned()];
    for word in words.clone() {
        for part in word.split(':').map(|part| part.trim_start_matches('+')) {
            if let Some(branch) = part.strip_prefix("refs/heads/")
                && call.is_remote
            {
                let remotes = words
                    .clone()
                    .map(|remote| format!("refs/remotes/{remote}/{branch}"));
                names.extend(remotes);
            }
            if part.starts_with("refs/") {
                names.push(part.to_owned());
            } else if matches!(call.at, At::Worktrees) {
                names.push(format!("refs/heads/{part}"));
            }
        }
    }
    if let At::Inside(linked) = call.at {
        let head = fs::read_to_string(linked.git.join("HEAD")).unwrap_or_default();
        names.extend(head.trim().strip_prefix("ref: ").map(str::to_owned));
    }
    names
}

fn leads_away(path: &Utf8Path) -> Trouble {
    let path = shown(path);
    Trouble::for_run(format!(
        "{path} was replaced by a link during the run, and git would write through it outside this repository; check what your agents did, restore the directory, then run again"
    ))
}

fn is_link(path: &Utf8Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink())
}

/// Removes what is not a file, and copies a file with two names: whoever writes to one name writes to the other.
fn make_plain(path: &Utf8Path, metadata: &Metadata) {
    if !metadata.is_file() {
        files::remove_leftover(path);
    } else if metadata.nlink() > 1 {
        let bytes = (metadata.len() <= MAX_COPIED).then(|| fs::read(path).ok());
        files::remove_leftover(path);
        if let Some(bytes) = bytes.flatten() {
            drop(files::write_passing(path, &bytes));
        }
    }
}

/// Leaves in a directory only files that lead nowhere, and directories.
fn tidy(directory: &Utf8Path, is_deep: bool) {
    for name in files::names(directory).unwrap_or_default() {
        let path = directory.join(&name);
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        if !metadata.is_dir() {
            make_plain(&path, &metadata);
        } else if !is_deep && FILES.contains(&name.as_str()) {
            drop(files::remove_directory(&path));
        } else if is_deep || DEEP.contains(&name.as_str()) {
            tidy(&path, true);
        }
    }
}

impl Linked {
    /// Makes the directories about a worktree be such that what is written there stays there, and leads to this repository. `false` if
    /// that cannot be.
    pub(super) fn make_safe(&self) -> bool {
        tidy(&self.git, false);
        if is_link(&self.own) {
            files::remove_leftover(&self.own);
        }
        tidy(&self.own, true);
        let leads = |common: &Utf8Path| {
            let text = fs::read_to_string(self.git.join("commondir")).ok()?;
            let named = self.git.join(text.trim()).canonicalize_utf8().ok()?;
            (named == common.canonicalize_utf8().ok()?).then_some(())
        };
        if leads(&self.common).is_none() {
            // Git writes refs where this says, whatever its arguments say.
            drop(files::write_passing(
                &self.git.join("commondir"),
                b"../..\n",
            ));
        }
        leads(&self.common).is_some()
    }
}

/// Writes the HEAD of a bead's worktree anew where it is gone or says nothing that git can read: it is on the bead's branch.
pub(super) fn mend_head(worktree: &Utf8Path, common: &Utf8Path, branch: &str) {
    let Some(git) = git_of(worktree, common) else {
        return;
    };
    let head = git.join("HEAD");
    let is_plain = fs::symlink_metadata(&head).map(|it| it.is_file());
    let is_right = match is_plain {
        Ok(true) => fs::read(&head).is_ok_and(|bytes| is_head(&bytes)),
        Ok(false) => false,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(_) => true,
    };
    if is_right {
        return;
    }
    if head.is_dir() && !is_link(&head) {
        drop(files::remove_directory(&head));
    }
    files::remove_leftover(&head);
    let text = format!("ref: {}\n", super::refs::branch(branch));
    drop(files::write_passing(&head, text.as_bytes()));
}

/// The git directory of a worktree that was once whole, if the two name each other.
fn git_of(worktree: &Utf8Path, common: &Utf8Path) -> Option<Utf8PathBuf> {
    let is_file = |path: &Utf8Path| fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    let link = worktree.join(".git");
    let text = is_file(&link).then(|| fs::read_to_string(&link).ok())??;
    let named = worktree.join(text.trim().strip_prefix("gitdir:")?.trim());
    let git = common.join("worktrees").join(named.file_name()?);
    let is_directory = fs::symlink_metadata(&git).is_ok_and(|it| it.is_dir());
    let is_here = is_directory && named.canonicalize_utf8().ok() == git.canonicalize_utf8().ok();
    let back = git.join("gitdir");
    let is_whole = is_here && is_file(&back) && is_file(&git.join("commondir"));
    let back = is_whole.then(|| fs::read_to_string(&back).ok())??;
    let is_done = fs::symlink_metadata(git.join("locked")).is_err();
    let back = git.join(back.trim()).canonicalize_utf8().ok()?;
    (is_done && link.canonicalize_utf8().ok()? == back).then_some(git)
}

/// Whether a git directory has a HEAD that git can read.
pub(super) fn has_head(git: &Utf8Path) -> bool {
    fs::read(git.join("HEAD")).is_ok_and(|bytes| is_head(&bytes))
}

fn is_head(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let line = text.trim_end();
    let is_branch = line.strip_prefix("ref:").is_some_and(|name| {
        let name = name.trim_start();
        name.starts_with("refs/")
            && !name.contains(|it: char| it.is_whitespace() || it.is_control())
    });
    is_branch || (line.len() >= 40 && line.bytes().take(40).all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_2_what_git_cannot_read_is_no_head() {
        let commit = "a".repeat(40);
        for right in ["ref: refs/heads/a\n", "ref:refs/heads/a", &commit] {
            assert!(is_head(right.as_bytes()), "{right}");
        }
        for wrong in ["", "x\n", "ref: /etc/passwd", "ref: refs/heads/a b", "/tmp"] {
            assert!(!is_head(wrong.as_bytes()), "{wrong}");
        }
    }
}
