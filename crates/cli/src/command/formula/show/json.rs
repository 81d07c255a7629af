//! A formula as programs read it: every field of the format that is honoured, present whether it is set or not.

use beads_ralph_core::formula::{
    Advice, AdviceStep, Compose, Expand, Gate, Loop, Phase, Placed, Step, Times, Variable, WaitsFor,
};
use serde_json::{Map, Value, json};

use super::Shown;
use crate::command::formula::findings::Said;

impl Shown<'_> {
    pub(super) fn to_json(&self, said: &Said) -> Value {
        let formula = self.formula;
        json!({
            "formula": formula.name.value,
            "type": formula.kind.as_str(),
            "phase": formula.phase.unwrap_or(Phase::Liquid).as_str(),
            "version": formula.version,
            "owner": self.owner,
            "description": text(formula.description.as_ref()).unwrap_or_default(),
            "intent": formula.intent,
            "extends": texts(&formula.extends),
            "variables": each(&formula.variables, variable),
            "steps": each(&formula.steps, step),
            "template": each(&formula.template, step),
            "compose": compose(&formula.compose),
            "advice": each(&formula.advice, advice),
            "files": each(&self.compilation.files, |sheet| json!(sheet.path)),
            "makes": self.n_made,
            "warnings": said.messages(),
        })
    }
}

fn each<T>(items: &[T], to_json: impl Fn(&T) -> Value) -> Vec<Value> {
    items.iter().map(to_json).collect()
}

fn text(text: Option<&Placed<String>>) -> Option<&str> {
    text.map(|text| text.value.as_str())
}

fn texts(texts: &[Placed<String>]) -> Vec<&str> {
    texts.iter().map(|text| text.value.as_str()).collect()
}

fn pairs(pairs: &[(String, String)]) -> Map<String, Value> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect()
}

fn variable(variable: &Variable) -> Value {
    json!({
        "name": variable.name.value,
        "description": variable.description,
        "required": variable.is_required,
        "default": text(variable.default.as_ref()),
        "pattern": text(variable.pattern.as_ref()),
        "enum": variable.allowed,
        "type": variable.kind.as_str(),
    })
}

fn step(step: &Step) -> Value {
    json!({
        "id": step.id.value,
        "title": step.title.value,
        "description": text(step.description.as_ref()).unwrap_or_default(),
        "notes": text(step.notes.as_ref()).unwrap_or_default(),
        "type": text(step.kind.as_ref()),
        "priority": step.priority,
        "labels": texts(&step.labels),
        "metadata": step.metadata.as_ref().map(|metadata| &metadata.value),
        "needs": texts(&step.needs),
        "waits_for": step.waits_for.as_ref().map(WaitsFor::written),
        "assignee": text(step.assignee.as_ref()),
        "expand": text(step.expand.as_ref()),
        "expand_vars": pairs(&step.expand_vars),
        "condition": step.conditions.first().map(|condition| condition.value.to_string()),
        "gate": step.gate.as_ref().map(gate),
        "loop": step.repeat.as_ref().map(repeat),
        "children": each(&step.children, self::step),
    })
}

fn gate(gate: &Gate) -> Value {
    json!({
        "type": gate.kind.value,
        "id": text(gate.await_id.as_ref()),
        "timeout_seconds": gate.timeout.map(|timeout| timeout.as_secs()),
        "repo": text(gate.repo.as_ref()),
    })
}

fn repeat(repeat: &Loop) -> Value {
    let (mut count, mut range, mut until, mut most) = (None, None, None, None);
    match &repeat.times {
        Times::Count(number) => count = Some(number),
        Times::Range(text) => range = Some(&text.value),
        Times::Until {
            until: condition,
            max,
        } => (until, most) = (Some(&condition.value), Some(max)),
    }
    json!({
        "count": count,
        "range": range,
        "until": until,
        "max": most,
        "var": repeat.variable,
        "body": each(&repeat.body, step),
    })
}

fn compose(compose: &Compose) -> Value {
    let chosen = |key: &'static str| {
        move |rule: &Expand| {
            json!({
                key: rule.target.value,
                "with": rule.with.value,
                "vars": pairs(&rule.vars),
            })
        }
    };
    json!({
        "expand": each(&compose.expand, chosen("target")),
        "map": each(&compose.map, chosen("select")),
        "branch": each(&compose.branch, |branch| json!({
            "from": branch.from.value,
            "steps": texts(&branch.steps),
            "join": branch.join.value,
        })),
        "gate": each(&compose.gate, |gate| json!({
            "before": gate.before.value,
            "condition": gate.condition.value,
        })),
        "aspects": texts(&compose.aspects),
    })
}

fn advice(advice: &Advice) -> Value {
    let advised = |step: &AdviceStep| {
        json!({
            "id": step.id.value,
            "title": text(step.title.as_ref()),
            "description": text(step.description.as_ref()).unwrap_or_default(),
            "type": text(step.kind.as_ref()),
        })
    };
    json!({
        "target": advice.target.value,
        "before": each(&advice.before, advised),
        "after": each(&advice.after, advised),
    })
}
