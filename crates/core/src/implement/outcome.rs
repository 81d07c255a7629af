//! What becomes of a step and its source after a report (§9.10), and where git or the evidence contradict the report. The gate is for
//! the record and decides nothing.

use super::ralf::Score;
use super::report::{Escalation, EvidenceGate, Report, ReportStatus};
use super::stage::Stage;
use super::worker::Agent;
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
pub fn outcome_of(stage: Stage, report: &Report, gate: EvidenceGate) -> Outcome {
    match report.status {
        ReportStatus::Complete => Outcome::Complete(summary(stage, gate, report.commits.len())),
        ReportStatus::NeedsHuman | ReportStatus::Failed => {
            Outcome::Human(note(stage, report.status, report))
        }
    }
}

/// The outcome of a loop (I-28): reservations without an open major are none.
pub fn outcome_of_loop(
    stage: Stage,
    score: Score,
    open_majors: u32,
    report: &Report,
    gate: EvidenceGate,
) -> Outcome {
    match score {
        Score::Pass => Outcome::Complete(summary(stage, gate, report.commits.len())),
        Score::PassWithReservations if open_majors == 0 => {
            Outcome::Complete(summary(stage, gate, report.commits.len()))
        }
        Score::PassWithReservations => Outcome::Human(format!(
            "implement-bead: {} passed with {open_majors} open major finding(s).\n{}",
            stage.as_str(),
            note(stage, ReportStatus::NeedsHuman, report)
        )),
        Score::Fail => Outcome::Human(note(stage, ReportStatus::Failed, report)),
    }
}

/// One line: the stage, the gate and the number of commits.
pub fn summary(stage: Stage, gate: EvidenceGate, n_commits: usize) -> String {
    let should = match (stage, gate) {
        (Stage::RedTests, EvidenceGate::Fail) => ", as it should",
        _ => "",
    };
    format!(
        "{} complete; gate {}{should}; {n_commits} commit(s)",
        stage.as_str(),
        gate.as_str()
    )
}

/// Everything that a worker said to a person.
fn note(stage: Stage, status: ReportStatus, report: &Report) -> String {
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

/// What was seen after the worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The claimed commits that are not in the history of the worktree's branch.
    pub missing_commits: Vec<String>,
    /// The files that changed since the worker began.
    pub changed_files: Vec<String>,
    /// Whether there are commits that were not there when the worker began.
    pub has_new_commits: bool,
    /// Whether the branch is the same as what it started from.
    pub is_branch_empty: bool,
    /// What is not committed, if there is anything.
    pub dirt: Option<String>,
}

/// What is wrong with a claim: the reason in a word, and in full.
type Contradiction = (&'static str, String);

/// Everything that is not as the report says.
pub fn contradictions(report: &Report, agent: &Agent, facts: &Facts) -> Vec<Escalation> {
    let mut found = vec![missing_commits(facts)];
    // The rest matters only where the worker says that the work is complete.
    if report.status == ReportStatus::Complete {
        found.extend([
            test_counts(report, agent),
            nothing_done(report, agent, facts),
            unchanged_files(report, facts),
            changed_by_diagnosis(agent, facts),
            uncommitted(facts),
        ]);
    }
    let found = found.into_iter().flatten();
    found
        .map(|(reason, detail)| Escalation {
            reason: reason.to_owned(),
            detail,
        })
        .collect()
}

fn missing_commits(facts: &Facts) -> Option<Contradiction> {
    let missing = facts.missing_commits.join(", ");
    let detail = format!("the report names commits that are not in the branch: {missing}");
    (!missing.is_empty()).then_some(("commits-not-found", detail))
}

fn changed_by_diagnosis(agent: &Agent, facts: &Facts) -> Option<Contradiction> {
    let moved = facts.has_new_commits || !facts.changed_files.is_empty();
    let detail = "a diagnosis changes nothing, and there are new commits".to_owned();
    (*agent == Agent::BugDiagnoser && moved).then_some(("diagnosis-changed-files", detail))
}

fn uncommitted(facts: &Facts) -> Option<Contradiction> {
    let dirt = facts.dirt.as_ref()?;
    let detail = format!("not everything is committed: {dirt}");
    Some(("uncommitted-work", detail))
}

/// Whether there is anything that could be what was asked for (W-6).
fn nothing_done(report: &Report, agent: &Agent, facts: &Facts) -> Option<Contradiction> {
    let tests = report.evidence.tests.as_ref();
    let (reason, detail) = match agent {
        Agent::TddRedTeam if tests.is_none_or(|tests| tests.is_skipped) => (
            "no-failing-tests",
            "tests that are written first must fail, and none were run",
        ),
        Agent::TddRedTeam if facts.is_branch_empty => (
            "nothing-was-committed",
            "there are no new tests: nothing was committed",
        ),
        Agent::TddGreenTeam if facts.is_branch_empty => (
            "nothing-was-committed",
            "the branch is the same as what it started from",
        ),
        _ => return None,
    };
    Some((reason, detail.to_owned()))
}

/// Whether the numbers of tests and the exit code of their command can both be true.
fn test_counts(report: &Report, agent: &Agent) -> Option<Contradiction> {
    const CONTRADICT: &str = "test-counts-contradict";
    let tests = report.evidence.tests.as_ref()?;
    match (tests.exit_code, tests.counts.failing) {
        _ if tests.is_skipped => None,
        (Some(0), Some(failing)) if failing > 0 => Some((
            CONTRADICT,
            format!("the test command succeeded, and {failing} tests are said to fail"),
        )),
        (Some(code), Some(0)) if code != 0 => Some((
            CONTRADICT,
            format!("the test command ended with {code}, and no test is said to fail"),
        )),
        (Some(0), _) if *agent == Agent::TddRedTeam => Some((
            "red-tests-passed-unexpectedly",
            "tests that are written first must fail, and the test command succeeded".to_owned(),
        )),
        _ => None,
    }
}

fn unchanged_files(report: &Report, facts: &Facts) -> Option<Contradiction> {
    let files = &report.docs_edits.as_ref()?.files_changed;
    let is_unknown = |file: &&String| !facts.changed_files.contains(file);
    let unknown: Vec<&str> = (files.iter().filter(is_unknown))
        .map(String::as_str)
        .collect();
    let detail = format!(
        "the report names files that are unchanged in git: {}",
        unknown.join(", ")
    );
    (!unknown.is_empty()).then_some(("files-not-changed", detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::implement::report::read;

    fn reasons(agent: &Agent, text: &str, facts: &Facts) -> Vec<String> {
        let report = read(text, agent).unwrap().report;
        let found = contradictions(&report, agent, facts).into_iter();
        found.map(|escalation| escalation.reason).collect()
    }

    #[test]
    fn i_20_what_git_and_the_evidence_contradict_is_found() {
        let nothing = Facts::default();
        let green = Agent::TddGreenTeam;
        let tests = |exit: &str, failing: &str| {
            format!(
                "status: complete\nevidence: {{tests: {{command: t, exit_code: {exit}, skipped: false, passing: 1, failing: {failing}}}}}\n"
            )
        };
        assert!(reasons(&green, &tests("0", "0"), &nothing).is_empty());
        assert_eq!(
            reasons(&green, &tests("0", "2"), &nothing),
            ["test-counts-contradict"]
        );
        assert_eq!(
            reasons(&green, &tests("1", "0"), &nothing),
            ["test-counts-contradict"]
        );
        let red = Agent::TddRedTeam;
        let empty = Facts {
            is_branch_empty: true,
            ..Facts::default()
        };
        assert!(
            reasons(&red, &tests("1", "3"), &nothing).is_empty(),
            "they may be there from an earlier try"
        );
        assert_eq!(
            reasons(&red, &tests("1", "3"), &empty),
            ["nothing-was-committed"]
        );
        assert_eq!(
            reasons(&red, "status: complete\n", &nothing),
            ["no-failing-tests"]
        );
        assert_eq!(
            reasons(&green, &tests("0", "0"), &empty),
            ["nothing-was-committed"]
        );
        assert_eq!(
            reasons(&red, &tests("0", "0"), &nothing),
            ["red-tests-passed-unexpectedly"]
        );
        let facts = Facts {
            missing_commits: vec!["ab".to_owned()],
            dirt: Some("a.rs".to_owned()),
            ..Facts::default()
        };
        assert_eq!(
            reasons(&green, "status: complete\n", &facts),
            ["commits-not-found", "uncommitted-work"]
        );
        assert_eq!(
            reasons(&green, "status: failed\n", &facts),
            ["commits-not-found"]
        );
        let docs = Agent::DocsEditsTeam;
        let edits = "status: complete\nfiles_changed: [a.md, b.md]\n";
        let facts = Facts {
            changed_files: vec!["a.md".to_owned()],
            has_new_commits: true,
            ..Facts::default()
        };
        assert_eq!(reasons(&docs, edits, &facts), ["files-not-changed"]);
        let note = "status: complete\nroot_cause_note: it\n";
        assert_eq!(
            reasons(&Agent::BugDiagnoser, note, &facts),
            ["diagnosis-changed-files"]
        );
    }
}
