//! How sorted sprints fall into groups, phases and levels (contracts §2.1).
//!
//! The natural order sorts by phase number, phase letters, sprint number and sprint letters, so every
//! group, phase and level is one run of neighbours and can be held as a range.

use std::ops::Range;

use crate::number::SprintId;

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
