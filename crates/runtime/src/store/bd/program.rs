//! Calling the real `bd`: one process at a time, with a time limit, and never a question.
//!
//! Every call names the `.beads` directory, so that nothing depends on where we are. What it prints is kept whole. Limits: what a
//! call that was ended by us has done is not known; whoever called it must look.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use beads_ralph_core::text::excerpt;
use camino::{Utf8Path, Utf8PathBuf};

use super::answer::Answer;
use crate::os::files;
use crate::os::process::{
    Cancel, Ending, Environment, Flow, Limits, Mark, Spec, Stdin, Stopped, Stream, UnitError,
    Units, Watch,
};
use crate::store::StoreError;

/// How long `bd` may take to end after it was asked to. It finishes what it writes in this time.
const GRACE: Duration = Duration::from_secs(5);

/// The most that one call may print.
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

/// One call.
#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    pub(super) arguments: Vec<Argument>,
    pub(super) input: Option<Vec<u8>>,
    /// More time than usual, for calls that do much.
    pub(super) extra: Duration,
}

/// An argument of a call.
#[derive(Debug, Clone)]
pub(super) enum Argument {
    /// As it is.
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
    pub(super) fn call(&self, call: &Call) -> Result<Answer, StoreError> {
        let command = call.shown();
        let fail = |why: String| StoreError::BdFailed {
            command: command.clone(),
            code: None,
            said: why,
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
                return Err(super::missing(&self.beads));
            }
            Err(error) => return Err(fail(error.to_string())),
        };
        match ended.stopped {
            Some(Stopped::Wall) => {
                return Err(StoreError::BdTimeout {
                    command,
                    seconds: (self.limit + call.extra).as_secs(),
                });
            }
            Some(_) => return Err(fail("it printed more than can be kept".to_owned())),
            None => {}
        }
        let code = match ended.ending {
            Ending::Exited(code) => code,
            ending => {
                return Err(StoreError::BdFailed {
                    command,
                    code: ending.code(),
                    said: "it was killed".to_owned(),
                });
            }
        };
        Ok(Answer {
            command,
            code,
            stdout: printed.stdout,
            stderr: String::from_utf8_lossy(&printed.stderr).into_owned(),
        })
    }

    fn argv(&self, call: &Call, directory: &Utf8Path) -> Result<Vec<String>, StoreError> {
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
