//! Inside a run the face only reads (Z-18): what an agent or a check finds out goes into its report, and the run writes it into
//! the beads. A scrum-master that leads a bead may also comment on that bead, under its fence.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Fence;
use beads_ralph_runtime::os::env::{self, Variable};
use beads_ralph_runtime::store::{StoreError, Write};

use super::{Arguments, Refusal};

/// What a scrum-master may use on its own bead.
const ALLOWED: [&str; 5] = ["update", "label", "comment", "comments", "note"];

/// What it must leave to the run even then: who has the bead and where it stands.
const KEPT: [&str; 5] = ["claim", "status", "assignee", "parent", "set-labels"];

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Caller {
    /// A person, or a script outside any run.
    Outside,
    /// An agent or a check of a run, which may only read.
    Reader,
    /// A scrum-master.
    Leader { bead: BeadId, fence: Fence },
}

impl Caller {
    /// By the environment.
    pub(super) fn here() -> Self {
        if env::get(Variable::Unit).is_none() {
            return Self::Outside;
        }
        let bead = env::get(Variable::Bead).and_then(|bead| BeadId::parse(&bead).ok());
        let fence = env::get(Variable::Fence).and_then(|fence| fence.parse().ok());
        match (bead, fence) {
            (Some(bead), Some(fence)) => Self::Leader {
                bead,
                fence: Fence(fence),
            },
            _ => Self::Reader,
        }
    }

    /// Whether a command that writes may be used at all.
    pub(super) fn check(&self, path: &[&str], arguments: &Arguments) -> Result<(), Refusal> {
        let name = path.first().copied().unwrap_or_default();
        match self {
            Self::Outside => Ok(()),
            Self::Reader => Err(refused(&format!("bd {} writes", path.join(" ")))),
            Self::Leader { bead, .. } if !ALLOWED.contains(&name) => Err(refused(&format!(
                "bd {} is not for the leader of {bead}",
                path.join(" ")
            ))),
            Self::Leader { bead, .. } => match KEPT.iter().find(|flag| arguments.has(flag)) {
                Some(flag) => Err(refused(&format!(
                    "--{flag} is not for the leader of {bead}"
                ))),
                None => Ok(()),
            },
        }
    }

    /// A batch as it may be written here: a leader changes only the bead that it leads, under its fence.
    pub(super) fn guarded(&self, batch: &[Write]) -> Result<Vec<Write>, StoreError> {
        let Self::Leader { bead, fence } = self else {
            return Ok(batch.to_vec());
        };
        let guarded = |write: &Write| match write {
            Write::Update { id, edits, guard } if id == bead => {
                let mut guard = guard.clone();
                guard.fence = Some(*fence);
                guard.is_forced = false;
                Ok(Write::Update {
                    id: id.clone(),
                    edits: edits.clone(),
                    guard,
                })
            }
            Write::Insert(entry) => Err(other(bead, entry.issue.id())),
            Write::Update { id, .. } | Write::Delete { id, .. } => Err(other(bead, id)),
        };
        batch.iter().map(guarded).collect()
    }
}

fn other(bead: &BeadId, found: &BeadId) -> StoreError {
    StoreError::Guard {
        what: "the bead that a leader writes into".to_owned(),
        expected: bead.to_string(),
        found: found.to_string(),
    }
}

pub(super) fn refused(what: &str) -> Refusal {
    Refusal::plain(format!(
        "beads are read-only inside a run: {what}; say what you found in your report, and the run writes it into the bead"
    ))
}
