//! Looking at a directory of work in some repository, for whoever has no [`Git`](super::Git) of it: by an index and by settings that are ours.

use std::fs;
use std::time::Duration;

use beads_ralph_core::engine::Trouble;
use camino::{Utf8Path, Utf8PathBuf};

use super::Settings;
use super::call::Caller;
use super::site::Linked;
use super::status::{OURS, is_below};
use super::view::{HOME, View};
use crate::os::clock;
use crate::os::files::{self, Lock};
use crate::os::process::Units;
use crate::repo::shown;

/// How long somebody waits for another who looks at the same place.
const PATIENCE: Duration = Duration::from_mins(2);

const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What a directory of work looks like.
#[derive(Debug)]
pub(crate) struct Sight {
    /// The commit that is checked out; nothing before the first.
    pub(crate) head: Option<String>,
    /// What differs from it, what is ours left out, from the root of the worktree.
    pub(crate) changed: Vec<String>,
}

/// Looks at the worktree at a path: that of a repository, whose main checkout is known, or this itself.
pub(crate) fn look(units: &Units, path: &Utf8Path, home: &Utf8Path) -> Result<Sight, Trouble> {
    let common = common_of(home).ok_or_else(|| no_repository(home))?;
    let caller = Caller::new(units).in_repository(home, &common, &Settings::default())?;
    let linked = place(path, home, &common)?;
    let _turn = turn(&linked.own)?;
    let status = caller.look(&linked)?;
    let is_ours = |path: &str| OURS.into_iter().any(|ours| is_below(path, ours));
    let changed = status.entries.into_iter().map(|entry| entry.path);
    Ok(Sight {
        head: status.head.map(|head| head.0),
        changed: changed.filter(|path| !is_ours(path)).collect(),
    })
}

/// Keeps the user's settings of git as they are now, for as long as this is held.
pub(crate) fn hold(units: &Units, home: &Utf8Path) -> Option<View> {
    View::open(units, home, &common_of(home)?).ok()
}

/// The git directory of a main checkout, by what lies there.
fn common_of(home: &Utf8Path) -> Option<Utf8PathBuf> {
    let link = home.join(".git");
    let git = if link.is_dir() {
        link
    } else if link.is_file() {
        let text = fs::read_to_string(&link).ok()?;
        home.join(text.trim().strip_prefix("gitdir:")?.trim())
    } else {
        home.to_owned()
    };
    let is_one = git.join("HEAD").is_file() && git.join("objects").is_dir();
    is_one.then(|| git.canonicalize_utf8().ok())?
}

fn place(path: &Utf8Path, home: &Utf8Path, common: &Utf8Path) -> Result<Linked, Trouble> {
    let trees = common.join(HOME).join("trees");
    let is_main = path.canonicalize_utf8().ok() == home.canonicalize_utf8().ok();
    if !is_main {
        let linked = Linked::at(path, common)?;
        let own = trees.join(format!("of-{}", linked.git.file_name().unwrap_or_default()));
        seed(&linked.index(), &own)?;
        return Ok(Linked { own, ..linked });
    }
    let own = trees.join("main");
    // What git knows of the files is learned once; it may be a lot to read.
    seed(&common.join("index"), &own)?;
    Ok(Linked {
        path: path.to_owned(),
        git: common.to_owned(),
        common: common.to_owned(),
        own,
    })
}

fn seed(from: &Utf8Path, own: &Utf8Path) -> Result<(), Trouble> {
    let index = own.join("index");
    let made = files::create_directory(own);
    made.map_err(|error| Trouble::for_run(error.to_string()))?;
    if !index.exists()
        && let Ok(bytes) = fs::read(from)
    {
        let written = files::write_passing(&index, &bytes);
        written.map_err(|error| Trouble::for_run(error.to_string()))?;
    }
    Ok(())
}

fn turn(own: &Utf8Path) -> Result<Lock, Trouble> {
    let until = clock::monotonic() + PATIENCE;
    loop {
        match files::lock(&own.join("turn")) {
            Ok(Some(lock)) => return Ok(lock),
            Ok(None) if clock::monotonic() >= until => {
                return Err(Trouble::passing("somebody else looks at the same files"));
            }
            Ok(None) => std::thread::sleep(LOOK_EVERY),
            Err(error) => return Err(Trouble::for_run(error.to_string())),
        }
    }
}

fn no_repository(home: &Utf8Path) -> Trouble {
    Trouble::for_run(format!("{} is no git repository", shown(home)))
}
