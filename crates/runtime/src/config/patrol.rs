//! What the patrol looks at, and how often (contracts §8.6).

use std::time::Duration;

use beads_ralph_core::patrol::Wishes;
use serde::Deserialize;

use super::timeouts::Limit;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatrolSettings {
    /// The commands, where the user names them.
    pub wishes: Wishes,
    /// The longest wait between two cycles (G-6).
    pub interval: Duration,
    /// How long one check may take.
    pub timeout: Duration,
}

impl Default for PatrolSettings {
    fn default() -> Self {
        Self {
            wishes: Wishes::default(),
            interval: Duration::from_mins(5),
            timeout: Duration::from_mins(30),
        }
    }
}

/// `patrol`. A text without anything in it says that there is no such check.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PatrolKey {
    unit: Option<String>,
    build: Option<String>,
    e2e: Option<String>,
    e2e_enabled: Option<bool>,
    interval: Limit,
    timeout: Limit,
}

impl PatrolKey {
    pub(super) fn settings(self) -> PatrolSettings {
        let default = PatrolSettings::default();
        PatrolSettings {
            wishes: Wishes {
                unit: self.unit,
                build: self.build,
                e2e: self.e2e,
                e2e_enabled: self.e2e_enabled,
            },
            interval: self.interval.unwrap_or(default.interval),
            timeout: self.timeout.unwrap_or(default.timeout),
        }
    }
}
