//! How the loop runs: how much at once, how often, how long it waits (contracts §7.1, L-1).

use std::time::Duration;

use serde::Deserialize;

use super::timeouts::Limit;
use super::values::{Backoff, Count};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSettings {
    /// How many agents may run at once.
    pub max_parallel_sessions: usize,
    /// How often the store is looked at for work.
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
    /// How long one such try may take.
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
    /// How many attempts a bead has that has none of its own.
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

/// One layout of what is said about the loop.
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
