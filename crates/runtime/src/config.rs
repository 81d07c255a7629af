//! `beads-ralph.yaml`: what a user has to say about a repository (contracts §7.1, Z-22).
//!
//! Every key has a default, so there need be no file. A key that nobody knows is an error with its line and the nearest
//! one that is known. Sections that no part of the program reads yet are known by their name only. `project-config.toml` beside it may
//! say what it leaves open about gates and coverage (Z-35).

mod adapters;
mod budgets;
mod document;
mod error;
mod implement;
mod integration;
mod project;
mod run;
mod worktrees;

use std::collections::BTreeMap;

use beads_ralph_core::bead::{Dod, Verifier};
use camino::Utf8Path;
use serde_json::{Value, json};

pub use beads_ralph_core::agent::Permissions;

pub use self::document::Backoff;
pub use self::integration::ScrumMaster;
pub use self::project::Gates;
pub use self::run::DiskSettings;
pub use self::run::PatrolSettings;
pub use self::run::Timeouts;
pub use adapters::Agents;
pub use budgets::{Allowance, Budgets};
pub use error::ConfigError;
pub use implement::{ImplementSettings, ReviewerSettings, WorkerSettings};
pub use integration::{IntegrationMode, IntegrationSettings};
pub use project::{Coverage, PROJECT_FILE_NAME};
pub use run::RunSettings;
pub use worktrees::{Base, WorktreeSettings};

use crate::os::files;
use document::Document;
use project::Project;

/// The file's name in the repository's root.
pub const FILE_NAME: &str = "beads-ralph.yaml";

/// What runs the command line of a check, unless the configuration says otherwise (V-3).
const SHELL: [&str; 2] = ["/bin/sh", "-c"];

#[derive(Debug, Clone)]
pub struct Config {
    /// The repository's name, `metadata.rig`.
    pub rig: String,
    pub default_model: Option<String>,
    pub role_models: BTreeMap<String, String>,
    /// The checks that hold for every bead, besides its own (`verify.default`, Z-31).
    pub default_checks: Vec<Verifier>,
    /// Whether a sprint without a verifier is an error (Z-31).
    pub require_machine_check: bool,
    /// How often a check that fails is run again, to tell whose fault it is (`verify.flaky_retries`).
    pub flaky_retries: u32,
    /// What runs the command line of a check: a program and its arguments, to which the command is added (V-3).
    pub shell: Vec<String>,
    /// What agents may do without asking, if it was chosen (Z-23).
    pub permissions: Option<Permissions>,
    /// The agents that there are, and how they are run.
    pub agents: Agents,
    pub budgets: Budgets,
    /// How long agents may take.
    pub timeouts: Timeouts,
    pub run: RunSettings,
    pub worktrees: WorktreeSettings,
    /// How much room there must be before anything starts.
    pub disk: DiskSettings,
    pub integration: IntegrationSettings,
    pub scrum_master: ScrumMaster,
    /// What is run to tell the user something: a program and its arguments.
    pub notify: Option<Vec<String>>,
    /// The commands of the project that must succeed, from here or from `project-config.toml` (Z-35).
    pub gates: Gates,
    /// How much of the code must be tested, from `project-config.toml` (contracts §9.13).
    pub coverage: Coverage,
    pub implement: ImplementSettings,
    /// What the patrol looks at, and how often (contracts §8.6).
    pub patrol: PatrolSettings,
}

/// Checks are command lines, or objects as a bead has them.
fn default_checks(items: Vec<Value>) -> Result<Vec<Verifier>, String> {
    let verifier = |item: Value| match item {
        Value::String(command) => json!({"name": command, "command": command}),
        mut item => {
            if item["name"].is_null() && item.is_object() {
                item["name"] = item["command"].clone();
            }
            item
        }
    };
    let verifiers: Vec<Value> = items.into_iter().map(verifier).collect();
    let dod = Dod::from_document(&json!({"verifiers": verifiers}));
    dod.map(|dod| dod.verifiers).map_err(|errors| {
        let error = errors.first().map(ToString::to_string);
        format!(
            "verify.default: {}",
            error.unwrap_or_default().replacen("verifiers.", "", 1)
        )
    })
}

/// Reads the configuration of a repository; without a file the defaults hold (L-1).
pub fn load(root: Option<&Utf8Path>) -> Result<Config, ConfigError> {
    let Some(root) = root else {
        let config = from_document(Document::default(), Project::default());
        return config.map_err(ConfigError::invalid(FILE_NAME.into()));
    };
    let project = project::load(root)?;
    let path = root.join(FILE_NAME);
    if !path.exists() {
        return from_document(Document::default(), project).map_err(ConfigError::invalid(&path));
    }
    let bytes = files::read(&path)?;
    parse_over(&path, &bytes, project)
}

/// Reads the bytes of a configuration, without what other files say; the path is for messages.
pub fn parse(path: &Utf8Path, bytes: &[u8]) -> Result<Config, ConfigError> {
    parse_over(path, bytes, Project::default())
}

fn parse_over(path: &Utf8Path, bytes: &[u8], project: Project) -> Result<Config, ConfigError> {
    let document = document::read(bytes).map_err(ConfigError::invalid(path))?;
    from_document(document, project).map_err(ConfigError::invalid(path))
}

/// The two layouts of the file as one (contracts §7.1): the nested one wins, and both over what the other file says.
fn from_document(document: Document, project: Project) -> Result<Config, String> {
    let [nested, flat] = document.agents;
    let mut role_models = flat.role_models.clone();
    role_models.extend(nested.role_models.clone());
    let default_model = nested.default_model.clone();
    let default_model = default_model.or_else(|| flat.default_model.clone());
    let rig = document.rig.filter(|rig| !rig.trim().is_empty());
    let shell = match document.verify.shell {
        shell if shell.is_empty() => SHELL.map(str::to_owned).to_vec(),
        shell => shell,
    };
    let [timeouts, flat_timeouts] = document.timeouts;
    let [run, flat_run] = document.run;
    let [worktrees, flat_worktrees] = document.worktrees;
    let [disk, flat_disk] = document.disk;
    let agents = Agents::new(nested.or(flat))?;
    Ok(Config {
        rig: rig.unwrap_or_else(|| "beads-ralph".to_owned()),
        default_model,
        role_models,
        default_checks: default_checks(document.verify.default)?,
        require_machine_check: document.verify.require_machine_check,
        flaky_retries: document.verify.flaky_retries.0.unwrap_or_default(),
        permissions: document.permissions,
        budgets: document.budgets.over_defaults()?,
        timeouts: timeouts.or(flat_timeouts).over_defaults(),
        run: run.settings(flat_run, document.claude),
        worktrees: worktrees.settings(flat_worktrees)?,
        disk: disk.settings(flat_disk),
        integration: document.integration.settings(),
        scrum_master: document.scrum_master.unwrap_or_default(),
        notify: document.notify.map(|key| key.arguments(&shell)),
        gates: document.gates.over(project.gates),
        coverage: project.coverage,
        patrol: document.patrol.settings(),
        implement: document.implement.settings(&agents, &shell)?,
        agents,
        shell,
    })
}

#[cfg(test)]
mod tests;
