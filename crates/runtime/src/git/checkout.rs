//! Files as a clean checkout has them (C-3), and submodules as a commit has them.
//!
//! Git may convert what it commits (line endings, `ident`, filters), so a file can differ from a clean clone although git sees no change. Such
//! files are rewritten from the commit before anything is checked. Only files whose content git may convert are looked at, and of those only
//! what changed since the last look.
//!
//! The git directories of submodules are writable for whoever works in the worktree, so git is only run in those where nothing leads
//! elsewhere or starts a program.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::os::unix::fs::MetadataExt as _;

use beads_ralph_core::engine::Trouble;
use camino::{Utf8Path, Utf8PathBuf};

use super::Git;
use super::call::{Call, no_place, parts};
use super::index::is_beyond_a_link;
use super::site::Linked;
use crate::os::files;

/// The files of the index with an attribute by which git converts.
const CONVERTED: &str = ":(exclude,attr:!text !crlf !eol !ident !filter !working-tree-encoding)";

/// How many files are compared at once, with copies that a checkout made.
const N_AT_ONCE: usize = 500;

/// Where they lie, beside our index.
const COPIES: &str = "copies";

/// How often it is begun again where the attributes themselves were written anew.
const MAX_TURNS: usize = 3;

/// Files by their path, and what each is recognised by.
type Known = BTreeMap<String, String>;

impl Git {
    /// Makes files that git converts be what a checkout of the index gives. Nothing else may differ from the commit.
    pub(super) fn put_as_checked_out(&self, linked: &Linked) -> Result<(), Trouble> {
        for _ in 0..MAX_TURNS {
            let written = self.put_once(linked)?;
            let is_attributes = |path: &String| path.ends_with(".gitattributes");
            if !written.iter().any(is_attributes) {
                break;
            }
        }
        Ok(())
    }

    /// Notes that all files are what git has just written.
    pub(super) fn note_checked_out(&self, linked: &Linked) -> Result<(), Trouble> {
        let known = self.convertible(linked)?;
        if !known.is_empty() {
            self.note(linked, &known);
        }
        Ok(())
    }

    fn put_once(&self, linked: &Linked) -> Result<Vec<String>, Trouble> {
        let found = self.convertible(linked)?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let list = list_of(linked);
        let is_changed = self.caller.is_changed(&list);
        if is_changed.unwrap_or_else(|| self.caller.is_after_a_kill()) {
            files::remove_leftover(&list);
        }
        let known: Known = fs::read(&list)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let is_new = |(path, look): &(&String, &String)| known.get(*path) != Some(*look);
        let unknown = found.iter().filter(is_new).map(|(path, _)| path.clone());
        let unknown: Vec<String> = unknown.collect();
        let mut wrong = Vec::new();
        for some in unknown.chunks(N_AT_ONCE) {
            wrong.extend(self.put_copies(linked, some)?);
        }
        // The index is refreshed: git goes by the size of files.
        let arguments = ["update-index", "-z", "--stdin"];
        self.caller.feed(linked, &arguments, &wrong)?;
        if !unknown.is_empty() {
            let found = self.convertible(linked)?;
            self.note(linked, &found);
        }
        Ok(wrong)
    }

    /// The files that are there and that git may convert, with what they are recognised by.
    fn convertible(&self, linked: &Linked) -> Result<Known, Trouble> {
        let mut arguments = vec!["ls-files", "--stage", "-z"];
        if !self.converts_all()? {
            arguments.extend(["--", ".", CONVERTED]);
        }
        let answer = self.caller.ask(&Call::inside(linked, &arguments))?;
        let found = parts(&answer).filter_map(|line| {
            let (entry, path) = line.split_once('\t')?;
            let look = look(&linked.path.join(path))?;
            let is_file = entry.starts_with("100") && entry.ends_with(" 0");
            let is_there = is_file && !is_beyond_a_link(&linked.path, path);
            is_there.then(|| (path.to_owned(), format!("{entry} {look}")))
        });
        Ok(found.collect())
    }

    /// Whether git converts line endings in all files for this user.
    fn converts_all(&self) -> Result<bool, Trouble> {
        if let Some(known) = self.converts.get() {
            return Ok(*known);
        }
        let arguments = ["config", "--get", "core.autocrlf"];
        let said = self.caller.say(&Call::new(&self.root, &arguments))?;
        let value = said.line().to_lowercase();
        let is_off = !said.is_ok() || matches!(value.as_str(), "false" | "no" | "off" | "0");
        Ok(*self.converts.get_or_init(|| !is_off))
    }

    /// Writes those of some files anew that a checkout would write otherwise, each in one step, and says which.
    fn put_copies(&self, linked: &Linked, paths: &[String]) -> Result<Vec<String>, Trouble> {
        let copies = linked.own.join(COPIES);
        if copies.exists() {
            // Those of somebody who was killed.
            files::remove_directory(&copies).map_err(|error| no_place(&error))?;
        }
        files::create_directory(&copies).map_err(|error| no_place(&error))?;
        let prefix = format!("--prefix={copies}/");
        let arguments = ["checkout-index", "--quiet", &prefix, "-z", "--stdin"];
        self.caller.feed(linked, &arguments, paths)?;
        let mut written = Vec::new();
        for path in paths {
            let (there, copy) = (linked.path.join(path), copies.join(path));
            if !is_same(&there, &copy) {
                let moved = files::move_over(&copy, &there);
                moved.map_err(|error| Trouble::for_bead(error.to_string()))?;
                written.push(path.clone());
            }
        }
        files::remove_directory(&copies).map_err(|error| no_place(&error))?;
        Ok(written)
    }

    fn note(&self, linked: &Linked, known: &Known) {
        let list = list_of(linked);
        if let Ok(bytes) = serde_json::to_vec(known) {
            drop(files::write_passing(&list, &bytes));
        }
        self.caller.wrote(&list);
    }
}

/// The list of the files that were found right.
fn list_of(linked: &Linked) -> Utf8PathBuf {
    linked.own.join("as-checked-out")
}

/// What a plain file is recognised by; nobody can set the time of its change.
fn look(file: &Utf8Path) -> Option<String> {
    let is_file = fs::symlink_metadata(file).ok()?.is_file();
    is_file.then(|| super::index::recognised(file))?
}

fn is_same(one: &Utf8Path, other: &Utf8Path) -> bool {
    let Some((one, other)) = File::open(one).ok().zip(File::open(other).ok()) else {
        return false;
    };
    let size = |file: &File| file.metadata().map(|it| it.size()).ok();
    if size(&one) != size(&other) {
        return false;
    }
    let (one, other) = (BufReader::new(one).bytes(), BufReader::new(other).bytes());
    one.zip(other)
        .all(|pair| matches!(pair, (Ok(one), Ok(other)) if one == other))
}

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
    /// Restores submodules that are checked out. A failure is not an error: the agent sees the difference, too.
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

/// Whether a path is not a link; it may be missing.
fn is_plain(path: &Utf8Path) -> bool {
    fs::symlink_metadata(path).map_or(true, |it| !it.is_symlink())
}
