//! A world of its own for each test: a temporary directory, a cleared environment, a fixed clock.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use beads_ralph_runtime::os::files;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use tempfile::TempDir;

/// The demo plan, which is complete and without a finding.
pub(crate) const DEMO: &str = include_str!("../../assets/demo-plan.md");

/// The sprints of the demo plan, in natural order.
pub(crate) const DEMO_SPRINTS: [&str; 9] = [
    "1.1", "1.2a", "1.2b", "1.3", "2a.1", "2a.2", "2b.1", "3.1", "3.2",
];

/// The moment that [`TestEnv`] fixes.
pub(crate) const NOW: &str = "2026-01-02T03:04:05Z";
const NOW_EPOCH: &str = "1767323045";

/// No command of the program takes this long on the input of a test.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// A temporary directory to run the program in.
pub(crate) struct TestEnv {
    root: Utf8PathBuf,
    _guard: TempDir,
}

impl TestEnv {
    #[must_use]
    #[track_caller]
    pub(crate) fn new() -> Self {
        let guard = beads_ralph_testkit::scratch();
        let root = Utf8PathBuf::from_path_buf(guard.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir(root.join("home")).unwrap();
        std::fs::create_dir(root.join("work")).unwrap();
        Self {
            root,
            _guard: guard,
        }
    }

    /// A world with the demo plan as `plan.md`.
    #[must_use]
    #[track_caller]
    pub(crate) fn with_demo() -> Self {
        let env = Self::new();
        env.write("plan.md", DEMO);
        env
    }

    /// The place of a file in the working directory.
    #[must_use]
    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        self.root.join("work").join(name)
    }

    #[track_caller]
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        files::write_atomic(&path, bytes.as_ref()).unwrap();
    }

    #[must_use]
    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    #[must_use]
    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    #[must_use]
    #[track_caller]
    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    #[track_caller]
    pub(crate) fn make_directory(&self, name: &str) {
        std::fs::create_dir_all(self.path(name)).unwrap();
    }

    /// The names of what lies in a directory, sorted, hidden files included.
    #[must_use]
    #[track_caller]
    pub(crate) fn names(&self, directory: &str) -> Vec<String> {
        let mut names: Vec<String> = self
            .path(directory)
            .read_dir_utf8()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_owned())
            .collect();
        names.sort();
        names
    }

    /// Runs the program to its end.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).run()
    }

    /// The program with its arguments, to be run with more around it.
    #[must_use]
    #[track_caller]
    pub(crate) fn command(&self, args: &[&str]) -> Invocation {
        self.process(Utf8Path::new(env!("CARGO_BIN_EXE_beads-ralph")), args)
    }

    /// Another program, for what the standard library cannot do.
    #[must_use]
    #[track_caller]
    pub(crate) fn tool(&self, name: &str, args: &[&str]) -> Invocation {
        self.process(Utf8Path::new(name), args)
    }

    fn process(&self, program: &Utf8Path, args: &[&str]) -> Invocation {
        #[expect(
            clippy::disallowed_methods,
            reason = "the only place in these tests that starts a process"
        )]
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.root.join("work"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.root.join("home"))
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("SOURCE_DATE_EPOCH", NOW_EPOCH)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Invocation {
            command,
            input: None,
            said: args.join(" "),
        }
    }
}

/// A process that is about to start.
pub(crate) struct Invocation {
    command: Command,
    input: Option<Vec<u8>>,
    said: String,
}

impl Invocation {
    #[must_use]
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs in another directory, from the root of the world.
    #[must_use]
    pub(crate) fn at(mut self, directory: &Utf8Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    #[must_use]
    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self.command.stdin(Stdio::piped());
        self
    }

    #[must_use]
    pub(crate) fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.command.stdout(stdout);
        self
    }

    #[track_caller]
    pub(crate) fn spawn(mut self) -> Child {
        self.command.spawn().unwrap()
    }

    /// Runs to the end. What does not end is a failure of the test, not a test without end.
    #[track_caller]
    pub(crate) fn run(mut self) -> Output {
        let mut child = self.command.spawn().unwrap();
        if let (Some(input), Some(mut stdin)) = (self.input, child.stdin.take()) {
            // Whoever stops reading early has closed the pipe, which is not ours to judge.
            thread::spawn(move || drop(stdin.write_all(&input)));
        }
        Output::of(child, self.said)
    }
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    said: String,
}

impl Output {
    #[track_caller]
    pub(crate) fn of(child: Child, said: String) -> Self {
        let (send, receive) = mpsc::channel();
        thread::spawn(move || drop(send.send(child.wait_with_output())));
        let output = receive.recv_timeout(MAX_WAIT);
        let output = output.expect("the program ends in time").unwrap();
        let ended = Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
            said,
        };
        assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
        ended
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// The one JSON object that standard output holds (E-1).
    #[must_use]
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{}: {error}: {self:#?}", self.said));
        let object = value.as_object().expect("an object");
        let keys: Vec<&String> = object.keys().collect();
        assert_eq!(keys, ["success", "data", "error"], "{}", self.said);
        let is_success = value["success"].as_bool().expect("a boolean");
        assert_eq!(value["data"].is_null(), !is_success, "{}", self.said);
        assert_eq!(value["error"].is_null(), is_success, "{}", self.said);
        assert_eq!(self.code == Some(0), is_success, "{}", self.said);
        value
    }

    /// The envelope's data.
    #[must_use]
    #[track_caller]
    pub(crate) fn data(&self) -> Value {
        let mut value = self.json();
        assert_eq!(value["success"], true, "{self:#?}");
        value["data"].take()
    }

    /// The envelope's error, with the keys of E-2.
    #[must_use]
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        let mut value = self.json();
        let error = value["error"].take();
        for key in ["code", "message", "details", "suggested_action"] {
            assert!(error[key].is_string(), "{key} of {error}");
        }
        let is_recoverable = error["recoverable"].as_bool().expect("a boolean");
        let is_lost = self.code == Some(4) && self.stdout.contains("already claimed");
        if !self.said.contains("bead validate") && !is_lost {
            assert_eq!(self.code, Some(if is_recoverable { 1 } else { 3 }));
        }
        error
    }

    /// The code of the envelope's error.
    #[must_use]
    #[track_caller]
    pub(crate) fn error_code(&self) -> String {
        self.error()["code"].as_str().expect("a code").to_owned()
    }
}

/// Compares a text with a golden file; with `UPDATE_GOLDEN=1` it becomes the golden file.
#[track_caller]
pub(crate) fn golden(name: &str, actual: &str) {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    same_as_file(&folder.join(name), actual);
}

/// Compares a text with a file of the repository, as [`golden`] does.
#[track_caller]
pub(crate) fn same_as_file(path: &Utf8Path, actual: &str) {
    if is_updating() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if std::fs::read_to_string(path).ok().as_deref() != Some(actual) {
            files::write_atomic(path, actual.as_bytes()).unwrap();
        }
        return;
    }
    let expected = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{path}: {error}; run again with UPDATE_GOLDEN=1"));
    assert!(
        expected == actual,
        "{path} differs; if the new text is right, run again with UPDATE_GOLDEN=1\n\
         --- expected\n{expected}\n--- actual\n{actual}"
    );
}

pub(crate) fn is_updating() -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "a switch of the tests, not of the program"
    )]
    let value = std::env::var_os("UPDATE_GOLDEN");
    value.is_some_and(|value| value == "1")
}

/// The strings of a JSON array.
#[must_use]
#[track_caller]
pub(crate) fn strings(value: &Value) -> Vec<&str> {
    let items = value.as_array().expect("an array").iter();
    items.map(|item| item.as_str().expect("a string")).collect()
}

/// The keys of a JSON object, in their order.
#[must_use]
#[track_caller]
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

/// Whether tests run as root, for whom no file is unreadable.
#[cfg(unix)]
#[must_use]
pub(crate) fn is_root(env: &TestEnv) -> bool {
    env.tool("id", &["-u"]).run().stdout.trim() == "0"
}
