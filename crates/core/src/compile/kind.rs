//! Work or merge: what kind of bead a sprint becomes (B-30, B-31).

use std::collections::HashSet;

use super::graph::PlanGraph;
use super::settings::MergeDetection;
use crate::bead::{BranchName, IssueType};
use crate::graph::Node;
use crate::plan::{Sprint, SprintKind};

impl<'p> PlanGraph<'p> {
    /// The kind of a sprint's bead; nothing when a dependency without a readable branch decides it.
    pub fn issue_type(&self, node: Node, detection: MergeDetection) -> Option<IssueType> {
        let sprint = self.sprint(node);
        if let Some(kind) = &sprint.body().kind {
            return Some(match kind.value {
                SprintKind::Merge => IssueType::Merge,
                SprintKind::Work | SprintKind::Gate => IssueType::Work,
            });
        }
        let speaks_of_merging = speaks_of_merging(&sprint.title.value);
        let n_dependencies = self.graph.dependencies(node).len();
        let is_merge = match detection {
            MergeDetection::Title => speaks_of_merging,
            MergeDetection::Structure => n_dependencies >= 2,
            MergeDetection::Both if !speaks_of_merging || n_dependencies < 2 => false,
            MergeDetection::Both => self.joins_branches(node)?,
        };
        Some(if is_merge {
            IssueType::Merge
        } else {
            IssueType::Work
        })
    }

    /// The branches of a sprint's dependencies, in their order and without repetition; the sprints whose
    /// branch cannot be read come second (B-31).
    pub(super) fn branches_to_merge(&self, node: Node) -> (Vec<&'p BranchName>, Vec<&'p Sprint>) {
        let (mut branches, mut unreadable) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for edge in self.graph.dependencies(node) {
            let dependency = self.sprint(edge.to);
            match &dependency.body().branch {
                Some(branch) if seen.insert(&branch.value) => branches.push(&branch.value),
                Some(_) => {}
                None => unreadable.push(dependency),
            }
        }
        (branches, unreadable)
    }

    fn joins_branches(&self, node: Node) -> Option<bool> {
        let (branches, unreadable) = self.branches_to_merge(node);
        if branches.len() >= 2 {
            Some(true)
        } else {
            unreadable.is_empty().then_some(false)
        }
    }
}

/// Whether a title has a word that starts with `merge` or `integration`, in any case. The boundary on
/// the left keeps "Emergency" out.
fn speaks_of_merging(title: &str) -> bool {
    let mut before = None;
    title.char_indices().any(|(at, character)| {
        let is_word_start = !before.is_some_and(|c: char| c.is_alphanumeric() || c == '_');
        before = Some(character);
        is_word_start
            && ["merge", "integration"]
                .iter()
                .any(|word| starts_with_ignoring_case(&title[at..], word))
    })
}

fn starts_with_ignoring_case(text: &str, word: &str) -> bool {
    text.get(..word.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_30_titles_that_speak_of_merging() {
        for title in [
            "Merge it",
            "Integration & Documentation",
            "the INTEGRATION tests",
            "pre-merge",
            "Merged",
        ] {
            assert!(speaks_of_merging(title), "{title}");
        }
        for title in [
            "Emergency",
            "Disintegration",
            "Work",
            "émerge",
            "_merge",
            "integral",
        ] {
            assert!(!speaks_of_merging(title), "{title}");
        }
    }
}
