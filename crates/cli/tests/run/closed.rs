//! Terminals that are closed while a program is in front of them: whatever reads or draws there ends, and nothing is lost.

use crate::terminal::Terminal;
use crate::world::{DILIGENT, LONG, Running, Setup, World, plan};

const PROGRAM: &str = env!("CARGO_BIN_EXE_beads-ralph");

const SIZE: (u16, u16) = (100, 20);

/// Dev agents wait for a word.
const PATIENT: &str = r#"
if [ "$role" = dev ]; then
  echo "thinking about $sprint"
  touch "$base/began-$sprint"
  while ! [ -e "$base/go" ]; do sleep 0.02; done
fi
"#;

fn patient_world() -> World {
    World::new(&Setup {
        plan: plan(&[("1.1", "One"), ("1.2", "Two")]),
        agent: format!("{PATIENT}{DILIGENT}"),
        ..Setup::default()
    })
}

/// A run whose first bead is worked on.
fn patient() -> (World, Running) {
    let world = patient_world();
    let running = world.command(&["run"]).start();
    world.wait_for("began-1.1");
    (world, running)
}

/// A command that hears no SIGHUP.
fn deaf(command: &str) -> String {
    format!("trap '' HUP; exec {PROGRAM} {command}")
}

#[test]
fn watch_ends_when_its_terminal_is_closed() {
    let (world, running) = patient();
    let deaf = deaf("watch");
    let terminals = [
        Terminal::new(&world, SIZE, &[PROGRAM, "watch"]),
        Terminal::new(&world, SIZE, &["sh", "-c", &deaf]),
        Terminal::borrowed(&world, SIZE, &[PROGRAM, "watch"]),
    ];
    for terminal in terminals {
        terminal.shows("1.1 One");
        // What is typed at the last moment is no reason to stay either.
        terminal.types("gg?");
        terminal.close().end().exits(0);
    }
    world.touch("go");
    running.end().exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
}

#[test]
fn following_logs_ends_when_nobody_can_see_them() {
    let (world, running) = patient();
    let bead = world.bead("1.1")["id"].as_str().unwrap().to_owned();
    let deaf = deaf(&format!("logs --follow {bead}"));
    let terminals = [
        Terminal::new(&world, SIZE, &["sh", "-c", &deaf]),
        Terminal::borrowed(&world, SIZE, &[PROGRAM, "logs", "--follow", &bead]),
    ];
    for terminal in terminals {
        terminal.shows("thinking about 1.1");
        terminal.close().end().exits(0);
    }
    let piped = format!("{PROGRAM} logs --follow {bead} | head -n 1");
    let seen = world.tool("sh", &["-c", &piped]).output(LONG).exits(0);
    seen.says("thinking about 1.1");
    world.touch("go");
    running.end().exits(0);
}

#[test]
fn a_question_that_nobody_can_answer_is_no_consent() {
    let world = World::new(&Setup::default());
    world.run(&["run"]).exits(0);
    let before = world.git(&["worktree", "list"]);
    for terminal in [
        Terminal::new(&world, SIZE, &["sh", "-c", &deaf("clean")]),
        Terminal::borrowed(&world, SIZE, &[PROGRAM, "clean"]),
    ] {
        terminal.shows("[y/N]");
        terminal.close().end().exits(1);
    }
    // The end of the input is no answer, on a terminal that is still there too.
    let terminal = Terminal::new(&world, SIZE, &[PROGRAM, "clean"]);
    terminal.shows("[y/N]");
    terminal.types("\u{4}");
    terminal.shows("nobody is there to be asked");
    terminal.ends().exits(1);
    assert_eq!(world.git(&["worktree", "list"]), before);
}

#[test]
fn a_run_whose_terminal_is_closed_stops_in_order() {
    let world = patient_world();
    let terminal = Terminal::new(&world, SIZE, &[PROGRAM, "run"]);
    world.wait_for("began-1.1");
    let running = terminal.close();
    world.touch("go");
    running.end().exits(0);
    assert_eq!(world.processes(), Vec::<String>::new());
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
}

#[test]
fn a_run_that_hears_no_signal_goes_on_without_its_terminal() {
    let world = patient_world();
    let terminal = Terminal::borrowed(&world, SIZE, &[PROGRAM, "run"]);
    world.wait_for("began-1.1");
    let running = terminal.close();
    world.touch("go");
    running.end().exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
}
