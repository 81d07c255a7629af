//! What happened. Events are in the past tense; each of them stands in the journal before anything is done about it. Trouble says what
//! went wrong, and whether it helps to try again.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{EffectId, Spent, Task};
use crate::agent::Status;
use crate::bead::{BeadId, Model, QaReport, QaStatus};
use crate::issue::Fence;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The store was looked at, and these beads are not as they were when it was looked at before.
    Seen {
        /// The beads as they are now.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tasks: Vec<Task>,
        /// Beads that are not there any more, or not for this run.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gone: Vec<BeadId>,
        /// Accounts that somebody found at their limit, and until when.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parked: Vec<(String, Timestamp)>,
    },
    /// An effect was performed, or could not be.
    Answered {
        /// Which.
        effect: EffectId,
        /// What came of it.
        answer: Box<Result<Answer, Trouble>>,
    },
    /// The time that the engine waited for has come.
    Woke,
    /// Somebody wants it to end; `now` also ends what runs.
    StopAsked {
        /// Whether what runs is ended too.
        now: bool,
    },
    /// Somebody wants nothing new to begin, or wants it to go on.
    PauseAsked {
        /// Which of the two.
        is_paused: bool,
    },
    /// The process that ran it is dead, and another one goes on. What was under way may or may not have happened.
    Adopted {
        /// The beads that could be taken over, each with the number of its new claim.
        fences: Vec<(BeadId, Fence)>,
    },
}

/// What came of an effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The bead is ours.
    Claimed {
        /// The number of the claim.
        fence: Fence,
        /// The bead as it was then.
        task: Box<Task>,
    },
    /// Somebody else has the bead, which is not an error (L-12).
    NotClaimed {
        /// Why.
        why: String,
        /// Whether that would meet every bead now: all places are taken.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_full: bool,
    },
    /// The worktree is ready, or has a conflict.
    Prepared {
        /// What is checked out.
        head: CommitId,
        /// Files with conflicts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conflicts: Vec<String>,
        /// What does not fit, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        merging: Option<String>,
        /// What it started from, for people (Z-6).
        #[serde(default, skip_serializing_if = "String::is_empty")]
        from: String,
        /// Whether what the bead once started from is not in it any more: somebody made its branch anew.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_anew: bool,
    },
    /// An agent's run is over.
    Ended {
        /// How.
        report: AgentReport,
    },
    /// A QA agent's run is over; without a verdict it was kept from judging.
    Judged {
        /// How.
        report: AgentReport,
        /// What it says.
        verdict: Option<Verdict>,
    },
    /// A leading agent's run is over, with what it claims.
    Led {
        /// How.
        report: AgentReport,
        /// Whether it says that the work is done.
        is_success: bool,
        /// Whether it says that everything must stop.
        is_fatal: bool,
        /// What it says went wrong.
        error: Option<String>,
        /// What it says that its QA agents said.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        qa_results: Vec<QaReport>,
    },
    /// Everything is committed.
    Sealed {
        /// The commit.
        commit: CommitId,
        /// Its tree.
        tree: String,
        /// The files that differ from the base.
        n_changed: usize,
        /// Files whose conflicts are unsolved; then nothing was committed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unresolved: Vec<String>,
        /// Why it cannot be taken as it is, such as a repository inside it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<String>,
    },
    /// The checks were run.
    Verified {
        /// The commit that they were run on.
        commit: CommitId,
        /// Whether all of them passed, and nothing changed meanwhile.
        is_green: bool,
        /// What failed, and what passed with a warning.
        summary: String,
        /// Whether somebody ended them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_cut_off: bool,
    },
    /// The commit is in the target branch.
    Merged {
        /// By this commit.
        commit: CommitId,
    },
    /// The commit does not fit with what is in the target branch.
    Conflicted {
        /// The head of the target branch.
        target: CommitId,
        /// The files.
        files: Vec<String>,
    },
    /// There is a pull request.
    Proposed {
        /// Its address.
        url: String,
        /// Its number.
        number: u64,
    },
    /// No pull request was found.
    NotProposed,
    /// It was done, and there is nothing more to say.
    Done,
}

impl Answer {
    /// How the run of an agent ended, if it is about one.
    pub fn report(&self) -> Option<&AgentReport> {
        match self {
            Self::Ended { report } | Self::Judged { report, .. } | Self::Led { report, .. } => {
                Some(report)
            }
            _ => None,
        }
    }
}

/// How an agent's run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReport {
    /// The agent's file, or the built-in agent.
    pub agent: String,
    /// The tier of its model.
    pub model: Model,
    /// The model that the adapter made of it (Z-30).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
    /// Its session.
    pub session: String,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// How it ended.
    pub status: Status,
    /// Why, in a sentence.
    pub reason: String,
    /// What it took.
    pub spent: Spent,
    /// When the account can be used again, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<Timestamp>,
    /// Where its output is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

/// What a QA agent says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The verdict.
    pub status: QaStatus,
    /// In words.
    pub message: String,
    /// What else it has to say.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// The name of a commit: its whole hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommitId(pub String);

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl CommitId {
    /// Enough of it for people.
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }
}

/// Why something could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// Whether it helps to try again.
    pub lasting: Lasting,
    /// What is wrong, and where it can be told, what to do.
    pub message: String,
}

/// How long trouble lasts, which decides what follows from it (contracts §7.7, §7.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasting {
    /// It may be over at the next try: a lock, a network that is down, a full disk.
    Passing,
    /// Somebody is in the way and may go away by themselves: a shell in the worktree, a branch that is looked at. It is worth a longer
    /// wait, and then a matter of this bead alone.
    Occupied,
    /// It stays for this bead, and others may go on: a merge that somebody must look at.
    ForBead,
    /// It stays, and would meet every bead: no right to push, a configuration that is wrong.
    ForRun,
    /// The bead is no longer ours: somebody else holds it, or closed it.
    Lost,
}

impl Trouble {
    fn new(lasting: Lasting, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { lasting, message }
    }

    /// Trouble that may be over at the next try.
    pub fn passing(message: impl Into<String>) -> Self {
        Self::new(Lasting::Passing, message)
    }

    /// Somebody is in the way.
    pub fn occupied(message: impl Into<String>) -> Self {
        Self::new(Lasting::Occupied, message)
    }

    /// Trouble that stays for this bead.
    pub fn for_bead(message: impl Into<String>) -> Self {
        Self::new(Lasting::ForBead, message)
    }

    /// Trouble that would meet every bead.
    pub fn for_run(message: impl Into<String>) -> Self {
        Self::new(Lasting::ForRun, message)
    }

    /// The bead is no longer ours.
    pub fn lost(message: impl Into<String>) -> Self {
        Self::new(Lasting::Lost, message)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
