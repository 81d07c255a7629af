//! How a run decides, fixed at its beginning: the settings stand at the head of its journal.

use serde::{Deserialize, Serialize};

use crate::bead::{ASSIGNEE, BeadId};
use crate::issue::Record;
use crate::vocabulary::metadata;

/// How a run decides. Times are in milliseconds, so that a journal is plain numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The run's id.
    pub run: String,
    /// Which beads it is about.
    #[serde(default)]
    pub selection: Selection,
    /// What jitter is made from.
    pub seed: u64,
    /// How many beads may be worked on at once.
    pub max_parallel: usize,
    /// How long to wait before something that somebody else has is asked for again.
    pub poll_ms: u64,
    /// How often passing trouble is met by trying again.
    pub max_tries: u32,
    /// How often a limit without a known end is waited for.
    pub max_limit_tries: u32,
    /// How the waits between tries grow.
    pub backoff: Backoff,
    /// How the waits grow at a limit without a known end.
    pub limit_backoff: Backoff,
    /// How often a pull request that a leading agent forgot is asked for (L-19).
    pub max_pull_tries: u32,
    /// What becomes of verified work.
    pub integration: Integration,
    /// Who leads the work on a bead.
    pub leader: Leader,
    /// Which of the beads that could be started comes first.
    pub order: Order,
    /// What may be spent.
    pub caps: Caps,
    /// Whether worktrees are removed once their bead is closed (L-22).
    pub cleans_up: bool,
    /// Whether the run goes on when nothing is left to do.
    pub watches: bool,
    /// Whether only what can be started at the beginning is worked on.
    pub is_once: bool,
}

/// How verified work is handed over, as users choose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntegrationMode {
    /// It stays on its branch.
    None,
    /// It is merged into the target branch.
    Merge,
    /// It is pushed and proposed as a pull request.
    Pr,
}

impl IntegrationMode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::None, Self::Merge, Self::Pr];

    /// The word in the configuration and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Merge => "merge",
            Self::Pr => "pr",
        }
    }

    /// What a run does in this mode; `target` is the branch that work is merged into.
    pub fn into(self, target: impl FnOnce() -> String) -> Integration {
        match self {
            Self::None => Integration::None,
            Self::Merge => Integration::Merge { target: target() },
            Self::Pr => Integration::Pr,
        }
    }
}

/// What becomes of verified work in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Integration {
    /// It stays on its branch.
    None,
    /// It is merged into one branch (Z-11).
    Merge {
        /// That branch.
        target: String,
    },
    /// It is pushed and proposed (L-18).
    Pr,
}

/// Who leads the work on a bead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leader {
    /// This program.
    Native,
    /// The bead's `scrum_master_agent`; what it claims is looked at.
    Agent,
}

/// Which of the beads that could be started comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Priority, then the longest remaining path, then the id (L-6).
    Urgency,
    /// As they became ready; only for comparison.
    FirstInFirstOut,
}

/// How waits grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// 1, 2, 4, 8 seconds …
    Exponential,
    /// 1, 2, 3, 4 seconds …
    Linear,
    /// Always 1 second.
    Constant,
}

/// The longest wait between two tries.
const MAX_WAIT_MS: u64 = 5 * 60 * 1000;

impl Backoff {
    /// How long to wait before try `n`, from 1, with up to a second that differs between those who wait (contracts §7.7).
    pub fn wait_ms(self, n: u32, jitter: u64) -> u64 {
        let seconds = match self {
            Self::Exponential => 1_u64 << n.saturating_sub(1).min(20),
            Self::Linear => u64::from(n),
            Self::Constant => 1,
        };
        (seconds * 1000).min(MAX_WAIT_MS) + jitter % 1000
    }
}

/// What may be spent at each level (Z-13).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// By one run of an agent.
    pub attempt: Cap,
    /// On one bead.
    pub bead: Cap,
    /// By one team.
    pub team: Cap,
    /// By the whole run.
    pub run: Cap,
}

/// What may be spent at one level; what is absent is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cap {
    /// Millionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micros: Option<u64>,
    /// Tokens of all kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How often a model is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Milliseconds on the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
}

impl Cap {
    pub(super) fn amounts(&self) -> [Option<u64>; 4] {
        [self.micros, self.tokens, self.turns, self.time_ms]
    }

    pub(super) fn of([micros, tokens, turns, time_ms]: [Option<u64>; 4]) -> Self {
        Self {
            micros,
            tokens,
            turns,
            time_ms,
        }
    }
}

/// Which beads are wanted; what is absent does not narrow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Only these beads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beads: Vec<BeadId>,
    /// Only of these teams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub teams: Vec<String>,
    /// Only these sprints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sprints: Vec<String>,
    /// Only of this plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

impl Selection {
    /// Whether a bead is wanted.
    pub fn selects(&self, record: &Record) -> bool {
        let text = |key: &str| {
            let value = record.issue.metadata().and_then(|it| it.get(key)?.as_str());
            value.unwrap_or_default()
        };
        let is_in = |wanted: &[String], value: &str| {
            wanted.is_empty() || wanted.iter().any(|it| it == value)
        };
        // What was given to somebody else is not for agents (L-5).
        record.issue.assignee() == Some(ASSIGNEE)
            && (self.beads.is_empty() || self.beads.contains(record.issue.id()))
            && is_in(&self.teams, text(metadata::TEAM_NAME))
            && is_in(&self.sprints, text(metadata::SPRINT))
            && (self.plan.iter()).all(|plan| plan == text(metadata::PLAN_FILE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l_7_7_waits_grow_and_have_an_end() {
        let waits = |backoff: Backoff| [1, 2, 3, 60].map(|n| backoff.wait_ms(n, 5));
        assert_eq!(waits(Backoff::Exponential), [1005, 2005, 4005, 300_005]);
        assert_eq!(waits(Backoff::Linear), [1005, 2005, 3005, 60_005]);
        assert_eq!(waits(Backoff::Constant), [1005; 4]);
        assert_eq!(Backoff::Constant.wait_ms(1, 12_345), 1345);
    }
}
