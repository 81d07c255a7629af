//! `beads-ralph.yaml`: what a user has to say about a repository (contracts §7.1, Z-22).
//!
//! Every key has a default, so the file is optional. An unknown key is an error with its line and the nearest
//! one that is known. Sections that no part of the program reads yet are known by their name only. `project-config.toml` beside it may
//! say what it leaves open about gates and coverage (Z-35).

mod adapters;
mod budgets;
mod document;
mod implement;
mod integration;
mod project;
mod run;
mod worktrees;

use std::collections::BTreeMap;

pub use beads_ralph_core::agent::Permissions;
use beads_ralph_core::bead::{Dod, Verifier};
use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::engine::Leader;
use beads_ralph_core::text::{excerpt, visible};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use serde_saphyr::Error;
use thiserror::Error as DeriveError;

pub use self::adapters::Agents;
pub use self::budgets::{Allowance, Budgets};
pub use self::document::Backoff;
use self::document::Document;
pub use self::implement::{ImplementSettings, ReviewerSettings, WorkerSettings};
pub use self::integration::IntegrationSettings;
use self::project::Project;
pub use self::project::{Coverage, Gates, PROJECT_FILE_NAME};
pub use self::run::{DiskSettings, PatrolSettings, RunSettings, Timeouts};
pub use self::worktrees::{Base, WorktreeSettings};
use crate::os::files::{self, FileError};
use crate::repo::shown;

pub const FILE_NAME: &str = "beads-ralph.yaml";

/// What runs the command line of a check, unless the configuration says otherwise (V-3).
const SHELL: [&str; 2] = ["/bin/sh", "-c"];

#[derive(Debug, Clone)]
pub struct Config {
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
    pub agents: Agents,
    pub budgets: Budgets,
    pub timeouts: Timeouts,
    pub run: RunSettings,
    pub worktrees: WorktreeSettings,
    pub disk: DiskSettings,
    pub integration: IntegrationSettings,
    pub scrum_master: Leader,
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
        scrum_master: document.scrum_master.unwrap_or(Leader::Native),
        notify: document.notify.map(|key| key.arguments(&shell)),
        gates: document.gates.over(project.gates),
        coverage: project.coverage,
        patrol: document.patrol.settings(),
        implement: document.implement.settings(&agents, &shell)?,
        agents,
        shell,
    })
}

/// How much of the parser's words is passed on; they can quote the file.
const MAX_SAID: usize = 300;

#[derive(Debug, DeriveError)]
pub enum ConfigError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} cannot be used: {reason}", shown(path))]
    Invalid { path: Utf8PathBuf, reason: String },
}

impl ConfigError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::File(error) => error.code(),
            Self::Invalid { .. } => ErrorCode::ValidationConstraint,
        }
    }

    pub(super) fn invalid(path: &Utf8Path) -> impl FnOnce(String) -> Self {
        move |reason| Self::Invalid {
            path: path.to_owned(),
            reason,
        }
    }
}

/// What the parser found wrong, with its line and its key; for what is unknown also the nearest that is known (Z-22).
pub(super) fn reason(text: &str, error: &Error) -> String {
    let error = error.without_snippet();
    let said = match error {
        Error::SerdeUnknownField {
            field, expected, ..
        } => {
            let hint = meant(field, expected.iter().copied());
            format!("unknown key `{}`{hint}", excerpt(field))
        }
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => {
            let (hint, known) = (
                meant(variant, expected.iter().copied()),
                expected.join(", "),
            );
            format!("'{}' is not one of {known}{hint}", excerpt(variant))
        }
        other => {
            let said = other.to_string();
            let end = said.rfind(" at line ").unwrap_or(said.len());
            visible(&said[..end]).chars().take(MAX_SAID).collect()
        }
    };
    let Some(place) = error.location() else {
        return said;
    };
    let key = key_of(text, place.line(), place.column());
    let key = key.filter(|_| !matches!(error, Error::SerdeUnknownField { .. }));
    let key = key.map_or_else(String::new, |key| format!("`{key}`: "));
    format!("line {}: {key}{said}", place.line())
}

/// The key of the value at a place, where both stand on one line; the parser points at either of them.
fn key_of(text: &str, line: u64, column: u64) -> Option<&str> {
    let line = text
        .lines()
        .nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let n_before = usize::try_from(column).ok()?.checked_sub(1)?;
    let at = line.char_indices().nth(n_before).map(|(at, _)| at)?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let key = if let Some(before) = line[..at].trim_end().strip_suffix(':') {
        &before[before.rfind(|c| !is_part(c)).map_or(0, |at| at + 1)..]
    } else {
        let (key, after) = line[at..].split_at(line[at..].find(|c| !is_part(c))?);
        after.starts_with(':').then_some(key)?
    };
    Some(key).filter(|key| !key.is_empty())
}

/// `; did you mean …?`, when there is something near.
pub(super) fn meant<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let near = did_you_mean(word, known);
    near.map_or_else(String::new, |known| format!("; did you mean `{known}`?"))
}

#[cfg(test)]
mod tests;
