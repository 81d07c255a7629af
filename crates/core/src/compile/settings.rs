//! What a compilation depends on besides the plan.

use std::collections::BTreeMap;

use crate::bead::{BeadId, Timestamp};
use crate::number::SprintId;

/// The beads that sprints have in a store already. Their ids were fixed when they came there, and no change
/// of the plan gives them others (Z-10).
pub type KnownIds = BTreeMap<SprintId, BeadId>;

/// Everything that a compilation depends on besides the plan.
#[derive(Debug, Clone)]
pub struct CompileSettings<'a> {
    /// The plan's path as it goes into the beads.
    pub plan_file: &'a str,
    /// The plan's text, so that beads can say what they were compiled from (Z-45). Without it they do not.
    pub text: Option<&'a str>,
    /// The repository's name, `metadata.rig`.
    pub rig: &'a str,
    /// The time that goes into the beads.
    pub now: Timestamp,
    /// The agent files of the repository.
    pub agents: &'a AgentCatalog,
    /// What to do about agent files that are not there.
    pub agent_check: AgentCheck,
    /// How merge sprints are recognised.
    pub merge_detection: MergeDetection,
    /// Whether sprints whose status says `COMPLETED` are left out (P-14).
    pub skip_completed: bool,
    /// Whether the configuration has checks for every bead (`verify.default`, Z-31). They are run with the
    /// bead's own and are not part of it, so here only their existence counts.
    pub has_default_check: bool,
    /// Whether a sprint without a verifier is an error rather than a warning (Z-31).
    pub require_machine_check: bool,
    /// The ids that sprints have already; all others come from the plan (B-6).
    pub known_ids: KnownIds,
    /// What becomes of sprints with a formula.
    pub formula_sprints: FormulaSprints,
}

/// What becomes of sprints with a formula (F-16).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormulaSprints {
    /// Each is an ordinary bead, with a warning, because no store is available to pour into.
    #[default]
    Ordinary,
    /// Whoever compiles pours them.
    Poured,
}

/// The agent files of a repository, and the configured models.
#[derive(Debug, Clone, Default)]
pub struct AgentCatalog {
    /// Whether the repository has `.claude/agents/` at all.
    pub has_directory: bool,
    /// The files below it, by their path from the repository's root.
    pub files: BTreeMap<String, AgentFile>,
    /// The configured model of each role.
    pub role_models: BTreeMap<String, String>,
    /// The configured default model.
    pub default_model: Option<String>,
}

/// What is known of an agent's file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentFile {
    /// `recommended_model` of its front matter, as written.
    pub recommended_model: Option<String>,
}

/// What to do about agent files that are not there (B-17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgentCheck {
    /// An error, or a warning in a repository that has no agent files at all.
    #[default]
    Auto,
    /// Always an error.
    Strict,
    /// Nothing.
    Off,
}

/// How merge sprints are recognised (B-30).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MergeDetection {
    /// By a title that speaks of it and at least two branches to join.
    #[default]
    Both,
    /// By the title alone.
    Title,
    /// By at least two dependencies.
    Structure,
}
