//! The loops of §9.12, driven: fresh workers and fresh reviewers, in bounded cycles.

mod implementing;
mod reviewing;

use beads_ralph_core::agent::Part;
use beads_ralph_core::check::is_green;
use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::ralf::{
    Finding, Reviewer, ReviewerStatus, reviewers, too_degraded,
};
use beads_ralph_core::implement::{Outcome, simplify_prompt};
use beads_ralph_core::issue::Edit;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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

fn finding_to_json(finding: &Finding) -> Value {
    json!({
        "severity": finding.severity.as_str(),
        "title": finding.title,
        "detail": finding.detail,
        "file": finding.file,
    })
}

fn eyes_to_json(eyes: &[Eyes]) -> Value {
    let cycles = eyes.iter().map(|eyes| {
        let mut asked = eyes.asked.clone();
        let others = reviewers(eyes.cycle).iter().skip(asked.len());
        asked.extend(others.map(|reviewer| (*reviewer, ReviewerStatus::NotRun)));
        let asked = asked.iter().map(
            |(reviewer, status)| json!({"reviewer": reviewer.as_str(), "status": status.as_str()}),
        );
        json!({"cycle": eyes.cycle, "asked": asked.collect::<Vec<Value>>(), "degraded": eyes.is_degraded()})
    });
    Value::Array(cycles.collect())
}

impl Dispatcher<'_> {
    /// The commit that the work of a source started from.
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
                format!("implement-bead: the worktree has nothing in common with {branch}"),
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

    /// What is said when strangers could not look, twice or more.
    fn note_degraded(&mut self, eyes: &[Eyes], settlement: &mut Settlement) -> Result<(), Stop> {
        let n_foreign = eyes.iter().filter(|it| {
            let first = it.asked.first();
            first.is_some_and(|(reviewer, _)| reviewer.is_foreign())
        });
        let n_degraded = eyes.iter().filter(|eyes| eyes.is_degraded()).count();
        let Some(text) = too_degraded(n_degraded, n_foreign.count()) else {
            return Ok(());
        };
        self.decide("R-12", format!("strangers could not look: {text}"));
        if self.site.config.implement.is_foreign_required {
            let note =
                format!("implement-bead: foreign eyes are required, and could not look: {text}");
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
            part: Part::Worker,
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
            self.decide("R-8", "it was simplified, and its tests hold");
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
