//! What can be different between a plan and a store.

use super::identity::BeadOwner;
use super::wire::FieldChange;
use crate::bead::BeadId;
use crate::issue::{Edit, EditError, Entry, Record};
use crate::number::SprintId;
use crate::vocabulary::Status;

/// What applying a plan would do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reconciliation {
    /// The differences: those of beads in the order of the beads, then what was removed in natural order.
    pub differences: Vec<Difference>,
    /// The beads that the store has as the plan says.
    pub unchanged: Vec<BeadId>,
}

/// One difference between a plan and a store.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    /// A sprint that the store does not have.
    New {
        /// The sprint.
        sprint: SprintId,
        /// What to insert.
        entry: Box<Entry>,
    },
    /// A sprint whose bead differs.
    Changed(Box<Changed>),
    /// A bead of the plan whose sprint is gone. It is reported and never touched.
    Removed(Removed),
    /// A sprint whose bead cannot have its id, because something else has it (`DEPENDENCY.DUPLICATE_ID`).
    Conflict {
        /// The id.
        id: BeadId,
        /// The sprint that would have it.
        sprint: SprintId,
        /// Whose it is.
        owner: BeadOwner,
    },
}

impl Difference {
    /// The bead that it is about.
    pub fn id(&self) -> &BeadId {
        match self {
            Self::New { entry, .. } => entry.issue.id(),
            Self::Changed(changed) => &changed.id,
            Self::Removed(removed) => &removed.id,
            Self::Conflict { id, .. } => id,
        }
    }

    /// The sprint that it is about.
    pub fn sprint(&self) -> &SprintId {
        match self {
            Self::New { sprint, .. } | Self::Conflict { sprint, .. } => sprint,
            Self::Changed(changed) => &changed.sprint,
            Self::Removed(removed) => &removed.sprint,
        }
    }
}

/// A bead that differs between the plan and the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The bead.
    pub id: BeadId,
    /// The sprint, as the plan writes it.
    pub sprint: SprintId,
    /// What is different. Nothing when only what the plan says is to be remembered.
    pub details: Vec<Detail>,
    /// What makes the bead as the plan says; only to be done when that is safe.
    pub edits: Vec<Edit>,
    /// The version of the bead that was looked at.
    pub version: u64,
    /// Whether the change may be made.
    pub verdict: Verdict,
}

/// One thing that is different, for people to read.
#[derive(Debug, Clone, PartialEq)]
pub enum Detail {
    /// A field has another value.
    Field(FieldChange),
    /// The plan gives a label.
    LabelAdded(String),
    /// The plan no longer gives a label.
    LabelRemoved(String),
    /// The bead waits for another one.
    DependencyAdded(BeadId),
    /// The bead no longer waits for another one, or has another kind of edge to it.
    DependencyRemoved {
        /// The other one.
        target: BeadId,
        /// The type of the edge that goes.
        kind: String,
    },
}

/// Whether a change may be made (Z-10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The change can be made.
    Safe,
    /// The change is only reported.
    Refused(RefusalReason),
}

/// Why a bead is not touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalReason {
    /// Somebody works on it.
    Claimed,
    /// It is done.
    Closed,
}

impl RefusalReason {
    /// The reason in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Closed => "closed",
        }
    }
}

impl Verdict {
    /// Whether a record may be changed: nobody works on it, and it is not done.
    pub(super) fn about(record: &Record) -> Self {
        match Status::known(record.issue.status()) {
            Some(Status::Closed) => Self::Refused(RefusalReason::Closed),
            Some(Status::InProgress) => Self::Refused(RefusalReason::Claimed),
            _ if record.claim.is_some() => Self::Refused(RefusalReason::Claimed),
            _ => Self::Safe,
        }
    }
}

/// A bead of the plan whose sprint the plan no longer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The bead.
    pub id: BeadId,
    /// The sprint that it was made for.
    pub sprint: SprintId,
    /// The status of the bead in the store.
    pub status: String,
}

/// A bead that no store takes, for example because of its labels or its size.
#[derive(Debug, Clone, PartialEq)]
pub struct RejectedBead {
    /// The bead.
    pub id: BeadId,
    /// Its sprint.
    pub sprint: SprintId,
    /// What is wrong with it.
    pub error: EditError,
}

/// A change while it is being put together.
#[derive(Debug, Default)]
pub(super) struct ChangeDraft {
    pub(super) details: Vec<Detail>,
    /// What is different and no loss where the bead may not be touched.
    pub(super) minor: Vec<Detail>,
    pub(super) edits: Vec<Edit>,
}

impl ChangeDraft {
    pub(super) fn field(&mut self, change: FieldChange) {
        self.details.push(Detail::Field(change));
    }

    /// Adds a field that differs and that does not matter in a bead that may not be changed.
    pub(super) fn minor_field(&mut self, change: FieldChange) {
        self.minor.push(Detail::Field(change));
    }
}
