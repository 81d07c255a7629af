//! Works on one bead until its Definition of Done is met or its attempts are used up (contracts §8.3).
//!
//! What to do next is decided by [`RetryLoop`](beads_ralph_core::dod::RetryLoop) in core; here it is done: the agent is called, the checks are run, evidence is kept, and
//! the bead is updated after every step, so that a crash at any point leaves a bead that can be run again.
//! The checks are those that the bead had at the start; nothing that an agent writes can change them.

mod keeper;
mod run;

use std::time::Duration;

use beads_ralph_core::agent::{Budget, CostSource, Outcome, Status, Tokens};
use beads_ralph_core::check::CheckRecord;
use beads_ralph_core::dod::{AgentEnd, DodBead, RetrySettings};
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::keeper::FileKeeper;
pub use self::keeper::StoreKeeper;
pub use self::keeper::{Keeper, KeeperError, Verdict};
use self::run::Run;
use crate::bead_files::{Evidence, LogDirectory};
use crate::check::Again;
use crate::os::process::{Cancel, Mark, Units};
use crate::progress::Listener;
use crate::work_dir::{Snapshot, Tree};

pub trait Worker {
    fn name(&self) -> &str;

    /// Works. The directory is for its output.
    fn work(&mut self, task: &Task<'_>, listener: &mut dyn Listener) -> Outcome;
}

#[derive(Debug)]
pub struct Task<'a> {
    pub bead: &'a DodBead,
    /// The iteration, from 1.
    pub iteration: u32,
    pub prompt: &'a str,
    pub time_left: Option<Duration>,
    pub directory: &'a Utf8Path,
    pub mark: Mark,
}

#[derive(Debug)]
pub struct Workshop<'a> {
    pub units: &'a Units,
    pub cancel: &'a Cancel,
    pub root: &'a Utf8Path,
    /// The main checkout of the repository, which may be the same.
    pub home: &'a Utf8Path,
    pub shell: &'a [String],
    pub evidence: &'a Evidence,
    pub logs: &'a LogDirectory,
    /// Whether everything must be committed before the checks, because the bead has a worktree (Z-29).
    pub must_be_clean: bool,
    /// Names of variables that neither agents nor checks see.
    pub withhold: &'a [String],
    /// What is done about a check that fails.
    pub again: Again<'a>,
    pub mark: &'a Mark,
    pub budget: &'a Budget,
    pub version: &'a str,
}

#[derive(Debug)]
pub struct Report {
    pub ending: Ending,
    pub iterations: u32,
    pub records: Vec<CheckRecord>,
    pub last_failure: Option<String>,
    pub evidence: Option<Utf8PathBuf>,
    pub receipt: Receipt,
    pub duration: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    Completed,
    /// The checks are red, and no agent was asked to fix them.
    Red,
    Failed(String),
    Interrupted,
}

pub fn pursue<'a>(
    workshop: &'a Workshop<'a>,
    keeper: &'a mut dyn Keeper,
    worker: Option<&'a mut dyn Worker>,
    settings: RetrySettings,
    listener: &'a mut dyn Listener,
) -> Result<Report, KeeperError> {
    let tree = Tree::at(workshop.root, workshop.home, workshop.units);
    let _settings = tree.keep_settings();
    Run::new(workshop, keeper, worker, settings, listener).until_the_end()
}

pub(super) fn agent_end(outcome: &Outcome, before: &Snapshot, after: &Snapshot) -> AgentEnd {
    let reason = || outcome.reason.clone();
    let has_changed = before != after;
    match outcome.status {
        // What was forbidden will be forbidden again.
        Status::Ok if !has_changed && !outcome.denials.is_empty() => AgentEnd::Hopeless(format!(
            "The agent was not allowed to work: {}",
            outcome.denials.join(", ")
        )),
        Status::Ok => AgentEnd::Done { has_changed },
        Status::Limit => AgentEnd::Limit {
            resets_at: outcome.resets_at,
            reason: reason(),
        },
        Status::Auth | Status::Config => AgentEnd::Hopeless(reason()),
        Status::Denied if !has_changed => AgentEnd::Hopeless(reason()),
        Status::Denied
        | Status::Failed
        | Status::Timeout
        | Status::Killed
        | Status::Crashed
        | Status::NoResult => AgentEnd::Failed(reason()),
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Receipt {
    pub agent_calls: u32,
    /// How many turns they took, as far as they say.
    pub turns: u64,
    pub tokens: Tokens,
    /// How much money, as far as it is known.
    pub usd: f64,
    pub calls_of_unknown_cost: u32,
}

impl Receipt {
    /// What earlier runs took, as a bead notes it: a budget is one for all runs together.
    pub fn noted(bead: &DodBead) -> Self {
        let noted = bead.meta("receipt").cloned();
        noted
            .and_then(|noted| serde_json::from_value(noted).ok())
            .unwrap_or_default()
    }

    pub fn add(&mut self, outcome: &Outcome) {
        self.agent_calls += 1;
        self.turns = self.turns.saturating_add(outcome.turns.unwrap_or(0));
        self.tokens.add(&outcome.tokens);
        match (outcome.cost.source, outcome.cost.usd) {
            (CostSource::Reported | CostSource::Computed, Some(usd)) => self.usd += usd,
            _ => self.calls_of_unknown_cost += 1,
        }
    }

    /// As it goes into a bead; nothing when no agent was called.
    pub fn to_value(&self) -> Option<Value> {
        (self.agent_calls > 0).then(|| serde_json::to_value(self).ok())?
    }
}

/// Why no further agent may be called within a budget, if so.
pub(super) fn exceeded(budget: &Budget, receipt: &Receipt) -> Option<String> {
    let tokens = receipt.tokens.total();
    let usd = budget.usd.filter(|usd| receipt.usd >= *usd);
    let usd = usd.map(|usd| format!("${:.2} of ${usd:.2}", receipt.usd));
    let of = |spent: u64, most: Option<u64>, what: &str| {
        let most = most.filter(|most| spent >= *most)?;
        Some(format!("{spent} of {most} {what}"))
    };
    let spent = usd
        .or_else(|| of(tokens, budget.tokens, "tokens"))
        .or_else(|| of(receipt.turns, budget.turns, "turns"))?;
    Some(format!(
        "Budget exceeded: {spent} (budgets.bead in beads-ralph.yaml)"
    ))
}
