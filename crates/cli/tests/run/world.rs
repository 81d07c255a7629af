//! A repository of its own for each test, with a plan, an agent that is a shell script, and the program.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use beads_ralph_runtime::os::process::{self, Mark};
use beads_ralph_runtime::run::{RunDirectory, mark_of};
use beads_ralph_runtime::{os::clock, os::files};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// A safety net: a test that comes here has failed.
pub(crate) const LONG: Duration = Duration::from_mins(3);

/// A repository, what is beside it, and the program to run in it.
pub(crate) struct World {
    _guard: TempDir,
    /// Where everything is.
    pub(crate) base: Utf8PathBuf,
    /// The main checkout.
    pub(crate) root: Utf8PathBuf,
}

/// What a world is made from.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    /// The name of the repository's directory.
    pub(crate) name: &'static str,
    pub(crate) plan: String,
    /// `beads-ralph.yaml`, after what all worlds have.
    pub(crate) config: String,
    /// What is said about the agent's program, besides where it is.
    pub(crate) adapter: String,
    /// What the agent does; the shell runs it in the worktree, with `$base` for where everything is.
    pub(crate) agent: String,
}

/// An agent that is our script, and nothing that depends on the machine.
fn config(setup: &Setup) -> String {
    let Setup {
        config, adapter, ..
    } = setup;
    format!(
        "permissions: bypass\ndisk: {{check_before_start: false}}\nagents:\n  default: worker\n  adapters:\n    \
         worker: {{kind: command, executable: ../agent.sh, {adapter}}}\n{config}"
    )
}

/// Every run of an agent is a line, from its first moment on.
const AGENT: &str = r#"#!/bin/sh
base=$(dirname "$0")
role=$BEADS_RALPH_ROLE sprint=$BEADS_RALPH_SPRINT attempt=$BEADS_RALPH_ATTEMPT bead=$BEADS_RALPH_BEAD
echo "$role $sprint $attempt $$" >>"$base/log"
"#;

/// Makes a file named for the sprint, and finds everything good.
pub(crate) const DILIGENT: &str = r#"
if [ "$role" = dev ]; then
  mkdir -p work && echo "the work of $bead" >"work/$sprint.txt"
else
  echo '{"status": "pass", "message": "fine"}'
fi
"#;

impl Default for Setup {
    fn default() -> Self {
        Self {
            name: "repo",
            plan: plan(&[("1.1", "Only One")]),
            config: "ralph: {poll_interval: 100ms}\n".to_owned(),
            adapter: String::new(),
            agent: DILIGENT.to_owned(),
        }
    }
}

/// A plan of sprints, each with an agent, a judge and a check.
pub(crate) fn plan(sprints: &[(&str, &str)]) -> String {
    let sections = sprints
        .iter()
        .map(|(number, title)| sprint(number, title, ""));
    format!("# Plan: a test\n\n{}", sections.collect::<String>())
}

/// One sprint, with more fields where they are given.
pub(crate) fn sprint(number: &str, title: &str, more: &str) -> String {
    let slug = format!("{number} {title}")
        .to_lowercase()
        .replace([' ', '.'], "-");
    format!(
        "### Sprint {number}: {title}\n\n\
         **Worktree**: `../worktrees/{slug}`\n**Branch**: `feature/{slug}`\n**Source Branch**: `main`\n\
         {more}\n\
         **Dev Agents**:\n- `claude` (sonnet) - {title}\n\n\
         **QA Agents**:\n- `claude` (haiku) - look at {title}\n\n\
         **Tasks**:\n- Write work/{number}.txt\n\n\
         **Verifiers**:\n- there: `test -f work/{number}.txt`\n\n"
    )
}

impl World {
    /// A world in which the plan was applied.
    #[track_caller]
    pub(crate) fn new(setup: &Setup) -> Self {
        let world = Self::bare(setup);
        world.run(&["plan", "apply", "plan.md"]).exits(0);
        world
    }

    /// A world with an empty store.
    #[track_caller]
    pub(crate) fn bare(setup: &Setup) -> Self {
        let world = Self::empty(setup.name);
        std::fs::create_dir(world.base.join("home")).unwrap();
        std::fs::create_dir(&world.root).unwrap();
        world.git(&["init", "--quiet", "-b", "main"]);
        world.git(&["config", "user.name", "Ann Ünger"]);
        world.git(&["config", "user.email", "ann@example.org"]);
        world.git(&["config", "gc.auto", "0"]);
        world.write("shared.txt", "one\ntwo\nthree\n");
        world.write("plan.md", &setup.plan);
        world.write("beads-ralph.yaml", &config(setup));
        world.agent(&setup.agent);
        world.run(&["init"]).exits(0);
        world.git(&["add", "--all"]);
        world.git(&["commit", "--quiet", "-m", "first"]);
        world
    }

    /// A world without a repository yet.
    pub(crate) fn empty(name: &str) -> Self {
        let guard = beads_ralph_testkit::scratch();
        let base = Utf8PathBuf::from_path_buf(guard.path().canonicalize().unwrap()).unwrap();
        Self {
            root: base.join(name),
            base,
            _guard: guard,
        }
    }

    /// The same world in another place.
    #[track_caller]
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::empty(self.root.file_name().unwrap());
        let from = self.base.join(".");
        let args = ["-a", "--reflink=auto", from.as_str(), copy.base.as_str()];
        self.tool("cp", &args).output(LONG).exits(0);
        copy
    }

    /// What the agent does from now on.
    #[track_caller]
    pub(crate) fn agent(&self, script: &str) {
        self.program("agent.sh", &format!("{AGENT}{script}"));
    }

    /// Writes a program, from where everything is.
    #[track_caller]
    pub(crate) fn program(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.base.join(name);
        files::write_atomic(&path, text.as_bytes()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Writes a file, from the main checkout.
    #[track_caller]
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        files::create_directory(path.parent().unwrap()).unwrap();
        files::write_atomic(&path, text.as_bytes()).unwrap();
    }

    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.root.join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// A process in the main checkout, with an environment of its own.
    pub(crate) fn tool(&self, program: &str, args: &[&str]) -> Invocation {
        #[expect(
            clippy::disallowed_methods,
            reason = "the only place in these tests that starts a process"
        )]
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.base.join("home"))
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Invocation(command)
    }

    /// The program.
    pub(crate) fn command(&self, args: &[&str]) -> Invocation {
        self.tool(env!("CARGO_BIN_EXE_beads-ralph"), args)
    }

    /// Runs the program to its end.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output(LONG)
    }

    /// The data of an answer in JSON.
    #[track_caller]
    pub(crate) fn data(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json"]].concat()).exits(0);
        let mut answer: Value = serde_json::from_str(&output.stdout).unwrap();
        answer["data"].take()
    }

    /// What git says in the main checkout.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self.tool("git", args).output(LONG).exits(0);
        output.stdout.trim_end().to_owned()
    }

    /// All beads, by sprint, as they are exported.
    #[track_caller]
    pub(crate) fn beads(&self) -> BTreeMap<String, Value> {
        let lines = self.run(&["export"]).exits(0).stdout;
        let beads = lines.lines().map(|line| {
            let bead: Value = serde_json::from_str(line).unwrap();
            (
                bead["metadata"]["sprint"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
                bead,
            )
        });
        beads.collect()
    }

    /// The status of each bead, by sprint: `1.1 closed, 1.2 open`.
    #[track_caller]
    pub(crate) fn statuses(&self) -> String {
        let beads = self.beads();
        let status = |(sprint, bead): (&String, &Value)| {
            format!("{sprint} {}", bead["status"].as_str().unwrap_or_default())
        };
        beads.iter().map(status).collect::<Vec<_>>().join(", ")
    }

    /// A bead, by its sprint.
    #[track_caller]
    pub(crate) fn bead(&self, sprint: &str) -> Value {
        self.beads().remove(sprint).expect("there is such a sprint")
    }

    /// Why a bead is not closed, as its result says.
    #[track_caller]
    pub(crate) fn error_of(&self, sprint: &str) -> String {
        let bead = self.bead(sprint);
        let error = bead["metadata"]["scrum_result"]["error"].as_str();
        error.unwrap_or_else(|| panic!("{bead:#}")).to_owned()
    }

    /// What the judges of a bead said, in order.
    #[track_caller]
    pub(crate) fn verdicts(&self, sprint: &str) -> Vec<String> {
        let bead = self.bead(sprint);
        let all = bead["metadata"]["qa_agent_executions"].as_array();
        let said = |it: &Value| {
            let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
            format!("{}: {}", text("status"), text("message"))
        };
        all.into_iter().flatten().map(said).collect()
    }

    /// What agents were run so far: `dev 1.1 1`, in the order of their beginnings.
    pub(crate) fn log(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.base.join("log")).unwrap_or_default();
        let lines = log.lines().map(|line| line.rsplit_once(' ').unwrap().0);
        lines.map(str::to_owned).collect()
    }

    /// The directories of runs, oldest first.
    pub(crate) fn runs(&self) -> Vec<Utf8PathBuf> {
        let runs = self.root.join(".beads/runs").read_dir_utf8();
        let mut runs: Vec<Utf8PathBuf> = (runs.into_iter().flatten())
            .map(|entry| entry.unwrap().into_path())
            .collect();
        runs.sort();
        runs
    }

    /// The journal of the newest run, each line as it is.
    pub(crate) fn journal(&self) -> Vec<Value> {
        self.runs()
            .pop()
            .map_or_else(Vec::new, |run| journal_in(&run))
    }

    /// The processes of all runs that are there, and whoever stands in this world, each with its command line.
    pub(crate) fn processes(&self) -> Vec<String> {
        let runs = RunDirectory::all(&self.root.join(".beads")).into_iter();
        let marks = runs.map(|run| mark_of(&run));
        let mut found: BTreeSet<u32> = marks.flat_map(|mark| process::find(&Mark(mark))).collect();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let cwd = std::fs::read_link(entry.path().join("cwd"));
            if cwd.is_ok_and(|cwd| cwd.starts_with(&self.base)) {
                found.extend(entry.file_name().to_string_lossy().parse::<u32>());
            }
        }
        let told = found.into_iter().map(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            format!(
                "{pid}: {}",
                String::from_utf8_lossy(&line).replace('\0', " ")
            )
        });
        told.collect()
    }

    /// Waits until a file is there, from where everything is.
    #[track_caller]
    pub(crate) fn wait_for(&self, name: &str) {
        wait_until(name, || self.base.join(name).exists());
    }

    /// Makes a file, from where everything is, for agents that wait for it.
    #[track_caller]
    pub(crate) fn touch(&self, name: &str) {
        files::write_atomic(&self.base.join(name), b"").unwrap();
    }
}

/// The lines of a run's journal.
pub(crate) fn journal_in(run: &Utf8Path) -> Vec<Value> {
    let text = std::fs::read_to_string(run.join("journal.jsonl")).unwrap_or_default();
    let lines = text.lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Waits until something holds; whoever asks has failed if it never does.
#[track_caller]
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = clock::monotonic() + LONG;
    while !is_so() {
        assert!(clock::monotonic() < until, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// A process that is about to start.
pub(crate) struct Invocation(Command);

impl Invocation {
    #[must_use]
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    /// Where its standard output goes, instead of into the answer.
    pub(crate) fn stdout(&mut self, to: impl Into<Stdio>) {
        self.0.stdout(to);
    }

    /// Puts it in front of a terminal.
    #[must_use]
    pub(crate) fn on(mut self, terminal: &OwnedFd) -> Self {
        let end = || Stdio::from(terminal.try_clone().unwrap());
        self.0.stdin(end()).stdout(end()).stderr(end());
        self
    }

    #[track_caller]
    pub(crate) fn start(mut self) -> Running {
        let child = self.0.spawn().unwrap();
        let pid = child.id();
        let (send, receive) = mpsc::channel();
        thread::spawn(move || drop(send.send(child.wait_with_output())));
        Running { pid, receive }
    }

    #[track_caller]
    pub(crate) fn output(self, limit: Duration) -> Output {
        self.start().end_within(limit)
    }
}

/// A process that runs.
pub(crate) struct Running {
    pub(crate) pid: u32,
    receive: mpsc::Receiver<std::io::Result<std::process::Output>>,
}

impl Running {
    pub(crate) fn signal(&self, signal: Signal) {
        signal_to(self.pid, signal);
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(self) -> Output {
        self.end_within(LONG)
    }

    #[track_caller]
    fn end_within(self, limit: Duration) -> Output {
        let Ok(output) = self.receive.recv_timeout(limit) else {
            self.signal(Signal::KILL);
            let output = self.receive.recv().unwrap();
            panic!("it does not end in time: {output:#?}");
        };
        let output = output.unwrap();
        let ended = Output {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        };
        assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
        ended
    }
}

pub(crate) fn signal_to(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // It may have ended meanwhile.
    _ = kill_process(pid, signal);
}

/// How a process ended; without a code when it was killed.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        let is_said = self.stderr.contains(text) || self.stdout.contains(text);
        assert!(is_said, "{text:?} is not in {self:#?}");
        self
    }
}
