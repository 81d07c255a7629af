//! The loops of §9.12: fresh workers and fresh reviewers in a limited number of cycles; and the simplifier.

mod implementing;
mod reviewing;

use beads_ralph_core::agent::AgentRole;
use beads_ralph_core::check::is_green;
use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::ralf::{
    Counts, Finding, Reviewer, ReviewerStatus, reviewers, too_degraded,
};
use beads_ralph_core::implement::{Outcome, simplify_prompt};
use beads_ralph_core::issue::Edit;
use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use super::Dispatcher;
use super::assign::Assignment;
use super::calling::{Errand, Examination};
use super::claim::Held;
use super::ending::{ImplementError, Stop};
use super::finish::{Settlement, label};
use super::record::later_session_id;
use crate::check::Ground;
use crate::store::{Guard, Write};

/// Who was asked to look in a cycle, and what came of it; the last one looked.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Eyes {
    cycle: u32,
    asked: Vec<(Reviewer, ReviewerStatus)>,
}

impl Eyes {
    /// Whether strangers should have looked, and none of them did.
    fn is_degraded(&self) -> bool {
        let first_is_foreign = self.asked.first().is_some_and(|(it, _)| it.is_foreign());
        let last_is_foreign = self.asked.last().is_some_and(|(it, _)| it.is_foreign());
        first_is_foreign && !last_is_foreign
    }

    fn words(&self) -> String {
        let asked = self.asked.iter();
        let asked: Vec<String> = asked
            .map(|(reviewer, status)| format!("{}:{}", reviewer.as_str(), status.as_str()))
            .collect();
        asked.join(">")
    }
}

/// The note about who looked.
fn foreign_eyes(eyes: &[Eyes]) -> String {
    let cycles = eyes.iter();
    let cycles: Vec<String> = cycles
        .map(|eyes| format!("cycle-{}={}", eyes.cycle, eyes.words()))
        .collect();
    let degraded = eyes.iter().filter(|eyes| eyes.is_degraded()).count();
    format!("FOREIGN-EYES: {}; degraded={degraded}", cycles.join("; "))
}

/// What a loop amounts to, for programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LoopSummary {
    Implement(ImplementSummary),
    Review(ReviewSummary),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImplementSummary {
    score: &'static str,
    rationale: &'static str,
    cycles: String,
    severity_counts: Counts,
    foreign_eyes: Vec<EyesSummary>,
    per_cycle: Vec<WorkCycle>,
    remaining: Vec<FindingSummary>,
    final_report: Option<Utf8PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewSummary {
    score: &'static str,
    action: &'static str,
    cycles: String,
    severity_counts: Counts,
    foreign_eyes: Vec<EyesSummary>,
    remaining: Vec<FindingSummary>,
    per_cycle: Vec<ReviewCycle>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct WorkCycle {
    status: &'static str,
    gate: &'static str,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ReviewCycle {
    cycle: u32,
    severity: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct FindingSummary {
    severity: &'static str,
    title: String,
    detail: String,
    file: Option<String>,
}

impl FindingSummary {
    fn of_all(findings: &[Finding]) -> Vec<Self> {
        let summary = |finding: &Finding| Self {
            severity: finding.severity.as_str(),
            title: finding.title.clone(),
            detail: finding.detail.clone(),
            file: finding.file.clone(),
        };
        findings.iter().map(summary).collect()
    }
}

/// Who reviewed a cycle, and who was not needed.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct EyesSummary {
    cycle: u32,
    asked: Vec<Asked>,
    degraded: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Asked {
    reviewer: &'static str,
    status: &'static str,
}

impl EyesSummary {
    fn of_all(eyes: &[Eyes]) -> Vec<Self> {
        eyes.iter().map(Self::of).collect()
    }

    fn of(eyes: &Eyes) -> Self {
        let others = reviewers(eyes.cycle).iter().skip(eyes.asked.len());
        let others = others.map(|reviewer| (*reviewer, ReviewerStatus::NotRun));
        let asked = eyes.asked.iter().copied().chain(others);
        Self {
            cycle: eyes.cycle,
            asked: asked
                .map(|(reviewer, status)| Asked {
                    reviewer: reviewer.as_str(),
                    status: status.as_str(),
                })
                .collect(),
            degraded: eyes.is_degraded(),
        }
    }
}

impl Dispatcher<'_> {
    fn base(&self, assignment: &Assignment) -> Result<CommitId, Stop> {
        let git = self.site.git;
        let branch = &self.site.config.worktrees.source_branch;
        let head = git.checked_out_at(&assignment.place)?;
        let fork = match &head {
            Some(head) => git.fork_point(branch, head)?,
            None => None,
        };
        fork.ok_or_else(|| {
            Stop::human(
                "R-1",
                format!("implement-bead: the worktree has no commit in common with {branch}"),
            )
        })
    }

    /// Notes something on the step while a loop goes on.
    fn note_step(&mut self, held: &Held, edits: Vec<Edit>) -> Result<(), Stop> {
        let write = Write::Update {
            id: held.id.clone(),
            edits,
            guard: Guard::fenced(held.fence),
        };
        self.store.write(&[write], self.site.stamp())?;
        Ok(())
    }

    /// Notes that independent reviewers were unavailable twice or more.
    fn note_degraded(&mut self, eyes: &[Eyes], settlement: &mut Settlement) -> Result<(), Stop> {
        let n_foreign = eyes.iter().filter(|it| {
            let first = it.asked.first();
            first.is_some_and(|(reviewer, _)| reviewer.is_foreign())
        });
        let n_degraded = eyes.iter().filter(|eyes| eyes.is_degraded()).count();
        let Some(text) = too_degraded(n_degraded, n_foreign.count()) else {
            return Ok(());
        };
        self.decide(
            "R-12",
            format!("independent reviewers were not available: {text}"),
        );
        if self.site.config.implement.is_foreign_required {
            let note = format!(
                "implement-bead: an independent review is required, and no reviewer was available: {text}"
            );
            settlement.outcome = match &settlement.outcome {
                Outcome::Complete(_) => Outcome::Human(note),
                Outcome::Human(before) => Outcome::Human(format!("{before}\n{note}")),
            };
        }
        settlement.source.push(label(&text)?);
        Ok(())
    }
}

const SIMPLIFIER: &str = "simplifier";

impl Dispatcher<'_> {
    /// Lets somebody simplify, and runs the tests again; whether one failed, so that it was taken back.
    pub(super) fn simplify(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        base: &CommitId,
        tests: &str,
        cycle: u32,
    ) -> Result<bool, Stop> {
        let before = self.snapshot(assignment)?;
        let report = assignment.report(&assignment.agent, Some(cycle))?;
        let report = self.site.beads.join(report);
        let source = &assignment.source.issue;
        let worktree = assignment.place.as_str();
        let errand = Errand {
            name: SIMPLIFIER,
            adapter: None,
            model: None,
            prompt: simplify_prompt(source, worktree, &base.0),
            role: AgentRole::Worker,
            attempt: cycle,
            schema: None,
            report: None,
            session: later_session_id(
                source.id().as_str(),
                assignment.stage.as_str(),
                &format!("{}:simplify:{cycle}", held.fence.0),
            ),
            directory: report.with_file_name(format!("{SIMPLIFIER}-iter{cycle}.run")),
            limit: self.site.config.implement.worker_timeout,
            mark: self.site.mark.below(),
        };
        match self.outcome(assignment, held, &errand) {
            Ok(_) => {}
            // It is advice: without anybody to give it, the work stays as it is.
            Err(Stop::Error(error)) if matches!(*error, ImplementError::NotReady { .. }) => {
                return Ok(false);
            }
            Err(stop) => return Err(stop),
        }
        let after = self.snapshot(assignment)?;
        if after == before {
            self.decide("R-8", "there was nothing to simplify");
            return Ok(false);
        }
        let is_whole = after.1.is_none() && self.tests_hold(assignment, tests, &errand, held)?;
        if is_whole {
            self.decide("R-8", "it was simplified, and its tests pass");
            return Ok(false);
        }
        self.undo(assignment, before.0.as_ref(), cycle)?;
        Ok(true)
    }

    fn tests_hold(
        &mut self,
        assignment: &Assignment,
        tests: &str,
        errand: &Errand<'_>,
        held: &mut Held,
    ) -> Result<bool, Stop> {
        let examination = Examination {
            commands: &[tests],
            worktree: &assignment.place,
            ground: Ground::AsItIs,
            logs: &errand.directory.join("tests"),
            base: None,
        };
        let records = self.examined(held, examination)?;
        Ok(is_green(&records))
    }
}
