//! The file as it is written, in both of its layouts (contracts §7.1).

use std::collections::BTreeMap;

use beads_ralph_core::agent::{Overrides, Permissions};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_saphyr::Spanned;

use super::budgets::BudgetsKey;
use super::disk::DiskKey;
use super::error::reason;
use super::gates::GatesKey;
use super::hooks::{NotifyKey, ScrumMaster};
use super::implement::ImplementKey;
use super::integration::IntegrationKey;
use super::logging::LoggingKey;
use super::patrol::PatrolKey;
use super::run::{ClaudeKey, NetworkKey, RalphKey, RetryKey, RunKeys};
use super::timeouts::{Limit, TimeoutsKey};
use super::values::{Backoff, Branch, Count};
use super::worktrees::{RepoName, WorktreesKey};

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
    ralph: RalphKey,
    retry: RetryKey,
    network: NetworkKey,
    claude: ClaudeKey,
    worktrees: WorktreesKey,
    disk: DiskKey,
    integration: IntegrationKey,
    notify: Option<NotifyKey>,
    scrum_master: Option<ScrumMaster>,
    gates: GatesKey,
    implement: ImplementKey,
    patrol: PatrolKey,
    #[serde(rename = "logging")]
    _logging: LoggingKey,
    #[serde(rename = "store")]
    _store: Unread,
    #[serde(rename = "stages")]
    _stages: Unread,

    agent_defaults: AgentsKey,
    scrum_master_timeout: Limit,
    dev_agent_timeout: Limit,
    qa_agent_timeout: Limit,
    max_parallel_sessions: Count<1>,
    poll_interval: Limit,
    max_retry_attempts: Count<1>,
    pr_creation_retries: Count<0>,
    repo_name: RepoName,
    source_branch: Branch,
    cleanup_on_complete: Option<bool>,
    min_free_gb: Count<0>,
    check_before_start: Option<bool>,
    max_network_retries: Count<0>,
    retry_backoff: Option<Backoff>,
    network_timeout: Limit,
}

/// What is read of the file. What both layouts have is there twice, the flat one second.
#[derive(Default)]
pub(super) struct Document {
    pub(super) rig: Option<String>,
    pub(super) permissions: Option<Permissions>,
    pub(super) agents: [AgentsKey; 2],
    pub(super) verify: VerifyKey,
    pub(super) budgets: BudgetsKey,
    pub(super) timeouts: [TimeoutsKey; 2],
    pub(super) run: [RunKeys; 2],
    pub(super) claude: ClaudeKey,
    pub(super) worktrees: [WorktreesKey; 2],
    pub(super) disk: [DiskKey; 2],
    pub(super) integration: IntegrationKey,
    pub(super) notify: Option<NotifyKey>,
    pub(super) scrum_master: Option<ScrumMaster>,
    pub(super) gates: GatesKey,
    pub(super) implement: ImplementKey,
    pub(super) patrol: PatrolKey,
}

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
    pub(super) flaky_retries: Count<0>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Document, String> {
    let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(Document::default());
    }
    let top: Option<Top> = serde_saphyr::from_str(text).map_err(|error| reason(text, &error))?;
    Ok(top.unwrap_or_default().into())
}

impl From<Top> for Document {
    fn from(top: Top) -> Self {
        let flat_timeouts = TimeoutsKey {
            scrum_master: top.scrum_master_timeout,
            dev_agent: top.dev_agent_timeout,
            qa_agent: top.qa_agent_timeout,
        };
        let nested_run = RunKeys {
            ralph: top.ralph,
            retry: top.retry,
            network: top.network,
        };
        let flat_run = RunKeys {
            ralph: RalphKey {
                max_parallel_sessions: top.max_parallel_sessions,
                poll_interval: top.poll_interval,
            },
            retry: RetryKey {
                max_attempts: top.max_retry_attempts,
                pr_creation_retries: top.pr_creation_retries,
            },
            network: NetworkKey {
                max_retries: top.max_network_retries,
                retry_backoff: top.retry_backoff,
                timeout: top.network_timeout,
            },
        };
        let flat_worktrees =
            WorktreesKey::flat(top.repo_name, top.source_branch, top.cleanup_on_complete);
        let flat_disk = DiskKey {
            min_free_gb: top.min_free_gb,
            check_before_start: top.check_before_start,
        };
        Self {
            rig: top.rig,
            permissions: top.permissions,
            agents: [top.agents, top.agent_defaults],
            verify: top.verify,
            budgets: top.budgets,
            timeouts: [top.timeouts, flat_timeouts],
            run: [nested_run, flat_run],
            claude: top.claude,
            worktrees: [top.worktrees, flat_worktrees],
            disk: [top.disk, flat_disk],
            integration: top.integration,
            notify: top.notify,
            scrum_master: top.scrum_master,
            gates: top.gates,
            implement: top.implement,
            patrol: top.patrol,
        }
    }
}

/// The keys that the parser would have known where it met one that it does not know.
#[cfg(test)]
pub(super) fn known_keys(text: &str, unknown: &str) -> Option<Vec<String>> {
    let error = serde_saphyr::from_str::<Top>(text).err()?;
    match error.without_snippet() {
        serde_saphyr::Error::SerdeUnknownField {
            field, expected, ..
        } if field == unknown => Some(expected.iter().map(|&key| key.to_owned()).collect()),
        _ => None,
    }
}
