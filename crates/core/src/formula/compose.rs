//! Forks and joins, and conditions that somebody else looks at.

use serde_json::json;

use super::model::{Compose, Step};
use super::place::{Findings, Placed};
use crate::diag::{WarningCode, did_you_mean};
use crate::text::excerpt;

/// Adds the needs of every branch: the steps between need the one before, and the one after needs them.
pub(super) fn branch(steps: &mut [Step], compose: &Compose, findings: &mut Findings) {
    for branch in &compose.branch {
        let named = branch.steps.iter().chain([&branch.from, &branch.join]);
        // All of them are looked at, so that everything is said at once.
        let missing = named.filter(|name| !is_step(steps, name, findings));
        if missing.count() > 0 {
            continue;
        }
        for between in &branch.steps {
            add_need(steps, &between.value, &branch.from);
            add_need(steps, &branch.join.value, between);
        }
    }
}

/// Marks the steps that a condition is before.
pub(super) fn gate(steps: &mut [Step], compose: &Compose, findings: &mut Findings) {
    for rule in &compose.gate {
        if !is_step(steps, &rule.before, findings) {
            continue;
        }
        let message = "nothing here looks at the condition: the step only gets a label";
        findings.warn(WarningCode::FormulaField, rule.condition.place, message, "");
        let label = format!("gate:{}", json!({ "condition": rule.condition.value }));
        let label = rule.condition.with(label);
        with_step(steps, &rule.before.value, |step| {
            if !step.labels.contains(&label) {
                step.labels.push(label.clone());
            }
        });
    }
}

fn add_need(steps: &mut [Step], id: &str, need: &Placed<String>) {
    with_step(steps, id, |step| step.need(&need.value, need.place));
}

fn with_step(steps: &mut [Step], id: &str, mut change: impl FnMut(&mut Step)) {
    for step in steps {
        step.walk_mut(&mut |part| {
            if part.id.value == id {
                change(part);
            }
        });
    }
}

/// Whether there is such a step; says so when there is none.
pub(super) fn is_step(steps: &[Step], name: &Placed<String>, findings: &mut Findings) -> bool {
    let mut names = Vec::new();
    for step in steps {
        step.walk(&mut |part| names.push(part.id.value.as_str()));
    }
    if names.contains(&name.value.as_str()) {
        return true;
    }
    let help = did_you_mean(&name.value, names)
        .map(|near| format!("did you mean `{near}`?"))
        .unwrap_or_default();
    let message = format!("there is no step `{}`", excerpt(&name.value));
    findings.refuse(name.place, message, &help);
    false
}
