//! What `bd` answered: its exit code, and JSON in any of the shapes that its versions have.
//!
//! Errors are sometimes JSON on standard output, sometimes on standard error, sometimes text; the exit code decides, and the rest
//! is only shown.

use beads_ralph_core::text::excerpt;
use serde_json::{Map, Value};

use crate::store::StoreError;

/// With this code `bd update` says that a guard did not hold and that nothing was written.
const GUARD_MISMATCH: i32 = 13;

/// How much of what it said an error repeats.
const MAX_SAID: usize = 500;

/// How a call ended.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) command: String,
    pub(super) code: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

impl Answer {
    /// Whether every failure was a guard that did not hold.
    pub(super) fn is_guard_mismatch(&self) -> bool {
        self.code == GUARD_MISMATCH
    }

    /// The answer, if the call succeeded.
    pub(super) fn succeeded(self) -> Result<Self, StoreError> {
        if self.code == 0 {
            return Ok(self);
        }
        Err(self.failure())
    }

    /// The error that a failed call is.
    pub(super) fn failure(&self) -> StoreError {
        let said = self.said();
        if said.contains("no beads database found") {
            return StoreError::BdUninitialized { said };
        }
        StoreError::BdFailed {
            command: self.command.clone(),
            code: Some(self.code),
            said,
        }
    }

    /// What it said went wrong, in one line.
    fn said(&self) -> String {
        let stdout = String::from_utf8_lossy(&self.stdout);
        let of_json = |text: &str| {
            let value: Value = serde_json::from_str(text).ok()?;
            Some(value.get("error")?.as_str()?.to_owned())
        };
        let stderr = self.stderr.trim();
        let said = of_json(&stdout)
            .or_else(|| of_json(stderr))
            .unwrap_or_else(|| {
                let text = if stderr.is_empty() {
                    stdout.trim()
                } else {
                    stderr
                };
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            });
        said.chars().take(MAX_SAID).collect()
    }

    /// The one value that was printed.
    pub(super) fn value(&self) -> Result<Value, StoreError> {
        let value = serde_json::from_slice(&self.stdout).map_err(|error| self.no_json(&error))?;
        Ok(unwrapped(value))
    }

    /// The objects that were printed: a list, or one of its own.
    pub(super) fn objects(&self) -> Result<Vec<Map<String, Value>>, StoreError> {
        let list = match self.value()? {
            Value::Array(list) => list,
            Value::Null => Vec::new(),
            one => vec![one],
        };
        let objects = list.into_iter().map(|value| match value {
            Value::Object(object) => Ok(object),
            other => Err(self.unexpected(&other)),
        });
        objects.collect()
    }

    /// The objects of JSON lines.
    pub(super) fn lines(&self) -> Result<Vec<Value>, StoreError> {
        let lines = serde_json::Deserializer::from_slice(&self.stdout).into_iter();
        let lines: Result<Vec<Value>, _> = lines.collect();
        lines.map_err(|error| self.no_json(&error))
    }

    fn no_json(&self, error: &serde_json::Error) -> StoreError {
        let start: String = (String::from_utf8_lossy(&self.stdout).chars())
            .take(MAX_SAID)
            .collect();
        StoreError::BdFailed {
            command: self.command.clone(),
            code: Some(self.code),
            said: format!("it printed no JSON ({error}) but: {}", excerpt(&start)),
        }
    }

    fn unexpected(&self, value: &Value) -> StoreError {
        StoreError::BdFailed {
            command: self.command.clone(),
            code: Some(self.code),
            said: format!(
                "an object was expected, not {}",
                excerpt(&value.to_string())
            ),
        }
    }
}

/// The payload, out of the envelopes that there are.
fn unwrapped(value: Value) -> Value {
    match value {
        Value::Object(mut map) if map.contains_key("schema_version") => {
            for key in ["data", "items"] {
                if let Some(payload) = map.shift_remove(key) {
                    return payload;
                }
            }
            Value::Object(map)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn printed(stdout: &str) -> Answer {
        Answer {
            command: "bd show".to_owned(),
            code: 0,
            stdout: stdout.as_bytes().to_vec(),
            stderr: String::new(),
        }
    }

    #[test]
    fn z_3_every_shape_of_an_answer_is_read() {
        for text in [
            r#"[{"id":"a"}]"#,
            r#"{"id":"a"}"#,
            r#"{"data":[{"id":"a"}],"schema_version":1}"#,
            r#"{"data":{"id":"a"},"schema_version":1}"#,
            r#"{"items":[{"id":"a"}],"schema_version":1}"#,
        ] {
            let objects = printed(text).objects().unwrap();
            assert_eq!(objects[0]["id"], json!("a"), "{text}");
        }
        assert!(printed("null").objects().unwrap().is_empty());
        assert!(printed("[]").objects().unwrap().is_empty());
    }

    #[test]
    fn text_instead_of_json_is_an_error_that_shows_it() {
        for text in ["", "No issues found", "[1]", "[{\"id\":"] {
            let error = printed(text).objects().unwrap_err().to_string();
            assert!(error.contains("bd show"), "{error}");
        }
        let error = printed("Welcome to bd!").objects().unwrap_err().to_string();
        assert!(error.contains("Welcome to bd!"), "{error}");
    }

    #[test]
    fn what_went_wrong_is_found_wherever_it_was_said() {
        let said = |stdout: &str, stderr: &str| {
            let mut answer = printed(stdout);
            (answer.code, answer.stderr) = (1, stderr.to_owned());
            answer.failure().to_string()
        };
        assert!(said(r#"{"error":"no such type"}"#, "").contains("no such type"));
        assert!(said("", "{\n\"error\": \"no such type\"}").contains("no such type"));
        assert!(said("", "Error: no such\ntype").contains("Error: no such type"));
    }
}
