//! The stages of the formulas of §9.14: how the stage of a step is found (I-17), and the diagnosis that some stages need (I-24, I-25).

use thiserror::Error;

use super::Mode;
use super::report::Report;
use super::worker::Agent;
use crate::bead::BeadId;
use crate::issue::{Issue, Record};
use crate::vocabulary::{IssueType, label, metadata};

crate::text::word_enum! {
    /// A stage of the work on a bead.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Stage {
        /// The worktree is made.
        Preflight = "preflight",
        /// The cause of a bug is found.
        Diagnose = "diagnose",
        /// Tests are written that fail.
        RedTests = "red-tests",
        /// The tests are made to pass.
        GreenLoop = "green-loop",
        /// What was written is tidied up.
        QualitySweep = "quality-sweep",
        /// Documents are written.
        ApplyEdits = "apply-edits",
        /// Documents are read.
        Review = "review",
        /// The acceptance criteria are checked.
        VerifyAc = "verify-ac",
        /// The pull request is made.
        CreatePr = "create-pr",
        /// The review of the pull request is answered.
        ReviewCycle = "review-cycle",
        /// The work is merged or handed over.
        MergeOrHandoff = "merge-or-handoff",
    }
}

impl Stage {
    /// Whether the stage works in the repository's root, before there is a worktree or after it is gone (I-12).
    pub fn is_at_root(self) -> bool {
        matches!(self, Self::Preflight | Self::MergeOrHandoff)
    }
}

/// What a step says its stage is, known or not: its metadata, a label `stage-<x>`, a title `[<x>] …`, or the words of its title
/// before the first colon.
pub fn stage_of(step: &Issue) -> Option<String> {
    let metadata = || step.metadata()?.get(metadata::STAGE)?.as_str();
    let label = || {
        step.labels()
            .find_map(|label| label.strip_prefix(label::STAGE_PREFIX))
    };
    if let Some(stage) = metadata().or_else(label) {
        return Some(stage.to_owned());
    }
    let title = step.title();
    let bracketed = title.strip_prefix('[');
    if let Some((stage, _)) = bracketed.and_then(|rest| rest.split_once(']')) {
        return Some(stage.trim().to_owned());
    }
    let (words, _) = title.split_once(':')?;
    Some(words.trim().to_lowercase())
}

/// What a diagnosis says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// The cause.
    pub root_cause_note: String,
    /// How to see the bug, for those who write tests.
    pub reproduction_steps: Option<String>,
}

/// Why a diagnosis is missing. A person is asked; nothing continues with an empty note.
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
        record.issue.issue_type() == IssueType::Task
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
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn i_17_a_stage_is_told_by_metadata_label_or_title() {
        let stage = |more: Value| {
            let mut document = json!({"id": "x", "title": "Do it"});
            document
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            stage_of(&Issue::without_comments(document).unwrap())
        };
        for (more, expected) in [
            (
                json!({"metadata": {"stage": "red-tests"}, "labels": ["stage-x"]}),
                Some("red-tests"),
            ),
            (
                json!({"labels": ["a", "stage-diagnose"], "title": "[preflight] x"}),
                Some("diagnose"),
            ),
            (json!({"title": "[preflight] Prepare"}), Some("preflight")),
            (json!({"title": "Red-tests: write"}), Some("red-tests")),
            (json!({"title": "Verify-AC: check"}), Some("verify-ac")),
            (json!({}), None),
        ] {
            assert_eq!(stage(more.clone()).as_deref(), expected, "{more}");
        }
        assert_eq!(Stage::parse("verify-ac"), Some(Stage::VerifyAc));
        assert_eq!(Stage::parse("verify"), None);
    }

    #[test]
    fn i_12_the_first_and_the_last_stage_work_at_the_root() {
        let at_root: Vec<&str> = Stage::ALL
            .iter()
            .filter(|stage| stage.is_at_root())
            .map(|stage| stage.as_str())
            .collect();
        assert_eq!(at_root, ["preflight", "merge-or-handoff"]);
    }
}

#[cfg(test)]
mod upstream_tests {
    use serde_json::json;

    use super::*;
    use crate::implement::report::read;
    use crate::issue::Fence;

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
