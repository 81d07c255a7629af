//! Steps that took the place of one step: how they begin and how they end.
//!
//! Whoever needed the one step needs all that end the group, and what begins the group needs what the one step needed, so that
//! nothing starts earlier than it would have.

use std::collections::HashSet;

use super::budget::Budget;
use super::model::Step;
use super::place::{Findings, Place};

/// The steps at the edges of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// Those that need nothing of the group.
    pub(super) begins: Vec<String>,
    /// Those that nothing of the group needs.
    pub(super) ends: Vec<String>,
}

impl Group {
    pub(super) fn of(steps: &[Step]) -> Self {
        let mut names = HashSet::new();
        let mut needed = HashSet::new();
        for step in steps {
            step.walk(&mut |part| {
                names.insert(part.id.value.as_str());
            });
        }
        for step in steps {
            let mut own = HashSet::new();
            step.walk(&mut |part| {
                own.insert(part.id.value.as_str());
            });
            step.walk(&mut |part| {
                let needs = part.needs.iter().map(|need| need.value.as_str());
                needed.extend(needs.filter(|need| !own.contains(need)));
            });
        }
        let begins = steps.iter().filter(|step| {
            let needs = step.needs.iter();
            !needs
                .into_iter()
                .any(|need| names.contains(need.value.as_str()))
        });
        // That a part of a step is needed says nothing about the rest of it.
        let ends = steps
            .iter()
            .filter(|step| !needed.contains(step.id.value.as_str()));
        Self {
            begins: begins.map(|step| step.id.value.clone()).collect(),
            ends: ends.map(|step| step.id.value.clone()).collect(),
        }
    }
}

/// Lets a group begin after other steps.
pub(super) fn begin_after(steps: &mut [Step], group: &Group, others: &[String]) {
    for step in begins(steps, group) {
        let place = step.id.place;
        for other in others {
            step.need(other, place);
        }
    }
}

/// Gives what a step waited for to those that begin in its place.
pub(super) fn inherit(steps: &mut [Step], group: &Group, from: &Step) {
    for step in begins(steps, group) {
        let own = std::mem::replace(&mut step.needs, from.needs.clone());
        for need in own {
            step.need(&need.value, need.place);
        }
        if step.waits_for.is_none() {
            step.waits_for.clone_from(&from.waits_for);
        }
    }
}

fn begins<'s>(steps: &'s mut [Step], group: &'s Group) -> impl Iterator<Item = &'s mut Step> {
    steps
        .iter_mut()
        .filter(|step| group.begins.contains(&step.id.value))
}

/// Everywhere, what needed one step needs others; false when that is too much.
pub(super) fn point_to(
    steps: &mut [Step],
    id: &str,
    others: &[String],
    place: Place,
    budget: &mut Budget,
    findings: &mut Findings,
) -> bool {
    let mut n_needing = 0;
    for step in steps.iter() {
        step.walk(&mut |part| {
            n_needing += usize::from(part.needs.iter().any(|need| need.value == id));
        });
    }
    if !budget.take_needs(n_needing * others.len(), place, findings) {
        return false;
    }
    for step in steps {
        step.walk_mut(&mut |part| redirect(part, id, others));
    }
    true
}

fn redirect(step: &mut Step, id: &str, others: &[String]) {
    if let Some(waits_for) = &mut step.waits_for
        && waits_for.spawner == id
        && let Some(last) = others.last()
    {
        waits_for.spawner.clone_from(last);
    }
    if !step.needs.iter().any(|need| need.value == id) {
        return;
    }
    for need in std::mem::take(&mut step.needs) {
        let place: Place = need.place;
        if need.value == id {
            for other in others {
                step.need(other, place);
            }
        } else {
            step.need(&need.value, place);
        }
    }
}
