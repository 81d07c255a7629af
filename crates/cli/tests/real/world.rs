//! A world of its own for each test: home, repository, environment and a scripted model.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use beads_ralph_runtime::os::env::{self, Variable};
use beads_ralph_runtime::os::files;
use beads_ralph_testkit::scripted_model::{Login, ScriptedModel};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Nothing that these tests run takes this long.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(2);

/// Home, repository, environment and a scripted model.
pub(crate) struct RealWorld {
    root: Utf8PathBuf,
    model: ScriptedModel,
    _guard: TempDir,
}

impl RealWorld {
    /// A world with this scenario. It is not in the system's temporary directory, where `codex` refuses to live.
    #[must_use]
    #[track_caller]
    pub(crate) fn new(scenario: &str) -> Self {
        let guard = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = Utf8PathBuf::from_path_buf(guard.path().canonicalize().unwrap()).unwrap();
        let world = Self {
            root,
            model: ScriptedModel::with(scenario),
            _guard: guard,
        };
        std::fs::create_dir(world.root.join("home")).unwrap();
        std::fs::create_dir(world.work()).unwrap();
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world.git(&["config", "user.name", "Test"]);
        world.git(&["config", "user.email", "test@example.org"]);
        world.git(&["commit", "--quiet", "--allow-empty", "--message=start"]);
        world
    }

    pub(crate) fn model(&self) -> &ScriptedModel {
        &self.model
    }

    /// The repository, in which everything runs.
    #[must_use]
    pub(crate) fn work(&self) -> Utf8PathBuf {
        self.root.join("work")
    }

    /// A place of this world that is not in the repository.
    #[must_use]
    pub(crate) fn beside(&self, name: &str) -> Utf8PathBuf {
        self.root.join(name)
    }

    /// The text of a file in the repository.
    #[must_use]
    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap()
    }

    /// Writes a file of the repository.
    #[track_caller]
    pub(crate) fn write(&self, name: &str, text: &str) -> Utf8PathBuf {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        files::write_atomic(&path, text.as_bytes()).unwrap();
        path
    }

    /// What git says, without the end of the line.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let ended = self.process("git".into(), args).run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout.trim_end().to_owned()
    }

    /// `claude` with a prompt and more arguments. It gives a failing service up after one more try.
    #[must_use]
    #[track_caller]
    pub(crate) fn claude(&self, login: Login, prompt: &str, args: &[&str]) -> Invocation {
        let common = ["-p", "--output-format", "stream-json", "--verbose"];
        let args = [&common, args].concat();
        self.process(real("claude"), &args)
            .envs(self.model.claude_env(login))
            .env("CLAUDE_CODE_MAX_RETRIES", "1")
            .stdin(prompt)
    }

    /// `codex exec` with a prompt and more arguments.
    #[must_use]
    #[track_caller]
    pub(crate) fn codex(&self, prompt: &str, args: &[&str]) -> Invocation {
        let options = self.model.codex_options(1);
        let mut all = vec!["exec"];
        all.extend(args);
        all.extend([
            "--json",
            "--dangerously-bypass-approvals-and-sandbox",
            "--model",
            "gpt-5",
        ]);
        all.extend(options.iter().map(String::as_str));
        all.push("-");
        self.process(real("codex"), &all)
            .envs(self.model.codex_env())
            .stdin(prompt)
    }

    /// Our own program, with the real ones in its `PATH`.
    #[must_use]
    pub(crate) fn with_tools(&self, args: &[&str]) -> Invocation {
        let path = env::get(Variable::Path).unwrap_or_default();
        self.process(env!("CARGO_BIN_EXE_beads-ralph").into(), args)
            .env("PATH", &format!("{}:{path}", tools()))
    }

    /// The same with what they need in its environment.
    #[must_use]
    pub(crate) fn program(&self, args: &[&str]) -> Invocation {
        self.with_tools(args)
            .envs(self.model.claude_env(Login::Key))
            .envs(self.model.codex_env())
    }

    /// What the configuration says of a real agent that talks to this world's model.
    #[must_use]
    #[track_caller]
    pub(crate) fn adapter(&self, name: &str, login: Login) -> Value {
        let (env, options) = match name {
            "claude" => {
                let mut env = self.model.claude_env(login);
                env.push(("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()));
                (env, Vec::new())
            }
            _ => (self.model.codex_env(), self.model.codex_options(1)),
        };
        let env: BTreeMap<&str, String> = env.into_iter().collect();
        let mut adapter = json!({"executable": real(name), "env": env, "options": options});
        if name == "codex" {
            // Which tools codex offers depends on the model; the scripted one knows those of this.
            adapter["models"] = json!({"haiku": "gpt-5", "sonnet": "gpt-5", "opus": "gpt-5"});
        }
        adapter
    }

    /// This program.
    #[must_use]
    #[track_caller]
    pub(crate) fn beads_ralph(&self, args: &[&str]) -> Invocation {
        self.process(env!("CARGO_BIN_EXE_beads-ralph").into(), args)
    }

    fn process(&self, program: Utf8PathBuf, args: &[&str]) -> Invocation {
        process(program, args, &self.work(), &self.root.join("home"))
    }
}

/// A program with an environment of its own.
pub(crate) fn process(
    program: Utf8PathBuf,
    args: &[&str],
    folder: &Utf8Path,
    home: &Utf8Path,
) -> Invocation {
    #[expect(
        clippy::disallowed_methods,
        reason = "the only place in these tests that starts a process"
    )]
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(folder)
        .env_clear()
        // One of the programs is a script of node, which may be anywhere.
        .env("PATH", env::get(Variable::Path).unwrap_or_default())
        .env("HOME", home)
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Invocation {
        command,
        input: Vec::new(),
    }
}

/// Where the real programs are.
fn tools() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/real/bin")
}

/// A real program.
#[track_caller]
pub(crate) fn real(name: &str) -> Utf8PathBuf {
    let program = tools().join(name);
    let found = program.canonicalize_utf8();
    found
        .unwrap_or_else(|error| panic!("{program}: {error}; run `scripts/real-tools {name}` first"))
}

/// A process that is about to start.
pub(crate) struct Invocation {
    command: Command,
    input: Vec<u8>,
}

impl Invocation {
    #[must_use]
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    #[must_use]
    fn envs(mut self, values: Vec<(&'static str, String)>) -> Self {
        self.command.envs(values);
        self
    }

    #[must_use]
    pub(crate) fn stdin(mut self, text: &str) -> Self {
        self.input = text.into();
        self.command.stdin(Stdio::piped());
        self
    }

    /// Runs to the end.
    #[track_caller]
    pub(crate) fn run(self) -> Ended {
        self.start().end()
    }

    #[track_caller]
    pub(crate) fn start(mut self) -> Running {
        let mut child = self.command.spawn().unwrap();
        if let Some(mut stdin) = child.stdin.take() {
            let input = self.input;
            // Whoever stops reading early has closed the pipe, which is not ours to judge.
            thread::spawn(move || drop(stdin.write_all(&input)));
        }
        let group = Pid::from_child(&child);
        Running {
            child: Some(child),
            group,
        }
    }

    /// Starts a process that is talked to: it runs until the test is over.
    #[track_caller]
    pub(crate) fn talk(mut self) -> (Running, ChildStdin, ChildStdout) {
        // Nobody reads what it complains about, and a full pipe would stop it.
        self.command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = self.command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let group = Pid::from_child(&child);
        let running = Running {
            child: Some(child),
            group,
        };
        (running, stdin, stdout)
    }
}

/// A process that runs; if a test fails, it ends with it, and so do its children.
pub(crate) struct Running {
    child: Option<Child>,
    group: Pid,
}

impl Running {
    /// Asks the process and its children to end.
    #[track_caller]
    pub(crate) fn terminate(&self) {
        kill_process_group(self.group, Signal::TERM).unwrap();
    }

    /// Whether it has ended by itself.
    #[track_caller]
    pub(crate) fn has_ended(&mut self) -> bool {
        let child = self.child.as_mut().expect("it has not been waited for");
        child.try_wait().unwrap().is_some()
    }

    /// Ends the process without asking, and not its children.
    #[track_caller]
    pub(crate) fn kill(self) {
        kill_process(self.group, Signal::KILL).unwrap();
        let ended = self.end();
        assert_eq!(ended.signal, Some(Signal::KILL.as_raw()), "{ended:#?}");
    }

    /// Waits for the end. What does not end is a failure of the test, not a test without end.
    #[track_caller]
    pub(crate) fn end(self) -> Ended {
        self.end_within(MAX_WAIT)
    }

    /// The same with another measure of what is too long.
    #[track_caller]
    pub(crate) fn end_within(mut self, limit: Duration) -> Ended {
        let child = self.child.take().expect("it has not been waited for");
        let (send, receive) = mpsc::channel();
        thread::spawn(move || drop(send.send(child.wait_with_output())));
        let output = receive.recv_timeout(limit);
        let output = output.expect("the program ends in time").unwrap();
        Ended {
            code: output.status.code(),
            signal: output.status.signal(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Those that are gone already need no end.
        let _ = kill_process_group(self.group, Signal::KILL);
        if let Some(mut child) = self.child.take() {
            drop(child.wait());
        }
    }
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// The lines of standard output, each of which is JSON.
    #[must_use]
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<Value> {
        let lines = self.stdout.lines().map(serde_json::from_str);
        lines
            .collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// The events of one type.
    #[must_use]
    #[track_caller]
    pub(crate) fn of_type(&self, kind: &str) -> Vec<Value> {
        let events = self.events().into_iter();
        events.filter(|event| event["type"] == kind).collect()
    }

    /// The last event, which is of this type.
    #[must_use]
    #[track_caller]
    pub(crate) fn last(&self, kind: &str) -> Value {
        let last = self
            .events()
            .pop()
            .unwrap_or_else(|| panic!("no event: {self:#?}"));
        assert_eq!(last["type"], kind, "{self:#?}");
        last
    }
}
