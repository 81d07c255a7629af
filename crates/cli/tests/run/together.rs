//! Several orchestrators on one repository, and others who use the store.

use std::time::Duration;

use rustix::process::Signal;

use crate::world::{Setup, World, plan, wait_until};

/// Counts how many run at once: a file for each that is there, and the number of them written down.
const COUNTING: &str = r#"
mkdir -p "$base/running"
touch "$base/running/$$"
ls "$base/running" | wc -l >>"$base/counts"
sleep 0.3
rm "$base/running/$$"
if [ "$role" = dev ]; then
  mkdir -p work && echo "the work of $bead" >"work/$sprint.txt"
else
  echo '{"status": "pass", "message": "fine"}'
fi
"#;

fn many() -> Setup {
    let sprints = ["a", "b", "c", "d", "e", "f", "g", "h"]
        .map(|letter| (format!("1.1{letter}"), format!("Part {letter}")));
    let mut sprints: Vec<(&str, &str)> = sprints
        .iter()
        .map(|(number, title)| (number.as_str(), title.as_str()))
        .collect();
    sprints.push(("1.2", "End"));
    Setup {
        plan: plan(&sprints),
        config: "ralph: {poll_interval: 100ms, max_parallel_sessions: 2}\n".to_owned(),
        agent: COUNTING.to_owned(),
        ..Setup::default()
    }
}

#[test]
fn z_14_two_orchestrators_share_the_cap_and_never_a_bead() {
    let world = World::new(&many());
    let one = world.command(&["run"]).start();
    let other = world.command(&["run"]).start();
    let (one, other) = (one.end().exits(0), other.end().exits(0));
    let statuses = world.statuses();
    assert!(
        !statuses.contains("open") && statuses.matches("closed").count() == 9,
        "{statuses}"
    );
    let mut log = world.log();
    log.sort();
    let n_runs = log.len();
    log.dedup();
    assert_eq!((n_runs, log.len()), (18, 18), "no bead twice: {log:?}");
    let counts = std::fs::read_to_string(world.base.join("counts")).unwrap();
    let most = counts
        .lines()
        .map(|line| line.trim().parse::<u32>().unwrap())
        .max();
    assert_eq!(most, Some(2), "{counts}");
    assert_eq!(world.runs().len(), 2);
    let merges = world.git(&[
        "log",
        "--first-parent",
        "--merges",
        "--format=%s",
        "ralph/plan",
    ]);
    assert_eq!(merges.lines().count(), 9, "{merges}\n{one:?}\n{other:?}");
    for run in world.runs() {
        world.run(&["replay", run.file_name().unwrap()]).exits(0);
    }
}

#[test]
fn z_4_of_two_orchestrators_one_is_killed_and_the_other_finishes() {
    let world = World::new(&many());
    let one = world.command(&["run"]).start();
    let other = world.command(&["run"]).start();
    wait_until("both work", || world.log().len() >= 4);
    one.signal(Signal::KILL);
    assert_eq!(one.end().code, None);
    other.end().exits(0);
    let statuses = world.statuses();
    assert!(
        !statuses.contains("open") && !statuses.contains("in_progress"),
        "{statuses}"
    );
    world.run(&["run"]).exits(0);
    wait_until("nobody is left", || world.processes().is_empty());
}

#[test]
fn z_4_both_orchestrators_are_killed_and_one_finishes() {
    let world = World::new(&many());
    let all = [
        world.command(&["run"]).start(),
        world.command(&["run"]).start(),
    ];
    wait_until("both work", || world.log().len() >= 4);
    for running in all {
        running.signal(Signal::KILL);
        assert_eq!(running.end().code, None);
    }
    world.run(&["run"]).exits(0);
    let statuses = world.statuses();
    assert_eq!(statuses.matches("closed").count(), 9, "{statuses}");
    let merges = world.git(&[
        "log",
        "--first-parent",
        "--merges",
        "--format=%s",
        "ralph/plan",
    ]);
    assert_eq!(merges.lines().count(), 9, "{merges}");
    wait_until("nobody is left", || world.processes().is_empty());
}

#[test]
fn z_4_an_orchestrator_that_sleeps_is_not_dead() {
    let world = World::new(&many());
    let one = world.command(&["run"]).start();
    wait_until("it works", || world.log().len() >= 2);
    one.signal(Signal::STOP);
    let held = world.statuses();
    let other = world.command(&["run", "--once"]).start();
    std::thread::sleep(Duration::from_secs(1));
    let still = |status: &str| held.matches(status).count();
    assert!(
        world.statuses().matches("in_progress").count() >= still("in_progress"),
        "nothing is taken from it"
    );
    one.signal(Signal::CONT);
    other.end().exits(0);
    one.end().exits(0);
    assert_eq!(world.statuses().matches("closed").count(), 9);
    assert_eq!(world.log().len(), 18, "no bead twice");
}

#[test]
fn l_13_a_store_that_somebody_else_keeps_for_seconds_is_waited_for() {
    let world = World::new(&Setup {
        plan: plan(&[("1.1", "One"), ("1.2", "Two")]),
        ..Setup::default()
    });
    let store = world.root.join(".beads");
    let file = store
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().into_path());
    let file = file
        .into_iter()
        .find(|path| path.extension() == Some("db"))
        .expect("a database");
    let running = world.command(&["run"]).start();
    wait_until("it works", || !world.log().is_empty());
    let other = rusqlite::Connection::open(&file).unwrap();
    other.busy_timeout(Duration::from_secs(20)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::sleep(Duration::from_secs(4));
    other.execute_batch("ROLLBACK").unwrap();
    running.end().exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
}

#[test]
fn z_4_a_journal_that_cannot_be_written_ends_the_run_and_the_next_goes_on() {
    let world = World::new(&many());
    let full = world.command(&["run"]).env("BEADS_RALPH_DIE_AT", "20!");
    let ended = full
        .start()
        .end()
        .exits(3)
        .says("the journal cannot be written");
    assert!(ended.stderr.contains("no storage space"), "{ended:#?}");
    wait_until("nobody is left", || world.processes().is_empty());
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses().matches("closed").count(), 9);
}
