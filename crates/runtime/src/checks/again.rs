//! A check that failed, run again, here and on the commit that the work began from (`verify.flaky_retries`).

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

use beads_ralph_core::bead::Verifier;
use beads_ralph_core::verify::{CheckRecord, Try};
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use super::{Checks, definition};
use crate::news::Listener;
use crate::unit::{Ending, Units};

/// How long git may take to check the base out.
const GIT_LIMIT: Duration = Duration::from_mins(5);

/// How long the command may take that makes a worktree ready.
const SETUP_LIMIT: Duration = Duration::from_mins(30);

/// What is done about a check that fails.
#[derive(Debug, Clone, Copy, Default)]
pub struct Again<'a> {
    /// How often it is run again at the most; with nothing here, a check that fails has failed.
    pub retries: u32,
    /// What the work began from, if that is known.
    pub base: Option<&'a Base<'a>>,
}

/// The commit that some work began from, checked out in a place of its own when it is first needed, and thrown away at the end. It is a clone
/// that shares the objects, so that nothing of the user's repository changes.
#[derive(Debug)]
pub struct Base<'a> {
    units: &'a Units,
    repository: &'a Utf8Path,
    commit: &'a str,
    setup: Option<Vec<String>>,
    place: OnceCell<Option<(TempDir, Utf8PathBuf)>>,
    /// What became of a check there, by its definition: the base does not change.
    seen: RefCell<BTreeMap<String, Try>>,
}

impl<'a> Base<'a> {
    /// A commit of a repository. Nothing is done yet.
    pub fn new(units: &'a Units, repository: &'a Utf8Path, commit: &'a str) -> Self {
        Self {
            units,
            repository,
            commit,
            setup: None,
            place: OnceCell::new(),
            seen: RefCell::default(),
        }
    }

    /// The same, made ready by a program with its arguments, as worktrees are; where that fails there is no base.
    #[must_use]
    pub fn with_setup(self, setup: Option<Vec<String>>) -> Self {
        Self { setup, ..self }
    }

    /// Where it is checked out; nothing when it cannot be.
    fn place(&self) -> Option<&Utf8Path> {
        let place = self.place.get_or_init(|| self.check_out());
        place.as_ref().map(|(_, path)| path.as_path())
    }

    fn check_out(&self) -> Option<(TempDir, Utf8PathBuf)> {
        // What a bead says may be anything, and must not be taken for a flag.
        let is_commit = self.commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let directory = TempDir::new().ok().filter(|_| is_commit)?;
        let root = Utf8PathBuf::from_path_buf(directory.path().canonicalize().ok()?).ok()?;
        let place = root.join("base");
        let repository = self.repository.as_str();
        let clone = ["git", "clone", "--quiet", "--shared", "--no-checkout", "--"];
        let checkout = ["git", "checkout", "--quiet", "--detach", self.commit, "--"];
        let clone = [&clone[..], &[repository, place.as_str()]].concat();
        self.run(&clone, &root, GIT_LIMIT)?;
        self.run(&checkout, &place, GIT_LIMIT)?;
        if let Some(setup) = &self.setup {
            let setup: Vec<&str> = setup.iter().map(String::as_str).collect();
            self.run(&setup, &place, SETUP_LIMIT)?;
        }
        Some((directory, place))
    }

    fn run(&self, argv: &[&str], cwd: &Utf8Path, limit: Duration) -> Option<()> {
        let ended = self.units.output(argv, cwd, limit).ok()?;
        (ended.ending == Ending::Exited(0) && ended.stopped.is_none()).then_some(())
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
            self.on_base(number, verifier, time_left(), listener)
        } else {
            None
        };
        if self.cancel.is_cancelled() {
            return first;
        }
        first.judged(&tries, base)
    }

    /// What becomes of a check on the base; nothing when there is none.
    fn on_base(
        &self,
        number: usize,
        verifier: &Verifier,
        time_left: Option<Duration>,
        listener: &mut dyn Listener,
    ) -> Option<Try> {
        let base = self.again.base?;
        let key = definition(verifier);
        if let Some(seen) = base.seen.borrow().get(&key) {
            return Some(*seen);
        }
        let there = Checks {
            root: base.place()?,
            ..*self
        };
        let name = format!("verify-{number}-base");
        let record = there.check(&name, verifier, time_left, listener);
        let seen = Try::of(&record);
        base.seen.borrow_mut().insert(key, seen);
        Some(seen)
    }
}
