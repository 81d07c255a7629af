//! The user's own checkout, watched while agents run (Z-17).
//!
//! It is looked at from time to time. When it has changed, each agent that runs is looked at: one with a process that works in the
//! checkout, or has a file of it open to write, is stopped. A change that cannot be traced is only reported: the user may well have
//! made it. What an agent writes in a moment between two looks is such a change.

use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use crate::os::process::{self, Mark, Units};
use crate::work_dir::{Snapshot, Tree};
use crate::{os::clock, repo};

/// How often it is looked at, at the most.
const EVERY: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct MainCheckout {
    root: Utf8PathBuf,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    at: Instant,
    snapshot: Option<Snapshot>,
    n_changes: u64,
}

impl MainCheckout {
    pub(crate) fn new(root: &Utf8Path) -> Self {
        let seen = Seen {
            at: clock::monotonic(),
            snapshot: None,
            n_changes: 0,
        };
        Self {
            root: root.to_owned(),
            seen: Mutex::new(seen),
        }
    }

    /// How often it has changed so far, and whether this look was the one that found the last change.
    pub(crate) fn look(&self, units: &Units) -> (u64, bool) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::monotonic();
        if seen.snapshot.is_some() && now.saturating_duration_since(seen.at) < EVERY {
            return (seen.n_changes, false);
        }
        let snapshot = Tree::at(&self.root, &self.root, units).snapshot();
        let is_changed = seen
            .snapshot
            .as_ref()
            .is_some_and(|before| *before != snapshot);
        seen.n_changes += u64::from(is_changed);
        seen.snapshot = Some(snapshot);
        seen.at = clock::monotonic();
        (seen.n_changes, is_changed)
    }

    /// Why a unit seems to have changed it: what one of its processes does there.
    pub(crate) fn trace(&self, mark: &Mark) -> Option<String> {
        process::find(mark).into_iter().find_map(|pid| {
            let works_here = fs::read_link(format!("/proc/{pid}/cwd")).ok();
            let works_here = works_here.and_then(|path| Utf8PathBuf::from_path_buf(path).ok());
            if works_here.is_some_and(|path| self.is_mine(&path)) {
                return Some(format!(
                    "process {pid} works in {}",
                    repo::shown(&self.root)
                ));
            }
            let file = open_to_write(pid).find(|path| self.is_mine(path))?;
            Some(format!("process {pid} writes {}", repo::shown(&file)))
        })
    }

    /// Whether a path is in the checkout itself: neither in a worktree that lies in it, nor in what is ours or git's.
    fn is_mine(&self, path: &Utf8Path) -> bool {
        let Ok(inside) = path.strip_prefix(&self.root) else {
            return false;
        };
        let first = inside
            .components()
            .next()
            .map(|first| first.as_str().to_owned());
        let is_ours =
            first.is_some_and(|first| matches!(first.as_str(), ".beads" | ".ralph" | ".git"));
        !is_ours && repo::root_of(path).as_deref() == Some(self.root.as_path())
    }
}

fn open_to_write(pid: u32) -> impl Iterator<Item = Utf8PathBuf> {
    let links = fs::read_dir(format!("/proc/{pid}/fd"));
    let links = links.into_iter().flatten().flatten();
    links.filter_map(move |link| {
        let name = link.file_name().into_string().ok()?;
        let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{name}")).ok()?;
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
        let flags = u32::from_str_radix(flags.trim(), 8).ok()?;
        // The lowest two bits say how a file is open: 1 is writing, 2 is both.
        let is_written = flags & 3 != 0;
        let target = fs::read_link(link.path()).ok().filter(|_| is_written)?;
        Utf8PathBuf::from_path_buf(target).ok()
    })
}
