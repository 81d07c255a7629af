//! The rules D-1 to D-4 word for word, without regard to time, to hold the compiler against.

use super::{compile, ids};
use crate::graph::SprintGraph;
use crate::number::{Letters, SprintId};

/// What a sprint waits for by the words of contracts §2.1.
pub(super) fn dependencies(plan: &[SprintId], sprint: &SprintId) -> Vec<SprintId> {
    let group = members(plan, |other| same_group(sprint, other));
    let covered: Vec<SprintId> = group
        .into_iter()
        .filter(|other| {
            other
                .sprint_letters()
                .is_covered_by(sprint.sprint_letters())
        })
        .collect();
    if !covered.is_empty() {
        return terminals(&covered, SprintId::sprint_letters);
    }
    let phase = members(plan, |other| same_phase(sprint, other));
    if let Some(before) = last_number(&phase, |n| n < sprint.sprint_number()) {
        return group_terminals(&phase, before);
    }
    entry(plan, sprint)
}

fn entry(plan: &[SprintId], sprint: &SprintId) -> Vec<SprintId> {
    let level = members(plan, |other| other.phase_number() == sprint.phase_number());
    let covered: Vec<SprintId> = level
        .into_iter()
        .filter(|other| other.phase_letters().is_covered_by(sprint.phase_letters()))
        .collect();
    if !covered.is_empty() {
        return ends(&covered);
    }
    let numbers = plan.iter().map(SprintId::phase_number);
    match numbers.filter(|n| *n < sprint.phase_number()).max() {
        Some(number) => ends(&members(plan, |other| other.phase_number() == number)),
        None => Vec::new(),
    }
}

// The last sprints of the terminal phases among the phases of the given sprints.
fn ends(sprints: &[SprintId]) -> Vec<SprintId> {
    let mut ends: Vec<SprintId> = terminals(sprints, SprintId::phase_letters)
        .iter()
        .flat_map(|sprint| {
            let phase = members(sprints, |other| same_phase(sprint, other));
            let last = last_number(&phase, |_| true).unwrap();
            group_terminals(&phase, last)
        })
        .collect();
    ends.sort();
    ends.dedup();
    ends
}

fn group_terminals(phase: &[SprintId], number: u64) -> Vec<SprintId> {
    let group = members(phase, |other| other.sprint_number() == number);
    terminals(&group, SprintId::sprint_letters)
}

fn terminals(members: &[SprintId], letters: impl Fn(&SprintId) -> Letters) -> Vec<SprintId> {
    let covered = |member: &SprintId| {
        members
            .iter()
            .any(|other| letters(member).is_covered_by(letters(other)))
    };
    let mut terminals: Vec<SprintId> = members
        .iter()
        .filter(|member| !covered(member))
        .cloned()
        .collect();
    terminals.sort();
    terminals
}

fn last_number(phase: &[SprintId], fits: impl Fn(u64) -> bool) -> Option<u64> {
    let numbers = phase.iter().map(SprintId::sprint_number);
    numbers.filter(|n| fits(*n)).max()
}

fn members(plan: &[SprintId], fits: impl Fn(&SprintId) -> bool) -> Vec<SprintId> {
    plan.iter().filter(|other| fits(other)).cloned().collect()
}

fn same_phase(a: &SprintId, b: &SprintId) -> bool {
    (a.phase_number(), a.phase_suffix()) == (b.phase_number(), b.phase_suffix())
}

fn same_group(a: &SprintId, b: &SprintId) -> bool {
    same_phase(a, b) && a.sprint_number() == b.sprint_number()
}

/// Asserts that the compiler and the words agree on a plan.
pub(super) fn agrees(sprints: &str) {
    let plan = ids(sprints);
    agrees_on(&plan, &compile(&plan).unwrap());
}

/// Asserts that a graph is what the words say about its plan.
pub(super) fn agrees_on(plan: &[SprintId], graph: &SprintGraph) {
    for node in graph.nodes() {
        let edges = graph.dependencies(node).iter();
        let compiled: Vec<&SprintId> = edges.map(|edge| graph.id(edge.to)).collect();
        let expected = dependencies(plan, graph.id(node));
        assert_eq!(
            compiled,
            expected.iter().collect::<Vec<_>>(),
            "{}",
            graph.id(node)
        );
    }
}
