//! Running units in tests, and looking for what they leave.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use beads_ralph_runtime::unit::{
    self, Cancel, Ended, Environment, Limits, Mark, Silent, Spec, Stdin, UnitError, Units,
};
use camino::{Utf8Path, Utf8PathBuf};

/// A safety net: a test that comes here has failed.
pub(crate) const LONG: Duration = Duration::from_mins(1);

/// Units under the program that is built.
pub(crate) fn units() -> Units {
    Units::with_shim(env!("CARGO_BIN_EXE_beads-ralph"))
}

/// A mark that no other test has.
pub(crate) fn mark() -> Mark {
    static N_MARKS: AtomicU64 = AtomicU64::new(0);
    let number = N_MARKS.fetch_add(1, Ordering::Relaxed);
    Mark(format!("test-{}-{number}", std::process::id()))
}

/// A unit of a program with its arguments.
pub(crate) fn spec(argv: &[&str]) -> Spec {
    Spec {
        mark: mark(),
        argv: argv.iter().map(|&argument| argument.to_owned()).collect(),
        cwd: Utf8PathBuf::from("/"),
        env: Environment {
            without: Vec::new(),
            with: BTreeMap::new(),
        },
        stdin: Stdin::Closed,
        limits: Limits {
            wall: Some(LONG),
            idle: None,
            grace: Duration::from_secs(5),
        },
        output: None,
    }
}

/// A unit of a shell script.
pub(crate) fn script(text: &str) -> Spec {
    spec(&["/bin/sh", "-c", text])
}

/// Runs a unit and demands that nothing of it is left.
#[track_caller]
pub(crate) fn run(spec: &Spec) -> Ended {
    let ended = try_run(spec).unwrap();
    assert_nothing_left(&spec.mark);
    assert!(ended.survivors.is_empty(), "{:?}", ended.survivors);
    ended
}

pub(crate) fn try_run(spec: &Spec) -> Result<Ended, UnitError> {
    units().run(spec, &Cancel::new().unwrap(), &mut Silent)
}

#[track_caller]
pub(crate) fn assert_nothing_left(mark: &Mark) {
    let left = unit::find(mark);
    assert!(left.is_empty(), "{left:?} are left of {}", mark.0);
}

/// A directory for a test.
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.directory.path()).unwrap()
    }
}
