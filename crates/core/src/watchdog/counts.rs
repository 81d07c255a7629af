//! The figures of the watchdog (G-9).

use serde_json::{Value, json};

use crate::bead;

/// What watchdogs did so far, in all (G-9).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often they looked.
    pub total_runs: u64,
    /// How many beads they looked at.
    pub beads_processed: u64,
    /// How many reminders they wrote.
    pub nudges_sent: u64,
    /// How many beads they put back to open.
    pub restarts_done: u64,
    /// How many they gave up.
    pub failures: u64,
}

impl Counts {
    /// The counts of a metrics file; what it lacks is nought.
    pub fn read(document: &Value) -> Self {
        let count = |key: &str| document[key].as_u64().unwrap_or_default();
        Self {
            total_runs: count("total_runs"),
            beads_processed: count("beads_processed"),
            nudges_sent: count("nudges_sent"),
            restarts_done: count("restarts_done"),
            failures: count("failures"),
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            total_runs: self.total_runs.saturating_add(other.total_runs),
            beads_processed: self.beads_processed.saturating_add(other.beads_processed),
            nudges_sent: self.nudges_sent.saturating_add(other.nudges_sent),
            restarts_done: self.restarts_done.saturating_add(other.restarts_done),
            failures: self.failures.saturating_add(other.failures),
        }
    }

    /// The metrics file after a pass that ended now, by what it said before (G-9).
    pub fn document(self, before: &Value, now: &bead::Timestamp, version: &str) -> Value {
        let sum = Self::read(before).plus(self);
        let start_time = match &before["start_time"] {
            Value::String(time) => json!(time),
            _ => json!(now),
        };
        json!({
            "total_runs": sum.total_runs,
            "beads_processed": sum.beads_processed,
            "nudges_sent": sum.nudges_sent,
            "restarts_done": sum.restarts_done,
            "failures": sum.failures,
            "last_run": now,
            "start_time": start_time,
            "version": version,
        })
    }
}
