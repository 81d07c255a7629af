//! A remote that is on GitHub by its address, and a bare repository by where a push goes.

use beads_ralph_testkit::github::GitHub;
use camino::Utf8PathBuf;

use crate::world::RealWorld;

const ADDRESS: &str = "https://github.com/o/r.git";

/// Gives the repository of a world such a remote, and starts the stand-in for GitHub that shows it.
#[track_caller]
pub(crate) fn add(world: &RealWorld) -> GitHub {
    let github = GitHub::start("o/r").unwrap();
    let bare = bare(world);
    world.git(&["init", "--quiet", "--bare", bare.as_str()]);
    world.git(&["remote", "add", "origin", ADDRESS]);
    world.git(&["config", &format!("url.{bare}.insteadOf"), ADDRESS]);
    github.back_by(&bare);
    github
}

fn bare(world: &RealWorld) -> Utf8PathBuf {
    world.beside("remote.git")
}

/// What a branch is in the remote.
#[track_caller]
pub(crate) fn pushed(world: &RealWorld, branch: &str) -> String {
    let git_dir = format!("--git-dir={}", bare(world));
    world.git(&[&git_dir, "rev-parse", &format!("refs/heads/{branch}")])
}
