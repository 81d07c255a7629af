//! The loops of §9.12, driven: fresh workers and fresh reviewers, in bounded cycles.

mod implementing;
mod reviewer;
mod reviewing;
mod simplifying;

use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::Outcome;
use beads_ralph_core::implement::ralf::{
    Finding, Reviewer, ReviewerStatus, reviewers, too_degraded,
};
use beads_ralph_core::issue::Edit;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Dispatcher;
use super::assign::Assignment;
use super::ending::Stop;
use super::hold::Held;
use super::settle::{Settlement, label};
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
