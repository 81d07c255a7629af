//! The watchdog at work: looks at the beads in progress, reminds, puts back, gives up, and counts (contracts §8.7).
//!
//! A bead is changed only if it is still as it was looked at. Two watchdogs take turns by a lock, so that no count is lost. Beads that are to be
//! begun are for whoever calls: here they are only counted.

mod beads;

use std::time::Duration;

use beads_ralph_core::bead;
use beads_ralph_core::issue::Holder;
use beads_ralph_core::watchdog::{self, Counts, Step, Watched, Worker};
use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde_json::{Value, json};
use thiserror::Error;

use crate::bead_files::{BeadFileError, Ralph, names};
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

const NUDGES: &str = ".ralph/nudges";
const ALERTS: &str = ".ralph/alerts";
const METRICS_FILE: &str = "watchdog-metrics.json";

/// How many reminders, and how many alerts, are kept.
const MAX_KEPT: usize = 100;

impl Watchdog<'_> {
    /// A reminder for whoever works on a bead.
    pub(super) fn nudge(
        &self,
        bead: &Watched,
        holder: Option<&Holder>,
        now: Timestamp,
    ) -> Result<String, FileError> {
        let Watched { id, title, .. } = bead;
        let minutes = bead.silence(now).map(watchdog::minutes).unwrap_or_default();
        let last = bead.last_activity.map(bead::Timestamp::from_instant);
        let nudge = json!({
            "timestamp": bead::Timestamp::from_instant(now),
            "bead_id": id,
            "title": title,
            "assignee": bead.assignee,
            "holder": holder,
            "last_activity": last,
            "message": format!("{id} has been silent for {minutes} minutes: say how it stands, or give it back"),
        });
        self.write_new(NUDGES, id, now, &nudge)
    }

    pub(super) fn alert(
        &self,
        bead: &Watched,
        why: &str,
        now: Timestamp,
    ) -> Result<String, FileError> {
        let Watched { id, title, .. } = bead;
        let alert = json!({
            "timestamp": bead::Timestamp::from_instant(now),
            "severity": "critical",
            "subject": format!("{id} was given up: {title}"),
            "body": watchdog::failure_reason(bead.restart_count, why),
        });
        self.write_new(ALERTS, "alert", now, &alert)
    }

    /// Writes `<kind>-<yyyyMMdd-HHmmss>.json`, with a number where that is taken.
    fn write_new(
        &self,
        directory: &str,
        kind: &str,
        now: Timestamp,
        document: &Value,
    ) -> Result<String, FileError> {
        let place = self.ralph.root().join(directory);
        files::create_directory(&place)?;
        for name in names(now) {
            let file = format!("{kind}-{name}.json");
            match files::create_new(&place.join(&file), &files::to_json(document)) {
                Err(FileError::Exists { .. }) => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    files::keep_newest(&place, ".json", MAX_KEPT)?;
                    return Ok(format!("{directory}/{file}"));
                }
            }
        }
        Err(FileError::Exists { path: place })
    }

    /// Adds a pass to the metrics (G-9). A file that cannot be understood is begun anew: figures must not stop the watchdog.
    fn keep(&self, counts: Counts, now: Timestamp) -> Result<(), FileError> {
        let path: Utf8PathBuf = self.ralph.root().join(METRICS).join(METRICS_FILE);
        let before = match files::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(FileError::NotFound { .. }) => Value::Null,
            Err(error) => return Err(error),
        };
        let now = bead::Timestamp::from_instant(now);
        let document = counts.document(&before, &now, self.version);
        files::write_atomic(&path, &files::to_json(&document))
    }
}
