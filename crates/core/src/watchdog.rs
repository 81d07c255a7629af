//! The watchdog: which beads in progress have been silent for too long, and what is done about each (contracts §8.7).
//!
//! A claim says more than silence does: a bead whose holder is alive is never taken away, only reminded of; and one that waits for a person is
//! left alone. Nothing here looks at a clock or at a process: both are handed in.

mod wire;

use std::time::Duration;

use jiff::Timestamp;

pub use wire::{Counts, Watched, forgiven, given_up, given_up_file, restarted, restarted_file};

use crate::issue::Abandoned;
use crate::vocabulary::label;

/// After how long without a sign of life a bead counts as stale (G-8).
pub const THRESHOLD: Duration = Duration::from_mins(30);

/// How often a bead is started again before it is given up (G-8).
pub const MAX_RESTARTS: u64 = 5;

/// The statuses of beads that somebody is said to work on.
pub const WATCHED: [&str; 2] = ["in_progress", "hooked"];

/// The labels of what waits for a person: for an answer (Z-1), or to be merged.
pub const WAITING: [&str; 2] = [label::HUMAN, label::MERGE_READY];

const LAST_RESTART: &str = "last_restart";
const FAILURE_REASON: &str = "failure_reason";

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
pub enum Step {
    /// Nothing: there was a sign of life.
    Fresh,
    /// Nothing: nobody is named whom one could ask.
    Nobody,
    /// Nothing: it waits for a person, who takes the time that it takes.
    Waits,
    /// Whoever works on it is reminded.
    Nudge,
    /// It is put back to open, for this reason.
    Restart(String),
    /// It is given up and waits for a person, for this reason.
    GiveUp(String),
}

/// What is to be done about a bead (G-8).
pub fn decide(bead: &Watched, worker: Worker, now: Timestamp) -> Step {
    let Some(silence) = bead.silence(now).filter(|silence| *silence > THRESHOLD) else {
        return Step::Fresh;
    };
    if bead.waits {
        return Step::Waits;
    }
    let why = match worker {
        Worker::Person => return Step::Waits,
        Worker::Alive => return Step::Nudge,
        Worker::Gone(why) => why.as_str().to_owned(),
        Worker::Unknown if bead.assignee.is_none() => return Step::Nobody,
        Worker::Unknown if silence <= THRESHOLD * 2 => return Step::Nudge,
        Worker::Unknown => format!("nothing was heard of it for {} minutes", minutes(silence)),
    };
    if bead.restart_count >= MAX_RESTARTS {
        return Step::GiveUp(why);
    }
    Step::Restart(why)
}

/// A time in whole minutes.
pub fn minutes(time: Duration) -> u64 {
    time.as_secs() / 60
}

/// Why a bead is given up, in words.
pub fn failure_reason(restart_count: u64, why: &str) -> String {
    format!("given up after {restart_count} restarts: {why}")
}

/// What is said about a bead that is started again, with what becomes of it.
fn restart_reason(becomes: &str, count: u64, why: &str) -> String {
    format!("watchdog: put back to {becomes}, restart {count} of {MAX_RESTARTS}: {why}")
}

#[cfg(test)]
mod tests;
