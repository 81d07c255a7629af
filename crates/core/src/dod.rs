//! Beads with a machine-checked Definition of Done (seed 003, contracts §8): what they say, and the loop that works on them.
//!
//! A [`DodBead`] is one document with everything that it holds, whatever dialect it is written in; writing back changes only
//! what a run changes. [`RetryLoop`] decides what to do next; it runs nothing and knows no clock.

pub(crate) mod prompt;
mod read_json;
mod retry_loop;
mod schema_json;
mod write_json;

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::bead::{Dod, Invalid, Verifier};
use crate::text::excerpt;
use crate::vocabulary::{Status, metadata, ralph_meta};

pub use prompt::{Feedback, prompt};
pub use read_json::{
    FLAT_GATE_VERIFIER, check_name, is_gate, means_gate, of_issue, parse, parse_json, read,
};
pub use retry_loop::{AgentEnd, Moment, RetryEnd, RetryLoop, RetrySettings, RetryStep};
pub use schema_json::schemas;
pub use write_json::RunProgress;

/// Declares an enum of words that are read in several spellings and written in the first one.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident ($field:literal) {
        $($(#[$vdoc:meta])* $variant:ident = $text:expr $(, or $other:expr)*;)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Every word that is read.
            pub(crate) const WORDS: &[&str] = &[$($text),* $($(, $other)*)*];

            /// The word as it is written.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// Reads the word, also in its other spellings.
            pub fn parse(text: &str) -> Result<Self, Invalid> {
                $(if [$text $(, $other)*].contains(&text) {
                    return Ok(Self::$variant);
                })*
                Err(Invalid::pattern(format!(
                    "{} must be one of: {}, got '{}'",
                    $field,
                    [$($text),*].join(", "),
                    excerpt(text)
                )))
            }
        }
    };
}

words! {
    /// What kind of work a bead is.
    DodType ("type") {
        /// Anything.
        Task = "task", or "chore";
        /// Something new.
        Feature = "feature";
        /// A repair.
        Bugfix = "bugfix", or "bug";
        /// A condition that others wait for.
        Gate = "gate";
    }
}

words! {
    /// The lane that a bead travels in; the words of both dialects.
    Lane ("lane") {
        /// Quick work.
        Fast = "fast";
        /// New work.
        Feature = "feature";
        /// Upkeep.
        Maintenance = "maintenance";
        /// A trial.
        Experimental = "experimental";
        /// A repair.
        Bug = "bug";
        /// Making what is there more robust.
        Hardening = "hardening";
        /// Dependencies.
        Deps = "deps";
        /// A gate.
        Gate = "gate";
        /// Found by the patrol.
        Patrol = "patrol";
    }
}

words! {
    /// Where a bead stands.
    #[derive(Default)]
    DodStatus ("status") {
        /// Nobody works on it.
        #[default]
        Pending = "pending", or Status::Open.as_str();
        /// Somebody works on it, or did before a crash.
        InProgress = Status::InProgress.as_str(), or Status::Hooked.as_str();
        /// Every check passed.
        Completed = "completed", or Status::Closed.as_str(), or "GREEN";
        /// It failed for good.
        Failed = "failed", or "RED";
        /// It waits for something.
        Blocked = Status::Blocked.as_str(), or Status::Pinned.as_str();
    }
}

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
    /// Warnings about the document.
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
        self.document.get(metadata::RALPH_META)?.get(key)
    }

    /// How many attempts all runs made.
    pub fn total_attempts(&self) -> u64 {
        let noted = |key| self.meta(key).and_then(Value::as_u64);
        let total = noted(ralph_meta::TOTAL_ATTEMPTS);
        total
            .or_else(|| noted(ralph_meta::ATTEMPT_COUNT))
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
