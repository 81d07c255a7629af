//! How the loop runs: concurrency, polling, retries, time limits, disk space, and the patrol (contracts §7.1, §8.6, L-1, L-10).
//!
//! `logging` exists for older configurations. It is checked and changes nothing: the output of a run is kept below `.beads/runs/`.

use std::time::Duration;

use beads_ralph_core::patrol::Wishes;
use beads_ralph_core::text::{excerpt, parse_duration};
use serde::{Deserialize, Deserializer, de};

use super::document::{Backoff, Count, Text};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSettings {
    pub max_parallel_sessions: usize,
    pub poll_interval: Duration,
    /// How many attempts a bead has, if it was said; a bead's own `max_retry_attempts` is that of the plan compiler, 3.
    pub max_attempts: Option<u32>,
    /// How often the making of a pull request is tried again (L-19).
    pub pr_creation_retries: u32,
    /// How often in a row an agent that is at a limit is called again, where it does not say when the limit ends (Z-13).
    pub limit_retries: u32,
    /// How the waits for a limit grow.
    pub rate_limit_backoff: Backoff,
    /// How often what needs the network, or a lock of git, is tried again (contracts §7.7).
    pub network_retries: u32,
    /// How the waits between those tries grow.
    pub network_backoff: Backoff,
    pub network_timeout: Duration,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            max_parallel_sessions: 10,
            poll_interval: Duration::from_secs(5),
            max_attempts: None,
            pr_creation_retries: 2,
            limit_retries: 5,
            rate_limit_backoff: Backoff::Exponential,
            network_retries: 5,
            network_backoff: Backoff::Exponential,
            network_timeout: Duration::from_secs(30),
        }
    }
}

impl RunSettings {
    /// The default number of attempts of a bead.
    pub const MAX_ATTEMPTS: u32 = 3;
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RalphKey {
    pub(super) max_parallel_sessions: Count<1>,
    pub(super) poll_interval: Limit,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RetryKey {
    pub(super) max_attempts: Count<1>,
    pub(super) pr_creation_retries: Count<0>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct NetworkKey {
    pub(super) max_retries: Count<0>,
    pub(super) retry_backoff: Option<Backoff>,
    pub(super) timeout: Limit,
}

/// `claude`: what holds for the account, whatever the agent is called.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ClaudeKey {
    max_parallel_sessions: Count<1>,
    rate_limit_backoff: Option<Backoff>,
    max_retries: Count<0>,
}

/// The keys about the loop in one of the two layouts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RunKeys {
    pub(super) ralph: RalphKey,
    pub(super) retry: RetryKey,
    pub(super) network: NetworkKey,
}

impl RunKeys {
    /// The settings of a nested layout, with what only the flat one has.
    pub(super) fn settings(self, flat: Self, claude: ClaudeKey) -> RunSettings {
        let default = RunSettings::default();
        let own = self.ralph.max_parallel_sessions;
        let own = own.or(flat.ralph.max_parallel_sessions);
        let (retry, network) = (self.retry, self.network);
        let retries = retry.pr_creation_retries.or(flat.retry.pr_creation_retries);
        let network_retries = network.max_retries.or(flat.network.max_retries);
        let backoff = network.retry_backoff.or(flat.network.retry_backoff);
        let poll_interval = self.ralph.poll_interval.or(flat.ralph.poll_interval);
        let network_timeout = network.timeout.or(flat.network.timeout);
        RunSettings {
            max_parallel_sessions: smaller(own.0, claude.max_parallel_sessions.0)
                .unwrap_or(default.max_parallel_sessions),
            poll_interval: poll_interval.unwrap_or(default.poll_interval),
            max_attempts: retry.max_attempts.or(flat.retry.max_attempts).0,
            pr_creation_retries: retries.0.unwrap_or(default.pr_creation_retries),
            limit_retries: claude.max_retries.0.unwrap_or(default.limit_retries),
            rate_limit_backoff: claude.rate_limit_backoff.unwrap_or_default(),
            network_retries: network_retries.0.unwrap_or(default.network_retries),
            network_backoff: backoff.unwrap_or_default(),
            network_timeout: network_timeout.unwrap_or(default.network_timeout),
        }
    }
}

/// The smaller of two caps, or the one that there is (L-1).
fn smaller(one: Option<u32>, other: Option<u32>) -> Option<usize> {
    let caps = [one, other].into_iter().flatten();
    caps.min().and_then(|cap| usize::try_from(cap).ok())
}

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
                "invalid duration '{}': write it as 90s, 20m or 1h30m",
                excerpt(&text)
            ))
        })?;
        Ok(Self(Some(duration)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSettings {
    /// How many gigabytes (10⁹ bytes) must be free.
    pub min_free_gb: u64,
    pub check_before_start: bool,
}

impl Default for DiskSettings {
    fn default() -> Self {
        Self {
            min_free_gb: 10,
            check_before_start: true,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DiskKey {
    pub(super) min_free_gb: Count<0>,
    pub(super) check_before_start: Option<bool>,
}

impl DiskKey {
    /// The settings of a nested layout, with what only the flat one has.
    pub(super) fn settings(self, flat: Self) -> DiskSettings {
        let default = DiskSettings::default();
        let room = self.min_free_gb.or(flat.min_free_gb).0;
        let is_checked = self.check_before_start.or(flat.check_before_start);
        DiskSettings {
            min_free_gb: room.map_or(default.min_free_gb, u64::from),
            check_before_start: is_checked.unwrap_or(default.check_before_start),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LoggingKey {
    #[serde(rename = "level")]
    _level: Option<Level>,
    #[serde(rename = "format")]
    _format: Option<Format>,
    #[serde(rename = "file")]
    _file: Text,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    Json,
    Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatrolSettings {
    pub wishes: Wishes,
    /// The longest wait between two cycles (G-6).
    pub interval: Duration,
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
