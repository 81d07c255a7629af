//! Advice: steps that are put before and after others, from the formula itself or from an aspect.
//!
//! A step that comes before another has to be done before it; the other steps' order stays. Advice never applies to steps that advice
//! has put there.

use std::collections::HashSet;

use super::budget::Budget;
use super::model::{Advice, AdviceStep, Step};
use super::pattern;
use super::place::{Findings, Placed};
use super::template::{TooLong, substitute_single};

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
    let mut names = HashSet::new();
    for step in &steps {
        step.walk(&mut |part| {
            names.insert(part.id.value.clone());
        });
    }
    for rule in advice {
        if !names
            .iter()
            .any(|name| pattern::matches(&rule.target.value, name))
        {
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
            .filter(|rule| pattern::matches(&rule.target.value, &step.id.value));
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
