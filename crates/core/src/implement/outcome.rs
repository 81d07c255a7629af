//! What becomes of a step and its source after a report (§9.10). The gate is for the record and decides nothing.

use super::ralf::Score;
use super::report::{Gate, Report, Status};
use super::stage::Stage;
use crate::text::excerpt;

/// What becomes of the step and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The step is closed, with this reason; the source stays as it is.
    Complete(String),
    /// The step is closed, and both wait for a person, with this note.
    Human(String),
}

/// The outcome of a stage that one worker did.
pub fn outcome_of(stage: Stage, report: &Report, gate: Gate) -> Outcome {
    match report.status {
        Status::Complete => Outcome::Complete(summary(stage, gate, report.commits.len())),
        Status::NeedsHuman | Status::Failed => Outcome::Human(note(stage, report.status, report)),
    }
}

/// The outcome of a loop (I-28): reservations without an open major are none.
pub fn outcome_of_loop(
    stage: Stage,
    score: Score,
    open_majors: u32,
    report: &Report,
    gate: Gate,
) -> Outcome {
    match score {
        Score::Pass => Outcome::Complete(summary(stage, gate, report.commits.len())),
        Score::PassWithReservations if open_majors == 0 => {
            Outcome::Complete(summary(stage, gate, report.commits.len()))
        }
        Score::PassWithReservations => Outcome::Human(format!(
            "implement-bead: {} passed with {open_majors} open major finding(s).\n{}",
            stage.as_str(),
            note(stage, Status::NeedsHuman, report)
        )),
        Score::Fail => Outcome::Human(note(stage, Status::Failed, report)),
    }
}

/// One line: the stage, the gate and the number of commits.
pub fn summary(stage: Stage, gate: Gate, n_commits: usize) -> String {
    let should = match (stage, gate) {
        (Stage::RedTests, Gate::Fail) => ", as it should",
        _ => "",
    };
    format!(
        "{} complete; gate {}{should}; {n_commits} commit(s)",
        stage.as_str(),
        gate.as_str()
    )
}

/// Everything that a worker said to a person.
fn note(stage: Stage, status: Status, report: &Report) -> String {
    let mut lines = vec![format!(
        "implement-bead: {} ended with {}.",
        stage.as_str(),
        status.as_str()
    )];
    for escalation in &report.escalations {
        lines.push(match escalation.detail.trim() {
            "" => format!("- {}", excerpt(&escalation.reason)),
            // A line of a worker's own must not be taken for one of ours or of a person.
            detail => format!(
                "- {}: {}",
                excerpt(&escalation.reason),
                detail.replace('\n', "\n  ")
            ),
        });
    }
    lines.join("\n")
}
