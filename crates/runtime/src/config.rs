//! `beads-ralph.yaml`, as far as it is read today: the rig, the default models, whether a machine check is
//! required, and what agents may do. Other known keys are left to the parts that they are for; a key that
//! nobody knows is an error (Z-22), at the top and in the parts that are read here.

use std::collections::BTreeMap;

use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::text::excerpt;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde::de::IgnoredAny;
use thiserror::Error;

use crate::files::{self, FileError};
use crate::repo::shown;

/// The file's name in the repository's root.
pub const FILE_NAME: &str = "beads-ralph.yaml";

/// Every key that may stand at the top of the file (contracts §7.1 and Z-22), nested layout first.
const KEYS: &[&str] = &[
    "ralph",
    "timeouts",
    "retry",
    "worktrees",
    "disk",
    "network",
    "claude",
    "logging",
    "agents",
    "rig",
    "store",
    "permissions",
    "budgets",
    "integration",
    "verify",
    "notify",
    "gates",
    "stages",
    "scrum_master",
    "agent_defaults",
    "max_parallel_sessions",
    "poll_interval",
    "scrum_master_timeout",
    "dev_agent_timeout",
    "qa_agent_timeout",
    "max_retry_attempts",
    "pr_creation_retries",
    "repo_name",
    "source_branch",
    "cleanup_on_complete",
    "min_free_gb",
    "check_before_start",
    "max_network_retries",
    "retry_backoff",
    "network_timeout",
];

/// What the program is configured with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The repository's name, `metadata.rig`.
    pub rig: String,
    /// The model for agents that name none.
    pub default_model: Option<String>,
    /// The model for each role.
    pub role_models: BTreeMap<String, String>,
    /// Whether there are checks for every bead (`verify.default`, Z-31).
    pub has_default_check: bool,
    /// Whether a sprint without a verifier is an error (Z-31).
    pub require_machine_check: bool,
    /// What agents may do without asking, if it was chosen (Z-23).
    pub permissions: Option<Permissions>,
}

/// What agents may do without asking (Z-23).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permissions {
    /// Any command, with the user's rights.
    Bypass,
    /// What the agent's own settings allow; anything else is refused instead of asked.
    AskNone,
    /// Any command, inside the agent's own sandbox.
    Sandbox,
}

impl Permissions {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Bypass, Self::AskNone, Self::Sandbox];

    /// The word that stands in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bypass => "bypass",
            Self::AskNone => "ask-none",
            Self::Sandbox => "sandbox",
        }
    }

    /// What the mode means, said plainly.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Bypass => "agents may run any command with your rights, without asking",
            Self::AskNone => {
                "agents may do what their own settings allow; anything else is refused, and nobody is asked"
            }
            Self::Sandbox => "agents may run any command, but inside their own sandbox",
        }
    }
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
    permissions: Option<Permissions>,
    agents: Agents,
    agent_defaults: Agents,
    verify: Verify,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Agents {
    default_model: Option<String>,
    role_models: BTreeMap<String, String>,
    #[serde(rename = "default")]
    _default: Unread,
    #[serde(rename = "adapters")]
    _adapters: Unread,
    #[serde(rename = "withhold_env")]
    _withhold_env: Unread,
    #[serde(rename = "default_executable")]
    _default_executable: Unread,
    #[serde(rename = "default_options")]
    _default_options: Unread,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Verify {
    default: Vec<IgnoredAny>,
    require_machine_check: bool,
    #[serde(rename = "flaky_retries")]
    _flaky_retries: Unread,
}

/// A key that is known and for another part to read.
type Unread = Option<IgnoredAny>;

/// Reads the configuration of a repository; without a file the defaults hold (L-1).
pub fn load(root: Option<&Utf8Path>) -> Result<Config, ConfigError> {
    let Some(path) = root
        .map(|root| root.join(FILE_NAME))
        .filter(|path| path.exists())
    else {
        return Ok(from_document(Document::default()));
    };
    let bytes = files::read(&path)?;
    parse(&path, &bytes)
}

/// Reads the bytes of a configuration; the path is for messages.
pub fn parse(path: &Utf8Path, bytes: &[u8]) -> Result<Config, ConfigError> {
    let invalid = |reason: String| ConfigError::Invalid {
        path: path.to_owned(),
        reason,
    };
    let text = str::from_utf8(bytes).map_err(|error| invalid(error.to_string()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(from_document(Document::default()));
    }
    #[expect(
        clippy::zero_sized_map_values,
        reason = "a set cannot be read from a mapping"
    )]
    let keys: BTreeMap<String, IgnoredAny> =
        serde_saphyr::from_str(text).map_err(|error| invalid(error.to_string()))?;
    if let Some(unknown) = keys.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(invalid(unknown_key(text, unknown)));
    }
    let document: Document =
        serde_saphyr::from_str(text).map_err(|error| invalid(error.to_string()))?;
    Ok(from_document(document))
}

fn unknown_key(text: &str, key: &str) -> String {
    let is_place = |line: &str| {
        let rest = line.trim_start_matches(['"', '\'']).strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start_matches(['"', '\'', ' ']).starts_with(':'))
    };
    let line = text.lines().position(is_place);
    let place = line.map_or(String::new(), |line| format!("line {}: ", line + 1));
    let meant = did_you_mean(key, KEYS.iter().copied());
    let hint = meant.map_or(String::new(), |known| format!("; did you mean `{known}`?"));
    format!("{place}unknown key `{}`{hint}", excerpt(key))
}

fn from_document(document: Document) -> Config {
    let (nested, flat) = (document.agents, document.agent_defaults);
    let mut role_models = flat.role_models;
    role_models.extend(nested.role_models);
    Config {
        rig: document
            .rig
            .filter(|rig| !rig.trim().is_empty())
            .unwrap_or_else(|| "beads-ralph".to_owned()),
        default_model: nested.default_model.or(flat.default_model),
        role_models,
        has_default_check: !document.verify.default.is_empty(),
        require_machine_check: document.verify.require_machine_check,
        permissions: document.permissions,
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
        assert!(config.require_machine_check && !config.has_default_check);
        assert!(
            loaded("verify:\n  default:\n    - cargo test\n")
                .unwrap()
                .has_default_check
        );
    }

    #[test]
    fn z_22_an_unknown_key_is_refused_with_its_place() {
        let error = loaded("rig: mine\nverfy: {require_machine_check: true}\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with("line 2: unknown key `verfy`; did you mean `verify`?"),
            "{error}"
        );
    }

    #[test]
    fn z_22_the_place_and_nested_keys() {
        let error = loaded("agents: {}\nrig: x\nagent: 1\n")
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 3: unknown key `agent`"), "{error}");
        let error = loaded("verify: {requre_machine_check: true}\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("requre_machine_check") && error.contains("line 1"),
            "{error}"
        );
        assert!(loaded("agents: {defalt_model: opus}\n").is_err());
        assert!(loaded("agents: {default: mine, adapters: {mine: {kind: command}}}\n").is_ok());
    }

    #[test]
    fn l_1_what_cannot_be_read_is_refused() {
        assert!(loaded("a: [").unwrap_err().to_string().contains(FILE_NAME));
        assert!(loaded("verify: {require_machine_check: maybe}").is_err());
    }

    #[test]
    fn z_23_the_permission_mode_is_one_of_three_words() {
        assert_eq!(loaded("rig: mine\n").unwrap().permissions, None);
        for mode in Permissions::ALL {
            let text = format!("permissions: {}\n", mode.as_str());
            assert_eq!(loaded(&text).unwrap().permissions, Some(mode));
        }
        let error = loaded("rig: mine\npermissions: yolo\n")
            .unwrap_err()
            .to_string();
        for part in ["line 2", "yolo", "bypass", "ask-none", "sandbox"] {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(loaded("permissions: [bypass]\n").is_err());
    }
}
