//! Who is at work in a directory, or holds a file open (Z-7).
//!
//! It is looked up in `/proc`, so elsewhere nobody is found; nor are processes that this user may not look at.

use std::fs;
use std::path::Path;

use camino::Utf8Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Occupant {
    pub pid: u32,
    pub name: String,
}

impl std::fmt::Display for Occupant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} ({})", self.pid, self.name)
    }
}

/// A process, other than ourselves and whoever waits for us, whose working directory is here.
pub(super) fn somebody_in(directory: &Utf8Path) -> Option<Occupant> {
    let directory = directory.canonicalize_utf8().ok()?;
    let is_inside = |pid: u32| {
        let place = fs::read_link(format!("/proc/{pid}/cwd"));
        place.is_ok_and(|place| place.starts_with(&directory))
    };
    let found: Vec<u32> = pids().filter(|&pid| is_inside(pid)).collect();
    if found.is_empty() {
        return None;
    }
    let own = own_line();
    // Our direct children are shims, which work nowhere.
    let is_ours = |pid: u32| own.contains(&pid) || parent(pid) == Some(std::process::id());
    let pid = found.into_iter().find(|&pid| !is_ours(pid))?;
    Some(Occupant {
        pid,
        name: name(pid),
    })
}

/// Whether it can be seen here who is at work.
pub(super) fn can_see() -> bool {
    parent(std::process::id()).is_some()
}

/// The process that has a file open, if there is one.
pub(super) fn holder_of(file: &Path) -> Option<Occupant> {
    let file = file.canonicalize().ok()?;
    let has_open = |pid: &u32| {
        let open = fs::read_dir(format!("/proc/{pid}/fd"));
        let mut links = open.into_iter().flatten().flatten();
        links.any(|link| fs::read_link(link.path()).is_ok_and(|target| target == file))
    };
    let pid = pids().find(has_open)?;
    Some(Occupant {
        pid,
        name: name(pid),
    })
}

/// Whether no git lives but those that we started ourselves.
pub(super) fn is_no_other_git() -> bool {
    can_see() && !pids().any(|pid| name(pid).starts_with("git") && !is_ours(pid))
}

/// Whether we started a process, by a shim or without one; what an agent started is further away.
fn is_ours(pid: u32) -> bool {
    let own = Some(std::process::id());
    let above = parent(pid);
    above == own || above.and_then(parent) == own
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// This process, and those that wait for it: the shell that it was started from may stand anywhere.
fn own_line() -> Vec<u32> {
    let mut line = vec![std::process::id()];
    while let Some(above) = line.last().copied().and_then(parent) {
        if above == 0 || line.contains(&above) {
            break;
        }
        line.push(above);
    }
    line
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name is in brackets and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

fn name(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    beads_ralph_core::text::excerpt(name.trim_end())
}
