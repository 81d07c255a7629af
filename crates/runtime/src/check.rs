//! Runs the checks of a bead one after the other and keeps their records (contracts §8.2, Z-37).
//!
//! A check that could not be started, was killed, timed out, or whose output was not kept in full has failed. The only way to pass is to
//! run to the end and to meet the expectation.

mod retry;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use beads_ralph_core::bead::{OnFailure, Timestamp, Verifier};
use beads_ralph_core::check::{CheckRecord, Finish, Judge, Kept};
use beads_ralph_core::text::without_colour;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

pub use self::retry::{Again, Base};
use crate::os::files::{self, FileError};
use crate::os::process::{
    Cancel, Captured, Ended, Ending, Environment, Flow, Limits, Mark, Spec, Stdin, Stopped, Stream,
    Units, Watch,
};
use crate::os::{clock, digest};
use crate::progress::{LastLine, Listener, News};
use crate::work_dir::Tree;

#[derive(Debug, Clone, Copy)]
pub struct Checks<'a> {
    pub units: &'a Units,
    pub cancel: &'a Cancel,
    pub root: &'a Utf8Path,
    /// The main checkout of the repository, which may be the same.
    pub home: &'a Utf8Path,
    /// What runs a command line: a program and its arguments, to which the command is added (V-3).
    pub shell: &'a [String],
    /// Names of variables that are kept from them: what they run is what an agent wrote.
    pub withhold: &'a [String],
    pub env: &'a BTreeMap<String, String>,
    pub ground: Ground<'a>,
    pub mark: &'a Mark,
    pub logs: &'a Utf8Path,
    pub again: Again<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground<'a> {
    AsItIs,
    /// A worktree in which everything must be committed, and stay as it is while they run (Z-29).
    Clean,
    /// A commit that is checked out, and nothing else: whoever calls looks at that before and after.
    Commit(&'a str),
}

impl Ground<'_> {
    /// The ground of a bead, with or without a separate worktree.
    pub fn of(has_worktree: bool) -> Self {
        if has_worktree {
            Self::Clean
        } else {
            Self::AsItIs
        }
    }
}

impl Checks<'_> {
    /// Runs the checks on what is checked out, and on nothing else where that is asked for (Z-5, Z-29).
    pub fn run(
        &self,
        verifiers: &[Verifier],
        time_left: &dyn Fn() -> Option<Duration>,
        listener: &mut dyn Listener,
    ) -> Vec<CheckRecord> {
        const CLEAN: &str = "clean worktree";
        let tree = Tree::at(self.root, self.home, self.units);
        match self.ground {
            Ground::Clean => {}
            Ground::AsItIs => {
                let commit = tree.head();
                return self.each(verifiers, commit.as_deref(), time_left, listener);
            }
            Ground::Commit(commit) => {
                return self.each(verifiers, Some(commit), time_left, listener);
            }
        }
        if let Some(reason) = tree.is_not_a_commit() {
            let record = CheckRecord::failed(CLEAN, &reason, &now());
            listener.hear(&News::Checked(&record));
            return vec![record];
        }
        let before = tree.snapshot();
        let mut records = self.each(verifiers, before.head.as_deref(), time_left, listener);
        if tree.snapshot() != before {
            let reason =
                "The working tree changed while the checks ran, so their results do not count";
            records.push(CheckRecord::failed(CLEAN, reason, &now()));
        }
        records
    }

    /// Runs every check in order; after a failure the later ones are skipped unless it says to go on (V-8). `time_left` says
    /// how long there is for all of it.
    fn each(
        &self,
        verifiers: &[Verifier],
        commit: Option<&str>,
        time_left: &dyn Fn() -> Option<Duration>,
        listener: &mut dyn Listener,
    ) -> Vec<CheckRecord> {
        let mut records = Vec::with_capacity(verifiers.len());
        let mut is_over = false;
        for (n, verifier) in verifiers.iter().enumerate() {
            let record = if is_over {
                CheckRecord::skipped(verifier, definition(verifier), &now())
            } else {
                CheckRecord {
                    commit: commit.map(str::to_owned),
                    ..self.tried(n + 1, verifier, time_left, listener)
                }
            };
            let is_failed = !record.passed && !record.skipped;
            is_over |= is_failed && (verifier.on_failure == OnFailure::Stop);
            is_over |= self.cancel.is_cancelled();
            listener.hear(&News::Checked(&record));
            records.push(record);
        }
        records
    }

    /// Runs a check, and again if it fails and that is wanted.
    fn tried(
        &self,
        number: usize,
        verifier: &Verifier,
        time_left: &dyn Fn() -> Option<Duration>,
        listener: &mut dyn Listener,
    ) -> CheckRecord {
        let name = format!("verify-{number}");
        let record = self.check(&name, verifier, time_left(), listener);
        if record.passed || self.again.retries == 0 {
            return record;
        }
        self.again(number, verifier, record, time_left, listener)
    }

    fn check(
        &self,
        name: &str,
        verifier: &Verifier,
        time_left: Option<Duration>,
        listener: &mut dyn Listener,
    ) -> CheckRecord {
        let own = Duration::from_secs(verifier.timeout_seconds);
        let limit = time_left.map_or(own, |left| own.min(left));
        let timestamp = now();
        listener.hear(&News::CheckBegins {
            name: &verifier.name,
            limit,
        });
        let mut watch = Watcher {
            judge: Judge::new(&verifier.expect),
            last: LastLine::default(),
            listener,
        };
        let run = self.spec(name, verifier, limit).map(|spec| {
            let ended = self.units.run(&spec, self.cancel, &mut watch);
            (spec, ended)
        });
        let judge = watch.judge;
        let mut record = CheckRecord {
            skipped: false,
            timestamp,
            ..CheckRecord::skipped(verifier, definition(verifier), &now())
        };
        let finish = match run {
            Ok((_, Ok(ended))) => self.take(&mut record, &ended, limit),
            Ok((_, Err(error))) => Finish::NotStarted(error.to_string()),
            Err(error) => Finish::NotStarted(error.to_string()),
        };
        record.timed_out = matches!(finish, Finish::TimedOut(_));
        record.exit_code = finish.exit_code();
        record.reason = judge.finish(&finish);
        record.passed = record.reason.is_none();
        record
    }

    fn spec(&self, name: &str, verifier: &Verifier, limit: Duration) -> Result<Spec, FileError> {
        let output = self.logs.join(name);
        files::create_directory(&output)?;
        let mut argv = self.shell.to_vec();
        argv.push(verifier.command.clone());
        Ok(Spec {
            mark: self.mark.below(),
            argv,
            cwd: self.root.to_owned(),
            env: Environment {
                without: self.withhold.to_vec(),
                with: self.env.clone(),
            },
            stdin: Stdin::Closed,
            limits: Limits {
                wall: Some(limit),
                idle: None,
                grace: Limits::GRACE,
            },
            output: Some(output),
        })
    }

    /// Takes what a unit left into its record.
    fn take(&self, record: &mut CheckRecord, ended: &Ended, limit: Duration) -> Finish {
        record.stdout = CheckRecord::output(&ended.stdout.text());
        record.stderr = CheckRecord::output(&ended.stderr.text());
        record.duration_ms = u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX);
        record.leaked = ended.leaked;
        record.stdout_kept = kept(&ended.stdout, self.root);
        record.stderr_kept = kept(&ended.stderr, self.root);
        finish(ended, limit)
    }
}

pub(crate) fn finish(ended: &Ended, limit: Duration) -> Finish {
    match ended.stopped {
        Some(Stopped::Cancelled) => return Finish::Cancelled,
        Some(Stopped::Wall | Stopped::Idle | Stopped::Watcher | Stopped::Drained) => {
            return Finish::TimedOut(limit);
        }
        None => {}
    }
    let fault = ended.stdout.fault.as_ref().or(ended.stderr.fault.as_ref());
    if let Some(fault) = fault {
        return Finish::Lost(format!("the output could not be saved: {fault}"));
    }
    if !ended.survivors.is_empty() {
        return Finish::Lost(format!(
            "processes {:?} that it started could not be killed",
            ended.survivors
        ));
    }
    match ended.ending {
        Ending::Exited(code) => Finish::Exited(code),
        Ending::Signalled(signal) => Finish::Signalled(signal),
        Ending::Unknown => Finish::Lost("its supervisor process was killed".to_owned()),
    }
}

/// Where output is kept, as a path from the root where it lies below it.
fn kept(captured: &Captured, root: &Utf8Path) -> Option<Kept> {
    let file = captured.file.as_ref()?;
    let path = file.strip_prefix(root).map(Utf8Path::to_owned);
    Some(Kept {
        path: path
            .unwrap_or_else(|_| Utf8PathBuf::from(file))
            .into_string(),
        bytes: captured.n_bytes,
        sha256: captured.sha256.clone(),
    })
}

pub(crate) fn definition(verifier: &Verifier) -> String {
    digest::sha256(&serde_json::to_vec(verifier).expect("a verifier can be written"))
}

fn now() -> Timestamp {
    Timestamp::from_instant(clock::now())
}

struct Watcher<'a> {
    judge: Judge<'a>,
    last: LastLine,
    listener: &'a mut dyn Listener,
}

impl Watch for Watcher<'_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Flow {
        match stream {
            Stream::Stdout => self.judge.stdout(bytes),
            Stream::Stderr => self.judge.stderr(bytes),
        }
        self.last.push(bytes);
        Flow::GoOn
    }

    fn tick(&mut self, elapsed: Duration) {
        self.listener.hear(&News::Running {
            elapsed,
            line: self.last.get(),
        });
    }
}

/// Where records are, from the project's root and from the `.beads` directory. What is old may be compressed.
const EVIDENCE: &str = ".ralph/evidence/*/*.json";
const BESIDE: [&str; 2] = ["runs/**/checks.json*", "worker-audit/**/checks.json*"];

/// How much of a failed check's output is passed on: its end, where the error usually is.
const MAX_PRINTED: usize = 3000;

/// Shows every record of a check that is kept, in the order of the files' names, one file after the other: there may be more than fits into
/// memory. What cannot be read is left out.
pub fn each_kept_record(root: &Utf8Path, beads: &Utf8Path, mut see: impl FnMut(&Value)) {
    let mut see_all = |list: Option<&Value>| {
        let records = list.and_then(Value::as_array).into_iter().flatten();
        records.for_each(&mut see);
    };
    for path in found(root, EVIDENCE) {
        let document = read(&path);
        see_all(
            document
                .as_ref()
                .and_then(|document| document.get("results")),
        );
    }
    for path in BESIDE.iter().flat_map(|pattern| found(beads, pattern)) {
        see_all(read(&path).as_ref());
    }
}

/// The records of the last time that the checks of an attempt were run; nothing when they never were. `checks`, `checks-2` and so on are below
/// the attempt's directory.
pub fn last_records(attempt: &Utf8Path) -> Option<Vec<Value>> {
    let later = (2..=u32::MAX).map(|n| attempt.join(format!("checks-{n}")));
    let places = std::iter::once(attempt.join("checks")).chain(later);
    let last = places.take_while(|place| place.is_dir()).last()?;
    let records = read(&last.join("checks.json"))?;
    records.as_array().cloned()
}

/// The last output of the failed checks, for whoever fixes them; empty if they printed nothing.
pub fn printed_by_failed(records: &[Value]) -> String {
    let mut text = String::new();
    for record in records {
        if record["passed"] == true || record["skipped"] == true {
            continue;
        }
        let stream = |key: &str| record[key].as_str().unwrap_or_default().trim();
        let printed = [stream("stdout"), stream("stderr")].join("\n");
        let start = printed.len().saturating_sub(MAX_PRINTED);
        let end = printed[printed.ceil_char_boundary(start)..].trim();
        if !end.is_empty() {
            let name = record["name"].as_str().unwrap_or("a check");
            _ = write!(text, "\n\n{name} printed:\n{}", without_colour(end));
        }
    }
    text
}

fn found(root: &Utf8Path, pattern: &str) -> Vec<Utf8PathBuf> {
    let escaped = glob::Pattern::escape(root.as_str());
    let paths = glob::glob(&format!("{escaped}/{pattern}"));
    let paths = paths.into_iter().flatten().flatten();
    paths
        .filter_map(|path| Utf8PathBuf::from_path_buf(path).ok())
        .collect()
}

fn read(path: &Utf8Path) -> Option<Value> {
    serde_json::from_slice(&files::read_kept(path).ok()?).ok()
}
