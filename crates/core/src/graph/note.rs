//! Warnings about numbering that works but is probably not intended (contracts §2.4).

use super::outline::Cover;
use super::outline::Outline;
use super::{Node, SprintGraph};
use crate::diag::WarningCode;

/// A warning about the numbering. Phases of one level are judged like sprints of one group, because
/// the same reading of letters applies to both (N-3); each phase is then named by its first sprint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NumberingWarning {
    /// An unsuffixed sprint beside suffixed ones of its number: `1.2`, `1.2a`.
    MixedGroup {
        /// All sprints of the group, in natural order.
        members: Vec<Node>,
    },
    /// A merged sprint none of whose parts exist: `1.2ab` alone.
    MergedWithoutParts {
        /// The merged sprint.
        member: Node,
    },
    /// An unsuffixed phase beside suffixed ones of its number: `3`, `3a`.
    MixedLevel {
        /// The first sprint of each phase of the level, in natural order.
        phases: Vec<Node>,
    },
    /// A merged phase none of whose parts exist: `3ab` alone.
    MergedPhaseWithoutParts {
        /// The first sprint of the phase.
        phase: Node,
    },
}

impl NumberingWarning {
    /// The code that the warning carries.
    pub fn code(&self) -> WarningCode {
        match self {
            Self::MixedGroup { .. } | Self::MixedLevel { .. } => WarningCode::MixedGroup,
            Self::MergedWithoutParts { .. } | Self::MergedPhaseWithoutParts { .. } => {
                WarningCode::MergedWithoutParts
            }
        }
    }

    /// The sprint at which the warning is best shown.
    pub fn place(&self) -> Option<Node> {
        match self {
            Self::MixedGroup { members: nodes } | Self::MixedLevel { phases: nodes } => {
                nodes.first().copied()
            }
            Self::MergedWithoutParts { member: node }
            | Self::MergedPhaseWithoutParts { phase: node } => Some(*node),
        }
    }

    /// The warning as one sentence without a full stop, short however large the group is.
    pub fn message(&self, graph: &SprintGraph) -> String {
        let ids = |nodes: &[Node]| {
            let ids: Vec<&str> = nodes.iter().map(|node| graph.id(*node).as_str()).collect();
            super::sprint_graph::name_some(&ids, None)
        };
        let phase = |node: Node| graph.id(node).phase();
        match self {
            Self::MixedGroup { members } => format!(
                "{} have the same number with and without letters, and run in parallel",
                ids(members)
            ),
            Self::MergedWithoutParts { member } => format!(
                "{} merges sprints that do not exist, so it runs like any other",
                ids(&[*member])
            ),
            Self::MixedLevel { phases } => {
                let names: Vec<&str> = phases.iter().map(|node| phase(*node)).collect();
                format!(
                    "the phases {} have the same number with and without letters, and run in parallel",
                    super::sprint_graph::name_some(&names, None)
                )
            }
            Self::MergedPhaseWithoutParts { phase: node } => format!(
                "phase {} merges phases that do not exist, so it runs like any other",
                super::sprint_graph::name_some(&[phase(*node)], None)
            ),
        }
    }
}

/// Collects the warnings about a plan: in natural order of their places, those about phases first.
pub(super) fn notes(
    outline: &Outline,
    groups: &[Cover],
    levels: &[Cover],
) -> Vec<NumberingWarning> {
    let mut notes = Vec::new();
    for (level, cover) in levels.iter().enumerate() {
        let node = |at: usize| Node::new(outline.first_sprint(outline.levels[level].start + at));
        if is_mixed(cover) {
            let phases = (0..outline.levels[level].len()).map(node).collect();
            notes.push(NumberingWarning::MixedLevel { phases });
        }
        notes.extend(
            without_parts(cover)
                .map(|at| NumberingWarning::MergedPhaseWithoutParts { phase: node(at) }),
        );
    }
    for (group, cover) in groups.iter().enumerate() {
        let node = |at: usize| Node::new(outline.groups[group].start + at);
        if is_mixed(cover) {
            let members = (0..outline.groups[group].len()).map(node).collect();
            notes.push(NumberingWarning::MixedGroup { members });
        }
        notes.extend(
            without_parts(cover)
                .map(|at| NumberingWarning::MergedWithoutParts { member: node(at) }),
        );
    }
    notes.sort_by_key(NumberingWarning::place);
    notes
}

fn is_mixed(cover: &Cover) -> bool {
    // The smallest set stands last, and there is only one without letters.
    cover.classes.len() > 1
        && cover
            .classes
            .last()
            .is_some_and(|class| class.letters.is_empty())
}

fn without_parts(cover: &Cover) -> impl Iterator<Item = usize> {
    cover
        .classes
        .iter()
        .filter(|class| class.letters.len() > 1 && class.parts.is_empty())
        .flat_map(|class| class.members.iter().copied())
}
