//! Conditions of steps: whether a step is wanted, decided by the values of variables.

use std::fmt;

use super::name::is_variable_name;
use super::template::placeholders;

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
