//! The patrol: runs the checks of a project, files a bead about what breaks, and closes it when it is fixed (contracts §8.6).
//!
//! Several patrols may run at once. A bead gets the next number of its kind, so of two patrols that file at the same time one finds the
//! number taken, looks again and sees the other's bead.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::time::Duration;

use beads_ralph_core::bead::{BeadId, Expect};
use beads_ralph_core::check::{Finish, Judge};
use beads_ralph_core::issue::{Claim, Edit, Entry, Issue, Query};
use beads_ralph_core::patrol::{self, Bug, Check, Measure};
use beads_ralph_core::text::excerpt;
use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::bead_files::names;
use crate::check::finish;
use crate::config::Config;
use crate::os::files::{self, FileError};
use crate::os::process::{
    Cancel, Environment, Flow, Limits, Mark, Spec, Stdin, Stream, UnitError, Units, Watch,
};
use crate::os::{clock, host};
use crate::pour::Numbers;
use crate::repo;
use crate::store::{Guard, Stamp, Store, StoreError, Write};

const LOGS: &str = ".ralph/patrol";

/// How many logs of each check are kept: the newest is the one that an open bead names.
const MAX_LOGS: usize = 20;

/// How often a write is retried after another process wrote first.
const TURNS: usize = 10;

#[derive(Debug, Clone, Copy)]
pub struct Patrol<'a> {
    pub units: &'a Units,
    pub cancel: &'a Cancel,
    pub root: &'a Utf8Path,
    pub config: &'a Config,
    pub actor: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub check: Check,
    /// Why it failed; nothing when it passed.
    pub reason: Option<String>,
    /// The log of a failure that a bead was filed about, from the project's root.
    pub log: Option<String>,
    pub done: Done,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    Nothing,
    Filed(BeadId),
    Known(BeadId),
    /// Beads were closed; the second ones somebody works on.
    Closed(Vec<BeadId>, Vec<BeadId>),
}

impl Done {
    pub fn is_change(&self) -> bool {
        match self {
            Self::Nothing | Self::Known(_) => false,
            Self::Filed(_) => true,
            Self::Closed(closed, _) => !closed.is_empty(),
        }
    }
}

#[derive(Debug, Error)]
pub enum PatrolError {
    /// A check could not be run at all, which says nothing about the project.
    #[error("`{}` could not be run: {why}", excerpt(command))]
    NotRun { command: String, why: String },
    /// Others file and close the same bead all the time.
    #[error("the bead '{0}' keeps changing: other processes write to it")]
    Busy(&'static str),
    #[error("the patrol was interrupted")]
    Interrupted,
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Patrol<'_> {
    /// The checks of the project, by what its root holds now (G-6).
    pub fn checks(&self) -> Result<Vec<Check>, PatrolError> {
        let names = files::names(self.root)?;
        Ok(patrol::checks(&names, &self.config.patrol.wishes))
    }

    /// Runs every check once, and files and closes beads accordingly. `hear` is called before and after each check.
    pub fn cycle(
        &self,
        store: &mut dyn Store,
        hear: &mut dyn FnMut(&Check, Option<&Report>),
    ) -> Result<Vec<Report>, PatrolError> {
        let mut reports = Vec::new();
        for check in self.checks()? {
            hear(&check, None);
            let (reason, log) = self.run(&check)?;
            let done = match (&reason, &log) {
                (Some(reason), Some(log)) => self.broken(store, &check, reason, log),
                _ => self.mended(store, &check),
            };
            // What is known already has a log: one for each cycle would fill the disk until it is fixed.
            let is_filed = matches!(done, Ok(Done::Filed(_)));
            if let Some(log) = log.as_ref().filter(|_| !is_filed) {
                files::remove_leftover(&self.root.join(log));
            }
            let report = Report {
                check,
                reason,
                log: log.filter(|_| is_filed),
                done: done?,
            };
            hear(&report.check, Some(&report));
            reports.push(report);
        }
        Ok(reports)
    }

    /// Waits for the next cycle; whether somebody stopped the patrol.
    pub fn wait(&self, n_idle: u32) -> bool {
        let time = patrol::wait(n_idle, self.config.patrol.interval);
        self.cancel.wait(time)
    }

    /// Runs a check. A failure comes with its reason and its log; what passed leaves no log.
    fn run(&self, check: &Check) -> Result<(Option<String>, Option<String>), PatrolError> {
        let (path, file) = self.log(check)?;
        let mut log = Log::new(file);
        let limit = self.config.patrol.timeout;
        let ended = self
            .units
            .run(&self.spec(check, limit), self.cancel, &mut log);
        let finish = ended.map(|ended| finish(&ended, limit));
        let reason = match &finish {
            Ok(Finish::Cancelled) => Err(PatrolError::Interrupted),
            Err(error) => Err(not_run(check, error)),
            Ok(finish) => Ok(Judge::new(&Expect::default()).finish(finish)),
        };
        if !matches!(reason, Ok(Some(_))) {
            files::remove_leftover(&path);
        }
        let Some(reason) = reason? else {
            return Ok((None, None));
        };
        if let Err(error) = log.end() {
            files::remove_leftover(&path);
            return Err(FileError::io("write", &path)(error).into());
        }
        files::keep_newest(&self.root.join(LOGS), &ending(check), MAX_LOGS)?;
        let shown = path.strip_prefix(self.root).unwrap_or(&path);
        Ok((Some(reason), Some(repo::slashed(shown))))
    }

    /// A new log: `<yyyyMMdd-HHmmss>-<check>.log`, with a number when another patrol has that name (G-7).
    fn log(&self, check: &Check) -> Result<(Utf8PathBuf, File), FileError> {
        let directory = self.root.join(LOGS);
        files::create_directory(&directory)?;
        for name in names(clock::now()) {
            let path = directory.join(format!("{name}{}", ending(check)));
            match files::stream_into(&path) {
                Ok(file) => return Ok((path, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(FileError::io("create", &path)(error)),
            }
        }
        Err(FileError::Exists { path: directory })
    }

    fn spec(&self, check: &Check, limit: Duration) -> Spec {
        let mut argv = self.config.shell.clone();
        argv.push(check.command.clone());
        Spec {
            mark: Mark::unique(),
            argv,
            cwd: self.root.to_owned(),
            env: Environment {
                without: self.config.agents.withhold_env.clone(),
                ..Environment::default()
            },
            stdin: Stdin::Closed,
            limits: Limits {
                wall: Some(limit),
                ..Limits::default()
            },
            output: None,
        }
    }

    fn broken(
        &self,
        store: &mut dyn Store,
        check: &Check,
        reason: &str,
        log: &str,
    ) -> Result<Done, PatrolError> {
        for _ in 0..TURNS {
            // The number is taken before the beads are looked at: a bead that comes between the two has it.
            let kind = format!("patrol-{}", check.watched.as_str());
            let id = Numbers::default().next(store, &kind)?;
            let unfinished = store.find(&Query::default())?;
            if let Measure::Known(id) =
                patrol::measure(check.watched, false, &unfinished, |_| false)
            {
                return Ok(Done::Known(id));
            }
            let stamp = self.stamp();
            let bug = Bug {
                id: &id,
                check,
                reason,
                log,
                limit: self.config.patrol.timeout,
                actor: self.actor,
                now: &stamp.time(),
            };
            let issue = Issue::without_comments(bug.document()).map_err(|errors| {
                let id = id.to_string();
                StoreError::Invalid { id, errors }
            })?;
            let write = Write::Insert(Box::new(Entry::new(issue)));
            match store.write(&[write], stamp) {
                Ok(_) => return Ok(Done::Filed(id)),
                Err(StoreError::Exists(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(PatrolError::Busy(check.watched.title()))
    }

    /// Closes what was filed about a check that passes again. What changes meanwhile is looked at in the next cycle.
    fn mended(&self, store: &mut dyn Store, check: &Check) -> Result<Done, PatrolError> {
        let unfinished = store.find(&Query::default())?;
        let (now, here) = (clock::now(), host::name());
        let is_abandoned = |claim: &Claim| {
            let gone = claim.is_abandoned(now, &here, host::liveness);
            gone.is_some()
        };
        let measure = patrol::measure(check.watched, true, &unfinished, is_abandoned);
        let Measure::Close { closed, mut held } = measure else {
            return Ok(Done::Nothing);
        };
        let mut done = Vec::new();
        for record in unfinished
            .iter()
            .filter(|it| closed.contains(it.issue.id()))
        {
            let reason = format!("patrol: `{}` passes again", check.command);
            let write = Write::Update {
                id: record.issue.id().clone(),
                edits: vec![Edit::Close(reason)],
                // The claim of one who is gone keeps nobody away; who comes meanwhile changes the version.
                guard: Guard {
                    version: Some(record.version),
                    ..Guard::forced()
                },
            };
            match store.write(&[write], self.stamp()) {
                Ok(_) => done.push(record.issue.id().clone()),
                Err(StoreError::Guard { .. }) => {
                    held.push(record.issue.id().clone());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Done::Closed(done, held))
    }

    fn stamp(&self) -> Stamp<'_> {
        Stamp {
            actor: self.actor,
            at: clock::now(),
        }
    }
}

fn not_run(check: &Check, error: &UnitError) -> PatrolError {
    PatrolError::NotRun {
        command: check.command.clone(),
        why: error.to_string(),
    }
}

fn ending(check: &Check) -> String {
    format!("-{}.log", check.watched.as_str())
}

/// How much of the beginning is kept, and how much of the end: what failed is mostly told there.
const HEAD: usize = 4 * 1024 * 1024;
const TAIL: usize = 4 * 1024 * 1024;

pub(super) struct Log<W> {
    file: W,
    /// How much may still be written as it comes.
    head: usize,
    tail: VecDeque<u8>,
    max_tail: usize,
    n_left_out: u64,
    fault: Option<io::Error>,
}

impl<W: io::Write> Log<W> {
    fn new(file: W) -> Self {
        Self::bounded(file, HEAD, TAIL)
    }

    fn bounded(file: W, head: usize, max_tail: usize) -> Self {
        Self {
            file,
            head,
            tail: VecDeque::new(),
            max_tail,
            n_left_out: 0,
            fault: None,
        }
    }

    /// Writes the end of a long log, and returns any earlier write error.
    fn end(mut self) -> io::Result<()> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if self.n_left_out > 0 {
            writeln!(self.file, "\n[… {} bytes left out …]", self.n_left_out)?;
        }
        let (first, second) = self.tail.as_slices();
        self.file.write_all(first)?;
        self.file.write_all(second)
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (head, rest) = bytes.split_at(self.head.min(bytes.len()));
        self.head -= head.len();
        self.file.write_all(head)?;
        self.tail.extend(rest);
        let n_over = self.tail.len().saturating_sub(self.max_tail);
        self.tail.drain(..n_over);
        self.n_left_out = self.n_left_out.saturating_add(n_over as u64);
        Ok(())
    }
}

impl<W: io::Write> Watch for Log<W> {
    fn output(&mut self, _: Stream, bytes: &[u8]) -> Flow {
        if self.fault.is_none() {
            self.fault = self.take(bytes).err();
        }
        Flow::GoOn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(pieces: &[&str]) -> String {
        let mut bytes = Vec::new();
        let mut log = Log::bounded(&mut bytes, 4, 3);
        for piece in pieces {
            log.output(Stream::Stdout, piece.as_bytes());
        }
        log.end().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn g_7_of_a_long_log_the_beginning_and_the_end_are_kept() {
        assert_eq!(logged(&["ab"]), "ab");
        assert_eq!(logged(&["abc", "defg"]), "abcdefg");
        assert_eq!(
            logged(&["abcdef", "ghij", "k"]),
            "abcd\n[… 4 bytes left out …]\nijk"
        );
    }
}
