//! Changing many steps at once: their texts, their names, and who needs whom when several steps take the place of one.
//!
//! Whoever needed the one step needs all that end its group, and what begins the group needs what the one step needed, so that
//! nothing starts earlier than it would have.

use std::collections::HashSet;

use serde_json::Value;

use super::budget::Budget;
use super::condition::Test;
use super::model::{Step, parts};
use super::place::{Findings, Place, Placed};
use super::template::{TooLong, substitute_single};

/// Puts a prefix before the names of some steps, and before what they need among themselves.
pub(super) fn prefix_ids(steps: &mut [Step], prefix: &str) {
    let names: HashSet<String> = parts(steps).map(|part| part.id.value.clone()).collect();
    for step in steps.iter_mut() {
        step.walk_mut(&mut |part| part.id.value.insert_str(0, prefix));
    }
    prefix_needs(steps, &names, prefix);
}

/// The same for what is needed, also in the bodies of loops below, which have separate names.
fn prefix_needs(steps: &mut [Step], names: &HashSet<String>, prefix: &str) {
    let renamed = |name: &mut String| {
        if names.contains(name.as_str()) {
            name.insert_str(0, prefix);
        }
    };
    for step in steps {
        step.walk_mut(&mut |part| {
            part.needs
                .iter_mut()
                .for_each(|need| renamed(&mut need.value));
            if let Some(waits_for) = &mut part.waits_for {
                renamed(&mut waits_for.spawner);
            }
            if let Some(repeat) = &mut part.repeat {
                prefix_needs(&mut repeat.body, names, prefix);
            }
        });
    }
}

/// Fills names in single braces in every text of some steps, and in the loops and values below them. All texts together grow by at
/// most `limit` bytes.
pub(super) fn substitute_names<'v, F>(
    steps: &mut [Step],
    limit: usize,
    value_of: F,
) -> Result<(), TooLong>
where
    F: Fn(&str) -> Option<&'v str> + Copy,
{
    let mut left = limit;
    let mut result = Ok(());
    for step in steps {
        step.walk_mut(&mut |part| {
            let mut fill = |text: &mut String| {
                if !text.contains('{') || result.is_err() {
                    return;
                }
                match substitute_single(text, left, value_of) {
                    Ok(filled) => {
                        left -= filled.len();
                        *text = filled;
                    }
                    Err(too_long) => result = Err(too_long),
                }
            };
            each_text(part, &mut fill);
            if let Some(repeat) = &mut part.repeat {
                if let super::repeat::Times::Range(range) = &mut repeat.times {
                    fill(&mut range.value);
                }
                if let Err(too_long) = substitute_names(&mut repeat.body, left, value_of) {
                    result = Err(too_long);
                }
            }
        });
    }
    result
}

/// Every text of one step: its names, what it says, and its values.
fn each_text(step: &mut Step, change: &mut impl FnMut(&mut String)) {
    change(&mut step.id.value);
    for need in &mut step.needs {
        change(&mut need.value);
    }
    if let Some(waits_for) = &mut step.waits_for {
        change(&mut waits_for.spawner);
    }
    for condition in &mut step.conditions {
        match &mut condition.value.test {
            Test::Is(text) | Test::IsNot(text) => change(text),
            Test::IsTrue | Test::IsFalse => {}
        }
    }
    for (_, value) in &mut step.expand_vars {
        change(value);
    }
    each_bead_text(step, &mut |text, _| change(text));
}

/// Every text of one step that ends up in its bead (F-2), and in the bead of its gate, with its place.
pub(super) fn each_bead_text(step: &mut Step, change: &mut impl FnMut(&mut String, Place)) {
    let mut placed = |text: &mut Placed<String>| change(&mut text.value, text.place);
    placed(&mut step.title);
    let optional = [
        &mut step.name,
        &mut step.description,
        &mut step.notes,
        &mut step.kind,
        &mut step.assignee,
    ];
    optional.into_iter().flatten().for_each(&mut placed);
    step.labels.iter_mut().for_each(&mut placed);
    if let Some(gate) = &mut step.gate {
        let texts = [&mut gate.await_id, &mut gate.repo];
        texts.into_iter().flatten().for_each(&mut placed);
    }
    if let Some(metadata) = &mut step.metadata {
        let place = metadata.place;
        for (_, value) in &mut metadata.value {
            each_string(value, &mut |text| change(text, place));
        }
    }
}

fn each_string(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_string(item, change)),
        Value::Object(map) => map
            .iter_mut()
            .for_each(|(_, item)| each_string(item, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

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
        fn ids(steps: &[Step]) -> HashSet<&str> {
            parts(steps).map(|part| &*part.id.value).collect()
        }
        let names = ids(steps);
        let mut needed = HashSet::new();
        for step in steps.chunks(1) {
            let own = ids(step);
            let needs = parts(step).flat_map(|part| &part.needs);
            let needs = needs.map(|need| need.value.as_str());
            needed.extend(needs.filter(|need| !own.contains(need)));
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
pub(super) fn inherit_needs(steps: &mut [Step], group: &Group, from: &Step) {
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
    let needs_it = |part: &&Step| part.needs.iter().any(|need| need.value == id);
    let n_needing = parts(steps).filter(needs_it).count();
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
