//! The stages of the formulas of §9.14, and how the stage of a step is told (I-17).

use crate::issue::Issue;
use crate::vocabulary::metadata;

macro_rules! stages {
    ($($(#[$doc:meta])* $variant:ident = $word:literal),* $(,)?) => {
        /// A stage of the work on a bead.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Stage { $($(#[$doc])* $variant),* }

        impl Stage {
            /// Every stage, in the order of the work.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its word in labels and files.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }
    };
}

stages! {
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

impl Stage {
    /// Reads a stage's word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|stage| stage.as_str() == text)
    }

    /// Whether the stage works in the repository's root, before there is a worktree or after it is gone (I-12).
    pub fn is_at_root(self) -> bool {
        matches!(self, Self::Preflight | Self::MergeOrHandoff)
    }
}

/// What a step says its stage is, known or not: its metadata, a label `stage-<x>`, a title `[<x>] …`, or the words of its title
/// before the first colon.
pub fn stage_of(step: &Issue) -> Option<String> {
    let metadata = step
        .metadata()
        .and_then(|metadata| metadata.get(metadata::STAGE)?.as_str());
    let label = || step.labels().find_map(|label| label.strip_prefix("stage-"));
    if let Some(stage) = metadata.or_else(label) {
        return Some(stage.to_owned());
    }
    let title = step.title();
    let bracketed = title
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    if let Some((stage, _)) = bracketed {
        return Some(stage.trim().to_owned());
    }
    let (words, _) = title.split_once(':')?;
    Some(words.trim().to_lowercase())
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
