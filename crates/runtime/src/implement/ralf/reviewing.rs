//! `ralf-review`: fresh reviewers, who change nothing, until nothing is found or the cap is reached.

use beads_ralph_core::implement::ralf::{
    Findings, ReviewLoop, ReviewNext, ReviewVerdict, Score, completed_cycles, marker, reviewers,
};
use beads_ralph_core::implement::report::{Escalation, Gate, Report, Status};
use beads_ralph_core::implement::{Focus, ReviewLevel, outcome_of_loop};
use beads_ralph_core::issue::Edit;
use serde_json::{Value, json};

use super::super::Dispatcher;
use super::super::assign::Assignment;
use super::super::ending::Stop;
use super::super::hold::Held;
use super::super::settle::Settlement;
use super::reviewer::Wish;
use super::{Eyes, eyes_to_json, finding_to_json, foreign_eyes};

impl Dispatcher<'_> {
    pub(in super::super) fn ralf_review(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
    ) -> Result<Settlement, Stop> {
        let max = assignment.policy.review_cycles();
        let base = self.base(assignment)?;
        let notes = assignment.step.issue.text("notes").unwrap_or_default();
        let mut machine = ReviewLoop::new(max, notes);
        let n_before = completed_cycles(notes).min(max.saturating_sub(1));
        let mut eyes = self.kept_eyes(assignment, n_before);
        let mut findings = Findings::default();
        let mut per_cycle: Vec<Value> = Vec::new();
        let mut next = machine.begin();
        let focus = match assignment.policy.review_level {
            ReviewLevel::Deep => Focus::Deep,
            ReviewLevel::None | ReviewLevel::Light | ReviewLevel::Standard => Focus::Work,
        };
        let verdict = loop {
            match next {
                ReviewNext::Done(verdict) => break verdict,
                ReviewNext::Review { cycle } => {
                    let wish = Wish {
                        cycle,
                        focus,
                        order: reviewers(cycle),
                        base: &base,
                    };
                    let (found, looked) = self.review(assignment, held, wish)?;
                    let counts = found.counts();
                    self.decide(
                        "R-10",
                        format!("cycle {cycle}: findings {}", counts.to_note()),
                    );
                    self.keep_eyes(assignment, &looked)?;
                    eyes.push(looked);
                    findings = found;
                    per_cycle.push(json!({"cycle": cycle, "severity": counts.to_note()}));
                    next = machine.reviewed(counts);
                    if matches!(next, ReviewNext::Review { .. }) {
                        self.note_step(held, vec![Edit::AppendNotes(marker(cycle, max))])?;
                    }
                }
            }
        };
        let mut settlement = self.reviewed(assignment, verdict, &eyes, &findings)?;
        if let Some(told) = &mut self.told.aggregate {
            told["per_cycle"] = Value::Array(per_cycle);
        }
        settlement.notes.push(marker(verdict.cycles.0, max));
        Ok(settlement)
    }

    fn reviewed(
        &mut self,
        assignment: &Assignment,
        verdict: ReviewVerdict,
        eyes: &[Eyes],
        findings: &Findings,
    ) -> Result<Settlement, Stop> {
        let (n, max) = verdict.cycles;
        let (score, action) = (verdict.score.as_str(), verdict.action.as_str());
        self.decide("R-10", format!("{score} after {n}/{max}: {action}"));
        self.told.aggregate = Some(json!({
            "score": score, "action": action, "cycles": format!("{n}/{max}"),
            "severity_counts": {"blocking": verdict.counts.blocking, "critical": verdict.counts.critical,
                "major": verdict.counts.major, "minor": verdict.counts.minor},
            "foreign_eyes": eyes_to_json(eyes),
            "remaining": findings.list.iter().map(finding_to_json).collect::<Vec<Value>>(),
        }));
        let status = match verdict.score {
            Score::Fail => Status::Failed,
            Score::Pass | Score::PassWithReservations => Status::Complete,
        };
        let mut report = Report::new(status);
        if verdict.score != Score::Pass {
            let lines: Vec<String> = (findings.list.iter())
                .map(|finding| format!("  - {}: {}", finding.title, finding.detail))
                .collect();
            report.escalations.push(Escalation {
                reason: format!("{score}; {action}"),
                detail: format!("the review found\n{}", lines.join("\n")),
            });
        }
        let majors = verdict.counts.major;
        let gate = Gate::NotApplicable;
        let outcome = outcome_of_loop(assignment.stage, verdict.score, majors, &report, gate);
        let mut settlement = Settlement::new(outcome);
        let severity = verdict.counts.to_note();
        settlement.notes = vec![
            format!(
                "REVIEW-REPORT: score={score}; cycles={n}/{max}; severity={severity}; action={action}"
            ),
            foreign_eyes(eyes),
        ];
        self.note_degraded(eyes, &mut settlement)?;
        Ok(settlement)
    }
}
