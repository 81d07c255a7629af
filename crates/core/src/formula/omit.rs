//! Conditions: steps that are not wanted are left out, and nobody starts earlier because of that.
//!
//! Whoever needed a step that is left out needs what that one needed. The real `bd` forgets the need.

use std::collections::HashMap;

use super::condition::Condition;
use super::model::Step;
use super::place::Placed;
use super::values::Bindings;

/// The steps that are wanted.
pub(super) fn omit(steps: Vec<Step>, bindings: &Bindings) -> Vec<Step> {
    let mut omitted = HashMap::new();
    let mut kept = keep(steps, bindings, &[], &mut omitted);
    if omitted.is_empty() {
        return kept;
    }
    for step in &mut kept {
        step.walk_mut(&mut |part| bridge(part, &omitted));
    }
    kept
}

/// The needs of the steps that were left out, with those of what they were a part of.
type Omitted = HashMap<String, Vec<Placed<String>>>;

fn keep(
    steps: Vec<Step>,
    bindings: &Bindings,
    above: &[Placed<String>],
    omitted: &mut Omitted,
) -> Vec<Step> {
    let mut kept = Vec::with_capacity(steps.len());
    for mut step in steps {
        let needs: Vec<Placed<String>> = above.iter().chain(&step.needs).cloned().collect();
        if step
            .conditions
            .iter()
            .all(|one| holds(&one.value, bindings))
        {
            let children = std::mem::take(&mut step.children);
            step.children = keep(children, bindings, &needs, omitted);
            kept.push(step);
        } else {
            leave_out(&step, above, omitted);
        }
    }
    kept
}

/// What has no value yet is taken to hold.
fn holds(condition: &Condition, bindings: &Bindings) -> bool {
    match bindings.get(&condition.variable) {
        Some(value) => condition.holds(value),
        None => bindings.is_partial(),
    }
}

/// A step that is left out waited for what it needed, and it would have been done after its parts.
fn leave_out(step: &Step, above: &[Placed<String>], omitted: &mut Omitted) -> Vec<Placed<String>> {
    let own: Vec<Placed<String>> = above.iter().chain(&step.needs).cloned().collect();
    let mut needs = own.clone();
    for child in &step.children {
        needs.extend(leave_out(child, &own, omitted));
    }
    omitted.insert(step.id.value.clone(), needs.clone());
    needs
}

/// Puts what was needed by the omitted in their place, as far as it goes.
fn bridge(step: &mut Step, omitted: &Omitted) {
    if let Some(waits_for) = (step.waits_for).take_if(|waits| omitted.contains_key(&waits.spawner))
    {
        // Whose children are not there has none to wait for, and what it waited for is.
        step.need(&waits_for.spawner, waits_for.place);
    }
    if !(step.needs.iter()).any(|need| omitted.contains_key(&need.value)) {
        return;
    }
    let mut open: Vec<Placed<String>> = std::mem::take(&mut step.needs);
    open.reverse();
    let mut seen = Vec::new();
    while let Some(need) = open.pop() {
        match omitted.get(&need.value) {
            None => step.need(&need.value, need.place),
            Some(needs) => {
                if !seen.contains(&need.value) {
                    seen.push(need.value);
                    open.extend(needs.iter().rev().cloned());
                }
            }
        }
    }
}
