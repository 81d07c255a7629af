//! How the program talks: data on standard output, talk on standard error, JSON when asked.

mod diagnostics;

pub(crate) use diagnostics::{Style, counts, diagnostics_json, failure_of, render, render_short};

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use beads_ralph_core::diag::{Diagnostic, ErrorCode};
use beads_ralph_runtime::env::{self, Variable};
use serde_json::{Value, json};

use crate::args::{ColorChoice, Global};
use crate::failure::Failure;
use crate::plan_source::PlanSource;

/// The width of a page when standard output is no terminal.
const DEFAULT_WIDTH: usize = 100;

/// What was decided once about all output.
#[derive(Debug)]
pub(crate) struct Ui {
    is_json: bool,
    is_fenced: bool,
    is_quiet: bool,
    color: ColorChoice,
}

/// A stream that people may be looking at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

impl Ui {
    pub(crate) fn new(global: &Global) -> Self {
        Self {
            is_json: global.json || global.fenced,
            is_fenced: global.fenced,
            is_quiet: global.quiet,
            color: global.color,
        }
    }

    /// The same, with JSON asked for by a command's own `--format`.
    pub(crate) fn with_json(&self, is_json: bool) -> Self {
        Self {
            is_json: self.is_json || is_json,
            ..*self
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Prints data for people. With `--json` standard output belongs to the envelope alone.
    pub(crate) fn out(&self, text: &str) -> Result<(), Failure> {
        if self.is_json {
            Ok(())
        } else {
            write_stdout(text)
        }
    }

    /// Says something beside the data, unless nobody wants to hear it.
    pub(crate) fn say(&self, text: &str) {
        if !self.is_quiet && !self.is_json {
            write_stderr(text);
        }
    }

    /// Prints what must be seen even when quiet: findings that keep a command from its data.
    pub(crate) fn complain(&self, text: &str) {
        if !self.is_json {
            write_stderr(text);
        }
    }

    /// Prints the envelope of a success (E-1).
    pub(crate) fn data(&self, data: &Value) -> Result<(), Failure> {
        self.envelope(&json!({"success": true, "data": data, "error": null}))
    }

    /// Reports a failure in the form that was asked for.
    pub(crate) fn failure(&self, failure: &Failure) {
        if self.is_json {
            let envelope = json!({"success": false, "data": null, "error": failure.to_json()});
            // If standard output is broken there is nobody left to tell; the exit code remains.
            drop(self.envelope(&envelope));
        } else if !failure.is_told() {
            let code = failure.code().as_str();
            let action = failure.suggested_action();
            write_stderr(&format!(
                "error[{code}]: {}\n  help: {action}\n",
                failure.message()
            ));
        }
    }

    /// Shows the findings that keep a command from its data, and gives the failure that they amount to.
    pub(crate) fn refuse(&self, source: &PlanSource, findings: &[Diagnostic]) -> Failure {
        self.complain(&render(source, findings, self.style(Stream::Err)));
        let unexplained = || {
            Failure::new(
                ErrorCode::ParseMarkdown,
                "nothing could be made of the plan",
            )
        };
        failure_of(source, findings).map_or_else(unexplained, Failure::told)
    }

    /// How pictures and findings look on a stream.
    pub(crate) fn style(&self, stream: Stream) -> Style {
        let is_terminal = match stream {
            Stream::Out => io::stdout().is_terminal(),
            Stream::Err => io::stderr().is_terminal(),
        };
        let is_plain = env::get(Variable::NoColor).is_some()
            || env::get(Variable::Term).as_deref() == Some("dumb");
        let color = match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => is_terminal && !is_plain,
        };
        Style {
            color,
            unicode: env::is_unicode(),
            width: width(),
        }
    }

    fn envelope(&self, envelope: &Value) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(envelope).unwrap_or_default();
        write_stdout(&if self.is_fenced {
            format!("```json\n{text}\n```\n")
        } else {
            format!("{text}\n")
        })
    }
}

/// Each item on a line of its own.
pub(crate) fn lines(items: impl IntoIterator<Item = impl Display>) -> String {
    let mut text = String::new();
    for item in items {
        text.push_str(&item.to_string());
        text.push('\n');
    }
    text
}

fn width() -> usize {
    terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0))
}

fn write_stdout(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        // Whoever closed the pipe has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(
            ErrorCode::IoPermissionDenied,
            format!("cannot write to standard output: {error}"),
        )),
        Ok(()) => Ok(()),
    }
}

fn write_stderr(text: &str) {
    // Standard error is the last resort: when it fails there is nowhere to say so.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}
