//! The bead model of beads-ralph (contracts §3): its types, its strict validator, its two
//! generations and the JSON Schemas made from it.
//!
//! A document is parsed once into [`RalphBead`], whose types carry the rules; nothing downstream
//! checks a field again. What a store holds is the looser [`Issue`](crate::issue::Issue). This
//! module knows documents and values only: whether an agent's file exists, what time it is and where
//! a bead is kept are questions for others.

mod derive;
mod dod;
mod error;
mod execution;
mod model;
mod names;
mod timestamp;
mod wire;
mod words;

pub use derive::{
    ModelLevel, ModelSources, ResolvedModel, SkippedModel, branch_name, default_qa_prompt,
    default_team_name, description, labels, plan_agent, resolve_model, scrum_master, team_name,
    worktree_path,
};
pub(crate) use dod::read_dod;
pub use dod::{Dod, Expect, OnFailure, Verifier};
pub use error::{FieldError, FieldErrorKind, Invalid, error_code};
pub use execution::{DevExecution, QaExecution, QaReport, QaResult, ScrumResult};
pub use model::{
    ASSIGNEE, AgentSpec, BeadShape, DEFAULT_MAX_RETRY_ATTEMPTS, Metadata, QaAgent, RalphBead,
    SourceMap, standard_output_schema,
};
pub use names::{AgentPath, BeadId, BranchName, Pattern};
pub use timestamp::Timestamp;
pub use wire::migrate::{to_both, to_v1, to_v2};
pub use wire::schema::schemas;
pub use wire::validate::{Rules, parse_document, validate};
pub(crate) use wire::{reader, schema, to_value};
pub use words::{DevStatus, IssueType, Model, Priority, QaStatus, Role, Status};

#[cfg(test)]
mod arbitrary;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
