//! Loops: the body of a step in its place, once for each turn.
//!
//! The turns come one after the other: what begins a turn needs what ends the turn before. Steps outside that need the loop need
//! what ends its last turn, and what begins the first needs what the loop needs.

use super::budget::Budget;
use super::model::Step;
use super::place::{Findings, Place, Placed};
use super::rewrite::{self, Group};
use super::rewrite::{prefix_ids, substitute_names};
use super::template::substitute_single;
use super::values::Bindings;
use crate::issue::Document;
use crate::text::excerpt;

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
        if !rewrite::point_to(&mut steps, &id, &group.ends, place, budget, findings) {
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
                Some(before) => rewrite::begin_after(&mut body, &group, &before.ends),
                None => rewrite::inherit_needs(&mut body, &group, step),
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
        match evaluate_range(&range.value, |name| self.bindings.get(name)) {
            // Without values a formula can still be looked at.
            Err(_) if self.bindings.is_partial() => Some(1..=1),
            Err(wrong) => {
                let message = format!("`{}` is not a range: {wrong}", excerpt(&range.value));
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
    let metadata = (step.metadata).get_or_insert_with(|| until.with(Document::new()));
    let mut note = Document::new();
    note.insert("until".to_owned(), until.value.as_str().into());
    note.insert("max".to_owned(), max.into());
    metadata.value.insert("loop".to_owned(), note.into());
}

/// Reads a range; both ends belong to it. The error says what is wrong.
pub(super) fn evaluate_range<'v>(
    text: &str,
    value_of: impl Fn(&str) -> Option<&'v str>,
) -> Result<(i64, i64), String> {
    let (first, last) = text
        .split_once("..")
        .ok_or("a range is written as first..last")?;
    let number = |text: &str| {
        let text = substitute_single(text, MAX_LENGTH, &value_of);
        let text = text.map_err(|_| "it is too long".to_owned())?;
        Expression::evaluate(&text)
    };
    Ok((number(first)?, number(last)?))
}

/// The names that a range needs.
pub(super) fn range_names(text: &str) -> Vec<&str> {
    let parts = text.split('{').skip(1);
    parts
        .filter_map(|part| part.split_once('}').map(|(name, _)| name))
        .collect()
}

/// The longest expression.
const MAX_LENGTH: usize = 10_000;

/// What is left of an expression.
struct Expression<'t> {
    rest: &'t str,
    depth: usize,
}

/// Parentheses and powers can be nested so deep; nobody needs more.
const MAX_DEPTH: usize = 32;

impl Expression<'_> {
    fn evaluate(text: &str) -> Result<i64, String> {
        let mut expression = Expression {
            rest: text,
            depth: 0,
        };
        let value = expression.sum()?;
        match expression.peek() {
            None => Ok(value),
            Some(c) => Err(format!("`{c}` was not expected in `{}`", text.trim())),
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        is_there
    }

    fn sum(&mut self) -> Result<i64, String> {
        let mut value = self.product()?;
        loop {
            value = if self.take('+') {
                fits(value.checked_add(self.product()?))?
            } else if self.take('-') {
                fits(value.checked_sub(self.product()?))?
            } else {
                return Ok(value);
            };
        }
    }

    fn product(&mut self) -> Result<i64, String> {
        let mut value = self.power()?;
        loop {
            value = if self.take('*') {
                fits(value.checked_mul(self.power()?))?
            } else if self.take('/') {
                match self.power()? {
                    0 => return Err("there is a division by zero".to_owned()),
                    divisor => fits(value.checked_div(divisor))?,
                }
            } else {
                return Ok(value);
            };
        }
    }

    fn power(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("it is nested too deep".to_owned());
        }
        let base = self.atom()?;
        let value = if self.take('^') {
            let exponent = self.power()?;
            let exponent = u32::try_from(exponent)
                .map_err(|_| "a power must not be negative or very large".to_owned())?;
            fits(base.checked_pow(exponent))?
        } else {
            base
        };
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<i64, String> {
        match self.peek() {
            Some('(') => {
                self.take('(');
                let value = self.sum()?;
                if self.take(')') {
                    Ok(value)
                } else {
                    Err("a `)` is missing".to_owned())
                }
            }
            Some('-') => {
                self.take('-');
                let value = self.power()?;
                fits(value.checked_neg())
            }
            Some(c) if c.is_ascii_digit() => {
                let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
                let (number, rest) = self.rest.split_at(digits);
                self.rest = rest;
                fits(number.parse().ok())
            }
            Some('{') => Err(format!(
                "`{}` has no value",
                self.rest.split_inclusive('}').next().unwrap_or(self.rest)
            )),
            Some(c) => Err(format!("`{c}` is not a number")),
            None => Err("a number is missing".to_owned()),
        }
    }
}

fn fits(value: Option<i64>) -> Result<i64, String> {
    value.ok_or_else(|| "the number is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_computed() {
        let value_of = |name: &str| (name == "n").then_some("3");
        for (text, range) in [
            ("1..10", Ok((1, 10))),
            (" 1 .. 2^{n} ", Ok((1, 8))),
            ("{n}..({n}+1)*2", Ok((3, 8))),
            ("-1..7/2-1", Ok((-1, 2))),
            ("2^3^0..2", Ok((2, 2))),
        ] {
            assert_eq!(evaluate_range(text, value_of), range, "{text}");
        }
        for text in [
            "",
            "1",
            "1..",
            "..2",
            "1..x",
            "1..2 3",
            "1..{m}",
            "1..1/0",
            "1..9^99",
            "1..2^-1",
            "1..(2",
            "1..99999999999999999999",
        ] {
            assert!(evaluate_range(text, value_of).is_err(), "{text}");
        }
        let deep = format!("1..{}1", "(".repeat(100_000));
        assert!(evaluate_range(&deep, value_of).is_err());
        assert_eq!(range_names("{a}..2^{b}"), ["a", "b"]);
    }
}
