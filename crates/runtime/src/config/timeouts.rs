//! How long agents may take (contracts §7.1).

use std::time::Duration;

use beads_ralph_core::text::{excerpt, parse_duration};
use serde::{Deserialize, Deserializer, de};

/// How long agents may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// One attempt of a scrum-master, or its whole session where it is an agent itself (L-2).
    pub scrum_master: Duration,
    pub dev_agent: Duration,
    pub qa_agent: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            scrum_master: Duration::from_mins(30),
            dev_agent: Duration::from_mins(20),
            qa_agent: Duration::from_mins(10),
        }
    }
}

impl Timeouts {
    /// What is odd about them (L-2).
    pub fn warning(&self) -> Option<String> {
        (self.scrum_master < self.dev_agent + self.qa_agent).then(|| {
            "timeouts.scrum_master is shorter than timeouts.dev_agent and timeouts.qa_agent together, so an attempt can be cut off in the middle".to_owned()
        })
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TimeoutsKey {
    pub(super) scrum_master: Limit,
    pub(super) dev_agent: Limit,
    pub(super) qa_agent: Limit,
}

impl TimeoutsKey {
    /// The same, with what only the other one has.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            scrum_master: self.scrum_master.or(other.scrum_master),
            dev_agent: self.dev_agent.or(other.dev_agent),
            qa_agent: self.qa_agent.or(other.qa_agent),
        }
    }

    pub(super) fn over_defaults(self) -> Timeouts {
        let default = Timeouts::default();
        Timeouts {
            scrum_master: self.scrum_master.unwrap_or(default.scrum_master),
            dev_agent: self.dev_agent.unwrap_or(default.dev_agent),
            qa_agent: self.qa_agent.unwrap_or(default.qa_agent),
        }
    }
}

/// A duration in Go's style, if there is one; it is never zero (L-1).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limit(Option<Duration>);

impl Limit {
    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0.or(other.0))
    }

    pub(super) fn unwrap_or(self, default: Duration) -> Duration {
        self.0.unwrap_or(default)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else {
            return Ok(Self(None));
        };
        let duration = parse_duration(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "'{}' is no duration; write it as 90s, 20m or 1h30m",
                excerpt(&text)
            ))
        })?;
        Ok(Self(Some(duration)))
    }
}
