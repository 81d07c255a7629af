//! How the program talks: data on standard output, talk on standard error, JSON when asked.

pub(crate) mod bead_view;
pub(crate) mod board;
mod diagnostics;
pub(crate) mod draw;
pub(crate) mod figures;
pub(crate) mod format;
pub(crate) mod kept_check;
pub(crate) mod live;
pub(crate) mod outcomes;
pub(crate) mod page;
pub(crate) mod table;

pub(crate) use diagnostics::{
    JsonDiagnostic, Style, counts, diagnostics_json, failure_of, failure_of_all, render,
    render_short,
};
pub(crate) use format::counted;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, BufRead as _, BufWriter, IsTerminal as _, Write as _};
use std::marker::PhantomData;
use std::ops::ControlFlow;

use beads_ralph_core::diag::{Diagnostic, ErrorCode, sort_by_place};
use beads_ralph_runtime::app::plan::PlanSource;
use beads_ralph_runtime::os::env::{self, Variable};
use beads_ralph_runtime::{os::limits, os::terminal, repo};
use camino::Utf8Path;
use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::args::{Cli, ColorChoice};
use crate::failure::{ErrorObject, Failure};

/// The width of a page when standard output is not a terminal.
const DEFAULT_WIDTH: usize = 100;

/// The answer to a program is often some hundred kilobytes; each call of the system costs.
const ENVELOPE_BUFFER: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct Ui {
    is_json: bool,
    is_fenced: bool,
    is_quiet: bool,
    color: ColorChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

impl Ui {
    pub(crate) fn new(cli: &Cli) -> Self {
        Self {
            is_json: cli.wants_json(),
            is_fenced: cli.global.fenced,
            is_quiet: cli.global.quiet,
            color: cli.global.color,
        }
    }

    /// For a script whose arguments could not be read.
    pub(crate) fn for_json(is_fenced: bool) -> Self {
        Self {
            is_json: true,
            is_fenced,
            is_quiet: true,
            color: ColorChoice::Never,
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Whether a line that moves can be shown: people look at it, on a terminal that can.
    pub(crate) fn is_live(&self) -> bool {
        let is_dumb = env::get(Variable::Term).as_deref() == Some("dumb");
        !self.is_quiet && !self.is_json && !is_dumb && io::stderr().is_terminal()
    }

    /// Whether the whole of standard output can be drawn on.
    pub(crate) fn is_screen(&self) -> bool {
        let is_dumb = env::get(Variable::Term).as_deref() == Some("dumb");
        !self.is_json && !is_dumb && io::stdout().is_terminal()
    }

    /// Prints data for people. With `--json` standard output belongs to the envelope alone.
    pub(crate) fn out(&self, text: &str) -> Result<(), Failure> {
        if self.is_json {
            Ok(())
        } else {
            write_stdout(text)
        }
    }

    /// Prints one line of JSON, for programs that read along.
    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(crate) fn line(&self, value: &impl Serialize) -> Result<(), Failure> {
        let mut text = serde_json::to_string(value).expect("what we write can be written");
        text.push('\n');
        write_stdout(&text)
    }

    /// Prints a message beside the data, unless `--quiet` is given.
    pub(crate) fn say(&self, text: &str) {
        if !self.is_quiet && !self.is_json {
            write_stderr(text);
        }
    }

    /// Asks whether to continue; `None` if standard input or standard error is not a terminal.
    pub(crate) fn confirms(&self, question: &str) -> Option<bool> {
        if self.is_json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return None;
        }
        write_stderr(&format!("{question} [y/N] "));
        let mut answer = String::new();
        // No line at all: the terminal was closed, or whoever sits there ended the input without an answer.
        let n_read = io::stdin().lock().read_line(&mut answer).ok()?;
        (n_read > 0).then_some(())?;
        Some(matches!(answer.trim(), "y" | "Y" | "yes"))
    }

    /// Prints what must be seen even when quiet: findings that keep a command from its data.
    pub(crate) fn complain(&self, text: &str) {
        if !self.is_json {
            write_stderr(text);
        }
    }

    /// Prints the envelope of a success (E-1).
    pub(crate) fn data(&self, data: &impl Serialize) -> Result<(), Failure> {
        self.envelope(&Envelope {
            success: true,
            data: Some(data),
            error: None,
        })
    }

    /// Prints the envelope of a success whose data is one key.
    pub(crate) fn data_under(
        &self,
        key: &'static str,
        value: &impl Serialize,
    ) -> Result<(), Failure> {
        self.data(&BTreeMap::from([(key, value)]))
    }

    /// Reports a failure in the form that was asked for.
    pub(crate) fn failure(&self, failure: &Failure) {
        if self.is_json && failure.is_late() {
            // Half of an answer is printed; another one behind it would help nobody.
            write_stderr(&failure.sentence());
        } else if self.is_json {
            let envelope = Envelope::<()> {
                success: false,
                data: None,
                error: Some(failure.to_error()),
            };
            // Standard output itself may be broken: then standard error has the message, and the exit code stays.
            if self.envelope(&envelope).is_err() {
                write_stderr(&failure.sentence());
            }
        } else if !failure.is_told() {
            write_stderr(&failure.sentence());
        }
    }

    /// The failure to end with of several: the first fatal one, else the first. The others are printed here.
    pub(crate) fn worst(&self, mut failures: Vec<Failure>) -> Option<Failure> {
        if failures.is_empty() {
            return None;
        }
        let fatal = failures.iter().position(|one| one.exit_code() == 3);
        let worst = failures.remove(fatal.unwrap_or(0));
        if !self.is_json {
            for failure in &failures {
                self.failure(failure);
            }
        }
        Some(worst)
    }

    /// Shows the findings that keep a command from its data, and gives the failure that they amount to: the
    /// first error's, in the order in which they were found.
    pub(crate) fn refuse(&self, source: &PlanSource, mut findings: Vec<Diagnostic>) -> Failure {
        let unexplained = || {
            Failure::new(
                ErrorCode::ParseMarkdown,
                "nothing could be made of the plan",
            )
        };
        let failure = failure_of(source, &findings).map_or_else(unexplained, Failure::told);
        sort_by_place(&mut findings);
        self.complain(&render(source, &findings, self.style(Stream::Err)));
        if self.is_json {
            failure.with_diagnostics(diagnostics_json(source, &findings))
        } else {
            failure
        }
    }

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

    fn envelope(&self, envelope: &impl Serialize) -> Result<(), Failure> {
        let mut out = BufWriter::with_capacity(ENVELOPE_BUFFER, io::stdout().lock());
        let (before, after) = if self.is_fenced {
            ("```json\n", "\n```\n")
        } else {
            ("", "\n")
        };
        let written = out
            .write_all(before.as_bytes())
            .and_then(|()| {
                serde_json::to_writer_pretty(&mut out, envelope).map_err(io::Error::from)
            })
            .and_then(|()| out.write_all(after.as_bytes()))
            .and_then(|()| out.flush());
        ignoring_closed_pipe(written)
    }
}

/// What every command answers (E-1).
#[derive(Serialize)]
struct Envelope<'e, D> {
    success: bool,
    data: Option<&'e D>,
    error: Option<ErrorObject<'e>>,
}

/// A list for programs that is written as it comes, so that it is never held as a whole.
pub(crate) struct Streamed<T, E> {
    each: Cell<Option<E>>,
    failed: Cell<Option<Failure>>,
    item: PhantomData<fn(T)>,
}

impl<T, E> Streamed<T, E>
where
    T: Serialize,
    E: FnOnce(&mut dyn FnMut(T) -> ControlFlow<()>) -> Result<(), Failure>,
{
    /// The items that a function gives, one after the other.
    pub(crate) fn new(each: E) -> Self {
        Self {
            each: Cell::new(Some(each)),
            failed: Cell::new(None),
            item: PhantomData,
        }
    }

    /// What became of a list that was printed: what made it end too early comes before what printing says.
    pub(crate) fn ended(&self, printed: Result<(), Failure>) -> Result<(), Failure> {
        self.failed
            .take()
            .map_or(printed, |failure| Err(failure.late()))
    }
}

impl<T, E> Serialize for Streamed<T, E>
where
    T: Serialize,
    E: FnOnce(&mut dyn FnMut(T) -> ControlFlow<()>) -> Result<(), Failure>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let each = self.each.take().expect("a list is printed once");
        let mut list = serializer.serialize_seq(None)?;
        let mut unwritten = None;
        let seen = each(&mut |item| match list.serialize_element(&item) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                unwritten = Some(error);
                ControlFlow::Break(())
            }
        });
        if let Some(error) = unwritten {
            return Err(error);
        }
        if let Err(failure) = seen {
            self.failed.set(Some(failure));
            return Err(S::Error::custom("the list ended too early"));
        }
        list.end()
    }
}

/// A document as it is written to files and to people: indented, with a line end.
pub(crate) fn pretty(document: &Value) -> String {
    let mut text =
        serde_json::to_string_pretty(document).expect("a JSON value can always be written");
    text.push('\n');
    text
}

/// A path as it can be pasted into a shell, unless it holds what must not be shown.
pub(crate) fn quoted(path: &Utf8Path) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:=".contains(c);
    let dashed = if path.as_str().starts_with('-') {
        "./"
    } else {
        ""
    };
    if path.as_str().chars().all(is_plain) {
        return format!("{dashed}{path}");
    }
    format!("'{dashed}{}'", repo::shown(path).replace('\'', "'\\''"))
}

pub(crate) fn lines(items: impl IntoIterator<Item = impl Display>) -> String {
    let mut text = String::new();
    for item in items {
        text.push_str(&item.to_string());
        text.push('\n');
    }
    text
}

/// The columns of the terminal that data goes to; nothing when it goes to a file or a pipe.
pub(crate) fn page_width() -> Option<usize> {
    io::stdout().is_terminal().then(width)
}

fn width() -> usize {
    terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0))
}

/// Prints text as it is, for the `bd` face, which has its own ways.
pub(crate) fn raw_out(text: &str) -> Result<(), Failure> {
    write_stdout(text)
}

/// Prints text on standard error as it is, for the `bd` face.
pub(crate) fn raw_err(text: &str) {
    write_stderr(text);
}

fn write_stdout(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    ignoring_closed_pipe(
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush()),
    )
}

/// Whoever closed the pipe or the terminal has seen enough; anything else is a failure.
fn ignoring_closed_pipe(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error)
            if error.kind() != io::ErrorKind::BrokenPipe && !terminal::is_output_closed() =>
        {
            let message = format!(
                "cannot write to standard output: {}",
                limits::explain(&error)
            );
            Err(Failure::new(ErrorCode::IoPermissionDenied, message)
                .action("check the disk and the pipe"))
        }
        _ => Ok(()),
    }
}

fn write_stderr(text: &str) {
    // Standard error is the last resort: when it fails there is nowhere to say so.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}
