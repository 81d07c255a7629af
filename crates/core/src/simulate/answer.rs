//! The answers of a world that is made of numbers.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Map;

use super::model::{AgentModel, Random, WorldModel, scaled};
use super::recorded::Key;
use crate::agent::Status;
use crate::bead::{self, BeadId, QaStatus};
use crate::engine::{
    Action, AgentReport, Answer, Cap, CommitId, Effect, Launch, Progress, Spent, Task, Trouble,
    Verdict,
};
use crate::issue::Fence;

/// How long something takes, and what comes of it.
pub(super) type Drawn = (u64, Result<Answer, Trouble>);

/// The world: the beads as a store would hold them, and the numbers for everything else.
#[derive(Debug)]
pub(super) struct World<'m> {
    model: &'m WorldModel,
    seed: u64,
    tasks: BTreeMap<BeadId, Task>,
    n_claims: u64,
    n_pulls: u64,
}

/// The milliseconds of a minute, in which weights are.
const MINUTE: u64 = 60_000;

impl<'m> World<'m> {
    pub(super) fn new(model: &'m WorldModel, seed: u64, tasks: &[Task]) -> Self {
        Self {
            model,
            seed,
            tasks: (tasks.iter())
                .map(|task| (task.id.clone(), task.clone()))
                .collect(),
            n_claims: 0,
            n_pulls: 0,
        }
    }

    fn random(&self, key: &Key, purpose: &str) -> Random {
        let agent = u64::try_from(key.agent).unwrap_or(u64::MAX);
        let numbers = [u64::from(key.attempt), agent, u64::from(key.nth)];
        Random::keyed(
            self.seed,
            &key.bead,
            &format!("{}/{purpose}", key.kind),
            &numbers,
        )
    }

    /// What becomes of an attempt as a whole: the same for whoever asks.
    fn fate(&self, bead: &BeadId, attempt: u32) -> Fate {
        let mut random = Random::keyed(self.seed, bead, "fate", &[u64::from(attempt)]);
        let rates = &self.model.rates;
        let (is_stopped, is_bad) = (
            random.is_hit(rates.stops),
            random.is_hit(rates.attempt_fails),
        );
        Fate {
            is_stopped,
            is_bad,
            who: random.draw(),
        }
    }

    pub(super) fn answer(&mut self, now: Timestamp, effect: &Effect, key: &Key) -> Drawn {
        let step = self.model.step_ms.draw(&mut self.random(key, "step"));
        match &effect.action {
            Action::Claim { .. } => (step, Ok(self.claimed(&effect.bead))),
            Action::Prepare { .. } => (step, Ok(self.prepared(key))),
            Action::Develop { launch, .. } | Action::Resolve { launch, .. } => {
                let (took, report) = self.developed(now, key, launch);
                (took, Ok(Answer::Ended { report }))
            }
            Action::Lead { launch, .. } => {
                let (took, report) = self.developed(now, key, launch);
                let is_success = report.status == Status::Ok;
                let answer = Answer::Led {
                    report,
                    is_success,
                    is_fatal: false,
                    error: None,
                    qa_results: Vec::new(),
                };
                (took, Ok(answer))
            }
            Action::Seal { .. } => (step, Ok(self.sealed(key))),
            Action::Judge { launch, .. } => self.judged(now, key, launch),
            Action::Verify { attempt, commit } => self.verified(key, *attempt, commit),
            Action::Merge { .. } => (step, Ok(self.merged(key))),
            Action::Propose { .. } => {
                self.n_pulls += 1;
                let number = self.n_pulls;
                let url = format!("simulated/pull/{number}");
                (step, Ok(Answer::Proposed { url, number }))
            }
            Action::Record { progress }
            | Action::Release { progress }
            | Action::Block { progress, .. }
            | Action::Close { progress, .. } => {
                self.recorded(&effect.bead, progress);
                (step, Ok(Answer::Done))
            }
            Action::Restore { .. }
            | Action::Keep { .. }
            | Action::Push { .. }
            | Action::CleanUp
            | Action::Park { .. }
            | Action::Notify { .. }
            | Action::Cancel => (step, Ok(Answer::Done)),
        }
    }

    fn claimed(&mut self, bead: &BeadId) -> Answer {
        self.n_claims += 1;
        match self.tasks.get(bead) {
            Some(task) => Answer::Claimed {
                fence: Fence(self.n_claims),
                task: Box::new(task.clone()),
            },
            None => Answer::NotClaimed {
                why: "there is no such bead".to_owned(),
                is_full: false,
            },
        }
    }

    fn recorded(&mut self, bead: &BeadId, progress: &Progress) {
        if let Some(task) = self.tasks.get_mut(bead) {
            task.attempts = progress.attempts;
            task.spent = progress.spent;
            task.base.clone_from(&progress.base);
        }
    }

    fn prepared(&self, key: &Key) -> Answer {
        let is_conflict = self
            .random(key, "conflict")
            .is_hit(self.model.rates.conflicts);
        // The first worktree of a bead that waits for nothing has nothing to be merged.
        let is_alone = (self.tasks.get(&key.bead)).is_none_or(|task| task.waits_for.is_empty());
        Answer::Prepared {
            head: self.commit(key),
            conflicts: if is_conflict && !is_alone {
                vec!["a file".to_owned()]
            } else {
                Vec::new()
            },
            merging: None,
            from: String::new(),
            is_anew: false,
        }
    }

    fn commit(&self, key: &Key) -> CommitId {
        let mut random = self.random(key, "commit");
        CommitId(format!("{:016x}{:016x}", random.draw(), random.draw()))
    }

    fn sealed(&self, key: &Key) -> Answer {
        let commit = self.commit(key);
        Answer::Sealed {
            tree: format!("tree of {commit}"),
            commit,
            n_changed: 1,
            unresolved: Vec::new(),
            refused: None,
        }
    }

    fn merged(&self, key: &Key) -> Answer {
        let commit = self.commit(key);
        if self
            .random(key, "conflict")
            .is_hit(self.model.rates.conflicts)
        {
            let files = vec!["a file".to_owned()];
            return Answer::Conflicted {
                target: commit,
                files,
            };
        }
        Answer::Merged { commit }
    }

    fn developed(&self, now: Timestamp, key: &Key, launch: &Launch) -> (u64, AgentReport) {
        let agent = self.model.developer(&launch.account);
        let mut took = agent.time_ms.draw(&mut self.random(key, "time"));
        let task = self.tasks.get(&key.bead);
        // A weight of 1 says that nobody made an estimate.
        if let Some(task) = task.filter(|task| task.weight > 1) {
            let n_agents = u64::try_from(task.developers.len().max(1)).unwrap_or(1);
            let middle = (task.weight.saturating_mul(MINUTE)) / n_agents;
            took = in_proportion(took, agent.time_ms.middle(), middle);
        }
        let is_bad = self
            .random(key, "fails")
            .is_hit(self.model.rates.developer_fails);
        let status = if is_bad { Status::Failed } else { Status::Ok };
        self.report(now, key, launch, agent, (took, status))
    }

    fn judged(&self, now: Timestamp, key: &Key, launch: &Launch) -> Drawn {
        let agent = self.model.judge(&launch.account);
        let took = agent.time_ms.draw(&mut self.random(key, "time"));
        let (took, report) = self.report(now, key, launch, agent, (took, Status::Ok));
        let verdict = (report.status == Status::Ok).then(|| self.verdict(key, launch.attempt));
        (took, Ok(Answer::Judged { report, verdict }))
    }

    /// One of the QA agents says that a bad attempt is bad.
    fn verdict(&self, key: &Key, attempt: u32) -> Verdict {
        let fate = self.fate(&key.bead, attempt);
        let n_judges = self.tasks.get(&key.bead).map_or(1, |task| {
            u64::try_from(task.judges.len().max(1)).unwrap_or(1)
        });
        let is_mine = u64::try_from(key.agent).unwrap_or(0) == fate.who % n_judges;
        let status = match (is_mine, fate.is_stopped, fate.is_bad) {
            (true, true, _) => QaStatus::Stop,
            (true, false, true) => QaStatus::Fail,
            (false, ..) | (true, false, false) => QaStatus::Pass,
        };
        Verdict {
            status,
            message: format!("simulated {status}"),
            details: Map::new(),
        }
    }

    /// Without QA agents the checks find what is bad.
    fn verified(&self, key: &Key, attempt: u32, commit: &CommitId) -> Drawn {
        let took = self.model.checks_ms.draw(&mut self.random(key, "time"));
        // What judges would find, checks find where there are none; a gate that is red would only end the play.
        let is_sure = |task: &Task| !task.judges.is_empty() || task.is_gate;
        let is_sure = self.tasks.get(&key.bead).is_some_and(is_sure);
        let is_green = is_sure || !self.fate(&key.bead, attempt).is_bad;
        let answer = Answer::Verified {
            commit: commit.clone(),
            is_green,
            summary: if is_green { "" } else { "simulated failure" }.to_owned(),
            is_cut_off: false,
        };
        (took, Ok(answer))
    }

    /// The end of an agent's run: as drawn, unless it meets a limit or its grant is used up before.
    fn report(
        &self,
        now: Timestamp,
        key: &Key,
        launch: &Launch,
        agent: &AgentModel,
        (took, status): (u64, Status),
    ) -> (u64, AgentReport) {
        let cost = agent.cost_micros.draw(&mut self.random(key, "cost"));
        let mut run = Run {
            took,
            cost,
            status,
            reason: if status == Status::Ok {
                ""
            } else {
                "simulated failure"
            },
            resets_at: None,
        };
        let mut random = self.random(key, "limit");
        if random.is_hit(self.model.rates.limits) {
            let part = random.unit();
            run.took = scaled(run.took, part);
            run.cost = scaled(run.cost, part);
            run.status = Status::Limit;
            run.reason = "simulated limit";
            let resets = self.model.limit_ms.draw(&mut random);
            run.resets_at = Some(after(now, run.took.saturating_add(resets)));
        }
        run.keep_within(&launch.grant);
        (run.took, run.report(now, &launch.account))
    }
}

/// What becomes of an attempt.
struct Fate {
    is_stopped: bool,
    is_bad: bool,
    /// Which of the QA agents says so.
    who: u64,
}

/// One run of an agent.
struct Run {
    took: u64,
    cost: u64,
    status: Status,
    reason: &'static str,
    resets_at: Option<Timestamp>,
}

impl Run {
    /// Ends where what it may spend ends.
    fn keep_within(&mut self, grant: &Cap) {
        if let Some(most) = grant.time_ms.filter(|most| self.took > *most) {
            self.cost = in_proportion(self.cost, self.took, most);
            self.took = most;
            self.status = Status::Timeout;
            self.reason = "the time that it may take was over";
            self.resets_at = None;
        }
        if let Some(most) = grant.micros.filter(|most| self.cost > *most) {
            self.took = in_proportion(self.took, self.cost, most);
            self.cost = most;
            self.status = Status::Failed;
            self.reason = "the money that it may spend was used up";
            self.resets_at = None;
        }
    }

    fn report(&self, now: Timestamp, account: &str) -> AgentReport {
        AgentReport {
            agent: account.to_owned(),
            model: bead::Model::Sonnet,
            model_id: None,
            session: "simulated".to_owned(),
            started_at: now,
            ended_at: after(now, self.took),
            status: self.status,
            reason: self.reason.to_owned(),
            spent: Spent {
                micros: self.cost,
                time_ms: self.took,
                turns: 1,
                ..Spent::default()
            },
            resets_at: self.resets_at,
            evidence: None,
        }
    }
}

/// `number` in another measure, in which `whole` is `becomes`.
fn in_proportion(number: u64, whole: u64, becomes: u64) -> u64 {
    if whole == 0 {
        return becomes;
    }
    let scaled = u128::from(number) * u128::from(becomes) / u128::from(whole);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// A time after another one; time has an end.
pub(super) fn after(now: Timestamp, ms: u64) -> Timestamp {
    let wait = jiff::SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX));
    now.checked_add(wait).unwrap_or(Timestamp::MAX)
}
