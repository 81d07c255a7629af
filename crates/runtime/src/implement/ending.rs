//! What came of a dispatch, and why.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::engine::{Lasting, Trouble};
use beads_ralph_core::implement::report::{EvidenceGate, ReportStatus};
use beads_ralph_core::implement::{Mode, Stage};
use camino::Utf8PathBuf;
use jiff::Timestamp;
use thiserror::Error;

use super::ralf::LoopSummary;
use crate::agent::AgentError;
use crate::os::files::FileError;
use crate::store::StoreError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The number of the rule in the contracts.
    pub rule: &'static str,
    pub text: String,
}

#[derive(Debug, Clone)]
pub struct Dispatched {
    pub source: BeadId,
    pub molecule: Option<BeadId>,
    /// The step that was current.
    pub step: Option<BeadId>,
    pub stage: Option<Stage>,
    pub mode: Option<Mode>,
    /// How the stage is done: `native`, `direct`, `ralf-implement`, `ralf-review` or `skip`.
    pub shape: Option<&'static str>,
    pub worker: Option<String>,
    /// The session of the worker (I-41).
    pub session: Option<String>,
    pub report: Option<Utf8PathBuf>,
    pub status: Option<ReportStatus>,
    pub gate: Option<EvidenceGate>,
    pub discovered: Vec<BeadId>,
    /// What a loop amounts to.
    pub aggregate: Option<LoopSummary>,
    pub decisions: Vec<Decision>,
    /// What is wrong with the report, and was used all the same.
    pub warnings: Vec<String>,
    pub ending: Ending,
}

impl Dispatched {
    pub(super) fn new(source: BeadId) -> Self {
        Self {
            source,
            molecule: None,
            step: None,
            stage: None,
            mode: None,
            shape: None,
            worker: None,
            session: None,
            report: None,
            status: None,
            gate: None,
            discovered: Vec::new(),
            aggregate: None,
            decisions: Vec::new(),
            warnings: Vec::new(),
            ending: Ending::DryRun,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The source is closed: there is nothing to do.
    SourceClosed,
    /// The source waits for a person: nothing was done.
    Paused,
    /// Every step of the molecule is done: there is nothing to do.
    MoleculeDone,
    Waiting(String),
    /// The step is done; a line about it.
    Complete(String),
    /// A person is needed, and why.
    Human(String),
    /// It was only explained.
    DryRun,
}

impl Ending {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::SourceClosed => "source_closed",
            Self::Paused => "paused",
            Self::MoleculeDone => "molecule_done",
            Self::Waiting(_) => "waiting",
            Self::Complete(_) => "complete",
            Self::Human(_) => "needs_human",
            Self::DryRun => "dry_run",
        }
    }

    /// Whether a stage was done, so that the next one can be.
    pub fn is_progress(&self) -> bool {
        matches!(self, Self::Complete(_))
    }
}

#[derive(Debug, Error)]
pub enum ImplementError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    File(#[from] FileError),
    /// No agent can be started, for reasons that are ours.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// Git or the place of pull requests cannot be had.
    #[error("{0}")]
    Trouble(Trouble),
    /// The agent is not there, not logged in, or not fit for this.
    #[error("{message}")]
    NotReady { message: String, action: String },
    #[error("{reason}")]
    Limit {
        reason: String,
        until: Option<Timestamp>,
    },
    /// The environment kept the acceptance commands from running.
    #[error("{0}")]
    NotRun(String),
    /// Nobody could look at the work.
    #[error("no reviewer could look at the work: {0}")]
    NoReviewer(String),
    #[error("interrupted; the work so far is kept, and the same command resumes it")]
    Interrupted,
}

impl ImplementError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Store(error) => error.code(),
            Self::File(error) => error.code(),
            Self::Agent(_)
            | Self::Trouble(_)
            | Self::NotReady { .. }
            | Self::Limit { .. }
            | Self::NotRun(_)
            | Self::NoReviewer(_)
            | Self::Interrupted => ErrorCode::ValidationConstraint,
        }
    }

    /// Whether somebody else works on the bead at the same time.
    pub(super) fn is_elsewhere(&self) -> bool {
        let is_taken = |error: &StoreError| {
            matches!(error, StoreError::Guard { .. }) || error.is_already_claimed()
        };
        self.is_lost() || matches!(self, Self::Store(error) if is_taken(error))
    }

    /// Whether it would meet every bead: no agent, a configuration that is wrong.
    pub(super) fn is_for_all(&self) -> bool {
        match self {
            Self::NotReady { .. } => true,
            Self::Trouble(trouble) => trouble.lasting == Lasting::ForRun,
            _ => false,
        }
    }

    /// Whether it may be over at the next try, whatever the bead.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Interrupted | Self::Limit { .. } | Self::File(_) => true,
            Self::Trouble(trouble) => trouble.lasting == Lasting::Passing,
            Self::Store(error) => {
                error.is_temporary() || matches!(error, StoreError::Timeout { .. })
            }
            Self::Agent(_) | Self::NotReady { .. } | Self::NotRun(_) | Self::NoReviewer(_) => false,
        }
    }

    /// Whether the step is somebody else's now.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Store(error) => {
                matches!(error, StoreError::Stale { .. } | StoreError::Held { .. })
            }
            Self::Trouble(trouble) => trouble.lasting == Lasting::Lost,
            _ => false,
        }
    }
}

#[derive(Debug)]
pub(super) enum Stop {
    Ended(Ending),
    /// A person has to decide: the rule, and the question.
    Human {
        rule: &'static str,
        note: String,
    },
    Error(Box<ImplementError>),
}

impl Stop {
    pub(super) fn human(rule: &'static str, note: impl Into<String>) -> Self {
        Self::Human {
            rule,
            note: note.into(),
        }
    }
}

impl<E: Into<ImplementError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(Box::new(error.into()))
    }
}

impl From<Trouble> for ImplementError {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}
