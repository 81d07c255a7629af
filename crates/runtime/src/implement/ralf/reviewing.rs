//! `ralf-review`: fresh reviewers, who change nothing, until they find nothing or the limit is reached.

use beads_ralph_core::agent::{AgentRole, Outcome, Status as AgentStatus};
use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::ralf::{
    Findings, ReviewLoop, ReviewNext, ReviewVerdict, Reviewer, ReviewerStatus, Score,
    completed_cycles, marker, reviewers,
};
use beads_ralph_core::implement::report::{Escalation, EvidenceGate, Report, ReportStatus};
use beads_ralph_core::implement::{Focus, Inspection, ReviewLevel, outcome_of_loop};
use beads_ralph_core::issue::Edit;
use camino::Utf8PathBuf;

use super::super::Dispatcher;
use super::super::assign::{Assignment, ignore_all};
use super::super::calling::Errand;
use super::super::claim::Held;
use super::super::ending::{ImplementError, Stop};
use super::super::finish::Settlement;
use super::super::native::place_at;
use super::super::record::{ARTEFACTS, later_session_id, reviews_of};
use super::{
    Eyes, EyesSummary, FindingSummary, LoopSummary, ReviewCycle, ReviewSummary, foreign_eyes,
};
use crate::os::files;
use crate::ports::Repository as _;

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
        let mut per_cycle = Vec::new();
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
                    per_cycle.push(ReviewCycle {
                        cycle,
                        severity: counts.to_note(),
                    });
                    next = machine.reviewed(counts);
                    if matches!(next, ReviewNext::Review { .. }) {
                        self.note_step(held, vec![Edit::AppendNotes(marker(cycle, max))])?;
                    }
                }
            }
        };
        let mut settlement = self.reviewed(assignment, verdict, &eyes, &findings, per_cycle)?;
        settlement.notes.push(marker(verdict.cycles.0, max));
        Ok(settlement)
    }

    fn reviewed(
        &mut self,
        assignment: &Assignment,
        verdict: ReviewVerdict,
        eyes: &[Eyes],
        findings: &Findings,
        per_cycle: Vec<ReviewCycle>,
    ) -> Result<Settlement, Stop> {
        let (n, max) = verdict.cycles;
        let (score, action) = (verdict.score.as_str(), verdict.action.as_str());
        self.decide("R-10", format!("{score} after {n}/{max}: {action}"));
        self.told.aggregate = Some(LoopSummary::Review(ReviewSummary {
            score,
            action,
            cycles: format!("{n}/{max}"),
            severity_counts: verdict.counts,
            foreign_eyes: EyesSummary::of_all(eyes),
            remaining: FindingSummary::of_all(&findings.list),
            per_cycle,
        }));
        let status = match verdict.score {
            Score::Fail => ReportStatus::Failed,
            Score::Pass | Score::PassWithReservations => ReportStatus::Complete,
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
        let gate = EvidenceGate::NotApplicable;
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

#[derive(Debug, Clone, Copy)]
pub(super) struct Wish<'w> {
    /// Which cycle, from 1.
    pub(super) cycle: u32,
    pub(super) focus: Focus,
    pub(super) order: &'w [Reviewer],
    pub(super) base: &'w CommitId,
}

impl Dispatcher<'_> {
    /// Lets the first of them look who can. That nobody can is an error, so that it is tried again later.
    pub(super) fn review(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        wish: Wish<'_>,
    ) -> Result<(Findings, Eyes), Stop> {
        let mut eyes = Eyes {
            cycle: wish.cycle,
            asked: Vec::new(),
        };
        for reviewer in wish.order {
            let (status, findings) = self.asked(assignment, held, wish, *reviewer)?;
            eyes.asked.push((*reviewer, status));
            let (name, word) = (reviewer.as_str(), status.as_str());
            self.decide("R-4", format!("cycle {}: {name}: {word}", wish.cycle));
            if let Some(findings) = findings {
                return Ok((findings, eyes));
            }
        }
        Err(ImplementError::NoReviewer(eyes.words()).into())
    }

    fn asked(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        wish: Wish<'_>,
        reviewer: Reviewer,
    ) -> Result<(ReviewerStatus, Option<Findings>), Stop> {
        let directory = self.artefacts(assignment, wish, reviewer)?;
        let before = self.snapshot(assignment)?;
        let commands = self.site.commands();
        let inspection = Inspection {
            source: &assignment.source.issue,
            worktree: assignment.place.as_str(),
            base: &wish.base.0,
            acceptance: &assignment.acceptance,
            commands: &commands,
            focus: wish.focus,
        };
        let settings = &self.site.config.implement.reviewers;
        let (name, adapter) = match (reviewer, wish.focus) {
            (Reviewer::Codex, _) => (
                "fresh-eyes-reviewer",
                settings.codex.as_deref().or(Some("codex")),
            ),
            (Reviewer::Gemini, _) => (
                "fresh-eyes-reviewer",
                settings.gemini.as_deref().or(Some("gemini")),
            ),
            (Reviewer::FreshEyes, Focus::Work) => {
                ("fresh-eyes-reviewer", settings.fresh_eyes.as_deref())
            }
            (Reviewer::FreshEyes, Focus::Quality | Focus::Deep) => {
                ("quality-reviewer", settings.fresh_eyes.as_deref())
            }
        };
        let what = format!(
            "{}:review:{}:{name}:{}",
            held.fence.0,
            wish.cycle,
            reviewer.as_str()
        );
        let errand = Errand {
            name,
            adapter,
            model: None,
            prompt: inspection.to_prompt(),
            role: AgentRole::Reviewer,
            attempt: wish.cycle,
            schema: Some(Findings::schema()),
            report: None,
            session: later_session_id(
                assignment.source.issue.id().as_str(),
                assignment.stage.as_str(),
                &what,
            ),
            directory: directory.clone(),
            limit: self.site.config.implement.reviewer_timeout,
            mark: self.site.mark.below(),
        };
        let outcome = match self.outcome(assignment, held, &errand) {
            Ok(outcome) => outcome,
            // A missing agent is not a fault of the work.
            Err(Stop::Error(error)) if matches!(*error, ImplementError::NotReady { .. }) => {
                files::write_passing(&directory.join("error.log"), error.to_string().as_bytes())?;
                return Ok((ReviewerStatus::Unavailable, None));
            }
            Err(stop) => return Err(stop),
        };
        let read = outcome.report.as_ref().and_then(Findings::read);
        let (status, findings) = judged(&outcome, read);
        if self.snapshot(assignment)? != before {
            self.undo(assignment, before.0.as_ref(), wish.cycle)?;
            return Ok((ReviewerStatus::UnusableOutput, None));
        }
        let review = files::to_json(&outcome.report);
        files::write_passing(&directory.join("review.json"), &review)?;
        Ok((status, findings))
    }

    /// Keeps who reviewed a cycle, for a process that resumes the loop.
    pub(super) fn keep_eyes(&self, assignment: &Assignment, eyes: &Eyes) -> Result<(), Stop> {
        let path = self.eyes_of(assignment, eyes.cycle);
        files::write_passing(&path, &files::to_json(eyes))?;
        Ok(())
    }

    /// Who looked in the cycles that are over, as far as that was kept.
    pub(super) fn kept_eyes(&self, assignment: &Assignment, n_cycles: u32) -> Vec<Eyes> {
        let paths = (1..=n_cycles).map(|cycle| self.eyes_of(assignment, cycle));
        let texts = paths.filter_map(|path| files::read(&path).ok());
        let kept = texts.filter_map(|text| serde_json::from_slice(&text).ok());
        kept.collect()
    }

    fn eyes_of(&self, assignment: &Assignment, cycle: u32) -> Utf8PathBuf {
        let directory = self.reviews_of(assignment);
        directory.join(format!("cycle-{cycle}.json"))
    }

    fn reviews_of(&self, assignment: &Assignment) -> Utf8PathBuf {
        let source = assignment.source.issue.id();
        reviews_of(self.site.root, source, assignment.stage.as_str())
    }

    /// The directory of a review, which git does not see.
    fn artefacts(
        &self,
        assignment: &Assignment,
        wish: Wish<'_>,
        reviewer: Reviewer,
    ) -> Result<Utf8PathBuf, Stop> {
        ignore_all(&self.site.root.join(ARTEFACTS))?;
        let focus = match wish.focus {
            Focus::Work => "",
            Focus::Quality | Focus::Deep => "-quality",
        };
        let name = format!("cycle-{}-{}{focus}", wish.cycle, reviewer.as_str());
        let directory = self.reviews_of(assignment).join(name);
        files::create_directory(&directory)?;
        Ok(directory)
    }

    /// What is checked out, and what is not committed: a reviewer changes neither.
    pub(in crate::implement) fn snapshot(
        &self,
        assignment: &Assignment,
    ) -> Result<(Option<CommitId>, Option<String>), Stop> {
        let (git, place) = (self.site.git, &assignment.place);
        Ok((git.checked_out_at(place)?, git.dirt_of(place)?))
    }

    /// Makes the worktree what it was. What is taken away stays reachable (Z-39).
    pub(in crate::implement) fn undo(
        &mut self,
        assignment: &Assignment,
        commit: Option<&CommitId>,
        cycle: u32,
    ) -> Result<(), Stop> {
        let place = place_at(assignment, &assignment.place);
        if let (Some(place), Some(commit)) = (place, commit) {
            self.site.git.restore(&place, commit, cycle)?;
            self.decide("R-8", "changes by a reviewer are reverted");
        }
        Ok(())
    }
}

fn judged(outcome: &Outcome, findings: Option<Findings>) -> (ReviewerStatus, Option<Findings>) {
    let has_said = (outcome.text.as_ref()).is_some_and(|it| !it.trim().is_empty());
    // A successful end without a readable review counts as unusable output.
    let is_unusable = outcome.exit_code == Some(0) && (has_said || outcome.report.is_some());
    let status = match outcome.status {
        AgentStatus::Ok if findings.is_some() => return (ReviewerStatus::Completed, findings),
        AgentStatus::Limit => ReviewerStatus::QuotaExceeded,
        AgentStatus::Auth => ReviewerStatus::AuthFailed,
        AgentStatus::Config => ReviewerStatus::Unavailable,
        AgentStatus::Timeout => ReviewerStatus::TimedOut,
        AgentStatus::Ok | AgentStatus::NoResult | AgentStatus::Failed if is_unusable => {
            ReviewerStatus::UnusableOutput
        }
        AgentStatus::Ok
        | AgentStatus::NoResult
        | AgentStatus::Failed
        | AgentStatus::Denied
        | AgentStatus::Killed
        | AgentStatus::Crashed => ReviewerStatus::NoOutput,
    };
    (status, None)
}
