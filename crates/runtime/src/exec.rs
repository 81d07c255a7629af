//! Works on one bead until its Definition of Done is met or it is given up (contracts §8.3).
//!
//! What to do next is decided by [`Pursuit`](beads_ralph_core::dod::Pursuit) in core; here it is done: the agent is called, the checks are run, evidence is kept, and
//! the bead is told after every step where it stands, so that a crash at any point leaves a bead that can be run again.
//! The checks are those that the bead had at the start; nothing that an agent writes can change them.

mod agent_end;
mod beating;
mod file_keeper;
mod keeper;
mod receipt;
mod run;
mod store_keeper;

pub use file_keeper::FileKeeper;
pub use keeper::{Keeper, KeeperError, Verdict};
pub use receipt::Receipt;
pub use store_keeper::StoreKeeper;

use std::time::Duration;

use beads_ralph_core::agent::{Budget, Outcome};
use beads_ralph_core::check::CheckRecord;
use beads_ralph_core::dod::{DodBead, Settings};
use camino::{Utf8Path, Utf8PathBuf};

use self::run::Run;
use crate::bead_files::{Evidence, LogDirectory};
use crate::check::Again;
use crate::os::process::{Cancel, Mark, Units};
use crate::progress::Listener;
use crate::work_dir::Tree;

/// Somebody who can be asked to work on a bead.
pub trait Worker {
    fn name(&self) -> &str;

    /// Works. The directory is for its output.
    fn work(&mut self, task: &Task<'_>, listener: &mut dyn Listener) -> Outcome;
}

#[derive(Debug)]
pub struct Task<'a> {
    pub bead: &'a DodBead,
    /// The iteration, from 1.
    pub iteration: u32,
    pub prompt: &'a str,
    pub time_left: Option<Duration>,
    pub directory: &'a Utf8Path,
    pub mark: Mark,
}

#[derive(Debug)]
pub struct Workshop<'a> {
    pub units: &'a Units,
    pub cancel: &'a Cancel,
    /// Where agent and checks run.
    pub root: &'a Utf8Path,
    /// The main checkout of the repository, which may be the same.
    pub home: &'a Utf8Path,
    pub shell: &'a [String],
    pub evidence: &'a Evidence,
    pub logs: &'a LogDirectory,
    /// Whether everything must be committed before the checks, because the bead has a worktree (Z-29).
    pub must_be_clean: bool,
    /// Names of variables that neither agents nor checks see.
    pub withhold: &'a [String],
    /// What is done about a check that fails.
    pub again: Again<'a>,
    /// By what everything that is started here can be found.
    pub mark: &'a Mark,
    pub budget: &'a Budget,
    pub version: &'a str,
}

#[derive(Debug)]
pub struct Report {
    pub ending: Ending,
    pub iterations: u32,
    pub records: Vec<CheckRecord>,
    pub last_failure: Option<String>,
    pub evidence: Option<Utf8PathBuf>,
    pub receipt: Receipt,
    pub duration: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    Completed,
    /// The checks are red, and no agent was to mend them.
    Red,
    Failed(String),
    Interrupted,
}

/// Works on a bead until it is done or given up.
pub fn pursue<'a>(
    workshop: &'a Workshop<'a>,
    keeper: &'a mut dyn Keeper,
    worker: Option<&'a mut dyn Worker>,
    settings: Settings,
    listener: &'a mut dyn Listener,
) -> Result<Report, KeeperError> {
    let tree = Tree::at(workshop.root, workshop.home, workshop.units);
    let _settings = tree.keep_settings();
    Run::new(workshop, keeper, worker, settings, listener).until_the_end()
}
