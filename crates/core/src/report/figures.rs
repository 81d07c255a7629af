//! Figures about the work on many beads, from what they tell (contracts §7.9).

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::verdicts::{qa_report, share};
use super::{AgentRun, runs};
use crate::issue::{Issue, Standing};

/// Figures about the work on many beads. What cannot be told yet is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Beads that an agent has worked on.
    pub worked_on: usize,
    /// Those of them that are closed.
    pub closed: usize,
    /// Those of them that were given up and wait for a person.
    pub given_up: usize,
    /// The time in which at least one agent ran, in seconds.
    pub active_seconds: f64,
    /// Closed beads for each hour of that time.
    pub beads_per_hour: Option<f64>,
    /// How long agents worked on a closed bead, on average; what ran at once counts once.
    pub mean_seconds_per_bead: Option<f64>,
    /// The share of closed beads among those that are closed or given up.
    pub success_rate: Option<f64>,
    /// The share of beads that took more than one attempt.
    pub retry_rate: Option<f64>,
    /// How many agents ran at once, on average over the time in which any did.
    pub mean_concurrency: Option<f64>,
    /// The share of runs of each QA agent that did not pass.
    pub qa_failure_rate: BTreeMap<String, f64>,
}

type Span = (Timestamp, Timestamp);

/// The figures of some beads.
pub fn figures<'i>(issues: impl IntoIterator<Item = &'i Issue>) -> Figures {
    let mut figures = Figures::default();
    let mut all: Vec<AgentRun> = Vec::new();
    let (mut n_retried, mut seconds_of_closed) = (0, 0.0);
    for issue in issues {
        let runs = runs(issue);
        if runs.is_empty() {
            continue;
        }
        figures.worked_on += 1;
        n_retried += usize::from(n_attempts(issue, &runs) > 1);
        if issue.standing() == Standing::Closed {
            figures.closed += 1;
            seconds_of_closed += covered(spans(&runs));
        } else if issue.status() == "blocked" {
            figures.given_up += 1;
        }
        all.extend(runs);
    }
    let total: f64 = spans(&all).map(length).sum();
    figures.active_seconds = covered(spans(&all));
    let is_timed = figures.active_seconds > 0.0;
    let closed = f64::from(u32::try_from(figures.closed).unwrap_or(u32::MAX));
    figures.beads_per_hour = is_timed.then(|| closed * 3600.0 / figures.active_seconds);
    figures.mean_seconds_per_bead = (figures.closed > 0).then(|| seconds_of_closed / closed);
    figures.success_rate = share(figures.closed, figures.closed + figures.given_up);
    figures.retry_rate = share(n_retried, figures.worked_on);
    figures.mean_concurrency = is_timed.then(|| total / figures.active_seconds);
    let reports = qa_report(&all).into_iter();
    figures.qa_failure_rate = reports
        .map(|report| (report.agent, report.fail_rate))
        .collect();
    figures
}

/// How many attempts a bead took: its count is set back when it is tried anew, its history is not.
fn n_attempts(issue: &Issue, runs: &[AgentRun]) -> u64 {
    let count = issue.metadata().and_then(|map| map.get("attempt_count"));
    let count = count.and_then(Value::as_u64).unwrap_or(0);
    let last = runs.iter().map(|run| run.attempt).max().unwrap_or(0);
    count.max(last)
}

fn spans(runs: &[AgentRun]) -> impl Iterator<Item = Span> {
    runs.iter().filter_map(AgentRun::span)
}

fn length((began, ended): Span) -> f64 {
    ended.duration_since(began).as_secs_f64()
}

/// How long at least one of some spans lasted.
fn covered(spans: impl Iterator<Item = Span>) -> f64 {
    let mut spans: Vec<Span> = spans.collect();
    spans.sort_unstable();
    let mut total = 0.0;
    let mut until = Timestamp::MIN;
    for (began, ended) in spans {
        let began = began.max(until);
        if ended > began {
            total += length((began, ended));
            until = ended;
        }
    }
    total
}
