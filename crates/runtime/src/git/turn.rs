//! Taking turns: at one worktree, and with others who change the repository at the same moment.
//!
//! Claims keep two orchestrators from one bead, but not from one worktree for a moment, when one of them has just lost its claim; and git
//! itself does not stand two who make the same worktree. So whoever changes one holds a lock of the system, which ends with
//! its process.

use std::time::Duration;

use beads_ralph_core::engine::{Lasting, Trouble};
use camino::Utf8Path;
use twox_hash::XxHash3_64;

use super::Git;
use crate::os::clock;
use crate::os::files::{self, Lock};
use crate::repo::shown;

/// How many locks there are. Worktrees that share one wait for each other, and for nothing worse.
const N_LOCKS: u64 = 256;

/// How long somebody waits for a turn.
const PATIENCE: Duration = Duration::from_mins(10);

/// How often it is looked whether it is one's turn.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// How often something is tried while others are at it.
const MAX_TRIES: u32 = 8;

/// The first pause between two tries; each is longer than the one before.
const PAUSE: Duration = Duration::from_millis(20);

impl Git {
    /// Does something to a worktree while nobody else does, a few times if others are in the way. It must be such that doing it again
    /// does no harm.
    pub(super) fn at<T>(
        &self,
        worktree: &Utf8Path,
        act: impl Fn() -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let _turn = self.turn(worktree)?;
        steadily(act)
    }

    /// Waits until nobody else changes a worktree. The turn ends with what this gives.
    fn turn(&self, worktree: &Utf8Path) -> Result<Lock, Trouble> {
        let directory = self.common.join("beads-ralph");
        let number = XxHash3_64::oneshot(worktree.as_str().as_bytes()) % N_LOCKS;
        let path = directory.join(format!("worktree-{number:03}.lock"));
        let until = clock::monotonic() + PATIENCE;
        loop {
            match files::lock(&path) {
                Ok(Some(lock)) => return Ok(lock),
                Ok(None) if clock::monotonic() >= until => {
                    return Err(Trouble::passing(format!(
                        "somebody else is busy with the worktree {}",
                        shown(worktree)
                    )));
                }
                Ok(None) => std::thread::sleep(LOOK_EVERY),
                Err(_) if !directory.is_dir() => {
                    let made = files::create_directory(&directory);
                    made.map_err(|error| Trouble::for_run(error.to_string()))?;
                }
                Err(error) => return Err(Trouble::for_run(error.to_string())),
            }
        }
    }
}

/// Tries something a few times while it is others who are in the way.
pub(super) fn steadily<T>(act: impl Fn() -> Result<T, Trouble>) -> Result<T, Trouble> {
    let mut pause = PAUSE;
    for _ in 1..MAX_TRIES {
        match act() {
            Err(trouble) if trouble.lasting == Lasting::Passing => {
                std::thread::sleep(pause);
                pause = pause.mul_f32(1.6);
            }
            answer => return answer,
        }
    }
    act()
}
