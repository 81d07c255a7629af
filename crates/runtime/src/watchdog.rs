//! The watchdog at work: looks at the beads in progress, reminds, puts back, gives up, and counts (contracts §8.7).
//!
//! A bead is changed only if it is still as it was looked at. Two watchdogs take turns by a lock, so that no count is lost. Beads that are to be
//! begun are for whoever calls: here they are only counted.

mod filed;
mod papers;
mod stored;

use std::time::Duration;

use beads_ralph_core::watchdog::{self, Counts, Step, Watched, Worker};
use jiff::Timestamp;
use thiserror::Error;

use crate::bead_files::{BeadFileError, Ralph};
use crate::os::files::{self, FileError, Lock};
use crate::os::process::Cancel;
use crate::store::{Store, StoreError};

/// Where figures are, from the project's root.
const METRICS: &str = ".ralph/metrics";

/// How often another watchdog's turn is waited for, and how long each time.
const TURNS: usize = 100;
const TURN: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy)]
pub struct Watchdog<'a> {
    pub ralph: &'a Ralph,
    pub cancel: &'a Cancel,
    pub actor: &'a str,
    pub version: &'a str,
    pub is_dry_run: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub bead: Watched,
    pub step: Step,
    /// How long it had been silent.
    pub silence: Option<Duration>,
    /// The reminder or the alert, from the project's root.
    pub file: Option<String>,
    /// Whether somebody changed the bead meanwhile, so that nothing was done.
    pub is_overtaken: bool,
}

impl Seen {
    fn new(bead: Watched, worker: Worker, now: Timestamp) -> Self {
        Self {
            step: watchdog::decide(&bead, worker, now),
            silence: bead.silence(now),
            bead,
            file: None,
            is_overtaken: false,
        }
    }
}

/// A pass over all beads in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    /// The beads: those of the store in order of their ids, then those in files.
    pub seen: Vec<Seen>,
    pub counts: Counts,
}

/// Why a pass could not be finished.
#[derive(Debug, Error)]
pub enum WatchdogError {
    /// Another watchdog does not come to an end.
    #[error("another watchdog has been at work for a long time")]
    Busy,
    #[error("the watchdog was interrupted")]
    Interrupted,
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Bead(#[from] BeadFileError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Watchdog<'_> {
    /// Looks at every bead in progress once, in files and in the store where there is one. The time is handed in: silence is measured against it.
    pub fn pass(
        &self,
        store: Option<&mut dyn Store>,
        now: Timestamp,
    ) -> Result<Pass, WatchdogError> {
        let _turn = self.turn()?;
        let mut seen = match store {
            Some(store) => self.look_at_store(store, now)?,
            None => Vec::new(),
        };
        seen.extend(self.look_at_files(now)?);
        let mut counts = Counts {
            total_runs: 1,
            ..Counts::default()
        };
        for seen in &seen {
            count(&mut counts, seen);
        }
        if !self.is_dry_run {
            self.keep(counts, now)?;
        }
        Ok(Pass { seen, counts })
    }

    /// Counts a bead that was begun after a pass, and whether it was given up.
    pub fn executed(&self, is_given_up: bool, now: Timestamp) -> Result<(), WatchdogError> {
        let _turn = self.turn()?;
        let counts = Counts {
            beads_processed: 1,
            failures: is_given_up.into(),
            ..Counts::default()
        };
        Ok(self.keep(counts, now)?)
    }

    /// Waits until no other watchdog is at work.
    fn turn(&self) -> Result<Option<Lock>, WatchdogError> {
        if self.is_dry_run {
            return Ok(None);
        }
        let directory = self.ralph.root().join(METRICS);
        files::create_directory(&directory)?;
        for _ in 0..TURNS {
            if let Some(lock) = files::lock(&directory.join("watchdog.lock"))? {
                return Ok(Some(lock));
            }
            if self.cancel.wait(TURN) {
                return Err(WatchdogError::Interrupted);
            }
        }
        Err(WatchdogError::Busy)
    }
}

fn count(counts: &mut Counts, seen: &Seen) {
    counts.beads_processed += 1;
    if seen.is_overtaken {
        return;
    }
    match seen.step {
        Step::Fresh | Step::Nobody | Step::Waits => {}
        Step::Nudge => counts.nudges_sent += 1,
        Step::Restart(_) => counts.restarts_done += 1,
        Step::GiveUp(_) => counts.failures += 1,
    }
}
