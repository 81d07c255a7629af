//! Values for variables: given, defaulted, checked (F-3, F-4).

use std::collections::BTreeMap;

use super::model::is_variable_name;
use super::model::{Variable, VariableType};
use super::place::{Findings, Place, suggestion};
use crate::diag::{ErrorCode, WarningCode};
use crate::text::excerpt;

/// Values that somebody gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values(BTreeMap<String, String>);

/// A `--var` that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadValue {
    /// No `=`.
    #[error("`--var {}` has no `=`", excerpt(.0))]
    NoEquals(String),
    /// Nothing before the `=`, or no name.
    #[error("`{}` in `--var {}` is not a variable name", excerpt(.name), excerpt(.whole))]
    BadName {
        /// What stands before the `=`.
        name: String,
        /// All of it.
        whole: String,
    },
}

impl Values {
    /// Reads `name=value`; the value may hold more of `=`. Of a name that is given twice the last value counts, as with `bd`.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, BadValue> {
        let mut values = Self::default();
        for text in texts {
            let (name, value) = text
                .split_once('=')
                .ok_or_else(|| BadValue::NoEquals(text.to_owned()))?;
            if !is_variable_name(name) {
                return Err(BadValue::BadName {
                    name: name.to_owned(),
                    whole: text.to_owned(),
                });
            }
            values.set(name, value);
        }
        Ok(values)
    }

    /// Gives a value.
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// Gives a value unless there is one.
    pub fn offer(&mut self, name: &str, value: &str) {
        self.0
            .entry(name.to_owned())
            .or_insert_with(|| value.to_owned());
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The names that have a value.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Which values there are.
#[derive(Debug, Clone, Copy)]
pub enum Given<'v> {
    /// These, and no others: what is required and missing is an error.
    Values(&'v Values),
    /// These too, and whoever gave them could not know which a formula has (F-16): undeclared ones are accepted.
    Offered(&'v Values),
    /// None yet: the formula is only looked at.
    NotYet,
}

/// The value of every variable.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    values: BTreeMap<String, String>,
    is_partial: bool,
}

impl Bindings {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Whether values are still to come.
    pub(super) fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Adds values that win over those that are there.
    pub(super) fn with<'a>(values: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let values = values.into_iter();
        Self {
            values: values
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            is_partial: false,
        }
    }
}

/// Gives every declared variable its value: the given one, its default, or the empty text. Everything that is missing or does not
/// fit is said at once, at the place of its declaration.
pub(super) fn bind(
    variables: &[Variable],
    given: Given<'_>,
    whole: Place,
    findings: &mut Findings,
) -> Bindings {
    let none = Values::default();
    let (values, is_partial) = match given {
        Given::Values(values) | Given::Offered(values) => (values, false),
        Given::NotYet => (&none, true),
    };
    let mut bindings = Bindings {
        values: values.0.clone(),
        is_partial,
    };
    for variable in variables {
        bind_one(variable, values, &mut bindings, findings);
    }
    if let Given::Values(values) = given {
        warn_undeclared(variables, values, whole, findings);
    }
    bindings
}

fn bind_one(
    variable: &Variable,
    values: &Values,
    bindings: &mut Bindings,
    findings: &mut Findings,
) {
    let (name, place) = (&variable.name.value, variable.name.place);
    let value = match values.get(name) {
        Some("") if variable.is_required => {
            let message = format!("the variable `{name}` is required, and its value is empty");
            findings.error(
                ErrorCode::FormulaMissingVar,
                place,
                message,
                &how_to_give(variable),
            );
            return;
        }
        Some(value) => {
            if let Err(wrong) = check(variable, value) {
                let message = format!("the value of `{name}` {wrong}");
                let help = if variable.description.is_empty() {
                    String::new()
                } else {
                    format!("{name}: {}", excerpt(&variable.description))
                };
                findings.error(ErrorCode::FormulaInvalidVar, place, message, &help);
            }
            value
        }
        None if variable.must_be_given() && bindings.is_partial => return,
        None if variable.must_be_given() => {
            let message = format!("the variable `{name}` is required and has no value");
            findings.error(
                ErrorCode::FormulaMissingVar,
                place,
                message,
                &how_to_give(variable),
            );
            return;
        }
        None => match &variable.default {
            Some(default) => &default.value,
            None if bindings.is_partial => return,
            None => "",
        },
    };
    bindings.values.insert(name.clone(), value.to_owned());
}

fn how_to_give(variable: &Variable) -> String {
    let name = &variable.name.value;
    let about = if variable.description.is_empty() {
        String::new()
    } else {
        format!(" ({})", excerpt(&variable.description))
    };
    format!("pass --var {name}=VALUE{about}")
}

/// A value that no variable takes is probably misspelt (F-3).
fn warn_undeclared(variables: &[Variable], values: &Values, whole: Place, findings: &mut Findings) {
    let declared: Vec<&str> = (variables.iter())
        .map(|variable| variable.name.value.as_str())
        .collect();
    for name in values.names().filter(|name| !declared.contains(name)) {
        let message = format!("the formula declares no variable `{}`", excerpt(name));
        let help = suggestion(name, &declared, || match declared.as_slice() {
            [] => "it declares none".to_owned(),
            declared => format!("it declares {}", declared.join(", ")),
        });
        findings.warn(WarningCode::UndeclaredVariable, whole, message, &help);
    }
}

/// Whether a value fits its variable; the error goes on from "the value of x".
pub(super) fn check(variable: &Variable, value: &str) -> Result<(), String> {
    let fits_type = match variable.kind {
        VariableType::String => true,
        VariableType::Int => value.parse::<i64>().is_ok(),
        VariableType::Bool => matches!(value, "true" | "false"),
    };
    if !fits_type {
        let expected = match variable.kind {
            VariableType::Int => "a whole number",
            VariableType::Bool | VariableType::String => "`true` or `false`",
        };
        return Err(format!("is {expected}, not `{}`", excerpt(value)));
    }
    if !variable.allowed.is_empty() && !variable.allowed.iter().any(|word| word == value) {
        return Err(format!(
            "is one of {}, not `{}`",
            variable.allowed.join(", "),
            excerpt(value)
        ));
    }
    if let Some(pattern) = variable.pattern.as_ref()
        && !variable.has_pattern(value)
    {
        return Err(format!(
            "does not match {}: `{}`",
            pattern.value,
            excerpt(value)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_4_a_value_is_given_as_name_and_text() {
        let values = Values::parse(["a=1", "bead-id=x=y", "e=", "a=2"]).unwrap();
        assert_eq!(values.get("a"), Some("2"));
        assert_eq!(values.get("bead-id"), Some("x=y"));
        assert_eq!(values.get("e"), Some(""));
        for text in ["a", "=x", "", "1a=x", "a b=x"] {
            assert!(Values::parse([text]).is_err(), "{text}");
        }
    }
}
