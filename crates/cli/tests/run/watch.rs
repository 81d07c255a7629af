//! `watch` in front of a real terminal: keys, sizes, a run that ends, and a terminal that is always given back.

use regex::Regex;
use rustix::process::Signal;

use crate::terminal::Terminal;
use crate::world::{DILIGENT, Running, Setup, World, plan, sprint};

const PROGRAM: &str = env!("CARGO_BIN_EXE_beads-ralph");

/// Dev agents say what they do, among it what would clear a screen and name it anew, and wait for a word.
const PATIENT: &str = r#"
if [ "$role" = dev ]; then
  printf 'thinking about %s\n\033[2J\033]0;t\007clever\n' "$sprint"
  touch "$base/began-$sprint"
  while ! [ -e "$base/go" ]; do sleep 0.02; done
fi
"#;

/// A run whose first bead is worked on.
fn patient() -> (World, Running) {
    let world = World::new(&Setup {
        plan: plan(&[("1.1", "One"), ("1.2", "Two")]),
        agent: format!("{PATIENT}{DILIGENT}"),
        ..Setup::default()
    });
    let running = world.command(&["run"]).start();
    world.wait_for("began-1.1");
    (world, running)
}

fn watch(world: &World) -> Terminal {
    Terminal::new(world, (100, 20), &[PROGRAM, "watch"])
}

/// A screen without what differs from run to run.
fn still(screen: &str) -> String {
    let run = Regex::new(r"run-\w+")
        .unwrap()
        .replace_all(screen, "run-ID");
    let times = Regex::new(r"\b\d+(\.\d)?s\b").unwrap();
    let still = times.replace_all(&run, "Ns").into_owned();
    let lines: Vec<&str> = still.lines().map(str::trim_end).collect();
    lines.join("\n")
}

#[test]
fn a_run_is_watched_to_its_end() {
    let (world, running) = patient();
    let terminal = watch(&world);
    terminal.shows("clever");
    let seen = still(&terminal.seen());
    let expected = "\
run-ID  running  0 of 2 closed, 1 working  $0.00  Ns
┌ teams ────────────────────────────────────┐┌ 1.1 One ────────────────────────────────────────────┐
│▶ 1.1 One                 developing 1/3 Ns││bd-1-1-one, attempt 1/3, feature/1-1-one,            │
│· 1.2 Two                     waits for 1.1││sprint-1-1-one                                       │
│                                           ││developing since Ns (worker)                         │
│                                           ││before 1.2 (waits for 1.1)                           │
│                                           │└─────────────────────────────────────────────────────┘
│                                           │┌ attempt-1/dev-1/stdout (2 of 2) ────────────────────┐
│                                           ││thinking about 1.1                                   │
│                                           ││\\u{1b}]0;t\\u{7}clever                                │
│                                           ││                                                     │
│                                           ││                                                     │
│                                           ││                                                     │
│                                           ││                                                     │
│                                           ││                                                     │
│                                           ││                                                     │
│                                           ││                                                     │
│                                           ││                                                     │
└───────────────────────────────────────────┘└─────────────────────────────────────────────────────┘
q quit  ? help  up/down bead  enter log  r retry  p pause  s stop  g graph  f filter  [ ] other log";
    assert_eq!(seen, expected);
    terminal.resize((50, 16));
    terminal.becomes("it fits the new size", |seen| {
        let lines: Vec<&str> = seen.lines().collect();
        lines.len() == 16 && lines[1].ends_with('┐') && lines[15].ends_with('…')
    });
    terminal.types("g");
    terminal.shows("wave 2");
    world.touch("go");
    terminal.shows("done  2 of 2 closed");
    running.end().exits(0);
    terminal.types("\u{1b}[B\r");
    terminal.shows("attempt-1/qa-1/stdout");
    terminal.types("q");
    terminal.ends().exits(0);
}

#[test]
fn keys_pause_a_run_let_it_go_on_and_stop_it() {
    let (world, running) = patient();
    let terminal = watch(&world);
    terminal.shows("running");
    terminal.types("p");
    terminal.shows("are paused");
    terminal.shows("  paused  ");
    terminal.types("p");
    terminal.shows("resume");
    terminal.shows("  running  ");
    terminal.types("sx");
    terminal.types("s");
    terminal.shows("stop all runs");
    terminal.types("y");
    terminal.shows("  stopping  ");
    world.touch("go");
    running.end().exits(0);
    terminal.shows("  stopped  ");
    assert_eq!(world.statuses(), "1.1 open, 1.2 open");
    terminal.types("\u{3}");
    terminal.ends().exits(0);
}

#[test]
fn a_bead_that_was_given_up_is_tried_again() {
    let world = World::new(&Setup {
        plan: sprint("1.1", "One", "**Max Attempts**: 1\n"),
        agent: "if [ \"$role\" = dev ]; then echo x >f; else echo '{\"status\": \"fail\", \"message\": \"no tests\"}'; fi"
            .to_owned(),
        ..Setup::default()
    });
    world.run(&["run"]);
    assert_eq!(world.statuses(), "1.1 blocked");
    let terminal = watch(&world);
    terminal.shows("what holds it up (1)");
    terminal.shows("needs attention");
    terminal.shows("no tests");
    terminal.types("r");
    terminal.shows("again? y: yes");
    terminal.types("y");
    terminal.shows("to be retried");
    terminal.shows("start beads-ralph run to work on it");
    assert_eq!(world.statuses(), "1.1 open");
    terminal.types("q");
    terminal.ends().exits(0);
}

#[test]
fn keys_ask_nothing_of_the_store_of_another_place() {
    let (world, running) = patient();
    let elsewhere = World::new(&Setup::default());
    let run = world.runs()[0].to_string();
    let terminal = Terminal::new(&elsewhere, (100, 20), &[PROGRAM, "watch", &run]);
    terminal.shows("1.1 One");
    terminal.types("p");
    terminal.shows("the store of another directory");
    let paused = |world: &World| !world.data(&["status"])["pause"].is_null();
    assert!(!paused(&world) && !paused(&elsewhere));
    terminal.types("q");
    terminal.ends().exits(0);
    world.touch("go");
    running.end().exits(0);
}

#[test]
fn whatever_ends_it_the_terminal_is_given_back() {
    let (world, running) = patient();
    for signals in [
        &[Signal::TERM][..],
        &[Signal::HUP],
        &[Signal::INT],
        &[Signal::QUIT],
        &[Signal::TERM, Signal::TERM, Signal::HUP],
    ] {
        let terminal = watch(&world);
        terminal.shows("1.1 One");
        assert!(!terminal.is_as_before());
        for signal in signals {
            terminal.signal(*signal);
        }
        terminal.ends().exits(0);
    }
    let terminal = watch(&world);
    terminal.shows("1.1 One");
    running.signal(Signal::KILL);
    running.end();
    terminal.shows("left: beads-ralph run resumes it");
    world.touch("go");
    world.run(&["run"]).exits(0);
    terminal.shows("done  2 of 2 closed");
    std::fs::remove_dir_all(&world.runs()[0]).unwrap();
    terminal.shows("does not exist");
    terminal.shows("done  2 of 2 closed");
    terminal.types("q");
    terminal.ends().exits(0);
}

#[test]
fn it_leaves_for_a_while_and_comes_back() {
    let (world, running) = patient();
    let script = format!("set -m; {PROGRAM} watch; echo away; read line; fg; echo back");
    let terminal = Terminal::new(&world, (100, 20), &["sh", "-c", &script]);
    terminal.shows("1.1 One");
    terminal.types("\u{1a}");
    terminal.shows("away");
    terminal.becomes("the shell has the terminal", |_| terminal.is_as_before());
    terminal.types("\r");
    terminal.shows("1.1 One");
    assert!(!terminal.is_as_before());
    terminal.types("q");
    terminal.shows("back");
    terminal.ends().exits(0);
    world.touch("go");
    running.end().exits(0);
}

#[test]
fn the_newest_run_is_shown_when_another_one_begins() {
    let (world, running) = patient();
    world.touch("go");
    running.end().exits(0);
    let terminal = watch(&world);
    terminal.shows("done");
    let bead = world.bead("1.2")["id"].as_str().unwrap().to_owned();
    world.run(&["reopen", &bead]).exits(0);
    world.run(&["run"]).exits(0);
    terminal.shows("a newer run has begun");
    terminal.shows("1.2 Two");
    terminal.types("q");
    terminal.ends().exits(0);
}

#[test]
fn without_a_terminal_or_a_run_it_says_so() {
    let world = World::new(&Setup::default());
    let said = world.run(&["watch"]).exits(2);
    said.says("needs an interactive terminal")
        .says("run --events");
    let dumb = format!("TERM=dumb {PROGRAM} watch; echo \"it is $?\"");
    let terminal = Terminal::new(&world, (80, 10), &["sh", "-c", &dumb]);
    terminal.shows("needs an interactive terminal");
    terminal.shows("it is 2");
    terminal.ends().exits(0);
    let terminal = Terminal::new(&world, (80, 10), &[PROGRAM, "watch"]);
    terminal.shows("beads-ralph run");
    assert_ne!(terminal.ends().code, Some(0));
}
