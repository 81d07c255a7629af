//! Why a plan could not be read, compiled or applied.

use beads_ralph_core::apply::{BeadOwner, RejectedBead};
use beads_ralph_core::bead::{BeadId, FieldError, error_code};
use beads_ralph_core::diag::{Diagnostic, ErrorCode, first_error};
use beads_ralph_core::formula::BadValue;
use beads_ralph_core::number::SprintId;
use beads_ralph_core::plan::FilterFault;
use beads_ralph_core::text::{excerpt, list_first};
use thiserror::Error;

use crate::config::ConfigError;
use crate::os::files::FileError;
use crate::store::StoreError;

/// How many ids a message names at most.
const MAX_NAMED: usize = 10;

/// Why a plan or what belongs to it could not be read.
#[derive(Debug, Error)]
pub enum PlanReadError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Filter(#[from] FilterFault),
}

/// Why a plan that was read could not be compiled or applied.
#[derive(Debug, Error)]
pub enum PlanError {
    /// Findings with at least one error among them.
    #[error("the plan has errors")]
    Findings(Vec<Diagnostic>),
    #[error(transparent)]
    Filter(#[from] FilterFault),
    #[error(transparent)]
    Variable(#[from] BadValue),
    #[error(transparent)]
    Read(#[from] PlanReadError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Beads that the strict validator refuses.
    #[error("{}", invalid(.0))]
    Invalid(Vec<InvalidBead>),
    /// Beads that no store accepts.
    #[error("{}", .0.first().map(unfit).unwrap_or_default())]
    RejectedBead(Vec<RejectedBead>),
    /// Bead ids that something else in the store has.
    #[error("{}", conflicts(.0))]
    Conflicts(Vec<Conflict>),
    /// Beads that are in the store already when only new ones are wanted (E-12).
    #[error("{}", exists(.0))]
    Exists(Vec<BeadId>),
    /// Beads that the plan's beads depend on and the store does not have.
    #[error("the store has no bead {}", list_first(.0, MAX_NAMED, |id| excerpt(id.as_str())))]
    MissingDependencies(Vec<BeadId>),
    /// A bead that is not in the store as it was written.
    #[error("bead {} is not in the store as it was written", excerpt(.0.as_str()))]
    NotAsWritten(BeadId),
}

/// A bead that the validator refuses.
#[derive(Debug)]
pub struct InvalidBead {
    pub id: BeadId,
    pub errors: Vec<FieldError>,
}

/// A sprint whose bead id belongs to something else.
#[derive(Debug)]
pub struct Conflict {
    pub id: BeadId,
    pub sprint: SprintId,
    pub owner: BeadOwner,
    /// Whether the owner is a sprint of a plan that exists.
    pub has_plan: bool,
}

impl PlanError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Findings(findings) => {
                first_error(findings).map_or(ErrorCode::ParseMarkdown, |(_, code)| code)
            }
            Self::Filter(fault) | Self::Read(PlanReadError::Filter(fault)) => fault.code(),
            Self::Variable(_) => ErrorCode::FormulaInvalidVar,
            Self::Read(PlanReadError::File(error)) => error.code(),
            Self::Read(PlanReadError::Config(error)) => error.code(),
            Self::Store(error) => error.code(),
            Self::Invalid(beads) => beads
                .first()
                .map_or(ErrorCode::ValidationBeadSchema, |bead| {
                    error_code(&bead.errors)
                }),
            Self::RejectedBead(beads) => beads
                .first()
                .map_or(ErrorCode::ValidationBeadSchema, |bead| bead.error.code()),
            Self::Conflicts(_) | Self::Exists(_) => ErrorCode::DependencyDuplicateId,
            Self::MissingDependencies(_) => ErrorCode::DependencyUnresolved,
            Self::NotAsWritten(_) => ErrorCode::DatabaseInsertFailed,
        }
    }

    /// What is at fault, one to a line; empty when the message says it all.
    pub fn details(&self) -> String {
        let lines: Vec<String> = match self {
            Self::Invalid(beads) => beads
                .first()
                .into_iter()
                .flat_map(|bead| &bead.errors)
                .map(ToString::to_string)
                .collect(),
            Self::RejectedBead(beads) => beads.iter().map(unfit).collect(),
            Self::Conflicts(conflicts) => conflicts.iter().map(Conflict::sentence).collect(),
            Self::Exists(ids) | Self::MissingDependencies(ids) => {
                ids.iter().map(|id| excerpt(id.as_str())).collect()
            }
            Self::Findings(_)
            | Self::Filter(_)
            | Self::Variable(_)
            | Self::Read(_)
            | Self::Store(_)
            | Self::NotAsWritten(_) => Vec::new(),
        };
        lines.join("\n")
    }
}

impl Conflict {
    fn sentence(&self) -> String {
        format!(
            "{} of sprint {} belongs to {}",
            excerpt(self.id.as_str()),
            self.sprint,
            self.owner
        )
    }
}

fn invalid(beads: &[InvalidBead]) -> String {
    let Some(first) = beads.first() else {
        return String::new();
    };
    let errors: Vec<String> = first.errors.iter().map(FieldError::to_string).collect();
    format!("bead {} is not valid: {}", first.id, errors.join("; "))
}

fn unfit(bead: &RejectedBead) -> String {
    format!("{}: {}", bead.id, bead.error)
}

fn conflicts(conflicts: &[Conflict]) -> String {
    let first = conflicts.first().map(Conflict::sentence);
    let first = first.unwrap_or_default();
    match conflicts.len() {
        1 => format!("duplicate key: bead {first}"),
        n => format!("duplicate key: {n} ids are taken; bead {first}"),
    }
}

fn exists(ids: &[BeadId]) -> String {
    let first = ids.first().map(|id| excerpt(id.as_str()));
    let first = first.unwrap_or_default();
    match ids.len() {
        1 => format!("duplicate key: there is already a bead {first}"),
        n => format!("duplicate key: there are already {n} of these beads, the first is {first}"),
    }
}
