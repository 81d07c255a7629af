//! How sorted sprints fall into groups, phases and levels, and which members of these merge which others (contracts §2.1).
//!
//! The natural order sorts by phase number, phase letters, sprint number and sprint letters, so every group, phase and level is one
//! run of neighbours and can be held as a range. Coverage depends on the set of letters alone, so members with equal sets form one
//! class and the pairwise work is done on classes: a group of 100,000 members has few of them. Single letters give at most 26
//! classes, and merged sets are limited to [`MAX_MERGES`], which bounds the work.
//!
//! Warnings about numbering that works but is probably not intended (contracts §2.4) are made from both.

use std::ops::Range;

use super::compile::MAX_MERGES;
use super::{Node, SprintGraph};
use crate::diag::WarningCode;
use crate::number::{Letters, SprintId};

/// The runs of a plan: groups are ranges of sprints, phases ranges of groups, levels ranges of phases.
pub(super) struct Outline {
    pub(super) groups: Vec<Range<usize>>,
    pub(super) phases: Vec<Range<usize>>,
    pub(super) levels: Vec<Range<usize>>,
}

impl Outline {
    /// Cuts sprints that are sorted and free of duplicates.
    pub(super) fn of(ids: &[SprintId]) -> Self {
        let groups = runs(ids.len(), |a, b| group_key(&ids[a]) == group_key(&ids[b]));
        let first = |group: usize| &ids[groups[group].start];
        let phases = runs(groups.len(), |a, b| {
            phase_key(first(a)) == phase_key(first(b))
        });
        let first = |phase: usize| &ids[groups[phases[phase].start].start];
        let levels = runs(phases.len(), |a, b| {
            first(a).phase_number() == first(b).phase_number()
        });
        Self {
            groups,
            phases,
            levels,
        }
    }

    /// The first sprint of a phase.
    pub(super) fn first_sprint(&self, phase: usize) -> usize {
        self.groups[self.phases[phase].start].start
    }

    /// The highest-numbered group of a phase, whose terminals are its last sprints (D-4).
    pub(super) fn last_group(&self, phase: usize) -> usize {
        self.phases[phase].end - 1
    }
}

fn phase_key(id: &SprintId) -> (u64, &str) {
    (id.phase_number(), id.phase_suffix())
}

fn group_key(id: &SprintId) -> (u64, &str, u64) {
    (id.phase_number(), id.phase_suffix(), id.sprint_number())
}

// The maximal ranges of `0..len` in which neighbours are alike.
fn runs(len: usize, alike: impl Fn(usize, usize) -> bool) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for at in 1..=len {
        if at == len || !alike(at - 1, at) {
            runs.push(start..at);
            start = at;
        }
    }
    runs
}

/// The classes of one group or level, largest letter set first.
pub(super) struct Cover {
    pub(super) classes: Vec<Class>,
}

/// The members that carry one set of letters.
pub(super) struct Class {
    pub(super) letters: Letters,
    /// Positions in the group or level, ascending.
    pub(super) members: Vec<usize>,
    /// The terminals among the classes that this one covers.
    pub(super) parts: Vec<usize>,
    /// Whether another class covers this one.
    pub(super) covered: bool,
}

/// More than [`MAX_MERGES`] distinct merged sets, with their number.
pub(super) struct TooManyMerges(pub(super) usize);

impl Cover {
    /// Sorts members, given by their letters, into classes and relates the classes.
    pub(super) fn of(letters: impl Iterator<Item = Letters>) -> Result<Self, TooManyMerges> {
        let mut members: Vec<(Letters, usize)> = letters
            .enumerate()
            .map(|(at, letters)| (letters, at))
            .collect();
        // With the largest sets first, whatever covers a class stands before it.
        members.sort_by_key(|(letters, at)| (std::cmp::Reverse(letters.len()), *letters, *at));
        let mut classes: Vec<Class> = Vec::new();
        for (letters, at) in members {
            match classes.last_mut() {
                Some(class) if class.letters == letters => class.members.push(at),
                _ => classes.push(Class {
                    letters,
                    members: vec![at],
                    parts: Vec::new(),
                    covered: false,
                }),
            }
        }
        let n_merges = classes
            .iter()
            .filter(|class| class.letters.len() > 1)
            .count();
        if n_merges > MAX_MERGES {
            return Err(TooManyMerges(n_merges));
        }
        relate(&mut classes);
        Ok(Self { classes })
    }

    /// The members that no other member covers, ascending.
    pub(super) fn terminals(&self) -> Vec<usize> {
        self.members_of((0..self.classes.len()).filter(|class| !self.classes[*class].covered))
    }

    /// The members that a class merges directly, ascending (D-1).
    pub(super) fn parts(&self, class: &Class) -> Vec<usize> {
        self.members_of(class.parts.iter().copied())
    }

    fn members_of(&self, classes: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut members: Vec<usize> = classes
            .flat_map(|class| self.classes[class].members.iter().copied())
            .collect();
        members.sort_unstable();
        members
    }
}

fn relate(classes: &mut [Class]) {
    for whole in 0..classes.len() {
        let mut parts: Vec<usize> = Vec::new();
        for part in whole + 1..classes.len() {
            let letters = classes[part].letters;
            if !letters.is_covered_by(classes[whole].letters) {
                continue;
            }
            classes[part].covered = true;
            // Larger sets came first, so a part that is merged by another part meets it here.
            if !parts
                .iter()
                .any(|larger| letters.is_covered_by(classes[*larger].letters))
            {
                parts.push(part);
            }
        }
        classes[whole].parts = parts;
    }
}

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
