//! Loops: the body of a step in its place, once for each turn.
//!
//! The turns come one after the other: what begins a turn needs what ends the turn before. Steps outside that need the loop need
//! what ends its last turn, and what begins the first needs what the loop needs.

use super::budget::Budget;
use super::group::{self, Group};
use super::model::Step;
use super::place::{Findings, Place, Placed};
use super::range;
use super::rewrite::{prefix_ids, substitute_names};
use super::values::Bindings;
use crate::text::excerpt;
use serde_json::{Map, Value, json};

/// A loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// How often.
    pub times: Times,
    /// The name of the turn's number in the body.
    pub variable: Option<String>,
    /// What is repeated.
    pub body: Vec<Step>,
    /// Where it stands.
    pub place: Place,
}

/// How often a loop's body is made.
#[derive(Debug, Clone, PartialEq)]
pub enum Times {
    /// So often.
    Count(u64),
    /// Once for each number.
    Range(Placed<String>),
    /// Once; somebody else repeats it until something is true.
    Until {
        /// The condition.
        until: Placed<String>,
        /// The most turns.
        max: u64,
    },
}

/// Puts the bodies of all loops in the place of their steps.
pub(super) fn unroll(
    steps: Vec<Step>,
    bindings: &Bindings,
    budget: &mut Budget,
    findings: &mut Findings,
) -> Vec<Step> {
    let mut unroller = Unroller {
        bindings,
        budget: &mut *budget,
        findings: &mut *findings,
        replaced: Vec::new(),
    };
    let mut steps = unroller.steps(steps);
    for (id, place, group) in unroller.replaced {
        if !group::point_to(&mut steps, &id, &group.ends, place, budget, findings) {
            return Vec::new();
        }
    }
    steps
}

struct Unroller<'a> {
    bindings: &'a Bindings,
    budget: &'a mut Budget,
    findings: &'a mut Findings,
    replaced: Vec<(String, Place, Group)>,
}

impl Unroller<'_> {
    fn steps(&mut self, steps: Vec<Step>) -> Vec<Step> {
        let mut unrolled = Vec::with_capacity(steps.len());
        for mut step in steps {
            if let Some(repeat) = step.repeat.take() {
                unrolled.extend(self.turns(&step, &repeat));
            } else {
                step.children = self.steps(std::mem::take(&mut step.children));
                unrolled.push(step);
            }
        }
        unrolled
    }

    /// All turns of a loop, chained.
    fn turns(&mut self, step: &Step, repeat: &Loop) -> Vec<Step> {
        let Some(numbers) = self.numbers(repeat) else {
            return Vec::new();
        };
        let mut all: Vec<Step> = Vec::new();
        let mut before: Option<Group> = None;
        for (turn, number) in numbers.enumerate() {
            let Some(body) = self.turn(step, repeat, turn + 1, number) else {
                return Vec::new();
            };
            let mut body = self.steps(body);
            let group = Group::of(&body);
            let before_it = before
                .as_ref()
                .map_or(step.needs.len(), |before| before.ends.len());
            let n_needs = group.begins.len() * before_it;
            if !(self.budget).take_needs(n_needs, repeat.place, self.findings) {
                return Vec::new();
            }
            match &before {
                Some(before) => group::begin_after(&mut body, &group, &before.ends),
                None => group::inherit(&mut body, &group, step),
            }
            for part in &mut body {
                let conditions = step.conditions.iter().cloned();
                part.conditions.splice(0..0, conditions);
            }
            if let (Times::Until { until, max }, Some(first)) = (&repeat.times, body.first_mut()) {
                note_until(first, until, *max);
            }
            before = Some(group);
            all.extend(body);
        }
        if let Some(last) = before {
            let id = step.id.value.clone();
            self.replaced.push((id, repeat.place, last));
            self.budget.give_back_step();
        }
        all
    }

    /// The body for one turn: `<loop>.iter<turn>.<step>`.
    fn turn(&mut self, step: &Step, repeat: &Loop, turn: usize, number: i64) -> Option<Vec<Step>> {
        let mut body = repeat.body.clone();
        if !self.budget.take(&body, repeat.place, self.findings) {
            return None;
        }
        prefix_ids(&mut body, &format!("{}.iter{turn}.", step.id.value));
        if let Some(variable) = repeat.variable.as_deref() {
            let number = number.to_string();
            let left = self.budget.text_left();
            let filled = substitute_names(&mut body, left, |name| {
                (name == variable).then_some(number.as_str())
            });
            if filled.is_err() {
                (self.budget).take_text(usize::MAX, repeat.place, self.findings);
                return None;
            }
        }
        Some(body)
    }

    /// The numbers of the turns.
    fn numbers(&mut self, repeat: &Loop) -> Option<std::ops::RangeInclusive<i64>> {
        let range = match &repeat.times {
            Times::Count(count) => return Some(1..=i64::try_from(*count).unwrap_or(i64::MAX)),
            Times::Until { .. } => return Some(1..=1),
            Times::Range(range) => range,
        };
        match range::evaluate(&range.value, |name| self.bindings.get(name)) {
            // Without values a formula can still be looked at.
            Err(_) if self.bindings.is_partial() => Some(1..=1),
            Err(wrong) => {
                let message = format!("`{}` is no range: {wrong}", excerpt(&range.value));
                self.findings.refuse(range.place, message, "");
                None
            }
            Ok((first, last)) if last < first => {
                let message = format!("the range ends with {last}, before it begins with {first}");
                self.findings.refuse(range.place, message, "");
                None
            }
            Ok((first, last)) => Some(first..=last),
        }
    }
}

/// Tells whoever repeats the body how long to do so.
fn note_until(step: &mut Step, until: &Placed<String>, max: u64) {
    let metadata = step.metadata.get_or_insert_with(|| until.with(Map::new()));
    let condition = Value::from(until.value.as_str());
    let note = json!({ "until": condition, "max": max });
    metadata.value.insert("loop".to_owned(), note);
}
