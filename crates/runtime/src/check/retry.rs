//! A check that failed, run again, here and as often on the commit that the work began from (`verify.flaky_retries`).

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

use beads_ralph_core::bead::Verifier;
use beads_ralph_core::check::{CheckRecord, Try};
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use super::{Checks, definition};
use crate::config::WorktreeSettings;
use crate::git;
use crate::os::process::{Ending, Environment, Flow, Limits, Spec, Stdin, Stream, Watch};
use crate::progress::{LastLine, Listener, News};

/// How long git may take to check the base out.
const GIT_LIMIT: Duration = Duration::from_mins(5);

/// How long the command may take that makes a worktree ready.
const SETUP_LIMIT: Duration = Duration::from_mins(30);

/// No hook of the user's is run: it would be run for something that nobody works on.
const NO_HOOKS: &str = "core.hooksPath=/dev/null";

#[derive(Debug, Clone, Copy, Default)]
pub struct Again<'a> {
    /// How often it is run again at the most; with nothing here, a check that fails has failed.
    pub retries: u32,
    pub base: Option<&'a Base<'a>>,
}

/// The commit that some work began from, checked out separately when it is first needed, and thrown away at the end. It is a clone
/// that shares the objects, so that nothing of the user's repository changes.
#[derive(Debug)]
pub struct Base<'a> {
    repository: &'a Utf8Path,
    commit: &'a str,
    worktrees: &'a WorktreeSettings,
    place: OnceCell<Option<(TempDir, Utf8PathBuf)>>,
    /// What became of a check there, by its definition: the base does not change. A check that its environment kept from running has no result.
    seen: RefCell<BTreeMap<String, Try>>,
}

impl<'a> Base<'a> {
    /// A commit of a repository, whose root this is. It is made ready as worktrees are, with what is copied into them and by the command
    /// that sets them up; where that fails, checks have no base result. Nothing is done yet.
    pub fn new(repository: &'a Utf8Path, commit: &'a str, worktrees: &'a WorktreeSettings) -> Self {
        Self {
            repository,
            commit,
            worktrees,
            place: OnceCell::new(),
            seen: RefCell::default(),
        }
    }

    /// Where it is checked out; nothing when it cannot be.
    fn place(&self, builder: &mut Builder<'_>) -> Option<&Utf8Path> {
        let place = self.place.get_or_init(|| self.check_out(builder));
        place.as_ref().map(|(_, path)| path.as_path())
    }

    fn check_out(&self, builder: &mut Builder<'_>) -> Option<(TempDir, Utf8PathBuf)> {
        // What a bead says may be anything, and must not be taken for a flag.
        let is_commit = self.commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let directory = TempDir::new().ok().filter(|_| is_commit)?;
        let root = Utf8PathBuf::from_path_buf(directory.path().canonicalize().ok()?).ok()?;
        let place = root.join("base");
        let from = self.repository.as_str();
        let git = ["git", "-c", NO_HOOKS];
        let clone = ["clone", "--quiet", "--shared", "--no-checkout", "--", from];
        let checkout = ["checkout", "--quiet", "--detach", self.commit, "--"];
        let clone = [&git[..], &clone, &[place.as_str()]].concat();
        builder.run(&clone, &root, GIT_LIMIT)?;
        builder.run(&[&git[..], &checkout].concat(), &place, GIT_LIMIT)?;
        git::copy_into(self.repository, &place, &self.worktrees.copy).ok()?;
        if let Some(line) = &self.worktrees.setup {
            let shell = builder.checks.shell.iter().map(String::as_str);
            let setup: Vec<&str> = shell.chain([line.as_str()]).collect();
            builder.run(&setup, &place, SETUP_LIMIT)?;
        }
        Some((directory, place))
    }
}

/// Who makes the base ready: within the time that there is, ended by what ends the checks, and heard by whoever hears them.
struct Builder<'b> {
    checks: &'b Checks<'b>,
    time_left: &'b dyn Fn() -> Option<Duration>,
    listener: &'b mut dyn Listener,
}

impl Builder<'_> {
    fn run(&mut self, argv: &[&str], cwd: &Utf8Path, limit: Duration) -> Option<()> {
        let checks = self.checks;
        let limit = (self.time_left)().map_or(limit, |left| limit.min(left));
        let spec = Spec {
            mark: checks.mark.below(),
            argv: argv.iter().map(|&argument| argument.to_owned()).collect(),
            cwd: cwd.to_owned(),
            env: Environment {
                without: checks.withhold.to_vec(),
                with: checks.env.clone(),
            },
            stdin: Stdin::Closed,
            limits: Limits {
                wall: Some(limit),
                ..Limits::default()
            },
            output: None,
        };
        let mut telling = Telling {
            last: LastLine::default(),
            listener: &mut *self.listener,
        };
        let ended = checks.units.run(&spec, checks.cancel, &mut telling).ok()?;
        (ended.ending == Ending::Exited(0) && ended.stopped.is_none()).then_some(())
    }
}

/// Tells whoever listens that something runs: they may have a claim to keep alive meanwhile.
struct Telling<'t> {
    last: LastLine,
    listener: &'t mut dyn Listener,
}

impl Watch for Telling<'_> {
    fn output(&mut self, _: Stream, bytes: &[u8]) -> Flow {
        self.last.push(bytes);
        Flow::GoOn
    }

    fn tick(&mut self, elapsed: Duration) {
        let line = self.last.get();
        self.listener.hear(&News::Running { elapsed, line });
    }
}

impl Checks<'_> {
    /// A check that failed, with what running it again tells.
    pub(super) fn again(
        &self,
        number: usize,
        verifier: &Verifier,
        first: CheckRecord,
        time_left: &dyn Fn() -> Option<Duration>,
        listener: &mut dyn Listener,
    ) -> CheckRecord {
        let is_over = || {
            let is_late = time_left().is_some_and(|left| left.is_zero());
            is_late || self.cancel.is_cancelled()
        };
        let mut tries = vec![Try::of(&first)];
        for n in 0..self.again.retries {
            if is_over() {
                return first;
            }
            let name = format!("verify-{number}-try-{}", n + 2);
            let record = self.check(&name, verifier, time_left(), listener);
            tries.push(Try::of(&record));
            if record.passed {
                break;
            }
        }
        let is_red = !tries.contains(&Try::Green);
        let base = if is_red && !is_over() {
            self.on_base(number, verifier, time_left, listener, &is_over)
        } else {
            None
        };
        if self.cancel.is_cancelled() {
            return first;
        }
        first.judged(&tries, base)
    }

    /// What becomes of a check on the base, where it may be flaky too; nothing when there is none, or not enough time.
    fn on_base(
        &self,
        number: usize,
        verifier: &Verifier,
        time_left: &dyn Fn() -> Option<Duration>,
        listener: &mut dyn Listener,
        is_over: &dyn Fn() -> bool,
    ) -> Option<Try> {
        let base = self.again.base?;
        let key = definition(verifier);
        if let Some(seen) = base.seen.borrow().get(&key) {
            return Some(*seen);
        }
        let mut builder = Builder {
            checks: self,
            time_left,
            listener: &mut *listener,
        };
        let there = Checks {
            root: base.place(&mut builder)?,
            ..*self
        };
        let mut tries = Vec::new();
        for n in 0..=self.again.retries {
            let name = match n {
                0 => format!("verify-{number}-base"),
                n => format!("verify-{number}-base-try-{}", n + 1),
            };
            let record = there.check(&name, verifier, time_left(), listener);
            tries.push(Try::of(&record));
            if record.passed {
                break;
            }
            // It may have been cut short.
            if is_over() {
                return None;
            }
        }
        let seen = Try::best(&tries)?;
        if seen != Try::Broken {
            base.seen.borrow_mut().insert(key, seen);
        }
        Some(seen)
    }
}
