//! `ralf-implement`: a worker, somebody who looks, a decision; again until it holds or the cap is reached (R-1… ).

use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::ralf::{
    Aggregate, Counts, CycleRecord, Findings, ImplementLoop, Next, Reviewer, Score, WorkerEnd,
    completed_cycles, marker, reviewers,
};
use beads_ralph_core::implement::report::{Block, Escalation, EvidenceGate, Report, ReportStatus};
use beads_ralph_core::implement::{Focus, ReviewLevel, outcome_of, outcome_of_loop};
use beads_ralph_core::issue::Edit;
use camino::Utf8PathBuf;

use super::super::Dispatcher;
use super::super::assign::Assignment;
use super::super::claim::Held;
use super::super::ending::Stop;
use super::super::finish::{Settlement, label};
use super::super::record::WorkRecord;
use super::super::report::{self, NoReport};
use super::super::worker::Done;
use super::reviewing::Wish;
use super::{
    Eyes, EyesSummary, FindingSummary, ImplementSummary, LoopSummary, WorkCycle, foreign_eyes,
};
use crate::store::{Guard, Write};

/// What is kept from cycle to cycle, for the record only: workers never see it.
struct Progress {
    base: CommitId,
    max: u32,
    last: Option<Done>,
    eyes: Vec<Eyes>,
    findings: Findings,
}

impl Dispatcher<'_> {
    pub(in super::super) fn ralf_implement(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
    ) -> Result<Settlement, Stop> {
        self.check_inputs(assignment)?;
        let max = assignment.policy.implement_cycles();
        let notes = assignment.step.issue.text("notes").unwrap_or_default();
        let mut machine = ImplementLoop::new(max, notes);
        let mut progress = Progress {
            base: self.base(assignment)?,
            max,
            last: None,
            eyes: self.kept_eyes(assignment, completed_cycles(notes)),
            findings: Findings::default(),
        };
        let mut next = machine.begin();
        let mut cycle = 0;
        loop {
            next = match next {
                Next::Work { cycle: now } => {
                    if cycle > 0 {
                        self.end_cycle(assignment, held, &progress, cycle)?;
                    }
                    cycle = now;
                    self.decide("R-4", format!("cycle {cycle} of {max}"));
                    let end = self.cycle(assignment, held, &mut progress, cycle)?;
                    machine.worked(end)
                }
                Next::Review { cycle } => {
                    let order = reviewers(cycle);
                    let counts =
                        self.look(assignment, held, &mut progress, (cycle, Focus::Work, order))?;
                    machine.reviewed(counts)
                }
                Next::QualityReview => {
                    let counts = self.quality(assignment, held, &mut progress, cycle)?;
                    machine.quality_reviewed(counts)
                }
                Next::Simplify => {
                    let is_broken = self.simplified(assignment, held, &progress, cycle)?;
                    machine.simplified(is_broken)
                }
                Next::Done(aggregate) => {
                    return self.concluded(assignment, progress, &aggregate, cycle);
                }
                Next::Abort(_) => return Ok(aborted(assignment, progress)),
            };
        }
    }

    /// Without something to work towards, and a way to see whether it is reached, a loop would only burn money.
    fn check_inputs(&self, assignment: &Assignment) -> Result<(), Stop> {
        let missing = if assignment.acceptance.is_empty() {
            "the bead has no acceptance criteria"
        } else if self.site.commands().is_empty() {
            "there are no quality commands: set `gates` in beads-ralph.yaml"
        } else {
            return Ok(());
        };
        Err(Stop::human(
            "R-1",
            format!("implement-bead: ralf-implement cannot begin: {missing}"),
        ))
    }

    fn cycle(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        progress: &mut Progress,
        cycle: u32,
    ) -> Result<WorkerEnd, Stop> {
        progress.findings = Findings::default();
        let done = self.work(assignment, held, Some(cycle))?;
        let done = self.complete_evidence(assignment, done, cycle)?;
        if let Some(text) = self.audit_label(assignment, Some(cycle)) {
            self.note_step(held, vec![label(&text)?])?;
            self.decide("I-22", format!("label {text} on the step"));
        }
        self.note_candidate(assignment, cycle)?;
        let end = WorkerEnd {
            status: done.report.status,
            gate: done.gate,
            has_tests: done.report.evidence.tests.is_some(),
        };
        let (status, gate) = (end.status.as_str(), end.gate.as_str());
        self.decide("R-6", format!("cycle {cycle}: {status}, gate {gate}"));
        progress.last = Some(done);
        Ok(end)
    }

    /// Notes what the worker left, so that what reviewers and others do to it can be taken back, also by a later process.
    fn note_candidate(&self, assignment: &Assignment, cycle: u32) -> Result<(), Stop> {
        let head = self.site.git.checked_out_at(&assignment.place)?;
        let report = assignment.report(&assignment.agent, Some(cycle))?;
        let record = WorkRecord::beside(&self.site.beads.join(report));
        WorkRecord::amend(&record, |record| record.candidate = head.map(|head| head.0))?;
        Ok(())
    }

    /// Inside a loop a block of evidence that lacks a key makes the report malformed.
    fn complete_evidence(
        &mut self,
        assignment: &Assignment,
        done: Done,
        cycle: u32,
    ) -> Result<Done, Stop> {
        let lacking = |(name, block): (&str, &Block)| {
            let missing = block.missing.first()?;
            Some(format!("evidence.{name} lacks `{missing}`"))
        };
        let Some(fault) = done.report.evidence.blocks().find_map(lacking) else {
            return Ok(done);
        };
        self.decide("R-7", format!("the report is malformed: {fault}"));
        let path = assignment.report(&assignment.agent, Some(cycle))?;
        let path = self.site.beads.join(path);
        let classified = report::synthesize(&path, NoReport::Malformed(fault), "")?;
        Ok(Done {
            report: classified.report,
            gate: EvidenceGate::NotApplicable,
            is_synthetic: true,
            faults: done.faults,
        })
    }

    /// Notes that a cycle is over, with the work that was found in it, so that a later process begins after it.
    fn end_cycle(
        &mut self,
        assignment: &Assignment,
        held: &Held,
        progress: &Progress,
        cycle: u32,
    ) -> Result<(), Stop> {
        let found = progress.last.as_ref().filter(|done| !done.is_synthetic);
        let found = found.map(|done| done.report.discovered.as_slice());
        let (mut batch, ids) = self.filed(assignment, found.unwrap_or_default())?;
        batch.push(Write::Update {
            id: held.id.clone(),
            edits: vec![Edit::AppendNotes(marker(cycle, progress.max))],
            guard: Guard::fenced(held.fence),
        });
        self.store.write(&batch, self.site.stamp())?;
        self.told.discovered.extend(ids);
        Ok(())
    }

    fn look(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        progress: &mut Progress,
        (cycle, focus, order): (u32, Focus, &[Reviewer]),
    ) -> Result<Counts, Stop> {
        let wish = Wish {
            cycle,
            focus,
            order,
            base: &progress.base,
        };
        let (findings, eyes) = self.review(assignment, held, wish)?;
        let counts = findings.counts();
        self.decide(
            "R-6",
            format!("cycle {cycle}: findings {}", counts.to_note()),
        );
        progress.findings = findings;
        if focus == Focus::Work {
            self.keep_eyes(assignment, &eyes)?;
            progress.eyes.push(eyes);
        }
        Ok(counts)
    }

    /// The second look at a candidate, unless the labels say that it is left out (R-8, §9.13).
    fn quality(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        progress: &mut Progress,
        cycle: u32,
    ) -> Result<Counts, Stop> {
        let focus = match assignment.policy.review_level {
            ReviewLevel::None | ReviewLevel::Light => return Ok(Counts::default()),
            ReviewLevel::Standard => Focus::Quality,
            ReviewLevel::Deep => Focus::Deep,
        };
        let before = std::mem::take(&mut progress.findings);
        let counts = self.look(
            assignment,
            held,
            progress,
            (cycle, focus, &[Reviewer::FreshEyes]),
        )?;
        let mut all = before.list;
        all.append(&mut progress.findings.list);
        progress.findings.list = all;
        Ok(counts)
    }

    fn simplified(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        progress: &Progress,
        cycle: u32,
    ) -> Result<bool, Stop> {
        let tests = progress.last.as_ref();
        let tests = tests.and_then(|done| done.report.evidence.tests.as_ref());
        let command = tests.filter(|tests| !tests.is_skipped);
        match (assignment.policy.review_level, command) {
            (ReviewLevel::None | ReviewLevel::Light, _) | (_, None) => Ok(false),
            (_, Some(tests)) => {
                let command = tests.command.clone();
                self.simplify(assignment, held, &progress.base, &command, cycle)
            }
        }
    }

    /// What the loop amounts to (R-9, R-11, I-28).
    fn concluded(
        &mut self,
        assignment: &Assignment,
        progress: Progress,
        aggregate: &Aggregate,
        cycle: u32,
    ) -> Result<Settlement, Stop> {
        let score = aggregate.score.as_str();
        self.decide("R-9", format!("{score}: {}", aggregate.rationale));
        let summary = summary(aggregate, &progress, self.told.report.clone());
        self.told.aggregate = Some(LoopSummary::Implement(summary));
        self.told.status = Some(status_of(aggregate.score, aggregate.counts.major));
        let (mut report, gate, is_synthetic, faults) = match progress.last {
            Some(done) => (done.report, done.gate, done.is_synthetic, done.faults),
            None => (
                Report::new(ReportStatus::Failed),
                EvidenceGate::NotApplicable,
                true,
                Vec::new(),
            ),
        };
        report
            .escalations
            .extend(verdict(aggregate, &progress.findings));
        let majors = aggregate.counts.major;
        let outcome = outcome_of_loop(assignment.stage, aggregate.score, majors, &report, gate);
        let mut settlement = Settlement::new(outcome);
        settlement.notes = vec![
            aggregate.to_note(aggregate.rationale),
            foreign_eyes(&progress.eyes),
        ];
        if cycle > 0 {
            settlement.notes.push(marker(cycle, progress.max));
        }
        settlement.faults = faults;
        if !is_synthetic {
            settlement.discovered = report.discovered;
        }
        self.note_degraded(&progress.eyes, &mut settlement)?;
        Ok(settlement)
    }
}

/// What a loop comes to, in the words of reports (I-28).
fn status_of(score: Score, majors: u32) -> ReportStatus {
    match score {
        Score::Pass => ReportStatus::Complete,
        Score::PassWithReservations if majors == 0 => ReportStatus::Complete,
        Score::PassWithReservations => ReportStatus::NeedsHuman,
        Score::Fail => ReportStatus::Failed,
    }
}

/// A worker asked for a person: its own words go to them.
fn aborted(assignment: &Assignment, progress: Progress) -> Settlement {
    let Some(done) = progress.last else {
        let report = Report::new(ReportStatus::NeedsHuman);
        return Settlement::new(outcome_of(
            assignment.stage,
            &report,
            EvidenceGate::NotApplicable,
        ));
    };
    let mut settlement = Settlement::new(outcome_of(assignment.stage, &done.report, done.gate));
    settlement.notes = vec![foreign_eyes(&progress.eyes)];
    settlement.faults = done.faults;
    settlement.discovered = done.report.discovered;
    settlement
}

/// The escalation for a loop that did not simply pass.
fn verdict(aggregate: &Aggregate, findings: &Findings) -> Option<Escalation> {
    if aggregate.score == Score::Pass {
        return None;
    }
    let (n, max) = aggregate.cycles;
    let mut detail = format!("{} after {n} of {max} cycles", aggregate.rationale);
    for finding in &findings.list {
        detail.push_str("\n  - ");
        detail.push_str(&finding.title);
        if let Some(file) = &finding.file {
            detail.push_str(" (");
            detail.push_str(file);
            detail.push(')');
        }
    }
    Some(Escalation {
        reason: aggregate.score.as_str().to_owned(),
        detail,
    })
}

fn summary(
    aggregate: &Aggregate,
    progress: &Progress,
    final_report: Option<Utf8PathBuf>,
) -> ImplementSummary {
    let (n, max) = aggregate.cycles;
    let cycle = |it: &CycleRecord| WorkCycle {
        status: it.status.as_str(),
        gate: it.gate.as_str(),
    };
    ImplementSummary {
        score: aggregate.score.as_str(),
        rationale: aggregate.rationale,
        cycles: format!("{n}/{max}"),
        severity_counts: aggregate.counts,
        foreign_eyes: EyesSummary::of_all(&progress.eyes),
        per_cycle: aggregate.per_cycle.iter().map(cycle).collect(),
        remaining: FindingSummary::of_all(&progress.findings.list),
        final_report,
    }
}
