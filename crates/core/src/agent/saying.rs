//! Sentences about what an agent does, with values of its events in them.

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::text::{excerpt, visible};

use super::Pointer;

/// What people are shown of one thing that an agent does.
const MAX_SAID: usize = 160;

/// A sentence with values of the object in it.
#[derive(Debug, Clone)]
pub(super) struct Saying {
    parts: Vec<SayingPart>,
}

#[derive(Debug, Clone)]
enum SayingPart {
    Literal(Box<str>),
    FirstOf(Vec<Pointer>),
}

impl Saying {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
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
    pub(super) fn of(&self, value: &Value) -> Option<String> {
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
pub(super) fn one_line(text: &str) -> String {
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
