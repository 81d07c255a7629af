//! Running units in tests, and looking for what they leave.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use beads_ralph_runtime::os::clock;
use beads_ralph_runtime::os::process::{
    self, Cancel, Ended, Environment, Flow, Limits, Mark, Silent, Spec, Stdin, Stream, UnitError,
    Units, Watch,
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
    Mark(format!("test-{}-{number:05}", std::process::id()))
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
    run_watched(spec, &mut Silent)
}

#[track_caller]
pub(crate) fn run_watched(spec: &Spec, watch: &mut dyn Watch) -> Ended {
    let ended = units().run(spec, &Cancel::new().unwrap(), watch).unwrap();
    assert_nothing_left(&spec.mark);
    assert!(ended.survivors.is_empty(), "{:?}", ended.survivors);
    ended
}

pub(crate) fn try_run(spec: &Spec) -> Result<Ended, UnitError> {
    units().run(spec, &Cancel::new().unwrap(), &mut Silent)
}

#[track_caller]
pub(crate) fn assert_nothing_left(mark: &Mark) {
    let left = process::find(mark);
    assert!(left.is_empty(), "{left:?} are left of {}", mark.0);
}

/// The processes with a text in their command line, which find those that have dropped their mark.
pub(crate) fn processes_with(text: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(text)
            .then(|| format!("{}: {line}", entry.path().display()))
    });
    lines.collect()
}

/// Does something when a unit says a word.
pub(crate) struct At<'a> {
    word: &'static str,
    heard: Vec<u8>,
    act: Box<dyn FnMut(&str) -> Flow + 'a>,
}

impl<'a> At<'a> {
    /// The act is given what follows the word in its line.
    pub(crate) fn new(word: &'static str, act: impl FnMut(&str) -> Flow + 'a) -> Self {
        Self {
            word,
            heard: Vec::new(),
            act: Box::new(act),
        }
    }
}

impl Watch for At<'_> {
    fn output(&mut self, _: Stream, bytes: &[u8]) -> Flow {
        self.heard.extend_from_slice(bytes);
        while let Some(end) = self.heard.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.heard.drain(..=end).collect();
            if let Some(rest) = String::from_utf8_lossy(&line).strip_prefix(self.word) {
                return (self.act)(rest.trim());
            }
        }
        Flow::GoOn
    }
}

/// Waits until something holds; whoever asks has failed if it never does.
#[track_caller]
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = clock::monotonic() + LONG;
    while !is_so() {
        assert!(clock::monotonic() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A directory for a test.
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            directory: beads_ralph_testkit::scratch(),
        }
    }

    pub(crate) fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.directory.path()).unwrap()
    }

    /// Writes a file that can be run.
    pub(crate) fn program(&self, name: &str, text: &str) -> Utf8PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.file(name, text.as_bytes());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> Utf8PathBuf {
        let path = self.root().join(name);
        beads_ralph_runtime::os::files::write_atomic(&path, bytes).unwrap();
        path
    }
}

/// The variable that tells a test that it is the second process of itself.
pub(crate) const PART: &str = "BEADS_RALPH_TEST_PART";

/// What this process of a test is to do, if another process of it says so.
pub(crate) fn part() -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is how a test tells another process of itself what to do"
    )]
    let part = std::env::var(PART);
    part.ok()
}

/// Another process of a test, so that it can be killed or measured alone. It calls [`part`] to learn what to do.
pub(crate) fn again(test: &str, part: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is a test of processes")]
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(PART, part);
    command
}

/// The most memory that this process had at once, in KiB.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.unwrap().trim().trim_end_matches("kB").trim();
    number.parse().unwrap()
}
