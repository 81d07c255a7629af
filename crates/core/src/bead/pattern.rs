//! Regular expressions that a check uses, read once and known to be good.

use std::borrow::Cow;

use regex::Regex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::field::Invalid;

/// A regular expression for one line of output.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Reads a regular expression.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = |error: regex::Error| {
            let reason = match error {
                regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
                // The library draws the place on several lines; the last one says what is wrong.
                error => {
                    let text = error.to_string();
                    let last = text.lines().last().unwrap_or_default();
                    last.trim_start_matches("error: ").to_owned()
                }
            };
            Invalid::pattern(format!("not a regular expression: {reason}"))
        };
        Regex::new(text).map(Self).map_err(refused)
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether a line matches somewhere.
    pub fn is_match(&self, line: &str) -> bool {
        self.0.is_match(line)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl JsonSchema for Pattern {
    fn schema_name() -> Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A regular expression for one line of output, in the syntax of Rust's regex crate.",
            "type": "string",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v_1_a_pattern_that_is_none_says_why() {
        let why = Pattern::parse("(unclosed").unwrap_err().to_string();
        assert_eq!(why, "not a regular expression: unclosed group");
        let why = Pattern::parse(r"(\w{1000}){1000}").unwrap_err().to_string();
        assert_eq!(why, "not a regular expression: it is too large");
        assert!(Pattern::parse("^ok: [0-9]+$").unwrap().is_match("ok: 12"));
    }
}
