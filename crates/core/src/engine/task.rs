//! What the loop knows about a bead.

use serde::{Deserialize, Serialize};

use super::{CommitId, Spent};
use crate::bead::{BeadId, SourceMap};

/// A bead as the loop sees it: what decides when it runs, and nothing of what is done in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The bead.
    pub id: BeadId,
    /// What it is about.
    pub title: String,
    /// The sprint's number.
    pub sprint: String,
    /// The team.
    pub team: String,
    /// How urgent it is; 0 comes first.
    pub priority: i64,
    /// How long it is thought to take, in minutes; 1 where nobody said.
    pub weight: u64,
    /// Where its sprint stood in the plan when it was applied (Z-45).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceMap>,
    /// Its branch.
    pub branch: String,
    /// Where it is worked on; two beads of one place take turns.
    pub worktree: String,
    /// Whether it joins branches, so that it need not change anything itself (L-21).
    pub is_merge: bool,
    /// Whether it is a gate: nobody works on it, its checks decide (V-11).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_gate: bool,
    /// Where it stands.
    pub standing: TaskState,
    /// The beads that are not closed and hold it back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<BeadId>,
    /// Whether something else holds it back: it is put off, or a part of something that waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_put_off: bool,
    /// Why it is held back though nothing else is in its way: gates are red (G-3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back: Option<String>,
    /// What is wrong with it, so that it cannot be worked on (L-5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The accounts of the agents that do the work, in order.
    pub developers: Vec<String>,
    /// The accounts of the agents that judge it.
    pub judges: Vec<String>,
    /// The account of the agent that leads, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader: Option<String>,
    /// How many attempts there were.
    pub attempts: u32,
    /// How many there may be.
    pub max_attempts: u32,
    /// Whether a program checks the work, besides agents (Z-31).
    #[serde(default)]
    pub has_checks: bool,
    /// What it has cost so far.
    pub spent: Spent,
    /// What was made in an attempt that nobody has judged, if it was given back so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<CommitId>,
    /// What it started from, once that is known (Z-6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<CommitId>,
    /// What went wrong in the last attempt, if there was one: the next one gets it (L-16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

/// Where a bead stands in its store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It can be claimed once nothing holds it back.
    Open,
    /// Somebody else works on it.
    Held {
        /// Who.
        by: String,
        /// Whether that is a program which will end, so that it is worth waiting for.
        is_run: bool,
    },
    /// It waits for a person.
    Blocked,
    /// It is done.
    Closed,
}

impl Task {
    /// Whether it could be started now, as far as the store goes.
    pub fn is_ready(&self) -> bool {
        self.standing == TaskState::Open
            && self.waits_for.is_empty()
            && !self.is_put_off
            && self.held_back.is_none()
    }
}
