//! Judging what was made: QA agents at the same time, then the checks (Z-5).

use jiff::Timestamp;

use super::CommitId;
use super::develop::launch;
use super::effect::{Action, Note};
use super::event::{AgentReport, Verdict};
use super::machine::{Engine, Stopping};
use super::work::{Doom, Phase, Work};
use crate::bead::{BeadId, QaStatus};

impl Engine {
    pub(super) fn judge(&mut self, now: Timestamp, id: &BeadId) {
        let judges = self.task(id).judges.clone();
        // Who leads says what its own QA agents said. Where it does not, or no program checks the work, ours are asked (L-17, Z-31).
        let is_led = self.leader(id).is_some() && self.task(id).has_checks;
        let work = self.work(id);
        let is_led = is_led && work.qa_results.len() >= judges.len();
        work.enter(Phase::Judging, now);
        let (Some(commit), Some(base)) = (work.sealed.clone(), work.base.clone()) else {
            return;
        };
        let attempt = work.attempt;
        if judges.is_empty() || is_led {
            return self.verify(now, id);
        }
        for (agent, account) in judges.into_iter().enumerate() {
            let action = Action::Judge {
                agent,
                launch: launch(attempt, account),
                commit: commit.clone(),
                base: base.clone(),
            };
            self.perform(now, id, action);
            let is_over = |work: &Work| work.is_ending || work.doom.is_some();
            if self.works.get(id).is_none_or(is_over) {
                return;
            }
        }
    }

    pub(super) fn judged(
        &mut self,
        now: Timestamp,
        id: &BeadId,
        action: &Action,
        report: &AgentReport,
        verdict: Option<&Verdict>,
    ) {
        let Action::Judge { agent, .. } = action else {
            return;
        };
        let agent = *agent;
        match verdict {
            None => {
                if self.take_report(now, id, action, report).is_some() {
                    let verdict = Verdict {
                        status: QaStatus::Fail,
                        message: report.reason.clone(),
                        details: serde_json::Map::new(),
                    };
                    self.take_verdict(id, agent, report, verdict);
                }
            }
            Some(verdict) => {
                self.work(id).n_limits = 0;
                self.take_verdict(id, agent, report, verdict.clone());
            }
        }
        self.all_judged(now, id);
    }

    pub(super) fn take_verdict(
        &mut self,
        id: &BeadId,
        agent: usize,
        report: &AgentReport,
        verdict: Verdict,
    ) {
        let work = self.work(id);
        let attempt = work.attempt;
        work.verdicts
            .insert(agent, (report.agent.clone(), verdict.clone()));
        work.notes.push(Note::Judged {
            attempt,
            report: report.clone(),
            verdict,
        });
    }

    /// Goes on once all have judged.
    pub(super) fn all_judged(&mut self, now: Timestamp, id: &BeadId) {
        let is_waiting =
            |work: &Work| work.is_ending || work.doom.is_some() || !work.held.is_empty();
        if self.is_busy(id) || self.works.get(id).is_none_or(is_waiting) {
            return;
        }
        let n_judges = self.task(id).judges.len();
        let work = self.work(id);
        if work.verdicts.len() < n_judges {
            return;
        }
        let said = |(agent, verdict): &(String, Verdict)| Said {
            agent: agent.clone(),
            status: verdict.status,
            message: verdict.message.clone(),
        };
        let verdicts: Vec<Said> = work.verdicts.values().map(said).collect();
        if self.all_passed(now, id, &verdicts) {
            self.verify(now, id);
        }
    }

    /// Whether all QA agents passed the work. If not, the attempt is over: one `stop` stops, else one `fail` fails (L-16.4).
    pub(super) fn all_passed(&mut self, now: Timestamp, id: &BeadId, verdicts: &[Said]) -> bool {
        let of = |wanted: QaStatus| {
            let of = verdicts.iter().filter(|said| said.status == wanted);
            of.map(|said| format!("{}: {}", said.agent, said.message))
                .collect::<Vec<_>>()
        };
        let (stops, fails) = (of(QaStatus::Stop), of(QaStatus::Fail));
        if !stops.is_empty() {
            let reason = format!("QA stopped the work: {}", stops.join("; "));
            self.end_attempt(now, id, reason, true);
            return false;
        }
        if !fails.is_empty() {
            let reasons = fails.iter().map(|fail| format!("QA failed: {fail}"));
            let reasons: Vec<String> = reasons.collect();
            self.find_fault(now, id, &reasons.join("\n"));
            return false;
        }
        true
    }

    pub(super) fn verify(&mut self, now: Timestamp, id: &BeadId) {
        if self.stopping == Some(Stopping::Now) {
            return self.doom(now, id, Doom::Release);
        }
        let work = self.work(id);
        work.enter(Phase::Verifying, now);
        let attempt = work.attempt;
        let commit = work.sealed.clone();
        let commit = commit.expect("only what is sealed is verified");
        self.issue(id, Action::Verify { attempt, commit });
    }

    pub(super) fn verified(
        &mut self,
        now: Timestamp,
        id: &BeadId,
        commit: CommitId,
        is_green: bool,
        summary: &str,
    ) {
        let is_gate = self.task(id).is_gate;
        let work = self.work(id);
        let attempt = work.attempt;
        work.notes.push(Note::Verified {
            attempt,
            commit: commit.clone(),
            is_green,
            summary: summary.to_owned(),
        });
        if !is_green && is_gate {
            // Nobody works on a gate, so a second attempt cannot help (V-11).
            let reason = format!("the gate is red: the checks failed: {summary}");
            return self.end_attempt(now, id, reason, false);
        }
        if !is_green {
            return self.find_fault(now, id, &format!("the checks failed: {summary}"));
        }
        work.verified = Some(commit.clone());
        work.enter(Phase::HandingOver, now);
        self.issue(id, Action::Keep { commit });
    }

    /// What was made is not good enough: the attempt failed, and what is wrong is remembered until something else is.
    fn find_fault(&mut self, now: Timestamp, id: &BeadId, reason: &str) {
        self.work(id).findings = Some(reason.to_owned());
        self.fail_attempt(now, id, reason);
    }
}

/// What a QA agent said.
pub(super) struct Said {
    pub(super) agent: String,
    pub(super) status: QaStatus,
    pub(super) message: String,
}
