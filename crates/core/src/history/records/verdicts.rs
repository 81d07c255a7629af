//! What QA agents said, agent by agent (contracts §7.9).

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{AgentRun, Kind};
use crate::bead::QaStatus;

/// What one QA agent said in all of its runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct QaAgentReport {
    /// The agent.
    pub agent: String,
    /// How often it ran.
    pub runs: usize,
    /// How often it passed the work.
    pub pass: usize,
    /// How often it failed the work, or its answer could not be used.
    pub fail: usize,
    /// How often it stopped everything.
    pub stop: usize,
    /// The share of runs that did not pass.
    pub fail_rate: f64,
    /// What it said last when it did not pass the work; without such, what it said last.
    pub last_message: Option<String>,
    #[serde(skip)]
    last: Option<(bool, Option<Timestamp>)>,
}

impl QaAgentReport {
    fn take(&mut self, run: &AgentRun) {
        self.runs += 1;
        match QaStatus::parse(&run.status) {
            Ok(QaStatus::Pass) => self.pass += 1,
            Ok(QaStatus::Stop) => self.stop += 1,
            Ok(QaStatus::Fail) | Err(_) => self.fail += 1,
        }
        let place = Some((!run.is_good(), run.ended));
        if run.message.is_some() && place >= self.last {
            self.last = place;
            self.last_message.clone_from(&run.message);
        }
    }
}

/// What QA agents said, by their names.
pub fn qa_report<'r>(runs: impl IntoIterator<Item = &'r AgentRun>) -> Vec<QaAgentReport> {
    let mut reports: BTreeMap<&str, QaAgentReport> = BTreeMap::new();
    for run in runs.into_iter().filter(|run| run.kind == Kind::Qa) {
        reports.entry(&run.agent).or_default().take(run);
    }
    let finished = reports.into_iter().map(|(agent, report)| QaAgentReport {
        agent: agent.to_owned(),
        fail_rate: share(report.fail + report.stop, report.runs).unwrap_or(0.0),
        ..report
    });
    finished.collect()
}

/// One number as a share of another; nothing is no share of nothing.
pub(super) fn share(part: usize, all: usize) -> Option<f64> {
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    (all > 0).then(|| number(part) / number(all))
}
