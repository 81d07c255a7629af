//! Submodules that are checked out in a worktree, put back to what a commit says.
//!
//! Their git directories are where whoever works in the worktree can write, so git is only let in where nothing in them leads elsewhere or
//! starts anything.

use std::fs;

use beads_ralph_core::engine::Trouble;
use camino::{Utf8Path, Utf8PathBuf};

use super::Git;
use super::call::{Call, parts};
use super::site::Linked;

/// Settings of a submodule that only say what it is.
const HARMLESS: [&str; 12] = [
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.worktree",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "extensions.objectformat",
    "lfs.repositoryformatversion",
    "remote.origin.url",
    "remote.origin.fetch",
];

/// The same for whole sections.
const HARMLESS_SECTIONS: [&str; 3] = ["branch.", "submodule.", "user."];

impl Git {
    /// Puts submodules back that are checked out. What cannot be is no error: the agent sees that it differs, too.
    pub(super) fn put_submodules_back(&self, linked: &Linked) -> Result<(), Trouble> {
        if !linked.path.join(".gitmodules").is_file() || !linked.git.join("modules").is_dir() {
            return Ok(());
        }
        let answer = (self.caller).ask(&Call::inside(linked, &["ls-files", "--stage", "-z"]))?;
        for line in parts(&answer) {
            let Some((commit, path)) = submodule(&line) else {
                continue;
            };
            let place = linked.path.join(path);
            if let Some(git) = self.module(linked, &place) {
                let arguments = [
                    "checkout",
                    "--quiet",
                    "--detach",
                    "--no-recurse-submodules",
                    commit,
                    "--",
                ];
                drop(
                    self.caller
                        .say(&Call::in_module(&place, &git, &arguments))?,
                );
            }
        }
        Ok(())
    }

    /// The git directory of a submodule, if it lies where git puts it and nothing in it leads elsewhere.
    fn module(&self, linked: &Linked, place: &Utf8Path) -> Option<Utf8PathBuf> {
        let git = module_of(linked, place)?;
        let config = git.join("config");
        let arguments = ["config", "--file", config.as_str(), "--list", "-z"];
        let answer = self.caller.ask(&Call::new(&self.root, &arguments)).ok()?;
        let is_harmless = parts(&answer).all(|setting| {
            let key = setting.split('\n').next().unwrap_or_default();
            let in_section = HARMLESS_SECTIONS.iter().any(|it| key.starts_with(it));
            HARMLESS.contains(&key) || in_section
        });
        is_harmless.then_some(git)
    }
}

/// The commit and the path of a submodule, from a line of `git ls-files --stage`.
fn submodule(line: &str) -> Option<(&str, &str)> {
    let (entry, path) = line.split_once('\t')?;
    let mut words = entry.split(' ');
    (words.next() == Some("160000")).then_some((words.next()?, path))
}

/// What the `.git` of a submodule leads to, where that is one of the worktree's own.
fn module_of(linked: &Linked, place: &Utf8Path) -> Option<Utf8PathBuf> {
    let root = linked.path.canonicalize_utf8().ok()?;
    let inside = place.strip_prefix(&linked.path).ok()?;
    let is_own = place.canonicalize_utf8().ok()? == root.join(inside);
    let link = place.join(".git");
    let is_file = fs::symlink_metadata(&link).ok()?.is_file();
    let text = fs::read_to_string(&link).ok()?;
    let git = place.join(text.trim().strip_prefix("gitdir:")?.trim());
    let git = git.canonicalize_utf8().ok()?;
    let modules = linked.git.canonicalize_utf8().ok()?.join("modules");
    let is_plain = [
        "commondir",
        "config.worktree",
        "HEAD",
        "logs",
        "refs",
        "config",
    ]
    .iter()
    .all(|name| is_plain(&git.join(name)));
    let is_alone = !git.join("commondir").exists();
    (is_own && is_file && is_plain && is_alone && git.starts_with(modules)).then_some(git)
}

/// Whether something is no link; it may not be there.
fn is_plain(path: &Utf8Path) -> bool {
    fs::symlink_metadata(path).map_or(true, |it| !it.is_symlink())
}
