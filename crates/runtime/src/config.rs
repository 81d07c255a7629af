//! `beads-ralph.yaml`, as far as the plan compiler needs it: the rig, the default models and whether a
//! machine check is required. Other keys are left to the parts that they are for.

use std::collections::BTreeMap;

use beads_ralph_core::diag::ErrorCode;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use thiserror::Error;

use crate::files::{self, FileError};
use crate::repo::shown;

/// The file's name in the repository's root.
pub const FILE_NAME: &str = "beads-ralph.yaml";

/// What the compiler is configured with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The repository's name, `metadata.rig`.
    pub rig: String,
    /// The model for agents that name none.
    pub default_model: Option<String>,
    /// The model for each role.
    pub role_models: BTreeMap<String, String>,
    /// Whether a sprint without a verifier is an error (Z-31).
    pub require_machine_check: bool,
}

/// What can go wrong with the configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not what it should be.
    #[error("{} cannot be used: {reason}", shown(path))]
    Invalid {
        /// The file.
        path: Utf8PathBuf,
        /// What the parser said, with line and column.
        reason: String,
    },
}

impl ConfigError {
    /// The code of contracts §4.2.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::File(error) => error.code(),
            Self::Invalid { .. } => ErrorCode::ValidationConstraint,
        }
    }
}

/// The two layouts of the file (contracts §7.1): `agents.*`, or `agent_defaults.*`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    rig: Option<String>,
    agents: Agents,
    agent_defaults: Agents,
    verify: Verify,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Agents {
    default_model: Option<String>,
    role_models: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Verify {
    require_machine_check: bool,
}

/// Reads the configuration of a repository; without a file the defaults hold (L-1).
pub fn load(root: Option<&Utf8Path>) -> Result<Config, ConfigError> {
    let Some(path) = root
        .map(|root| root.join(FILE_NAME))
        .filter(|path| path.exists())
    else {
        return Ok(from_document(Document::default()));
    };
    let bytes = files::read(&path)?;
    let invalid = |reason: String| ConfigError::Invalid {
        path: path.clone(),
        reason,
    };
    let text = String::from_utf8(bytes).map_err(|error| invalid(error.to_string()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() {
        return Ok(from_document(Document::default()));
    }
    let document: Document =
        serde_saphyr::from_str(text).map_err(|error| invalid(error.to_string()))?;
    Ok(from_document(document))
}

fn from_document(document: Document) -> Config {
    let (nested, flat) = (document.agents, document.agent_defaults);
    let mut role_models = flat.role_models;
    role_models.extend(nested.role_models);
    Config {
        rig: document.rig.unwrap_or_else(|| "beads-ralph".to_owned()),
        default_model: nested.default_model.or(flat.default_model),
        role_models,
        require_machine_check: document.verify.require_machine_check,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(text: &str) -> Result<Config, ConfigError> {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
        files::write_atomic(&root.join(FILE_NAME), text.as_bytes()).unwrap();
        load(Some(&root))
    }

    #[test]
    fn l_1_without_a_file_the_defaults_hold() {
        let config = load(None).unwrap();
        assert_eq!(
            (
                config.rig.as_str(),
                config.default_model,
                config.require_machine_check
            ),
            ("beads-ralph", None, false)
        );
        assert_eq!(loaded("# only a comment\n").unwrap().rig, "beads-ralph");
    }

    #[test]
    fn l_1_both_layouts_are_read_and_the_nested_one_wins() {
        let config = loaded(
            "\u{feff}rig: mine\nagents:\n  default_model: opus\nagent_defaults:\n  default_model: haiku\n  role_models: {witness: haiku}\nverify: {require_machine_check: true}\nralph: {poll_interval: 5s}\n",
        )
        .unwrap();
        assert_eq!(
            (config.rig.as_str(), config.default_model.as_deref()),
            ("mine", Some("opus"))
        );
        assert_eq!(config.role_models["witness"], "haiku");
        assert!(config.require_machine_check);
    }

    #[test]
    fn l_1_what_cannot_be_read_is_refused() {
        assert!(loaded("a: [").unwrap_err().to_string().contains(FILE_NAME));
        assert!(loaded("verify: {require_machine_check: maybe}").is_err());
    }
}
