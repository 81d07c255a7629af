//! Who works on a stage (I-19), the label of its run (I-22), and where its report lies (I-16): beside the store of the main repository,
//! so that it outlives every worktree.

use thiserror::Error;

use super::choice::Mode;
use super::stage::Stage;
use crate::bead::BeadId;
use crate::text::excerpt;
use crate::vocabulary::label;

/// A kind of worker, which also decides what its report must hold (W-6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agent {
    /// Writes tests that fail.
    TddRedTeam,
    /// Makes them pass.
    TddGreenTeam,
    /// Finds the cause of a bug.
    BugDiagnoser,
    /// Writes documents.
    DocsEditsTeam,
    /// Answers a comment of a review.
    PrCommentFixerTeam,
    /// Does whatever the step says; also every other name that a configuration gives.
    Other(String),
}

impl Agent {
    /// The worker of steps that no other one is for.
    pub const GENERAL: &str = "general-purpose";

    /// Its name in files, paths and labels.
    pub fn as_str(&self) -> &str {
        match self {
            Self::TddRedTeam => "tdd-red-team",
            Self::TddGreenTeam => "tdd-green-team",
            Self::BugDiagnoser => "bug-diagnoser",
            Self::DocsEditsTeam => "docs-edits-team",
            Self::PrCommentFixerTeam => "pr-comment-fixer-team",
            Self::Other(name) => name,
        }
    }

    /// The worker of a name.
    pub fn named(name: &str) -> Self {
        let known = [
            Self::TddRedTeam,
            Self::TddGreenTeam,
            Self::BugDiagnoser,
            Self::DocsEditsTeam,
            Self::PrCommentFixerTeam,
        ];
        let found = known.into_iter().find(|agent| agent.as_str() == name);
        found.unwrap_or_else(|| Self::Other(name.to_owned()))
    }
}

/// The workers whose work leaves a label on the step, unless a configuration says otherwise (I-22).
pub const AUDITED: [&str; 3] = ["tdd-red-team", "tdd-green-team", "bug-diagnoser"];

/// The worker of a stage, when no configuration names another one.
pub fn worker_for(stage: Stage, mode: Mode) -> Agent {
    match (stage, mode) {
        (Stage::RedTests, Mode::ImplementFeature | Mode::FixBug) => Agent::TddRedTeam,
        (Stage::GreenLoop, Mode::ImplementFeature | Mode::FixBug) => Agent::TddGreenTeam,
        (Stage::Diagnose, Mode::FixBug) => Agent::BugDiagnoser,
        (Stage::ApplyEdits, Mode::DocsOnly) => Agent::DocsEditsTeam,
        _ => Agent::Other(Agent::GENERAL.to_owned()),
    }
}

/// The label of a worker's run, with its iteration if it has one: `worker-audit-<agent>[-iter<N>]`.
pub fn audit_label(agent: &Agent, iteration: Option<u32>) -> String {
    match iteration {
        Some(n) => format!("{}{}-iter{n}", label::WORKER_AUDIT_PREFIX, agent.as_str()),
        None => format!("{}{}", label::WORKER_AUDIT_PREFIX, agent.as_str()),
    }
}

/// The directory of reports below `.beads`.
pub const AUDIT_DIRECTORY: &str = "worker-audit";

/// A name that cannot be a part of a path.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}` cannot be a part of a report's path", excerpt(.0))]
pub struct UnsafePart(String);

/// The path of a report below `.beads`: `worker-audit/<step>/<agent>[-iter<N>].yaml`.
pub fn report_path(
    step: &BeadId,
    agent: &Agent,
    iteration: Option<u32>,
) -> Result<String, UnsafePart> {
    let (folder, agent) = (report_folder(step)?, safe_part(agent.as_str())?);
    Ok(match iteration {
        Some(n) => format!("{folder}/{agent}-iter{n}.yaml"),
        None => format!("{folder}/{agent}.yaml"),
    })
}

/// The folder of a step's reports below `.beads`.
pub fn report_folder(step: &BeadId) -> Result<String, UnsafePart> {
    Ok(format!("{AUDIT_DIRECTORY}/{}", safe_part(step.as_str())?))
}

/// Whose report a file is, by its name; `None` for other files.
pub fn reporter(file: &str) -> Option<Agent> {
    let name = file.strip_suffix(".yaml").filter(|name| !name.is_empty())?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let agent = name.rsplit_once("-iter").filter(|(_, n)| is_number(n));
    Some(Agent::named(agent.map_or(name, |(agent, _)| agent)))
}

/// Checks that an id or a name can be a part of a report's path.
pub fn safe_part(part: &str) -> Result<&str, UnsafePart> {
    let is_path = part.is_empty() || part.contains(['/', '\\', '\0']) || part.contains("..");
    if is_path || part.starts_with('.') {
        return Err(UnsafePart(part.to_owned()));
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i_19_each_stage_has_its_worker() {
        for (stage, mode, worker) in [
            (Stage::RedTests, Mode::ImplementFeature, "tdd-red-team"),
            (Stage::RedTests, Mode::FixBug, "tdd-red-team"),
            (Stage::GreenLoop, Mode::ImplementFeature, "tdd-green-team"),
            (Stage::GreenLoop, Mode::FixBug, "tdd-green-team"),
            (Stage::Diagnose, Mode::FixBug, "bug-diagnoser"),
            (Stage::ApplyEdits, Mode::DocsOnly, "docs-edits-team"),
            (Stage::Review, Mode::DocsOnly, "general-purpose"),
            (Stage::CreatePr, Mode::FixBug, "general-purpose"),
            (Stage::Diagnose, Mode::DocsOnly, "general-purpose"),
        ] {
            assert_eq!(
                worker_for(stage, mode).as_str(),
                worker,
                "{stage:?} {mode:?}"
            );
        }
    }

    #[test]
    fn i_22_the_label_names_worker_and_iteration() {
        assert_eq!(
            audit_label(&Agent::TddGreenTeam, Some(2)),
            "worker-audit-tdd-green-team-iter2"
        );
        assert_eq!(
            audit_label(&Agent::named("bug-diagnoser"), None),
            "worker-audit-bug-diagnoser"
        );
        assert_eq!(Agent::named("bug-diagnoser"), Agent::BugDiagnoser);
    }
}

#[cfg(test)]
mod place_tests {
    use super::*;

    #[test]
    fn i_16_a_report_lies_below_its_step() {
        let path = |step: &str, agent: &str, n| {
            report_path(&BeadId::parse(step).unwrap(), &Agent::named(agent), n)
        };
        assert_eq!(
            path("bd-1", "tdd-red-team", None).unwrap(),
            "worker-audit/bd-1/tdd-red-team.yaml"
        );
        assert_eq!(
            path("7bk.19", "tdd-green-team", Some(2)).unwrap(),
            "worker-audit/7bk.19/tdd-green-team-iter2.yaml"
        );
        let whose = |file: &str| reporter(file).map(|agent| agent.as_str().to_owned());
        assert_eq!(
            whose("tdd-green-team-iter2.yaml").as_deref(),
            Some("tdd-green-team")
        );
        assert_eq!(whose("my-iter.yaml").as_deref(), Some("my-iter"));
        assert_eq!(whose("notes.txt"), None);
        for (step, agent) in [
            ("a/b", "x"),
            ("..", "x"),
            ("a..b", "x"),
            ("a", "../x"),
            ("a", ".x"),
            ("a\\b", "x"),
        ] {
            assert!(path(step, agent, None).is_err(), "{step} {agent}");
        }
    }
}
