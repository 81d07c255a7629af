//! The file as it is written, in both of its layouts (contracts §7.1).

use std::collections::BTreeMap;

use beads_ralph_core::agent::{Overrides, Permissions};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_saphyr::Spanned;

use super::budgets::BudgetsKey;
use super::error::reason;
use super::timeouts::{Limit, TimeoutsKey};

/// A key that is known and for another part to read.
type Unread = Option<IgnoredAny>;

/// Every key that may stand at the top of the file: the nested layout first, then the flat one.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Top {
    rig: Option<String>,
    permissions: Option<Permissions>,
    agents: AgentsKey,
    verify: VerifyKey,
    budgets: BudgetsKey,
    timeouts: TimeoutsKey,
    #[serde(rename = "ralph")]
    _ralph: Unread,
    #[serde(rename = "retry")]
    _retry: Unread,
    #[serde(rename = "worktrees")]
    _worktrees: Unread,
    #[serde(rename = "disk")]
    _disk: Unread,
    #[serde(rename = "network")]
    _network: Unread,
    #[serde(rename = "claude")]
    _claude: Unread,
    #[serde(rename = "logging")]
    _logging: Unread,
    #[serde(rename = "store")]
    _store: Unread,
    #[serde(rename = "integration")]
    _integration: Unread,
    #[serde(rename = "notify")]
    _notify: Unread,
    #[serde(rename = "gates")]
    _gates: Unread,
    #[serde(rename = "stages")]
    _stages: Unread,
    #[serde(rename = "scrum_master")]
    _scrum_master: Unread,

    agent_defaults: AgentsKey,
    scrum_master_timeout: Limit,
    dev_agent_timeout: Limit,
    qa_agent_timeout: Limit,
    #[serde(rename = "max_parallel_sessions")]
    _max_parallel_sessions: Unread,
    #[serde(rename = "poll_interval")]
    _poll_interval: Unread,
    #[serde(rename = "max_retry_attempts")]
    _max_retry_attempts: Unread,
    #[serde(rename = "pr_creation_retries")]
    _pr_creation_retries: Unread,
    #[serde(rename = "repo_name")]
    _repo_name: Unread,
    #[serde(rename = "source_branch")]
    _source_branch: Unread,
    #[serde(rename = "cleanup_on_complete")]
    _cleanup_on_complete: Unread,
    #[serde(rename = "min_free_gb")]
    _min_free_gb: Unread,
    #[serde(rename = "check_before_start")]
    _check_before_start: Unread,
    #[serde(rename = "max_network_retries")]
    _max_network_retries: Unread,
    #[serde(rename = "retry_backoff")]
    _retry_backoff: Unread,
    #[serde(rename = "network_timeout")]
    _network_timeout: Unread,
}

/// What is read of the file.
#[derive(Default)]
pub(super) struct Document {
    pub(super) rig: Option<String>,
    pub(super) permissions: Option<Permissions>,
    pub(super) agents: AgentsKey,
    pub(super) agent_defaults: AgentsKey,
    pub(super) verify: VerifyKey,
    pub(super) budgets: BudgetsKey,
    pub(super) timeouts: TimeoutsKey,
    pub(super) flat_timeouts: TimeoutsKey,
}

/// `agents`, and `agent_defaults` in the flat layout.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AgentsKey {
    pub(super) default_model: Option<String>,
    pub(super) role_models: BTreeMap<String, String>,
    pub(super) default: Option<Spanned<String>>,
    pub(super) adapters: BTreeMap<String, Spanned<Overrides>>,
    pub(super) withhold_env: Option<Vec<String>>,
    pub(super) default_executable: Option<String>,
    pub(super) default_options: Option<Vec<String>>,
}

impl AgentsKey {
    /// The same, with what only the other one has.
    pub(super) fn or(mut self, other: Self) -> Self {
        for (name, overrides) in other.adapters {
            self.adapters.entry(name).or_insert(overrides);
        }
        Self {
            default: self.default.or(other.default),
            withhold_env: self.withhold_env.or(other.withhold_env),
            default_executable: self.default_executable.or(other.default_executable),
            default_options: self.default_options.or(other.default_options),
            ..self
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct VerifyKey {
    pub(super) default: Vec<serde_json::Value>,
    pub(super) require_machine_check: bool,
    pub(super) shell: Vec<String>,
    #[serde(rename = "flaky_retries")]
    _flaky_retries: Unread,
}

/// Reads the bytes of a file.
pub(super) fn read(bytes: &[u8]) -> Result<Document, String> {
    let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(Document::default());
    }
    let top: Option<Top> = serde_saphyr::from_str(text).map_err(|error| reason(text, &error))?;
    let top = top.unwrap_or_default();
    Ok(Document {
        rig: top.rig,
        permissions: top.permissions,
        agents: top.agents,
        agent_defaults: top.agent_defaults,
        verify: top.verify,
        budgets: top.budgets,
        timeouts: top.timeouts,
        flat_timeouts: TimeoutsKey {
            scrum_master: top.scrum_master_timeout,
            dev_agent: top.dev_agent_timeout,
            qa_agent: top.qa_agent_timeout,
        },
    })
}
