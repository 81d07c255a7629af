//! What a stage needs from the stage before (I-24, I-25): the cause of a bug, without which neither its tests nor its mend begin.

use thiserror::Error;

use super::report::Report;
use super::stage::{Stage, stage_of};
use super::{Mode, worker::Agent};
use crate::bead::BeadId;
use crate::issue::Record;

/// What a diagnosis says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// The cause.
    pub root_cause_note: String,
    /// How to see the bug, for those who write tests.
    pub reproduction_steps: Option<String>,
}

/// Why there is no diagnosis. A person is asked; nothing goes on with an empty note.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoDiagnosis {
    /// No step of the molecule diagnoses.
    #[error("implement-bead: the molecule has no diagnose step")]
    NoStep,
    /// Several do.
    #[error("implement-bead: the molecule has several diagnose steps ({0})")]
    Several(String),
    /// The note is not there.
    #[error("implement-bead: the diagnose report has no root_cause_note")]
    Blank,
}

/// Whether a stage stands on a diagnosis.
pub fn needs_diagnosis(stage: Stage, mode: Mode) -> bool {
    mode == Mode::FixBug && matches!(stage, Stage::RedTests | Stage::GreenLoop)
}

/// The step of a molecule that diagnoses, closed or not.
pub fn diagnose_step(steps: &[Record]) -> Result<&BeadId, NoDiagnosis> {
    let is_diagnose = |record: &&Record| {
        record.issue.issue_type() == "task"
            && stage_of(&record.issue).as_deref() == Some(Stage::Diagnose.as_str())
    };
    let found: Vec<&BeadId> = (steps.iter().filter(is_diagnose))
        .map(|record| record.issue.id())
        .collect();
    match found.as_slice() {
        [] => Err(NoDiagnosis::NoStep),
        [one] => Ok(one),
        several => {
            let ids: Vec<&str> = several.iter().map(|id| id.as_str()).collect();
            Err(NoDiagnosis::Several(ids.join(", ")))
        }
    }
}

/// The worker whose report has the diagnosis.
pub fn diagnoser() -> Agent {
    Agent::BugDiagnoser
}

/// The diagnosis in a report.
pub fn diagnosis(report: &Report, stage: Stage) -> Result<Diagnosis, NoDiagnosis> {
    let note = report.root_cause_note.as_deref().unwrap_or_default();
    if note.trim().is_empty() {
        return Err(NoDiagnosis::Blank);
    }
    let steps = report.reproduction_steps.clone();
    Ok(Diagnosis {
        root_cause_note: note.to_owned(),
        reproduction_steps: steps.filter(|_| stage == Stage::RedTests),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::implement::report::read;
    use crate::issue::{Fence, Issue};

    fn step(id: &str, title: &str, kind: &str) -> Record {
        Record {
            issue: Issue::without_comments(json!({"id": id, "title": title, "issue_type": kind}))
                .unwrap(),
            version: 1,
            fence: Fence::default(),
            claim: None,
            is_blocked: false,
            n_comments: 0,
        }
    }

    #[test]
    fn i_24_the_diagnose_step_is_found_by_its_stage() {
        let steps = [
            step("a", "[preflight] x", "task"),
            step("b", "Diagnose: y", "task"),
            step("c", "Diagnose: z", "bug"),
        ];
        assert_eq!(diagnose_step(&steps).unwrap().as_str(), "b");
        assert_eq!(diagnose_step(&steps[..1]), Err(NoDiagnosis::NoStep));
        let twice = [
            step("a", "[diagnose] x", "task"),
            step("b", "Diagnose: y", "task"),
        ];
        assert_eq!(
            diagnose_step(&twice),
            Err(NoDiagnosis::Several("a, b".to_owned()))
        );
        assert!(
            needs_diagnosis(Stage::GreenLoop, Mode::FixBug)
                && !needs_diagnosis(Stage::GreenLoop, Mode::ImplementFeature)
        );
    }

    #[test]
    fn i_25_nothing_goes_on_with_an_empty_note() {
        let text = "status: complete\nroot_cause_note: the parser\nreproduction_steps: run it\nevidence: {}\nescalations: []\ndiscovered_work: []\ncommits: []\n";
        let report = read(text, &diagnoser()).unwrap().report;
        assert_eq!(
            diagnosis(&report, Stage::RedTests)
                .unwrap()
                .reproduction_steps
                .as_deref(),
            Some("run it")
        );
        assert_eq!(
            diagnosis(&report, Stage::GreenLoop)
                .unwrap()
                .reproduction_steps,
            None
        );
        let blank = read("status: failed\n", &diagnoser()).unwrap().report;
        assert_eq!(diagnosis(&blank, Stage::RedTests), Err(NoDiagnosis::Blank));
    }
}
