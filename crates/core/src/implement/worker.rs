//! Who works on a stage (I-19), and the label that says that somebody did (I-22).

use super::choice::Mode;
use super::stage::Stage;

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
        Some(n) => format!("worker-audit-{}-iter{n}", agent.as_str()),
        None => format!("worker-audit-{}", agent.as_str()),
    }
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
