//! From history to a model: what runs took, what they cost, and how often they went wrong.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{AgentModel, Spread, WorldModel};
use super::recorded::{Key, Memory, Recorded};
use crate::agent::Status;
use crate::bead::{BeadId, DevExecution, DevStatus, QaExecution, QaStatus};
use crate::engine::{AgentReport, Answer, Spent};

/// How many runs of an agent must be known before it gets separate numbers.
const ENOUGH_RUNS: usize = 5;

/// How much a guessed rate counts beside what was seen: as much as this many cases.
const GUESS_WEIGHT: f64 = 5.0;

/// What is known from history.
#[derive(Debug, Clone, Default)]
pub struct Lessons {
    developers: BTreeMap<String, Runs>,
    judges: BTreeMap<String, Runs>,
    checks_ms: Vec<u64>,
    steps_ms: Vec<u64>,
    limits_ms: Vec<u64>,
    developer_fails: Cases,
    attempt_fails: Cases,
    stops: Cases,
    limits: Cases,
    conflicts: Cases,
}

/// The runs of an agent.
#[derive(Debug, Clone, Default)]
struct Runs {
    times_ms: Vec<u64>,
    costs_micros: Vec<u64>,
}

/// How often something could have happened, and did.
#[derive(Debug, Clone, Copy, Default)]
struct Cases {
    n: u32,
    n_hit: u32,
}

impl Cases {
    fn take(&mut self, is_hit: bool) {
        self.n += 1;
        self.n_hit += u32::from(is_hit);
    }

    fn rate(self, guess: f64) -> f64 {
        (f64::from(self.n_hit) + GUESS_WEIGHT * guess) / (f64::from(self.n) + GUESS_WEIGHT)
    }
}

impl Lessons {
    /// How many runs of agents are known.
    pub fn n_runs(&self) -> usize {
        let all = self.developers.values().chain(self.judges.values());
        all.map(|runs| runs.times_ms.len()).sum()
    }

    /// Whether runs are known, and none of them said what it cost.
    pub fn is_unpriced(&self) -> bool {
        let mut all = self.developers.values().chain(self.judges.values());
        self.n_runs() > 0 && all.all(|runs| runs.costs_micros.is_empty())
    }

    /// Takes what a bead keeps of the runs of its agents.
    pub fn take_executions(&mut self, developers: &[DevExecution], judges: &[QaExecution]) {
        let took = |from: &crate::bead::Timestamp, to: &crate::bead::Timestamp| {
            let took = to.instant().duration_since(from.instant()).as_millis();
            u64::try_from(took).unwrap_or(0)
        };
        for run in developers {
            let runs = self.developers.entry(String::new()).or_default();
            runs.times_ms.push(took(&run.started_at, &run.completed_at));
            self.developer_fails
                .take(run.status != DevStatus::Completed);
        }
        let mut verdicts: BTreeMap<u32, BTreeSet<QaStatus>> = BTreeMap::new();
        for run in judges {
            let runs = self.judges.entry(String::new()).or_default();
            runs.times_ms.push(took(&run.started_at, &run.completed_at));
            verdicts.entry(run.attempt).or_default().insert(run.status);
        }
        for verdicts in verdicts.values() {
            self.stops.take(verdicts.contains(&QaStatus::Stop));
            self.attempt_fails.take(verdicts.contains(&QaStatus::Fail));
        }
    }

    /// Takes what a run's journal says.
    pub fn take_run(&mut self, recorded: &Recorded) {
        let mut attempts: BTreeMap<(&BeadId, u32), bool> = BTreeMap::new();
        for (key, memory) in recorded.answered() {
            self.take_answer(key, memory);
            if let Some(has_failed) = has_failed(memory) {
                *attempts.entry((&key.bead, key.attempt)).or_default() |= has_failed;
            }
        }
        for has_failed in attempts.into_values() {
            self.attempt_fails.take(has_failed);
        }
    }

    fn take_answer(&mut self, key: &Key, memory: &Memory) {
        let took = u64::try_from(memory.took.as_millis()).unwrap_or(0);
        match &memory.answer {
            Ok(Answer::Ended { report } | Answer::Led { report, .. }) => {
                if self.take_report(report, (key.kind, memory)) {
                    self.developer_fails.take(report.status != Status::Ok);
                }
            }
            Ok(Answer::Judged { report, verdict }) => {
                if self.take_report(report, (key.kind, memory)) {
                    let status = verdict.as_ref().map(|verdict| verdict.status);
                    self.stops.take(status == Some(QaStatus::Stop));
                }
            }
            Ok(Answer::Verified {
                is_cut_off: false, ..
            }) => self.checks_ms.push(took),
            Ok(Answer::Prepared { conflicts, .. }) => {
                self.steps_ms.push(took);
                self.conflicts.take(!conflicts.is_empty());
            }
            Ok(Answer::Merged { .. }) => self.conflicts.take(false),
            Ok(Answer::Conflicted { .. }) => self.conflicts.take(true),
            Ok(_) => self.steps_ms.push(took),
            Err(_) => {}
        }
    }

    /// Takes a run of an agent, and says whether it ended by itself.
    fn take_report(&mut self, report: &AgentReport, (kind, memory): (&str, &Memory)) -> bool {
        let took = report.ended_at.duration_since(report.started_at);
        let is_limit = report.status == Status::Limit;
        self.limits.take(is_limit);
        if let Some(reset) = report.resets_at.filter(|_| is_limit) {
            let wait = reset.duration_since(report.ended_at).as_millis();
            self.limits_ms.extend(u64::try_from(wait));
        }
        if is_limit || report.status == Status::Killed {
            return false;
        }
        let agents = if kind == "judge" {
            &mut self.judges
        } else {
            &mut self.developers
        };
        let account = memory.account.clone().unwrap_or_default();
        let runs = agents.entry(account).or_default();
        runs.times_ms.extend(u64::try_from(took.as_millis()));
        let Spent {
            micros, n_unpriced, ..
        } = report.spent;
        runs.costs_micros
            .extend((n_unpriced == 0).then_some(micros));
        true
    }

    /// Puts what is known in the place of what was guessed.
    pub fn apply(&self, model: &mut WorldModel) {
        learn_agents(
            &self.developers,
            &mut model.developer,
            &mut model.developers,
        );
        learn_agents(&self.judges, &mut model.judge, &mut model.judges);
        learn(&self.checks_ms, &mut model.checks_ms);
        learn(&self.steps_ms, &mut model.step_ms);
        learn(&self.limits_ms, &mut model.limit_ms);
        let rates = &mut model.rates;
        rates.developer_fails = self.developer_fails.rate(rates.developer_fails);
        rates.attempt_fails = self.attempt_fails.rate(rates.attempt_fails);
        rates.stops = self.stops.rate(rates.stops);
        rates.limits = self.limits.rate(rates.limits);
        rates.conflicts = self.conflicts.rate(rates.conflicts);
    }
}

/// Whether somebody who judged or checked an attempt found it wanting; nothing when nobody did either.
fn has_failed(memory: &Memory) -> Option<bool> {
    match &memory.answer {
        Ok(Answer::Judged {
            verdict: Some(verdict),
            ..
        }) => Some(verdict.status != QaStatus::Pass),
        Ok(Answer::Verified {
            is_green,
            is_cut_off: false,
            ..
        }) => Some(!is_green),
        _ => None,
    }
}

fn learn(seen: &[u64], spread: &mut Spread) {
    if !seen.is_empty() {
        *spread = Spread::Seen(seen.to_vec());
    }
}

/// All runs together say what an unknown agent is like; an agent with enough runs has separate numbers.
fn learn_agents(
    seen: &BTreeMap<String, Runs>,
    any: &mut AgentModel,
    each: &mut BTreeMap<String, AgentModel>,
) {
    let all = |of: fn(&Runs) -> &Vec<u64>| seen.values().flat_map(of).copied().collect::<Vec<_>>();
    learn(&all(|runs| &runs.times_ms), &mut any.time_ms);
    learn(&all(|runs| &runs.costs_micros), &mut any.cost_micros);
    for (agent, runs) in seen {
        if runs.times_ms.len() < ENOUGH_RUNS || agent.is_empty() {
            continue;
        }
        let mut own = any.clone();
        learn(&runs.times_ms, &mut own.time_ms);
        learn(&runs.costs_micros, &mut own.cost_micros);
        each.insert(agent.clone(), own);
    }
}
