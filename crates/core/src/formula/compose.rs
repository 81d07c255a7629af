//! What `compose` and `advice` do to the steps of a formula: forks and joins, gates, and steps before and after others.
//!
//! A step that comes before another has to be done before it; the other steps' order stays. Advice never applies to steps that
//! advice added.

use super::budget::Budget;
use super::model::{Advice, AdviceStep, Compose, Step, parts};
use super::place::{Findings, Placed, suggestion};
use super::template::{TooLong, substitute_single};
use crate::diag::WarningCode;
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
        let condition = serde_json::to_string(&rule.condition.value).unwrap_or_default();
        let label = format!("gate:{{\"condition\":{condition}}}");
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
    let names: Vec<&str> = parts(steps).map(|part| part.id.value.as_str()).collect();
    if names.contains(&name.value.as_str()) {
        return true;
    }
    let help = suggestion(&name.value, &names, String::new);
    let message = format!("unknown step `{}`", excerpt(&name.value));
    findings.refuse(name.place, message, &help);
    false
}

/// Applies advice to all steps that are there.
pub(super) fn advise(
    steps: Vec<Step>,
    advice: &[Advice],
    budget: &mut Budget,
    findings: &mut Findings,
) -> Vec<Step> {
    if advice.is_empty() {
        return steps;
    }
    for rule in advice {
        if !parts(&steps).any(|part| matches_pattern(&rule.target.value, &part.id.value)) {
            let message = format!(
                "no step matches `{}`",
                crate::text::excerpt(&rule.target.value)
            );
            let code = crate::diag::WarningCode::FormulaField;
            findings.warn(code, rule.target.place, message, "");
        }
    }
    surround(steps, advice, budget, findings)
}

fn surround(
    steps: Vec<Step>,
    advice: &[Advice],
    budget: &mut Budget,
    findings: &mut Findings,
) -> Vec<Step> {
    let mut all = Vec::with_capacity(steps.len());
    for mut step in steps {
        let matching = advice
            .iter()
            .filter(|rule| matches_pattern(&rule.target.value, &step.id.value));
        let place = step.id.place;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for rule in matching {
            let limit = budget.text_left();
            let all_beside = |advised: &[AdviceStep]| -> Result<Vec<Step>, TooLong> {
                advised
                    .iter()
                    .map(|one| beside(one, &step, limit))
                    .collect()
            };
            let (Ok(first), Ok(last)) = (all_beside(&rule.before), all_beside(&rule.after)) else {
                budget.take_text(usize::MAX, place, findings);
                return Vec::new();
            };
            before.extend(first);
            after.extend(last);
        }
        if !(budget.take(&before, place, findings) && budget.take(&after, place, findings)) {
            return Vec::new();
        }
        chain(&mut before);
        if let Some(last) = before.last() {
            step.need(&last.id.value, last.id.place);
        }
        if let Some(first) = after.first_mut() {
            first.need(&step.id.value, step.id.place);
        }
        chain(&mut after);
        step.children = surround(std::mem::take(&mut step.children), advice, budget, findings);
        all.extend(before);
        all.push(step);
        all.extend(after);
    }
    all
}

/// Each needs the one before it.
fn chain(steps: &mut [Step]) {
    for at in 1..steps.len() {
        let before = steps[at - 1].id.value.clone();
        let place = steps[at].id.place;
        steps[at].need(&before, place);
    }
}

fn beside(advised: &AdviceStep, target: &Step, limit: usize) -> Result<Step, TooLong> {
    let fill = |text: &Placed<String>| {
        let filled = substitute_single(&text.value, limit, |name| match name {
            "step.id" => Some(target.id.value.as_str()),
            "step.title" => Some(target.title.value.as_str()),
            _ => None,
        });
        Ok(text.with(filled?))
    };
    let id = fill(&advised.id)?;
    let title = match &advised.title {
        Some(title) => fill(title)?,
        None => id.clone(),
    };
    Ok(Step {
        description: advised.description.as_ref().map(fill).transpose()?,
        kind: advised.kind.clone(),
        // Where the step that it belongs to is not wanted, neither is this one.
        conditions: target.conditions.clone(),
        ..Step::new(id, title)
    })
}

/// Whether a name matches a pattern. Of several `*` only the last one is tried again, so that the time is at most the product of
/// both lengths.
pub(super) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut in_name) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => match &mut star {
                None => return false,
                Some((starred, from)) => {
                    *from += 1;
                    (at, in_name) = (*starred + 1, *from);
                }
            },
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_bd() {
        for (pattern, name, is_match) in [
            ("design", "design", true),
            ("design", "redesign", false),
            ("design", "designs", false),
            ("*", "anything.at-all", true),
            ("*.implement", "shiny.implement", true),
            ("*.implement", "implement", false),
            ("shiny.*", "shiny.a.b", true),
            ("a.*.z", "a.b.z", true),
            ("a.*.z", "a.b.z.y", false),
            ("*a*b*", "xxaxxbxx", true),
            ("qa-?", "qa-1", true),
            ("qa-?", "qa-", false),
            ("a+b", "aab", false),
            ("", "", true),
        ] {
            assert_eq!(matches_pattern(pattern, name), is_match, "{pattern} {name}");
        }
        assert!(!matches_pattern(&"*a".repeat(50), &"b".repeat(5000)));
    }
}
