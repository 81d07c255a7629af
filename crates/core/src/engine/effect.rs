//! What to do. Effects are in the imperative; each has a number, and doing it again does nothing more.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AgentReport, Cap, CommitId, Spent, Verdict};
use crate::bead::{BeadId, QaReport};
use crate::issue::Fence;

/// The number of an effect in its run. It rises, and answers name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectId(pub u64);

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Something to do for a bead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Its number.
    pub id: EffectId,
    /// The bead.
    pub bead: BeadId,
    /// The claim under which it is done; nobody holds the bead before it is claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Fence>,
    /// What.
    pub action: Action,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Take the bead.
    Claim {
        /// Why this one now, for people.
        why: String,
    },
    /// Make its worktree ready.
    Prepare {
        /// What must be in it besides its dependencies: the head of the target branch that it did not fit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        also: Option<CommitId>,
        /// What the bead started from before, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<CommitId>,
        /// The attempt.
        attempt: u32,
    },
    /// Let a dev agent work.
    Develop {
        /// Which of them.
        agent: usize,
        /// The run of it.
        launch: Launch,
        /// What went wrong before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    /// Let the first dev agent solve a conflict.
    Resolve {
        /// The run of it.
        launch: Launch,
        /// What is being merged.
        merging: String,
        /// The files.
        files: Vec<String>,
    },
    /// Let the scrum-master agent lead the work (S2).
    Lead {
        /// The run of it.
        launch: Launch,
        /// Whether it is only to make the pull request that it forgot (L-19).
        only_pull: bool,
        /// What went wrong before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    /// Commit what was left.
    Seal {
        /// The attempt.
        attempt: u32,
        /// What changes are counted against.
        base: CommitId,
    },
    /// Let a QA agent judge.
    Judge {
        /// Which of them.
        agent: usize,
        /// The run of it.
        launch: Launch,
        /// What it judges.
        commit: CommitId,
        /// What changes are counted against.
        base: CommitId,
    },
    /// Run the checks.
    Verify {
        /// The attempt.
        attempt: u32,
        /// On this commit and nothing else.
        commit: CommitId,
    },
    /// Reset the worktree to a commit, and keep a copy of the rest (Z-39).
    Restore {
        /// The attempt.
        attempt: u32,
        /// The commit.
        commit: CommitId,
    },
    /// Write what happened into the bead.
    Record {
        /// What.
        progress: Progress,
    },
    /// Keep the verified commit reachable.
    Keep {
        /// The commit.
        commit: CommitId,
    },
    /// Merge it into the target branch.
    Merge {
        /// The commit.
        commit: CommitId,
        /// The branch.
        target: String,
    },
    /// Push it.
    Push {
        /// The commit.
        commit: CommitId,
    },
    /// Find its pull request, or make one.
    Propose {
        /// The commit.
        commit: CommitId,
        /// Whether one may be made, or only be found.
        may_create: bool,
    },
    /// Close the bead.
    Close {
        /// The commit that was verified.
        commit: CommitId,
        /// What is written with it.
        progress: Progress,
        /// The pull request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pull: Option<Pull>,
    },
    /// Let it wait for a person.
    Block {
        /// Why.
        reason: String,
        /// Whether the whole run must stop for it (L-8).
        is_fatal: bool,
        /// What is written with it.
        progress: Progress,
        /// The last commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<CommitId>,
    },
    /// Give it back.
    Release {
        /// What is written with it.
        progress: Progress,
    },
    /// Remove its worktree (L-22).
    CleanUp,
    /// Tell other runs that an account is at its limit (Z-14).
    Park {
        /// The account.
        account: String,
        /// Until when.
        until: Timestamp,
    },
    /// Tell the user (Z-15).
    Notify {
        /// What.
        text: String,
    },
    /// End what is done for this bead right now.
    Cancel,
}

impl Action {
    /// The attempt that it belongs to, if it belongs to one.
    pub fn attempt(&self) -> Option<u32> {
        match self {
            Self::Prepare { attempt, .. }
            | Self::Seal { attempt, .. }
            | Self::Verify { attempt, .. }
            | Self::Restore { attempt, .. } => Some(*attempt),
            _ => self.launch().map(|launch| launch.attempt),
        }
    }

    /// What the action is called, in journals and on screens.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Claim { .. } => "claim",
            Self::Prepare { .. } => "prepare",
            Self::Develop { .. } => "develop",
            Self::Resolve { .. } => "resolve",
            Self::Lead { .. } => "lead",
            Self::Seal { .. } => "seal",
            Self::Judge { .. } => "judge",
            Self::Verify { .. } => "verify",
            Self::Restore { .. } => "restore",
            Self::Record { .. } => "record",
            Self::Keep { .. } => "keep",
            Self::Merge { .. } => "merge",
            Self::Push { .. } => "push",
            Self::Propose { .. } => "propose",
            Self::Close { .. } => "close",
            Self::Block { .. } => "block",
            Self::Release { .. } => "release",
            Self::CleanUp => "clean_up",
            Self::Park { .. } => "park",
            Self::Notify { .. } => "notify",
            Self::Cancel => "cancel",
        }
    }

    /// The run of an agent that it begins, if it begins one.
    pub fn launch(&self) -> Option<&Launch> {
        match self {
            Self::Develop { launch, .. }
            | Self::Resolve { launch, .. }
            | Self::Lead { launch, .. }
            | Self::Judge { launch, .. } => Some(launch),
            _ => None,
        }
    }

    /// Whether the work on the bead goes on without waiting for it.
    pub fn is_remark(&self) -> bool {
        matches!(
            self,
            Self::Notify { .. } | Self::Park { .. } | Self::CleanUp | Self::Cancel
        )
    }
}

/// One run of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The attempt that it belongs to.
    pub attempt: u32,
    /// The how manyth run of an agent it is for this bead in this run; no two share a session.
    pub number: u32,
    /// Whose account it uses.
    pub account: String,
    /// What it may spend: what was set aside for it.
    pub grant: Cap,
}

/// What is written into a bead (L-16, L-20, Z-9).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// How many attempts there were.
    pub attempts: u32,
    /// What happened since the last time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// What all of it has cost.
    pub spent: Spent,
    /// What it started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<CommitId>,
    /// What was made and not judged yet, so that whoever goes on need not make it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<CommitId>,
    /// What went wrong in the last attempt, for the next one (L-16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// What a leading agent says that its QA agents said of the attempt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub qa_results: Vec<QaReport>,
}

/// Something that happened to a bead and belongs into its history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// A dev agent's run.
    Developed {
        /// The attempt.
        attempt: u32,
        /// How it ended.
        report: AgentReport,
        /// What it had been told of the attempt before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    /// A QA agent's run.
    Judged {
        /// The attempt.
        attempt: u32,
        /// How it ended.
        report: AgentReport,
        /// What it says.
        verdict: Verdict,
    },
    /// The checks.
    Verified {
        /// The attempt.
        attempt: u32,
        /// The commit.
        commit: CommitId,
        /// Whether all passed.
        is_green: bool,
        /// What failed, and what passed with a warning.
        summary: String,
    },
    /// The leading agent's run.
    Led {
        /// The attempt.
        attempt: u32,
        /// How it ended.
        report: AgentReport,
    },
}

/// A pull request of a bead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pull {
    /// Its address.
    pub url: String,
    /// Its number.
    pub number: u64,
}
