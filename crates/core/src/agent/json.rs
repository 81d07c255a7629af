//! Places in the JSON that agent programs print, conditions on what is there, and sentences about it.
//!
//! Pointers are as of RFC 6901, with `*` for every member.

pub(in crate::agent) mod observe;
pub(in crate::agent) mod report;
pub(in crate::agent) mod rule;

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

use crate::text::{excerpt, visible};
use rule::Pattern;

/// A place in a JSON value; with `*` in it, several places.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointer {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Member(Box<str>),
    Every,
}

impl Pointer {
    /// Reads a pointer: nothing, or steps that begin with `/` each.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return match text {
                "" => Ok(Self { steps: Vec::new() }),
                _ => Err(format!(
                    "'{}' is not a JSON pointer; a pointer begins with '/'",
                    excerpt(text)
                )),
            };
        };
        let step = |step: &str| match step {
            "*" => Step::Every,
            name => Step::Member(name.replace("~1", "/").replace("~0", "~").into()),
        };
        Ok(Self {
            steps: rest.split('/').map(step).collect(),
        })
    }

    /// Whether it can lead to several places.
    pub(in crate::agent) fn is_several(&self) -> bool {
        self.steps.contains(&Step::Every)
    }

    /// The values there.
    pub(in crate::agent) fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        for step in &self.steps {
            found = match step {
                Step::Member(name) => found.iter().filter_map(|from| member(from, name)).collect(),
                Step::Every => found.iter().flat_map(|from| members(from)).collect(),
            };
        }
        found
    }

    /// The one value there.
    pub(in crate::agent) fn first<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        if self.is_several() {
            return self.find(value).first().copied();
        }
        self.steps.iter().try_fold(value, |from, step| match step {
            Step::Member(name) => member(from, name),
            Step::Every => None,
        })
    }

    /// The number there, or the sum of several; of none if what holds them is there and empty.
    pub(in crate::agent) fn sum(&self, value: &Value) -> Option<f64> {
        if !self.is_several() {
            return self.first(value).and_then(Value::as_f64);
        }
        let before = self.steps.iter().take_while(|step| **step != Step::Every);
        let holder = Self {
            steps: before.cloned().collect(),
        };
        holder
            .first(value)
            .filter(|holder| holder.is_object() || holder.is_array())?;
        Some(self.find(value).into_iter().filter_map(Value::as_f64).sum())
    }
}

fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

fn members(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Object(members) => Box::new(members.values()),
        Value::Array(items) => Box::new(items.iter()),
        _ => Box::new(std::iter::empty()),
    }
}

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// What must be at a place.
#[derive(Debug, Clone)]
pub(in crate::agent) enum Is {
    Equal(Value),
    OneOf(Vec<Value>),
    Matches(Pattern),
    Present(bool),
}

impl Is {
    pub(in crate::agent) fn holds(&self, value: Option<&Value>) -> bool {
        let there = value.filter(|value| !value.is_null());
        match self {
            Self::Equal(wanted) => is_equal(wanted, there),
            Self::OneOf(wanted) => wanted.iter().any(|wanted| is_equal(wanted, there)),
            Self::Matches(pattern) => there
                .and_then(Value::as_str)
                .is_some_and(|text| pattern.is_match(text)),
            Self::Present(is_wanted) => there.is_some() == *is_wanted,
        }
    }
}

/// Whether a value is the wanted one; numbers are compared as numbers, and what is absent is null.
fn is_equal(wanted: &Value, value: Option<&Value>) -> bool {
    match (wanted, value) {
        (Value::Null, None) => true,
        (Value::Number(wanted), Some(Value::Number(value))) => {
            matches!((wanted.as_f64(), value.as_f64()), (Some(wanted), Some(value)) if wanted.total_cmp(&value).is_eq())
        }
        (wanted, Some(value)) => wanted == value,
        (_, None) => false,
    }
}

impl<'de> Deserialize<'de> for Is {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let is_nested = |value: &Value| value.is_array() || value.is_object();
        match Value::deserialize(deserializer)? {
            Value::Array(values) if values.iter().any(is_nested) => {
                Err(de::Error::custom("a list holds single values only"))
            }
            Value::Array(values) => Ok(Self::OneOf(values)),
            Value::Object(members) => test(members).map_err(de::Error::custom),
            value => Ok(Self::Equal(value)),
        }
    }
}

/// Reads `{matches: pattern}` or `{present: true}`.
fn test(members: Map<String, Value>) -> Result<Is, String> {
    let mut members = members.into_iter();
    match (members.next(), members.next()) {
        (Some((key, Value::String(pattern))), None) if key == "matches" => {
            Pattern::parse(&pattern).map(Is::Matches)
        }
        (Some((key, Value::Bool(is_wanted))), None) if key == "present" => {
            Ok(Is::Present(is_wanted))
        }
        _ => Err(
            "a condition is a value, a list of values, `{matches: pattern}` or `{present: true}`"
                .to_owned(),
        ),
    }
}

/// What people are shown of one thing that an agent does.
const MAX_SAID: usize = 160;

/// A sentence with values of the object in it.
#[derive(Debug, Clone)]
pub(in crate::agent) struct Saying {
    parts: Vec<SayingPart>,
}

#[derive(Debug, Clone)]
enum SayingPart {
    Literal(Box<str>),
    FirstOf(Vec<Pointer>),
}

impl Saying {
    pub(in crate::agent) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((inside, after)) = after.split_once('}') else {
                return Err(format!("'{}' has a '{{' that is not closed", excerpt(text)));
            };
            if !before.is_empty() {
                parts.push(SayingPart::Literal(before.into()));
            }
            let pointers = inside.split('|').map(Pointer::parse);
            parts.push(SayingPart::FirstOf(pointers.collect::<Result<_, _>>()?));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(SayingPart::Literal(rest.into()));
        }
        Ok(Self { parts })
    }

    /// One short and harmless line; nothing when none of its values is there.
    pub(in crate::agent) fn of(&self, value: &Value) -> Option<String> {
        let mut said = String::new();
        let mut has_value = false;
        for part in &self.parts {
            match part {
                SayingPart::Literal(text) => said.push_str(text),
                SayingPart::FirstOf(pointers) => {
                    let mut values = pointers
                        .iter()
                        .filter_map(|place| scalar(place.first(value)?));
                    if let Some(value) = values.next() {
                        has_value = true;
                        said.push_str(&value);
                    }
                }
            }
        }
        has_value.then(|| one_line(&said))
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.trim().is_empty() => None,
        // No more is shown than this, so no more is looked at.
        Value::String(text) => Some(text.chars().take(4 * MAX_SAID).collect()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A text on one line, cut and without anything that steers a terminal.
pub(in crate::agent) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let line = line.trim_end_matches([':', ' ']);
    let mut cut: String = line.chars().take(MAX_SAID).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    visible(&cut)
}

impl<'de> Deserialize<'de> for Saying {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pointer(text: &str) -> Pointer {
        Pointer::parse(text).unwrap()
    }

    #[test]
    fn a_pointer_leads_to_one_place_or_to_several() {
        let value = json!({"a": {"x": {"n": 1}, "y": {"n": 2.5}, "z": {}}, "list": ["p", {"q": "r"}], "empty": {}, "a/b~c": 7});
        assert_eq!(pointer("/list/1/q").first(&value), Some(&json!("r")));
        assert_eq!(pointer("/list/7").first(&value), None);
        assert_eq!(pointer("").first(&value), Some(&value));
        assert_eq!(pointer("/a~1b~0c").sum(&value), Some(7.0));
        assert_eq!(pointer("/a/*/n").sum(&value), Some(3.5));
        assert_eq!(pointer("/empty/*/n").sum(&value), Some(0.0));
        assert_eq!(pointer("/absent/*/n").sum(&value), None);
        assert_eq!(pointer("/list/0").sum(&value), None, "a text is no number");
        assert!(Pointer::parse("a/b").is_err());
    }
}

#[cfg(test)]
mod condition_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_condition_tells_values_apart() {
        let holds = |yaml: &str, value: Value| {
            let is: Is = serde_saphyr::from_str(yaml).unwrap();
            is.holds(value.get("x"))
        };
        for (yaml, there, absent) in [
            ("ok", json!("ok"), false),
            ("429", json!(429), false),
            ("0", json!(0.0), false),
            ("false", json!(false), false),
            ("null", json!(null), true),
            ("[401, 403]", json!(403), false),
            ("[null, 0]", json!(0), true),
            ("{matches: '^You.ve hit'}", json!("You've hit it"), false),
            ("{present: true}", json!([]), false),
            ("{present: false}", json!(null), true),
        ] {
            assert!(holds(yaml, json!({"x": there})), "{yaml}");
            assert_eq!(holds(yaml, json!({})), absent, "{yaml}");
            let is_any = yaml == "{present: true}";
            assert_eq!(holds(yaml, json!({"x": "other"})), is_any, "{yaml}");
        }
        for bad in [
            "{}",
            "[[1]]",
            "{matches: '('}",
            "{matches: a, present: true}",
            "{is: 1}",
        ] {
            assert!(serde_saphyr::from_str::<Is>(bad).is_err(), "{bad}");
        }
    }
}

#[cfg(test)]
mod saying_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_saying_is_one_short_harmless_line() {
        let saying = Saying::parse("{/name}: {/input/command|/input/path}").unwrap();
        let said = |value: Value| saying.of(&value);
        assert_eq!(
            said(json!({"name": "Bash", "input": {"command": "cargo\n  test \u{1b}[1m"}}))
                .as_deref(),
            Some("Bash: cargo test \\u{1b}[1m")
        );
        assert_eq!(
            said(json!({"name": "Edit", "input": {"path": "a.rs"}})).as_deref(),
            Some("Edit: a.rs")
        );
        assert_eq!(
            said(json!({"name": "Plan", "input": {}})).as_deref(),
            Some("Plan")
        );
        assert_eq!(said(json!({})), None);
        let long = said(json!({"name": "x".repeat(100_000)})).unwrap();
        assert!(long.chars().count() <= MAX_SAID + 1);
        assert!(Saying::parse("{/open").is_err());
        assert!(Saying::parse("{name}").is_err());
    }
}
