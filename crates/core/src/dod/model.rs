//! A DoD bead: what it says, and the document that it came from.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::words::{DodStatus, DodType, Lane};
use crate::bead::{Dod, Verifier};

/// A bead with a Definition of Done.
#[derive(Debug, Clone, PartialEq)]
pub struct DodBead {
    /// Its name, which is also the name of a directory: never anything that leads elsewhere.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What is to be accomplished.
    pub intent: String,
    /// What kind of work it is.
    pub kind: DodType,
    /// How urgent it is: 0 is most urgent.
    pub priority: u8,
    /// The lane that it travels in.
    pub lane: Option<Lane>,
    /// What machines check before it counts as done.
    pub dod: Dod,
    /// The bounds of the work.
    pub constraints: Constraints,
    /// Where it stands.
    pub status: DodStatus,
    /// How long to wait after the first failure (`ralph_meta.retry_backoff_seconds`).
    pub backoff: Duration,
    /// Whether it is a gate (V-2).
    pub is_gate: bool,
    /// Whether a gate is completed when it is green, instead of staying open (G-2).
    pub closes_on_pass: bool,
    /// What a reader should know about the document, though it is no error.
    pub warnings: Vec<String>,
    /// All of it, unknown keys too.
    pub document: Map<String, Value>,
}

/// The bounds of the work on a bead.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraints {
    /// How often an agent may try.
    pub max_iterations: Option<u32>,
    /// How long all of it may take.
    pub time_budget: Option<Duration>,
    /// When it must be done.
    pub deadline: Option<Timestamp>,
}

impl DodBead {
    /// How long to wait after the first failure, unless the bead says otherwise.
    pub const DEFAULT_BACKOFF: Duration = Duration::from_secs(30);

    /// How often an agent may try, unless bead or command line say otherwise.
    pub const DEFAULT_MAX_ITERATIONS: u32 = 10;

    /// The same with checks that hold for every bead. They are run and not written into it; a gate has its own only.
    #[must_use]
    pub fn with_checks(mut self, defaults: &[Verifier]) -> Self {
        if !self.is_gate {
            self.dod.verifiers.extend_from_slice(defaults);
        }
        self
    }

    /// Something that earlier work noted in `ralph_meta`.
    pub fn meta(&self, key: &str) -> Option<&Value> {
        self.document.get("ralph_meta")?.get(key)
    }

    /// How many attempts there were in all, over every run.
    pub fn total_attempts(&self) -> u64 {
        let noted = |key| self.meta(key).and_then(Value::as_u64);
        noted("total_attempts")
            .or_else(|| noted("attempt_count"))
            .unwrap_or(0)
    }
}
