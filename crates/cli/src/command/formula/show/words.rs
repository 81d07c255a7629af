//! What formulas say, in a few words.

use beads_ralph_core::formula::{Formula, Step, Times, Variable, VariableType};

/// What values a variable takes.
pub(super) fn values(variable: &Variable) -> String {
    let mut parts = Vec::new();
    if variable.is_required {
        parts.push("required".to_owned());
    }
    if let Some(default) = &variable.default {
        parts.push(format!("default {:?}", default.value));
    }
    if !variable.allowed.is_empty() {
        parts.push(format!("one of {}", variable.allowed.join(", ")));
    }
    if let Some(pattern) = &variable.pattern {
        parts.push(format!("matches {}", pattern.value));
    }
    if variable.kind != VariableType::String {
        parts.push(variable.kind.as_str().to_owned());
    }
    if parts.is_empty() {
        parts.push("optional".to_owned());
    }
    parts.join("; ")
}

/// What a step has beside its title and its needs.
pub(super) fn more(step: &Step) -> String {
    let mut parts = Vec::new();
    for condition in &step.conditions {
        parts.push(format!("if {}", condition.value));
    }
    if let Some(repeat) = &step.repeat {
        parts.push(times(&repeat.times));
    }
    if let Some(expand) = &step.expand {
        parts.push(format!("expands to {}", expand.value));
    }
    if let Some(waits_for) = &step.waits_for {
        let children = waits_for.children.as_str();
        parts.push(format!("waits for {children} of {}", waits_for.spawner));
    }
    if let Some(gate) = &step.gate {
        let id = gate.await_id.as_ref().map(|id| format!(" {}", id.value));
        let id = id.unwrap_or_default();
        parts.push(format!("gate {}{id}", gate.kind.value));
    }
    if let Some(assignee) = &step.assignee {
        parts.push(format!("for {}", assignee.value));
    }
    parts.join("; ")
}

fn times(times: &Times) -> String {
    match times {
        Times::Count(count) => format!("repeats {count} times"),
        Times::Range(range) => format!("repeats for {}", range.value),
        Times::Until { until, max } => {
            format!("until {}, at the most {max} times", until.value)
        }
    }
}

/// What is done to the steps, one sentence each.
pub(super) fn rules(formula: &Formula) -> Vec<String> {
    let mut rules = Vec::new();
    let compose = &formula.compose;
    for rule in &compose.expand {
        rules.push(format!(
            "expand {} to {}",
            rule.target.value, rule.with.value
        ));
    }
    for rule in &compose.map {
        rules.push(format!(
            "expand all {} to {}",
            rule.target.value, rule.with.value
        ));
    }
    for branch in &compose.branch {
        let steps: Vec<&str> = branch
            .steps
            .iter()
            .map(|step| step.value.as_str())
            .collect();
        let (from, join) = (&branch.from.value, &branch.join.value);
        rules.push(format!(
            "branch from {from} over {} to {join}",
            steps.join(", ")
        ));
    }
    for gate in &compose.gate {
        rules.push(format!(
            "gate before {}: {}",
            gate.before.value, gate.condition.value
        ));
    }
    for aspect in &compose.aspects {
        rules.push(format!("aspect {}", aspect.value));
    }
    for advice in &formula.advice {
        let target = &advice.target.value;
        for step in &advice.before {
            rules.push(format!("before each {target}: {}", step.id.value));
        }
        for step in &advice.after {
            rules.push(format!("after each {target}: {}", step.id.value));
        }
    }
    rules
}
