//! The files that are copied from the main checkout into worktrees: what work needs and git does not keep, such as `.env`.
//!
//! They are never committed (Z-5). What was copied is listed beside our index of the worktree, so that a file of the same name
//! that git does keep stays the agent's, and no agent adds to the list. Only what is missing is copied. The list is written before anything is copied, and says
//! whether that was finished: after a crash everything on it is copied again.

use std::collections::BTreeSet;
use std::fs;

use beads_ralph_core::engine::Trouble;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use glob::MatchOptions;
use serde::{Deserialize, Serialize};

use super::site::Linked;
use super::status::is_left_out;
use crate::os::files;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    is_done: bool,
    paths: BTreeSet<String>,
}

pub(super) fn of(linked: &Linked) -> Vec<String> {
    read(linked).paths.into_iter().collect()
}

fn read(linked: &Linked) -> Record {
    let bytes = fs::read(linked.copied()).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Copies what these patterns stand for, as far as it is missing.
pub(super) fn copy(root: &Utf8Path, linked: &Linked, patterns: &[String]) -> Result<(), Trouble> {
    if patterns.is_empty() {
        return Ok(());
    }
    let mut record = read(linked);
    let mut missing: Vec<String> = Vec::new();
    if !record.is_done {
        missing.extend(record.paths.iter().cloned());
    }
    for pattern in patterns {
        for path in found(root, pattern)? {
            let is_above = linked.path.starts_with(root.join(&path));
            if !is_above {
                add_missing(root, &linked.path, &path, &mut missing);
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    record.paths.extend(missing.iter().cloned());
    write(linked, &record, false)?;
    for path in &missing {
        copy_one(&root.join(path), &linked.path.join(path))?;
    }
    write(linked, &record, true)
}

/// Copies what these patterns stand for into a clone of the repository, as it is copied into worktrees.
pub(crate) fn copy_into(
    root: &Utf8Path,
    clone: &Utf8Path,
    patterns: &[String],
) -> Result<(), Trouble> {
    let linked = Linked {
        path: clone.to_owned(),
        git: clone.join(".git"),
        common: clone.join(".git"),
        own: clone.join(".git"),
    };
    copy(root, &linked, patterns)
}

pub(super) fn found(root: &Utf8Path, pattern: &str) -> Result<Vec<Utf8PathBuf>, Trouble> {
    let wrong = |reason: &str| Trouble::for_run(format!("worktrees.copy: '{pattern}' {reason}"));
    let is_step = |part: Utf8Component<'_>| matches!(part, Utf8Component::Normal(_));
    if pattern.is_empty() || !Utf8Path::new(pattern).components().all(is_step) {
        return Err(wrong("must be a path below the root of the repository"));
    }
    let options = MatchOptions {
        require_literal_separator: true,
        ..MatchOptions::default()
    };
    let whole = format!("{}/{pattern}", glob::Pattern::escape(root.as_str()));
    let found = glob::glob_with(&whole, options);
    let found = found.map_err(|error| wrong(&format!("is not a valid pattern: {error}")))?;
    let paths = found.flatten().filter_map(|path| {
        let path = Utf8PathBuf::from_path_buf(path).ok()?;
        Some(path.strip_prefix(root).ok()?.to_owned())
    });
    // A `*` stands for names with a dot, too, but never for what git and we have there.
    let is_work = |path: &Utf8PathBuf| {
        let is_git = path.components().any(|part| part.as_str() == ".git");
        !is_git && !is_left_out(path.as_str(), &[])
    };
    Ok(paths.filter(is_work).collect())
}

/// Adds what of a path is not in the worktree.
fn add_missing(root: &Utf8Path, worktree: &Utf8Path, path: &Utf8Path, missing: &mut Vec<String>) {
    let mut pending = vec![path.to_owned()];
    while let Some(path) = pending.pop() {
        let (from, to) = (root.join(&path), worktree.join(&path));
        if leads_away(worktree, &path) || missing.iter().any(|known| path == *known) {
            continue;
        }
        match fs::symlink_metadata(&to) {
            Err(_) => missing.push(path.into_string()),
            Ok(there) if there.is_dir() => {
                let is_directory = fs::symlink_metadata(&from).is_ok_and(|from| from.is_dir());
                let entries = is_directory.then(|| from.read_dir_utf8().ok()).flatten();
                let entries = entries.into_iter().flatten().flatten();
                pending.extend(entries.map(|entry| path.join(entry.file_name())));
            }
            Ok(_) => {}
        }
    }
}

/// Whether a link in the worktree stands on the way to a path: what is written there would be somewhere else.
fn leads_away(worktree: &Utf8Path, path: &Utf8Path) -> bool {
    let above = path
        .ancestors()
        .skip(1)
        .filter(|above| !above.as_str().is_empty());
    let is_link = |above: &Utf8Path| {
        fs::symlink_metadata(worktree.join(above)).is_ok_and(|above| above.is_symlink())
    };
    above.into_iter().any(is_link)
}

fn copy_one(from: &Utf8Path, to: &Utf8Path) -> Result<(), Trouble> {
    let parent = to.parent().unwrap_or(to);
    let copied = files::create_directory(parent).and_then(|()| files::copy_over(from, to));
    copied.map_err(|error| Trouble::for_run(format!("worktrees.copy: {error}")))
}

fn write(linked: &Linked, record: &Record, is_done: bool) -> Result<(), Trouble> {
    let record = Record {
        is_done,
        paths: record.paths.clone(),
    };
    let list = linked.copied();
    let written = files::create_directory(&linked.own)
        .and_then(|()| files::write_atomic(&list, &files::to_json(&record)));
    written.map_err(|error| Trouble::for_run(error.to_string()))
}
