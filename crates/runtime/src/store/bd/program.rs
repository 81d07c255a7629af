//! Calling the real `bd`: one process at a time, with a time limit, and never a question.
//!
//! Answers are JSON in any of the shapes that its versions have. Errors are sometimes JSON on standard output, sometimes on standard
//! error, sometimes text; the exit code decides, and the rest is only shown.
//!
//! Every call names the `.beads` directory, so that nothing depends on where we are. What it prints is kept whole. Limits: what a
//! call that was ended by us has done is not known; whoever called it must look.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use beads_ralph_core::text::excerpt;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::failure::BdError;
use crate::os::files;
use crate::os::process::{
    Cancel, Ending, Environment, Flow, Limits, Mark, Spec, Stdin, Stopped, Stream, UnitError,
    Units, Watch,
};
use crate::store::{Result, StoreError};

/// How long `bd` may take to end after it was asked to. It finishes what it writes in this time.
const GRACE: Duration = Duration::from_secs(5);

const MAX_PRINTED: usize = 1 << 30;

/// What is set for every call: no questions, no colours, no pages, no news.
const ALWAYS: [(&str, &str); 4] = [
    ("BD_NON_INTERACTIVE", "1"),
    ("BD_NO_PAGER", "1"),
    ("NO_COLOR", "1"),
    ("BD_LAST_TOUCHED_FALLBACK", "0"),
];

/// What would give its answers another shape or another database.
const NEVER: [&str; 6] = [
    "BD_JSON_ENVELOPE",
    "BEADS_DB",
    "BD_DB",
    "BEADS_MAX_ROWS",
    "BD_READONLY",
    "BD_DEBUG",
];

/// The real `bd` of a `.beads` directory.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: Utf8PathBuf,
    pub(super) beads: Utf8PathBuf,
    pub(super) units: Arc<Units>,
    pub(super) limit: Duration,
    /// How often it was called, for those who count.
    pub(super) n_calls: Cell<u64>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    pub(super) arguments: Vec<Argument>,
    pub(super) input: Option<Vec<u8>>,
    /// More time than usual, for calls that do much.
    pub(super) extra: Duration,
}

#[derive(Debug, Clone)]
pub(super) enum Argument {
    Text(String),
    /// A flag whose value is the path of a file with this in it: a file takes any text, whereas an argument is bounded
    /// and seen by everybody on the machine.
    File(&'static str, Vec<u8>),
}

impl Call {
    pub(super) fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let arguments = words
            .into_iter()
            .map(|word| Argument::Text(word.to_owned()));
        Self {
            arguments: arguments.collect(),
            ..Self::default()
        }
    }

    /// What was called, for an error: the command and what it is about, not its texts.
    fn shown(&self) -> String {
        let words = self.arguments.iter().map(|argument| match argument {
            Argument::Text(text) if text.starts_with("--") => {
                text.split('=').next().unwrap_or_default()
            }
            Argument::Text(text) => text,
            Argument::File(flag, _) => flag.trim_end_matches(['=', '@']),
        });
        let words: Vec<String> = words.map(excerpt).collect();
        format!("bd {}", words.join(" "))
    }
}

/// Everything that a call prints, up to a bound.
#[derive(Debug, Default)]
struct Printed {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Watch for Printed {
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Flow {
        let kept = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        if kept.len() + bytes.len() > MAX_PRINTED {
            return Flow::Stop;
        }
        kept.extend_from_slice(bytes);
        Flow::GoOn
    }
}

impl Program {
    /// Calls it and waits for its end, whatever its exit code.
    pub(super) fn call(&self, call: &Call) -> Result<Answer> {
        let command = call.shown();
        let fail = |why: String| {
            BdError::Failed {
                command: command.clone(),
                code: None,
                said: why,
            }
            .into()
        };
        let directory = tempfile::tempdir().map_err(|error| fail(error.to_string()))?;
        let directory = Utf8Path::from_path(directory.path())
            .ok_or_else(|| fail("the temporary directory's path is not UTF-8".to_owned()))?;
        let argv = self.argv(call, directory)?;
        let stdin = match &call.input {
            None => Stdin::Closed,
            Some(bytes) => {
                let path = directory.join("input");
                files::create_new(&path, bytes)?;
                Stdin::File(path)
            }
        };
        let spec = self.spec(argv, stdin, self.limit + call.extra);
        let cancel = Cancel::new().map_err(|error| fail(error.to_string()))?;
        self.n_calls.set(self.n_calls.get() + 1);
        let mut printed = Printed::default();
        let ended = match self.units.run(&spec, &cancel, &mut printed) {
            Ok(ended) => ended,
            Err(UnitError::Program { is_missing, .. }) if is_missing => {
                return Err(BdError::Missing(self.beads.clone()).into());
            }
            Err(error) => return Err(fail(error.to_string())),
        };
        match ended.stopped {
            Some(Stopped::Wall) => {
                return Err(BdError::Timeout {
                    command,
                    seconds: (self.limit + call.extra).as_secs(),
                }
                .into());
            }
            Some(_) => return Err(fail("it printed more than can be kept".to_owned())),
            None => {}
        }
        let code = match ended.ending {
            Ending::Exited(code) => code,
            ending => {
                return Err(BdError::Failed {
                    command,
                    code: ending.code(),
                    said: "it was killed".to_owned(),
                }
                .into());
            }
        };
        Ok(Answer {
            command,
            code,
            stdout: printed.stdout,
            stderr: String::from_utf8_lossy(&printed.stderr).into_owned(),
        })
    }

    fn argv(&self, call: &Call, directory: &Utf8Path) -> Result<Vec<String>> {
        let mut argv = vec![self.path.to_string()];
        for (number, argument) in call.arguments.iter().enumerate() {
            argv.push(match argument {
                Argument::Text(text) => text.clone(),
                Argument::File(flag, bytes) => {
                    let path = directory.join(format!("argument-{number}"));
                    files::create_new(&path, bytes)?;
                    format!("{flag}{path}")
                }
            });
        }
        Ok(argv)
    }

    fn spec(&self, argv: Vec<String>, stdin: Stdin, wall: Duration) -> Spec {
        let always = ALWAYS.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut with = BTreeMap::from(always);
        with.insert("BEADS_DIR".to_owned(), self.beads.to_string());
        Spec {
            mark: Mark::unique(),
            argv,
            cwd: self.beads.parent().unwrap_or(&self.beads).to_owned(),
            env: Environment {
                without: NEVER.map(str::to_owned).to_vec(),
                with,
            },
            stdin,
            limits: Limits {
                wall: Some(wall),
                idle: None,
                grace: GRACE,
            },
            output: None,
        }
    }
}

/// With this code `bd update` says that a guard did not hold and that nothing was written.
const GUARD_MISMATCH: i32 = 13;

/// How much of what it said an error repeats.
const MAX_SAID: usize = 500;

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
    pub(super) fn succeeded(self) -> Result<Self> {
        if self.code == 0 {
            return Ok(self);
        }
        Err(self.failure())
    }

    /// The error that a failed call is.
    pub(super) fn failure(&self) -> StoreError {
        let said = self.said();
        if said.contains("no beads database found") {
            return BdError::Uninitialized(said).into();
        }
        BdError::Failed {
            command: self.command.clone(),
            code: Some(self.code),
            said,
        }
        .into()
    }

    /// What it said went wrong, in one line.
    fn said(&self) -> String {
        let stdout = String::from_utf8_lossy(&self.stdout);
        let of_json = |text: &str| Some(serde_json::from_str::<Refusal>(text).ok()?.error);
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
    fn value(&self) -> Result<Value> {
        let value = serde_json::from_slice(&self.stdout).map_err(|error| self.no_json(&error))?;
        Ok(unwrapped(value))
    }

    /// The one object that was printed, as far as it is of interest; anything else says nothing.
    pub(super) fn parsed<T: DeserializeOwned + Default>(&self) -> Result<T> {
        Ok(serde_json::from_value(self.value()?).unwrap_or_default())
    }

    /// The objects that were printed: a list, or a single one.
    pub(super) fn objects(&self) -> Result<Vec<Map<String, Value>>> {
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
    pub(super) fn lines(&self) -> Result<Vec<Value>> {
        let lines = serde_json::Deserializer::from_slice(&self.stdout).into_iter();
        let lines: Result<Vec<Value>, _> = lines.collect();
        lines.map_err(|error| self.no_json(&error))
    }

    fn no_json(&self, error: &serde_json::Error) -> StoreError {
        let start: String = (String::from_utf8_lossy(&self.stdout).chars())
            .take(MAX_SAID)
            .collect();
        BdError::Failed {
            command: self.command.clone(),
            code: Some(self.code),
            said: format!("it printed no JSON ({error}) but: {}", excerpt(&start)),
        }
        .into()
    }

    fn unexpected(&self, value: &Value) -> StoreError {
        BdError::Failed {
            command: self.command.clone(),
            code: Some(self.code),
            said: format!(
                "an object was expected, not {}",
                excerpt(&value.to_string())
            ),
        }
        .into()
    }
}

/// An error that is printed as JSON.
#[derive(Deserialize)]
struct Refusal {
    error: String,
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
