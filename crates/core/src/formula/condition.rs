//! Conditions of steps: whether a step is wanted, decided by the values of variables.
//!
//! Whoever needed a step that is left out needs what that one needed, so that nobody starts earlier. The real `bd` forgets the need.

use std::collections::HashMap;
use std::fmt;

use super::model::Step;
use super::model::is_variable_name;
use super::place::Placed;
use super::template::placeholders;
use super::values::Bindings;

/// A condition of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The variable that it is about.
    pub variable: String,
    /// What must be true of it.
    pub test: Test,
}

/// What must be true of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// It says yes: it is neither empty nor `false`, `0`, `no` or `off`.
    IsTrue,
    /// It says no.
    IsFalse,
    /// It is this text.
    Is(String),
    /// It is any other text.
    IsNot(String),
}

impl Condition {
    /// Reads `{{v}}`, `!{{v}}`, `{{v}} == text` or `{{v}} != text`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (is_negated, rest) = match text.strip_prefix('!') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, text),
        };
        let placeholder = placeholders(rest).next()?;
        let tail = rest.strip_prefix(placeholder.written)?.trim();
        debug_assert!(is_variable_name(placeholder.name));
        let test = match (is_negated, tail) {
            (false, "") => Test::IsTrue,
            (true, "") => Test::IsFalse,
            (true, _) => return None,
            (false, tail) => {
                let is = tail.strip_prefix("==").map(|text| Test::Is(unquoted(text)));
                let is_not = || {
                    tail.strip_prefix("!=")
                        .map(|text| Test::IsNot(unquoted(text)))
                };
                is.or_else(is_not)?
            }
        };
        Some(Self {
            variable: placeholder.name.to_owned(),
            test,
        })
    }

    /// Whether it holds for a value.
    pub fn holds(&self, value: &str) -> bool {
        match &self.test {
            Test::IsTrue => says_yes(value),
            Test::IsFalse => !says_yes(value),
            Test::Is(wanted) => value == wanted,
            Test::IsNot(other) => value != other,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variable = &self.variable;
        match &self.test {
            Test::IsTrue => write!(f, "{{{{{variable}}}}}"),
            Test::IsFalse => write!(f, "!{{{{{variable}}}}}"),
            Test::Is(text) => write!(f, "{{{{{variable}}}}} == {text}"),
            Test::IsNot(text) => write!(f, "{{{{{variable}}}}} != {text}"),
        }
    }
}

fn says_yes(value: &str) -> bool {
    !matches!(
        value.to_ascii_lowercase().as_str(),
        "" | "false" | "0" | "no" | "off"
    )
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inner = ['"', '\''].into_iter().find_map(|quote| {
        text.strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
    });
    inner.unwrap_or(text).to_owned()
}

/// The steps that are wanted.
pub(super) fn drop_unwanted(steps: Vec<Step>, bindings: &Bindings) -> Vec<Step> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_those_of_bd() {
        for (text, value, holds) in [
            ("{{v}}", "yes", true),
            ("{{ v }}", "OFF", false),
            ("{{v}}", "", false),
            ("!{{v}}", "0", true),
            ("! {{v}}", "1", false),
            ("{{v}} == prod", "prod", true),
            ("{{v}}=='a b'", "a b", true),
            ("{{v}} != \"x\"", "x", false),
            ("{{v}} == ", "", true),
        ] {
            let condition = Condition::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(condition.variable, "v");
            assert_eq!(condition.holds(value), holds, "{text} with {value:?}");
            assert_eq!(Condition::parse(&condition.to_string()), Some(condition));
        }
        for text in [
            "",
            "v",
            "{{v}} and more",
            "!{{v}} == x",
            "x {{v}}",
            "{{}}",
            "true",
        ] {
            assert_eq!(Condition::parse(text), None, "{text}");
        }
    }
}
