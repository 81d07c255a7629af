//! Stores with many beads, of both kinds, and a repository whose run is counted.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use beads_ralph_runtime::os::files;
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::figures::timed;

const OURS: &str = env!("CARGO_BIN_EXE_beads-ralph");

/// Whose `bd` it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Real,
    Ours,
}

/// A store, and the `bd` for it.
pub(crate) struct World {
    side: Side,
    root: Utf8PathBuf,
}

fn real() -> Utf8PathBuf {
    let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/real/bin/bd");
    path.canonicalize_utf8()
        .expect("the real bd is there: scripts/real-tools bd")
}

/// A program in a directory, with an environment that nothing else gets into.
fn command(program: &str, words: &[&str], root: &Utf8Path, path: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a benchmark starts programs")]
    let mut command = Command::new(program);
    command
        .args(words)
        .current_dir(root)
        .env_clear()
        .env("PATH", format!("{path}:/usr/local/bin:/usr/bin:/bin"))
        .env("HOME", root.as_str())
        .env("BD_DISABLE_METRICS", "1")
        .env("BD_NON_INTERACTIVE", "1")
        .env("BEADS_ACTOR", "bench")
        .env("BEADS_RALPH_STORE_TIMEOUT", "30m")
        .stdin(Stdio::null());
    command
}

fn succeed(mut command: Command) -> String {
    let output = command.output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).expect("it prints UTF-8")
}

impl World {
    /// A call, from the start of the process to its end.
    pub(crate) fn bd(&self, words: &[&str]) -> String {
        let (program, words) = match self.side {
            Side::Real => (real().to_string(), words.to_vec()),
            Side::Ours => (OURS.to_owned(), [&["bd"], words].concat()),
        };
        succeed(command(&program, &words, &self.root, ""))
    }
}

/// One bead in ten waits for the one before it: the real `bd` takes long for every edge.
fn lines(n_beads: usize) -> String {
    let mut lines = String::new();
    for number in 0..n_beads {
        let edges = if number % 10 == 9 {
            format!(
                ",\"dependencies\":[{{\"issue_id\":\"tt-{number}\",\"depends_on_id\":\"tt-{}\",\"type\":\"blocks\"}}]",
                number - 1
            )
        } else {
            String::new()
        };
        _ = writeln!(
            lines,
            "{{\"id\":\"tt-{number}\",\"title\":\"Bead {number}\",\"status\":\"open\",\"priority\":{},\"issue_type\":\"task\",\
             \"description\":\"{}\",\"labels\":[\"a\",\"b{}\"],\"created_at\":\"2026-01-01T00:00:00Z\",\
             \"updated_at\":\"2026-01-01T00:00:00Z\"{edges}}}",
            number % 5,
            "x".repeat(800),
            number % 7
        );
    }
    lines
}

/// A store with so many beads. It is made once.
pub(crate) fn filled(side: Side, n_beads: usize) -> World {
    let name = format!("bd-bench-{side:?}-{n_beads}").to_lowercase();
    let root = Utf8Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let world = World { side, root };
    let whole = world.root.join("whole");
    if !whole.exists() {
        drop(files::remove_directory(&world.root));
        files::create_directory(&world.root).expect("there is room");
        succeed(command("git", &["init", "--quiet"], &world.root, ""));
        world.bd(&[
            "init",
            "--non-interactive",
            "--prefix=tt",
            "--skip-hooks",
            "--skip-agents",
        ]);
        let input = world.root.join("beads.jsonl");
        files::write_atomic(&input, lines(n_beads).as_bytes()).expect("there is room");
        world.bd(&["import", input.as_str()]);
        files::write_atomic(&whole, b"").expect("there is room");
    }
    world
}

/// A repository with a plan, whose beads the real `bd` keeps behind a program that counts.
pub(crate) struct Run {
    root: Utf8PathBuf,
    bin: Utf8PathBuf,
    _guard: TempDir,
}

impl Run {
    pub(crate) fn of(n_sprints: usize) -> Self {
        let guard = tempfile::tempdir().expect("there is room for temporary files");
        let base = Utf8PathBuf::from_path_buf(guard.path().to_owned()).expect("a plain path");
        let (root, bin) = (base.join("work"), base.join("bin"));
        for directory in [&root, &bin] {
            files::create_directory(directory).expect("there is room");
        }
        let run = Self {
            root,
            bin,
            _guard: guard,
        };
        let script = format!(
            "#!/bin/sh\necho \"$1\" >>{}/calls\nexec {} \"$@\"\n",
            run.bin,
            real()
        );
        write(&run.bin.join("bd"), &script);
        succeed(run.command("chmod", &["+x", run.bin.join("bd").as_str()]));
        for words in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["config", "user.name", "Bench"],
            &["config", "user.email", "bench@example.org"],
        ] {
            succeed(run.command("git", words));
        }
        write(&run.root.join("plan.md"), &plan(n_sprints));
        write(&run.root.join("beads-ralph.yaml"), CONFIG);
        write(&run.root.join("scenario.yaml"), SCENARIO);
        let init = [
            "init",
            "--non-interactive",
            "--prefix=tt",
            "--skip-hooks",
            "--skip-agents",
        ];
        succeed(run.command(real().as_str(), &init));
        succeed(run.command(OURS, &["init"]));
        succeed(run.command("git", &["add", "--all"]));
        succeed(run.command("git", &["commit", "--quiet", "--message=plan"]));
        succeed(run.command(OURS, &["plan", "apply", "plan.md"]));
        write(&run.bin.join("calls"), "");
        run
    }

    /// The commands that the real `bd` was started with by a run, and how long the run took.
    pub(crate) fn count(&self) -> (Vec<String>, Duration) {
        let command = self.command(OURS, &["run", "--integration=none"]);
        let (_, time) = timed(|| succeed(command));
        let calls = std::fs::read_to_string(self.bin.join("calls")).expect("something was called");
        (calls.lines().map(str::to_owned).collect(), time)
    }

    fn command(&self, program: &str, words: &[&str]) -> Command {
        command(program, words, &self.root, self.bin.as_str())
    }
}

fn write(path: &Utf8Path, text: &str) {
    files::write_atomic(path, text.as_bytes()).expect("there is room");
}

const CONFIG: &str = r#"permissions: bypass
disk: {check_before_start: false}
ralph: {poll_interval: 500ms}
agents:
  default: scripted
  adapters:
    scripted: {options: ["--scenario", "scenario.yaml"]}
"#;

const SCENARIO: &str = r##"rules:
  - contains: ["# QA:"]
    sessions:
      - - report: {status: pass, message: "fine"}
  - contains: ["Sprint: "]
    sessions:
      - - run: "date +%N >work.txt && git add --all && git commit --quiet --message work"
        - say: done
"##;

fn plan(n_sprints: usize) -> String {
    let mut plan = "# Plan: many sprints\n\n".to_owned();
    for number in 1..=n_sprints {
        _ = write!(
            plan,
            "### Sprint {number}.1: Part {number}\n\n\
             **Worktree**: `../worktrees/{number}`\n**Branch**: `feature/{number}`\n**Source Branch**: `main`\n\
             **Dependencies**: none\n\n\
             **Dev Agents**:\n- `claude` (sonnet) - work\n\n**QA Agents**:\n- `claude` (haiku) - look\n\n\
             **Tasks**:\n- Write work.txt\n\n**Verifiers**:\n- there: `test -f work.txt`\n\n"
        );
    }
    plan
}
