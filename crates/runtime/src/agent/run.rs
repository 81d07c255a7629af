//! Running an agent as a unit, and keeping what it did.
//!
//! The directory of a run holds `prompt.md`, what it printed (`stdout.gz`, `stderr`), and `outcome.json`; where they are
//! needed also `schema.json`, and `report` if the agent wrote one.

use std::io::Read as _;
use std::time::Duration;

use beads_ralph_core::agent::{
    Adapter, Budget, Call, Context, Ending, Files, Halt, Input, Invocation, Outcome, ProcessEnd,
    Reader, SpentSoFar, Status, Tokens,
};
use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;
use uuid::Uuid;

use crate::os::files::{self, FileError};
use crate::os::process::{
    self, Cancel, Ended, Environment, Flow, Limits, Mark, Spec, Stdin, Stopped, Stream, UnitError,
    Units, Watch,
};
use crate::{os::clock, os::digest};

/// How long a program may take to end after its last word; what it runs in the background it gives five seconds itself.
pub const DRAIN: Duration = Duration::from_secs(30);

/// How long an agent may be silent: longer than its own limit for one command (Z-22).
const IDLE: Duration = Duration::from_mins(15);

/// No report is as long.
const MAX_REPORT: u64 = 4 << 20;

#[derive(Debug)]
pub struct Job<'a> {
    pub adapter: &'a Adapter,
    pub program: &'a Utf8Path,
    /// What is wanted of it. Where its files are is set here.
    pub call: Call,
    pub context: Context,
    pub directory: &'a Utf8Path,
    pub mark: Mark,
    /// How long it may take; the adapter may say less.
    pub limit: Duration,
    /// How long it may take to end after its last word: [`DRAIN`], unless somebody is in a hurry.
    pub drain: Duration,
    /// Names of variables that are kept from it.
    pub withhold: &'a [String],
    /// The tokens of the session that it resumes, if any.
    pub before: Tokens,
}

pub trait Observer {
    /// It does something else now, or something is known about it that was not.
    fn seen(&mut self, activity: Option<&str>, session: Option<&str>, spent: &SpentSoFar);

    /// Time passes, about five times a second.
    fn tick(&mut self, _elapsed: Duration) {}

    /// It has said nothing for half of the time after which it is stopped; told once for each silence.
    fn silent(&mut self, _silence: Duration, _deadline: Duration) {}
}

#[derive(Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    fn seen(&mut self, _: Option<&str>, _: Option<&str>, _: &SpentSoFar) {}
}

/// Why an agent could not be run for reasons that are ours. Whatever is wrong with the agent or its program is an [`Outcome`].
#[derive(Debug, Error)]
pub enum AgentError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Unit(UnitError),
}

pub fn new_session_id() -> String {
    Uuid::new_v4().to_string()
}

/// The id of a session that follows from a text: the same for the same text.
pub fn session_id_from(text: &str) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest::bytes(text.as_bytes())[..16]);
    uuid::Builder::from_random_bytes(bytes)
        .into_uuid()
        .to_string()
}

pub fn run(
    units: &Units,
    mut job: Job<'_>,
    cancel: &Cancel,
    observer: &mut dyn Observer,
) -> Result<Outcome, AgentError> {
    let place = |name: &str| job.directory.join(name);
    let (report, record) = (place("report"), place("outcome.json"));
    job.call.files = Files {
        prompt: Some(place("prompt.md").into_string()),
        schema: Some(place("schema.json").into_string()),
        last_message: Some(place("last-message").into_string()),
    };
    job.call.executable = Some(job.program.to_string());
    // The places must be free for what this run prints.
    files::remove_leftover(&place("stdout"));
    files::remove_leftover(&place("stderr"));
    if job.context.report.is_none() {
        // A report of an earlier run would be taken for this one's.
        files::remove_leftover(&report);
        job.context.report = Some(report.into_string());
    }
    let outcome = match job.adapter.invocation(&job.call) {
        Ok(invocation) => job.run(units, &invocation, cancel, observer)?,
        Err(error) => Outcome::new(Status::Config, error.to_string()),
    };
    let bytes = serde_json::to_vec_pretty(&outcome).expect("an outcome can always be written");
    files::write_atomic(&record, &bytes)?;
    Ok(outcome)
}

impl Job<'_> {
    fn run(
        &self,
        units: &Units,
        invocation: &Invocation,
        cancel: &Cancel,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, AgentError> {
        let prompt = self.directory.join("prompt.md");
        files::write_passing(&prompt, invocation.prompt.as_bytes())?;
        if let Some(schema) = (self.call.schema.as_ref()).filter(|_| invocation.needs_schema_file) {
            let bytes = schema.to_string().into_bytes();
            files::write_passing(&self.directory.join("schema.json"), &bytes)?;
        }
        let spec = self.spec(invocation, prompt);
        let mut watching = Watching {
            reader: Reader::new(self.adapter, &self.call).resuming(self.before),
            budget: self.call.budget,
            drain: self.drain,
            observer,
            over: None,
            shown: None,
            hearing: Hearing::new(self.adapter.idle_timeout.unwrap_or(IDLE)),
        };
        let ended = units.run(&spec, cancel, &mut watching);
        let Watching {
            mut reader, over, ..
        } = watching;
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => {
                let ending = Ending {
                    end: not_started(error)?,
                    halt: None,
                };
                return Ok(reader.finish(&ending, clock::wall()));
            }
        };
        if let Some(report) = self
            .context
            .report
            .as_deref()
            .and_then(|path| read_report(path.into()))
        {
            reader.report_file(report);
        }
        let ending = ending(&ended, over, spec.limits);
        let outcome = reader.finish(&ending, clock::wall());
        Ok(kept(outcome, ended))
    }

    fn spec(&self, invocation: &Invocation, prompt: Utf8PathBuf) -> Spec {
        let mut with = Environment::kept(&self.adapter.keeps, self.withhold);
        with.extend(self.context.variables());
        with.extend(invocation.env.clone());
        let limit = self
            .adapter
            .timeout
            .map_or(self.limit, |own| own.min(self.limit));
        Spec {
            mark: self.mark.clone(),
            argv: invocation.argv.clone(),
            cwd: self.call.worktree.clone().into(),
            env: Environment {
                without: self.withhold.to_vec(),
                with,
            },
            stdin: match invocation.input {
                Input::Prompt => Stdin::File(prompt),
                Input::Nothing => Stdin::Closed,
            },
            limits: Limits {
                wall: Some(limit),
                idle: Some(self.adapter.idle_timeout.unwrap_or(IDLE)),
                ..Limits::default()
            },
            output: Some(self.directory.to_owned()),
        }
    }
}

/// The outcome of a program that was not started, unless the fault is ours.
fn not_started(error: UnitError) -> Result<ProcessEnd, AgentError> {
    match error {
        UnitError::Program { is_temporary, .. } => Ok(ProcessEnd::NotStarted {
            reason: error.to_string(),
            is_temporary,
        }),
        UnitError::Shim(_) => Err(AgentError::Unit(error)),
    }
}

/// What the agent wrote as its report, if it did.
fn read_report(path: &Utf8Path) -> Option<String> {
    let file = files::open_own(path).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_REPORT).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (!text.trim().is_empty()).then_some(text)
}

fn ending(ended: &Ended, over: Option<String>, limits: Limits) -> Ending {
    let words = |limit: Option<Duration>| limit.map_or_else(String::new, said);
    let halt = ended.stopped.map(|stopped| match stopped {
        Stopped::Wall => Halt::Wall(words(limits.wall)),
        Stopped::Idle => Halt::Idle(words(limits.idle)),
        Stopped::Cancelled => Halt::Cancelled,
        Stopped::Drained => Halt::Drained,
        Stopped::Watcher => {
            Halt::Budget(over.unwrap_or_else(|| "its budget is used up".to_owned()))
        }
    });
    let end = match ended.ending {
        process::Ending::Exited(code) => ProcessEnd::Exited(code),
        process::Ending::Signalled(signal) => ProcessEnd::Signalled(signal),
        process::Ending::Unknown => ProcessEnd::Lost,
    };
    Ending { end, halt }
}

/// Compresses what was printed, and notes what is odd about the unit.
fn kept(mut outcome: Outcome, ended: Ended) -> Outcome {
    let notes = &mut outcome.notes;
    if ended.leaked > 0 {
        notes.push(format!(
            "{} of its processes were still running and were killed",
            ended.leaked
        ));
    }
    if !ended.survivors.is_empty() {
        notes.push(format!(
            "processes that could not be killed: {:?}",
            ended.survivors
        ));
    }
    notes.extend(
        [ended.stdout.fault, ended.stderr.fault]
            .into_iter()
            .flatten(),
    );
    outcome.raw = ended.stdout.file.map(|file| match files::compress(&file) {
        Ok(compressed) => compressed.into_string(),
        Err(error) => {
            notes.push(error.to_string());
            file.into_string()
        }
    });
    outcome
}

fn said(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (n, unit) = match seconds {
        0 => return format!("{} ms", duration.as_millis()),
        n if n >= 120 && n % 60 == 0 => (n / 60, "minute"),
        n => (n, "second"),
    };
    format!("{n} {unit}{}", if n == 1 { "" } else { "s" })
}

/// Reads along, and stops what spends too much.
struct Watching<'a, 'o> {
    reader: Reader<'a>,
    budget: Budget,
    drain: Duration,
    observer: &'o mut dyn Observer,
    over: Option<String>,
    shown: Option<(Option<String>, Option<String>)>,
    hearing: Hearing,
}

/// Notices that nothing is heard any more, in time for somebody to look.
struct Hearing {
    deadline: Duration,
    is_heard: bool,
    heard_at: Duration,
    is_told: bool,
}

impl Hearing {
    fn new(deadline: Duration) -> Self {
        Self {
            deadline,
            is_heard: false,
            heard_at: Duration::ZERO,
            is_told: false,
        }
    }

    /// How long it has been silent, when that is worth a word.
    fn silence(&mut self, elapsed: Duration) -> Option<Duration> {
        if std::mem::take(&mut self.is_heard) {
            self.heard_at = elapsed;
            self.is_told = false;
        }
        let silence = elapsed.saturating_sub(self.heard_at);
        if self.is_told || silence < self.deadline / 2 {
            return None;
        }
        self.is_told = true;
        Some(silence)
    }
}

impl Watching<'_, '_> {
    fn show(&mut self) {
        let (activity, session) = (self.reader.activity(), self.reader.session());
        let is_known = (self.shown.as_ref()).is_some_and(|(shown, known)| {
            shown.as_deref() == activity && known.as_deref() == session
        });
        if !is_known {
            self.observer.seen(activity, session, &self.reader.spent());
            self.shown = Some((activity.map(str::to_owned), session.map(str::to_owned)));
        }
    }
}

impl Watch for Watching<'_, '_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Flow {
        self.hearing.is_heard = true;
        match stream {
            Stream::Stdout => self.reader.stdout(bytes),
            Stream::Stderr => self.reader.stderr(bytes),
        }
        self.show();
        if let Some(over) = self.reader.over_budget(&self.budget) {
            self.over.get_or_insert(over);
            return Flow::Stop;
        }
        if self.reader.is_over() {
            return Flow::Drain(self.drain);
        }
        Flow::GoOn
    }

    fn tick(&mut self, elapsed: Duration) {
        self.observer.tick(elapsed);
        if let Some(silence) = self.hearing.silence(elapsed) {
            self.observer.silent(silence, self.hearing.deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_is_told_of_once_and_in_time() {
        let mut hearing = Hearing::new(Duration::from_secs(10));
        let mut at = |seconds: u64, is_heard: bool| {
            hearing.is_heard |= is_heard;
            hearing.silence(Duration::from_secs(seconds)).is_some()
        };
        assert!(!at(4, false));
        assert!(!at(5, true), "it has just said something");
        assert!(!at(9, false));
        assert!(at(10, false));
        assert!(!at(11, false), "once");
        assert!(!at(12, true));
        assert!(at(17, false), "and again, when it falls silent again");
    }

    #[test]
    fn what_passes_is_told_from_what_does_not() {
        for passes in [true, false] {
            let error = UnitError::Program {
                program: "claude".to_owned(),
                reason: "why ever".to_owned(),
                is_missing: false,
                is_temporary: passes,
            };
            let expected = ProcessEnd::NotStarted {
                reason: "cannot start 'claude': why ever".to_owned(),
                is_temporary: passes,
            };
            assert_eq!(not_started(error).unwrap(), expected);
        }
    }

    #[test]
    fn a_limit_is_said_in_words() {
        for (seconds, words) in [
            (600, "10 minutes"),
            (90, "90 seconds"),
            (60, "60 seconds"),
            (1, "1 second"),
            (121, "121 seconds"),
        ] {
            assert_eq!(said(Duration::from_secs(seconds)), words);
        }
        assert_eq!(said(Duration::from_millis(500)), "500 ms");
    }
}
