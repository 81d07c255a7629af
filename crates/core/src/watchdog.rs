//! The watchdog: which beads in progress have been silent for too long, and what is done about each (contracts §8.7).
//!
//! A claim says more than silence does: a bead whose holder is alive is never taken away, only reminded of; and one that waits for a person is
//! left alone. Nothing here looks at a clock or at a process: both are handed in.

mod wire;

use std::time::Duration;

use jiff::Timestamp;

pub use wire::{Counts, WatchedBead, forgiven, given_up, given_up_file, restarted, restarted_file};

use crate::issue::Abandoned;
use crate::vocabulary::{Status, label};

/// After how long without a sign of life a bead counts as stale (G-8).
pub const THRESHOLD: Duration = Duration::from_mins(30);

/// How often a bead is restarted before it fails for good (G-8).
pub const MAX_RESTARTS: u64 = 5;

/// The statuses of beads that somebody is said to work on.
pub const WATCHED: [&str; 2] = [Status::InProgress.as_str(), Status::Hooked.as_str()];

/// The labels of what waits for a person: for an answer (Z-1), or to be merged.
pub const WAITING: [&str; 2] = [label::HUMAN, label::MERGE_READY];

/// Who works on a bead, as far as can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worker {
    /// No claim says.
    Unknown,
    /// The holder of its claim, or of one on a part of it, is not known to be gone.
    Alive,
    /// The holder of its claim is gone.
    Gone(Abandoned),
    /// A person: it, or a part of it, waits for one.
    Person,
}

/// What is to be done about a bead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing: there was a sign of life.
    Fresh,
    /// Nothing: nobody is named whom one could ask.
    Nobody,
    /// Nothing: it waits for a person, who may take any time.
    Waits,
    /// Whoever works on it is reminded.
    Nudge,
    /// It is put back to open, for this reason.
    Restart(String),
    /// It is blocked and waits for a person, for this reason.
    GiveUp(String),
}

/// What is to be done about a bead (G-8).
pub fn decide(bead: &WatchedBead, worker: Worker, now: Timestamp) -> Decision {
    let Some(silence) = bead.silence(now).filter(|silence| *silence > THRESHOLD) else {
        return Decision::Fresh;
    };
    if bead.waits {
        return Decision::Waits;
    }
    let why = match worker {
        Worker::Person => return Decision::Waits,
        Worker::Alive => return Decision::Nudge,
        Worker::Gone(why) => why.as_str().to_owned(),
        Worker::Unknown if bead.assignee.is_none() => return Decision::Nobody,
        Worker::Unknown if silence <= THRESHOLD * 2 => return Decision::Nudge,
        Worker::Unknown => format!("nothing was heard of it for {} minutes", minutes(silence)),
    };
    if bead.restart_count >= MAX_RESTARTS {
        return Decision::GiveUp(why);
    }
    Decision::Restart(why)
}

/// A time in whole minutes.
pub fn minutes(time: Duration) -> u64 {
    time.as_secs() / 60
}

/// Why a bead failed for good, in words.
pub fn failure_reason(restart_count: u64, why: &str) -> String {
    format!("given up after {restart_count} restarts: {why}")
}

/// The message about a bead that is restarted, with its new status.
fn restart_reason(becomes: &str, count: u64, why: &str) -> String {
    format!("watchdog: put back to {becomes}, restart {count} of {MAX_RESTARTS}: {why}")
}

#[cfg(test)]
mod tests;
