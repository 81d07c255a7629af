//! How sorted sprints fall into groups, phases and levels, and which members of these merge which others (contracts §2.1).
//!
//! The natural order sorts by phase number, phase letters, sprint number and sprint letters, so every group, phase and level is one
//! run of neighbours and can be held as a range. Coverage depends on the set of letters alone, so members with equal sets form one
//! class and the pairwise work is done on classes: a group of 100,000 members has few of them. Single letters give at most 26
//! classes, and merged sets are limited to [`MAX_MERGES`], which bounds the work.

use std::ops::Range;

use super::compile::MAX_MERGES;
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
