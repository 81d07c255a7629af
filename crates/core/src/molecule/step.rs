//! One step of a molecule, and where it is.

use crate::bead::BeadId;
use crate::issue::{Issue, Record, Standing};

/// Where a step is, in the words of `bd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It is closed.
    Done,
    /// Somebody works on it.
    Current,
    /// It can be started.
    Ready,
    /// Its status says that it is blocked: a person is needed.
    Blocked,
    /// It waits for other steps, for its own parts, or for its time.
    Pending,
}

impl Place {
    /// The place in one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Current => "current",
            Self::Ready => "ready",
            Self::Blocked => "blocked",
            Self::Pending => "pending",
        }
    }
}

/// A step, or the gate of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    record: Record,
    role: String,
    is_own: bool,
    place: Place,
}

impl Step {
    /// A step of a root; whether parts of it are open keeps it from being started.
    pub(super) fn new(root: &Issue, record: Record, has_open_parts: bool) -> Self {
        let issue = &record.issue;
        let rest = issue.id().as_str().strip_prefix(root.id().as_str());
        let own = rest.and_then(|rest| rest.strip_prefix('-'));
        let stage = issue
            .metadata()
            .and_then(|metadata| metadata.get("stage"))
            .and_then(serde_json::Value::as_str);
        let role = stage.or(own).unwrap_or(issue.id().as_str()).to_owned();
        Self {
            is_own: own.is_some(),
            place: place(&record, has_open_parts),
            role,
            record,
        }
    }

    /// Its record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Its bead's id.
    pub fn id(&self) -> &BeadId {
        self.record.issue.id()
    }

    /// The id that it has in its formula.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Where it is.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Whether nobody works on it: others wait for what it stands for.
    pub fn is_gate(&self) -> bool {
        self.record.issue.issue_type() == "gate"
    }

    /// The id that it has in the formula of this very molecule; the steps of another one that is attached have none here.
    pub(super) fn own_name(&self) -> Option<&str> {
        self.is_own.then_some(&self.role)
    }

    /// The step that it is the gate of.
    pub(super) fn gated(&self) -> Option<&str> {
        self.role.strip_prefix("gate-").filter(|_| self.is_gate())
    }
}

fn place(record: &Record, has_open_parts: bool) -> Place {
    match (record.issue.standing(), record.issue.status()) {
        (Standing::Closed, _) => Place::Done,
        (_, "in_progress") => Place::Current,
        (_, "blocked") => Place::Blocked,
        (_, "open") if !record.is_blocked && !has_open_parts => Place::Ready,
        _ => Place::Pending,
    }
}
