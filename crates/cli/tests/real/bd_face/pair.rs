//! The two sides of a comparison: a program each, with its own store, home and repository.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use beads_ralph_runtime::{os::clock, os::files};
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use super::normal::{self, Normaliser};
use super::script::{Beginning, Call, Scenario, Step, folder};
use crate::world::{Ended, process, real};

/// A `bd` to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Real,
    Ours,
}

/// What a call printed, comparable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A call with what both sides printed.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) scenario: String,
    pub(crate) call: Call,
    pub(crate) left: Seen,
    pub(crate) right: Seen,
}

/// Stores to begin with, made once for each program, and a place for copies.
pub(crate) struct Templates {
    guard: TempDir,
    programs: [Program; 2],
    n_copies: AtomicUsize,
}

impl Templates {
    /// Empty stores and stores with the seed, for both sides.
    pub(crate) fn new(programs: [Program; 2]) -> Self {
        let guard = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let templates = Self {
            guard,
            programs,
            n_copies: AtomicUsize::new(0),
        };
        for (side, program) in programs.into_iter().enumerate() {
            let bare = templates.template(side, Beginning::Bare);
            make_bare(&bare);
            let empty = templates.template(side, Beginning::Empty);
            copy(&bare, &empty);
            let mut store = Side::new(program, empty.clone());
            store.must(&[
                "init",
                "--non-interactive",
                "--prefix",
                "tt",
                "--skip-hooks",
                "--skip-agents",
            ]);
            let seed = templates.template(side, Beginning::Seed);
            copy(&empty, &seed);
            let mut store = Side::new(program, seed);
            store.must(&["import", folder().join("seed.jsonl").as_str()]);
        }
        templates
    }

    /// Does the steps of a scenario on both sides.
    pub(crate) fn play(&self, scenario: &Scenario) -> Vec<Compared> {
        let number = self.n_copies.fetch_add(1, Ordering::Relaxed);
        let named = named(scenario);
        let mut sides = [0, 1].map(|side| {
            let copied = self.root().join(format!("{number}-{side}"));
            copy(&self.template(side, scenario.beginning), &copied);
            let mut side = Side::new(self.programs[side], copied);
            side.normaliser.named.extend(named.iter().cloned());
            side
        });
        let mut compared = Vec::new();
        for step in &scenario.steps {
            match step {
                Step::Tick => wait_for_next_second(),
                Step::Write { path, text } => {
                    for side in &sides {
                        side.write(path, text);
                    }
                }
                Step::Call(call) => {
                    let [left, right] = &mut sides;
                    compared.push(Compared {
                        scenario: scenario.name.clone(),
                        call: call.clone(),
                        left: left.call(call),
                        right: right.call(call),
                    });
                }
            }
        }
        for side in sides {
            std::fs::remove_dir_all(side.root).unwrap();
        }
        compared
    }

    fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.guard.path()).unwrap()
    }

    fn template(&self, side: usize, beginning: Beginning) -> Utf8PathBuf {
        self.root().join(format!("template-{side}-{beginning:?}"))
    }
}

/// The ids that a scenario and the seed name.
fn named(scenario: &Scenario) -> Vec<String> {
    let seed = std::fs::read_to_string(folder().join("seed.jsonl")).unwrap();
    let mut named: Vec<String> = normal::ids(&seed).collect();
    for step in &scenario.steps {
        match step {
            Step::Write { text, .. } => named.extend(normal::ids(text)),
            Step::Call(call) => {
                named.extend(call.words.iter().flat_map(|word| normal::ids(word)));
                named.extend(normal::ids(&call.input));
            }
            Step::Tick => {}
        }
    }
    named
}

fn make_bare(root: &Utf8Path) {
    let (work, home) = (root.join("work"), root.join("home"));
    std::fs::create_dir_all(&work).unwrap();
    std::fs::create_dir_all(&home).unwrap();
    for args in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["config", "user.name", "Test"],
        &["config", "user.email", "test@example.org"],
        &["commit", "--quiet", "--allow-empty", "--message=start"],
    ] {
        process("git".into(), args, &work, &home).run().exits(0);
    }
}

fn copy(from: &Utf8Path, to: &Utf8Path) {
    let args = ["-a", from.as_str(), to.as_str()];
    process("cp".into(), &args, Utf8Path::new("/"), Utf8Path::new("/"))
        .run()
        .exits(0);
}

fn wait_for_next_second() {
    let rest = 1_000_000_000 - clock::wall().subsec_nanosecond().unsigned_abs();
    thread::sleep(Duration::from_nanos(u64::from(rest)) + Duration::from_millis(20));
}

/// One side of a scenario.
struct Side {
    program: Program,
    root: Utf8PathBuf,
    normaliser: Normaliser,
}

impl Side {
    fn new(program: Program, root: Utf8PathBuf) -> Self {
        let database = match program {
            Program::Real => "work/.beads/embeddeddolt",
            Program::Ours => "work/.beads/beads-ralph.db",
        };
        let paths = vec![
            (root.join(database), "<database>"),
            (root.join("work"), "<work>"),
            (root.join("home"), "<home>"),
            (root.clone(), "<root>"),
        ];
        Self {
            program,
            root,
            normaliser: Normaliser {
                paths,
                named: [].into(),
                made_up: Vec::new(),
            },
        }
    }

    fn run(&self, call: &Call) -> Ended {
        let words: Vec<String> = call.words.iter().map(|word| self.filled(word)).collect();
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        let program = match self.program {
            Program::Real => real("bd"),
            Program::Ours => {
                words.insert(0, "bd");
                env!("CARGO_BIN_EXE_beads-ralph").into()
            }
        };
        let work = self.root.join("work");
        let mut invocation = process(program, &words, &work, &self.root.join("home"))
            .env("BEADS_ACTOR", "tester")
            .env("BD_NON_INTERACTIVE", "1")
            .env("BD_DISABLE_METRICS", "1")
            .env("NO_COLOR", "1");
        for (name, value) in &call.environment {
            invocation = invocation.env(name, &self.filled(value));
        }
        if !call.input.is_empty() {
            invocation = invocation.stdin(&call.input);
        }
        invocation.run()
    }

    fn call(&mut self, call: &Call) -> Seen {
        let ended = self.run(call);
        let now = clock::wall();
        Seen {
            code: ended.code,
            stdout: self.normaliser.normal(&ended.stdout, now),
            stderr: self.normaliser.normal(&ended.stderr, now),
        }
    }

    fn must(&mut self, words: &[&str]) {
        let call = Call {
            line: 0,
            text: String::new(),
            is_success: true,
            difference: None,
            environment: Vec::new(),
            words: words.iter().map(|&word| word.to_owned()).collect(),
            input: String::new(),
        };
        self.run(&call).exits(0);
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join("work").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        files::write_atomic(&path, self.filled(text).as_bytes()).unwrap();
    }

    /// The text with this side's ids and folder in the places of `{n}` and `{work}`.
    fn filled(&self, text: &str) -> String {
        let mut text = text.replace("{work}", self.root.join("work").as_str());
        for (index, id) in self.normaliser.made_up.iter().enumerate() {
            text = text.replace(&format!("{{{}}}", index + 1), id);
        }
        text
    }
}
