//! The file as it is written, in both of its layouts, and the values that carry their own rules (contracts §7.1, L-1).

use std::collections::BTreeMap;
use std::fmt;

use beads_ralph_core::agent::{Overrides, Permissions};
use beads_ralph_core::engine::Leader;
use beads_ralph_core::text::excerpt;
use serde::de::{self, IgnoredAny, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

use super::budgets::BudgetsKey;
use super::implement::ImplementKey;
use super::integration::IntegrationKey;
use super::integration::NotifyKey;
use super::project::GatesKey;
use super::reason;
use super::run::DiskKey;
use super::run::LoggingKey;
use super::run::PatrolKey;
use super::run::{ClaudeKey, NetworkKey, RalphKey, RetryKey, RunKeys};
use super::run::{Limit, TimeoutsKey};
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
    scrum_master: Option<Leader>,
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
    pub(super) scrum_master: Option<Leader>,
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

/// A whole number of at least `MIN`, if there is one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count<const MIN: u32>(pub(super) Option<u32>);

impl<const MIN: u32> Count<MIN> {
    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0.or(other.0))
    }
}

impl<'de, const MIN: u32> Deserialize<'de> for Count<MIN> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeNumber::<MIN>)
    }
}

struct WholeNumber<const MIN: u32>;

impl<const MIN: u32> Visitor<'_> for WholeNumber<MIN> {
    type Value = Count<MIN>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {MIN} to {}", u32::MAX)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        let count = u32::try_from(number).ok().filter(|count| *count >= MIN);
        let max = u32::MAX;
        let refused = || {
            E::custom(format!(
                "{number} is out of range; it must be a whole number from {MIN} to {max}"
            ))
        };
        count.map(|count| Count(Some(count))).ok_or_else(refused)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Count(None))
    }
}

/// A text with something in it, if there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text(pub(super) Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        if text.as_deref().is_some_and(|text| text.trim().is_empty()) {
            return Err(de::Error::custom(
                "it is empty; omit the key to use its default",
            ));
        }
        Ok(Self(text))
    }
}

/// The name of a branch, if there is one. The source branch is the user's own, so what git takes is taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Branch(pub(super) Option<String>);

impl<'de> Deserialize<'de> for Branch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        if let Some(name) = name.as_deref().filter(|name| !is_branch(name)) {
            let name = excerpt(name);
            return Err(de::Error::custom(format!(
                "'{name}' is not a valid branch name"
            )));
        }
        Ok(Self(name))
    }
}

/// What `git check-ref-format --branch` takes.
fn is_branch(name: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c);
    let is_part = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && !part.to_ascii_lowercase().ends_with(".lock")
    };
    name != "@"
        && name != "HEAD"
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains(is_odd)
        && !name.contains("..")
        && !name.contains("@{")
        && name.split('/').all(is_part)
}

/// How waits grow from one try to the next (contracts §7.7).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backoff {
    /// Each wait is twice as long as the one before.
    #[default]
    Exponential,
    /// Each wait is longer than the one before by as much as the first.
    Linear,
    /// All waits are as long as the first.
    Constant,
}
