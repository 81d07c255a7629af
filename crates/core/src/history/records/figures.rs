//! Figures about the work on many beads (contracts §7.9), what QA agents said, and which checks are flaky.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::{AgentKind, AgentRun, runs};
use crate::bead::{self, QaStatus};
use crate::engine::{BeadState, End};
use crate::history::{Chronicle, Run, RunKind};
use crate::issue::{Issue, Standing};
use crate::vocabulary::{Status, metadata};

/// What one QA agent said in its runs.
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
    for run in runs.into_iter().filter(|run| run.kind == AgentKind::Qa) {
        reports.entry(&run.agent).or_default().take(run);
    }
    let finished = reports.into_iter().map(|(agent, report)| QaAgentReport {
        agent: agent.to_owned(),
        fail_rate: share(report.fail + report.stop, report.runs).unwrap_or(0.0),
        ..report
    });
    finished.collect()
}

/// One number as a share of another; `None` without any.
fn share(part: usize, all: usize) -> Option<f64> {
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    (all > 0).then(|| number(part) / number(all))
}

/// Figures about the work on many beads. What cannot be told yet is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Beads that an agent has worked on.
    pub worked_on: usize,
    /// Those of them that are closed.
    pub closed: usize,
    /// Those of them that failed and wait for a person.
    pub given_up: usize,
    /// The time in which at least one agent ran, in seconds.
    pub active_seconds: f64,
    /// Closed beads for each hour of that time.
    pub beads_per_hour: Option<f64>,
    /// How long agents worked on a closed bead, on average; what ran at once counts once.
    pub mean_seconds_per_bead: Option<f64>,
    /// The share of closed beads among those that are closed or failed.
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
    let mut tally = Tally::default();
    for issue in issues {
        tally.take(issue);
    }
    tally.figures()
}

/// The figures of one run, by the same rules: what was done to its beads in it.
pub fn figures_of_run(chronicle: &Chronicle) -> Figures {
    let mut tally = Tally::default();
    for story in &chronicle.stories {
        let attempts = story.attempts.iter();
        let runs = attempts.flat_map(|attempt| {
            let agents = attempt.runs.iter().filter(|run| run.kind.is_agent());
            agents.map(|run| agent_run(attempt.number, run))
        });
        let last = story.attempts.iter().map(|it| it.number).max();
        let end = match story.state {
            BeadState::Closed | BeadState::Ended(End::Closed { .. }) => Some(Ended::Closed),
            BeadState::Blocked | BeadState::Ended(End::NeedsPerson { .. }) => Some(Ended::GivenUp),
            BeadState::Waiting { .. }
            | BeadState::HeldBack { .. }
            | BeadState::Ready
            | BeadState::Working { .. }
            | BeadState::Held { .. }
            | BeadState::Ended(End::Released | End::Lost { .. }) => None,
        };
        tally.add(end, last.unwrap_or(0).into(), runs.collect());
    }
    tally.figures()
}

/// How the work on a bead ended.
#[derive(Debug, Clone, Copy)]
enum Ended {
    Closed,
    GivenUp,
}

/// What is counted on the way to figures, bead by bead, so that not all of them are held at once.
#[derive(Debug, Default)]
pub struct Tally {
    figures: Figures,
    runs: Vec<AgentRun>,
    n_retried: usize,
    seconds_of_closed: f64,
}

impl Tally {
    /// Counts a bead; one that no agent worked on is none.
    pub fn take(&mut self, issue: &Issue) {
        let runs = runs(issue);
        let end = if issue.standing() == Standing::Closed {
            Some(Ended::Closed)
        } else {
            (issue.status() == Status::Blocked).then_some(Ended::GivenUp)
        };
        self.add(end, n_attempts(issue, &runs), runs);
    }

    /// Counts what was done to a bead, how it ended, if it did, and in how many attempts.
    fn add(&mut self, end: Option<Ended>, n_attempts: u64, runs: Vec<AgentRun>) {
        if runs.is_empty() {
            return;
        }
        self.figures.worked_on += 1;
        self.n_retried += usize::from(n_attempts > 1);
        match end {
            Some(Ended::Closed) => {
                self.figures.closed += 1;
                self.seconds_of_closed += covered(spans(&runs));
            }
            Some(Ended::GivenUp) => self.figures.given_up += 1,
            None => {}
        }
        self.runs.extend(runs);
    }

    /// The figures of everything that was counted.
    pub fn figures(self) -> Figures {
        let mut figures = self.figures;
        let total: f64 = spans(&self.runs).map(length).sum();
        figures.active_seconds = covered(spans(&self.runs));
        let is_timed = figures.active_seconds > 0.0;
        let closed = f64::from(u32::try_from(figures.closed).unwrap_or(u32::MAX));
        figures.beads_per_hour = is_timed.then(|| closed * 3600.0 / figures.active_seconds);
        figures.mean_seconds_per_bead =
            (figures.closed > 0).then(|| self.seconds_of_closed / closed);
        figures.success_rate = share(figures.closed, figures.closed + figures.given_up);
        figures.retry_rate = share(self.n_retried, figures.worked_on);
        figures.mean_concurrency = is_timed.then(|| total / figures.active_seconds);
        let reports = qa_report(&self.runs).into_iter();
        figures.qa_failure_rate = reports
            .map(|report| (report.agent, report.fail_rate))
            .collect();
        figures
    }
}

/// A run of an agent as a journal tells it, in the words of beads.
fn agent_run(attempt: u32, run: &Run) -> AgentRun {
    let is_qa = run.kind == RunKind::Judge;
    AgentRun {
        kind: if is_qa { AgentKind::Qa } else { AgentKind::Dev },
        attempt: attempt.into(),
        agent: run.agent.clone(),
        model: run.model.clone(),
        status: run.status.clone(),
        message: Some(run.message.clone()),
        began: Some(run.began),
        ended: Some(run.ended),
    }
}

/// How many attempts a bead took: its count is set back when it is tried anew, its history is not.
fn n_attempts(issue: &Issue, runs: &[AgentRun]) -> u64 {
    let count = issue
        .metadata()
        .and_then(|map| map.get(metadata::ATTEMPT_COUNT));
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

/// A check that passed at one time and not at another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlakyCheck {
    /// Its name.
    pub check: String,
    /// Its command.
    pub command: String,
    /// How often it was run, retries not counted.
    pub runs: usize,
    /// How often it passed only when it was run again.
    pub flaky: usize,
    /// The share of runs that were flaky.
    pub flaky_rate: f64,
    /// The last warning about it.
    pub last_warning: Option<String>,
}

/// What is known of checks by their records, which are handed in one by one and in any order, and are not kept.
#[derive(Debug, Default)]
pub struct FlakyChecks(BTreeMap<(String, String), Known>);

/// What is known of one check.
#[derive(Debug, Default)]
struct Known {
    runs: usize,
    flaky: usize,
    /// When it was flaky last, with the warning.
    last: Option<(Option<Timestamp>, String)>,
}

impl FlakyChecks {
    /// Takes a record as it is in a file; what cannot be read is left out.
    pub fn take(&mut self, record: &Value) {
        let text = |key: &str| record.get(key).and_then(Value::as_str);
        let (Some(name), Some(command)) = (text("name"), text("command")) else {
            return;
        };
        if record["skipped"] == true {
            return;
        }
        let key = (name.to_owned(), command.to_owned());
        let known = self.0.entry(key).or_default();
        known.runs += 1;
        if text("cause") != Some("flaky") {
            return;
        }
        known.flaky += 1;
        let time = text("timestamp").and_then(|time| bead::Timestamp::parse(time).ok());
        let time = time.map(|time| time.instant());
        let is_later = (known.last.as_ref()).is_none_or(|(last, _)| time >= *last);
        if let Some(warning) = text("warning").filter(|_| is_later) {
            known.last = Some((time, warning.to_owned()));
        }
    }

    /// The flaky ones, the one that was flaky most often first.
    pub fn ranked(self) -> Vec<FlakyCheck> {
        let flaky = self.0.into_iter().filter(|(_, known)| known.flaky > 0);
        let mut flaky: Vec<FlakyCheck> = flaky
            .map(|((check, command), known)| FlakyCheck {
                check,
                command,
                runs: known.runs,
                flaky: known.flaky,
                flaky_rate: share(known.flaky, known.runs).unwrap_or_default(),
                last_warning: known.last.map(|(_, warning)| warning),
            })
            .collect();
        flaky.sort_by(|a, b| (b.flaky.cmp(&a.flaky)).then(b.flaky_rate.total_cmp(&a.flaky_rate)));
        flaky
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ranked(records: &[Value]) -> Vec<FlakyCheck> {
        let mut checks = FlakyChecks::default();
        for record in records {
            checks.take(record);
        }
        checks.ranked()
    }

    #[test]
    fn z_22_what_was_said_last_is_so_by_the_time_and_not_by_the_order() {
        let flaky = |time: Option<&str>, warning: &str| json!({"name": "a", "command": "c", "cause": "flaky", "timestamp": time, "warning": warning});
        let records = [
            flaky(Some("2026-02-07T10:00:00Z"), "first"),
            flaky(Some("2026-02-07T10:30:00.5Z"), "last"),
            flaky(Some("2026-02-07T11:00:00+02:00"), "before"),
            flaky(None, "some time"),
        ];
        let last = ranked(&records).pop().unwrap().last_warning;
        assert_eq!(last.as_deref(), Some("last"));
    }

    #[test]
    fn z_22_the_check_that_was_flaky_most_often_comes_first() {
        let record = |name: &str, cause: Option<&str>| {
            let warning = cause.map(|cause| format!("{name} {cause}"));
            json!({"name": name, "command": "c", "cause": cause, "warning": warning, "skipped": false})
        };
        let records = [
            record("a", Some("flaky")),
            record("b", Some("flaky")),
            record("b", None),
            record("b", Some("flaky")),
            record("c", Some("regression")),
            json!({"name": "a", "command": "c", "skipped": true}),
            json!("noise"),
        ];
        let told: Vec<(String, usize, usize)> = ranked(&records)
            .into_iter()
            .map(|it| (it.check, it.flaky, it.runs))
            .collect();
        assert_eq!(told, [("b".to_owned(), 2, 3), ("a".to_owned(), 1, 1)]);
    }
}
