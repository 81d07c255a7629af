//! What people ask of a run while it runs, and what they ask for at its beginning.

use rustix::process::Signal;

use crate::world::{DILIGENT, Running, Setup, World, plan, sprint, wait_until};

/// Dev agents say that they began, and wait for a word.
const PATIENT: &str = r#"
if [ "$role" = dev ]; then
  touch "$base/began-$sprint"
  while ! [ -e "$base/go" ]; do sleep 0.02; done
fi
"#;

fn patient(sprints: &[(&str, &str)]) -> (World, Running) {
    let world = World::new(&Setup {
        plan: plan(sprints),
        agent: format!("{PATIENT}{DILIGENT}"),
        ..Setup::default()
    });
    let running = world.command(&["run"]).start();
    world.wait_for(&format!("began-{}", sprints[0].0));
    (world, running)
}

const TWO: [(&str, &str); 2] = [("1.1", "One"), ("1.2", "Two")];

/// What a run that was stopped left can be gone on with.
#[track_caller]
fn goes_on(world: &World) {
    wait_until("nobody is left", || world.processes().is_empty());
    world.touch("go");
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
    assert_eq!(world.bead("1.1")["metadata"]["attempt_count"], 1);
}

#[test]
fn l_9_the_first_signal_lets_agents_finish_and_gives_beads_back() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (world, running) = patient(&TWO);
        running.signal(signal);
        wait_until("it has heard", || {
            world
                .journal()
                .iter()
                .any(|entry| entry["event"]["stop_asked"]["now"] == false)
        });
        assert_eq!(
            world.statuses(),
            "1.1 in_progress, 1.2 open",
            "the agent may finish"
        );
        world.touch("go");
        running.end().exits(0);
        assert_eq!(world.statuses(), "1.1 open, 1.2 open");
        assert_eq!(world.log(), ["dev 1.1 1"], "nothing new is begun");
        goes_on(&world);
    }
}

#[test]
fn l_9_the_second_signal_ends_agents() {
    let (world, running) = patient(&TWO);
    running.signal(Signal::INT);
    wait_until("it has heard", || {
        world
            .journal()
            .iter()
            .any(|entry| entry["event"]["stop_asked"]["now"] == false)
    });
    running.signal(Signal::INT);
    running.end().exits(130);
    assert_eq!(world.statuses(), "1.1 open, 1.2 open");
    goes_on(&world);
}

#[test]
fn l_9_the_third_signal_ends_everything_and_the_next_run_goes_on() {
    let (world, running) = patient(&TWO);
    for _ in 0..3 {
        running.signal(Signal::INT);
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    running.end().exits(130);
    goes_on(&world);
}

#[test]
fn z_15_stop_lets_agents_finish() {
    let (world, running) = patient(&TWO);
    world.run(&["stop"]).exits(0);
    wait_until("it has heard", || {
        world
            .journal()
            .iter()
            .any(|entry| entry["event"]["stop_asked"]["now"] == false)
    });
    world.touch("go");
    running.end().exits(0);
    assert_eq!(world.statuses(), "1.1 open, 1.2 open");
    goes_on(&world);
}

#[test]
fn z_15_stop_now_ends_agents() {
    let (world, running) = patient(&TWO);
    world.run(&["stop", "--now"]).exits(0);
    running.end().exits(0);
    assert_eq!(world.statuses(), "1.1 open, 1.2 open");
    goes_on(&world);
}

#[test]
fn z_15_a_pause_begins_nothing_new_until_it_is_taken_back() {
    let (world, running) = patient(&[("1.1", "One"), ("1.2", "Two")]);
    world.run(&["pause"]).exits(0);
    wait_until("it has heard", || {
        world
            .journal()
            .iter()
            .any(|entry| entry["event"]["pause_asked"]["is_paused"] == true)
    });
    world.touch("go");
    wait_until("what runs is finished", || {
        world.statuses() == "1.1 closed, 1.2 open"
    });
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(world.log(), ["dev 1.1 1", "qa 1.1 1"]);
    world.run(&["pause", "--off"]).exits(0);
    running.end().exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
}

#[test]
fn z_15_a_paused_run_can_be_stopped() {
    let world = World::new(&Setup::default());
    world.run(&["pause"]).exits(0);
    let running = world.command(&["run"]).start();
    wait_until("it has heard", || {
        world
            .journal()
            .iter()
            .any(|entry| entry["event"]["pause_asked"]["is_paused"] == true)
    });
    world.run(&["stop"]).exits(0);
    running.end().exits(0);
    assert_eq!(world.log(), Vec::<String>::new());
}

#[test]
fn l_7_once_takes_what_is_ready_and_nothing_that_becomes_so() {
    let world = World::new(&Setup {
        plan: plan(&[("1.1a", "A"), ("1.1b", "B"), ("1.2", "C")]),
        ..Setup::default()
    });
    world.run(&["run", "--once"]).exits(0);
    assert_eq!(world.statuses(), "1.1a closed, 1.1b closed, 1.2 open");
}

#[test]
fn l_7_watching_goes_on_when_nothing_is_left_until_it_is_stopped() {
    let world = World::new(&Setup::default());
    let running = world.command(&["run", "--watch"]).start();
    wait_until("1.1 is closed", || world.statuses() == "1.1 closed");
    world.write("plan.md", &plan(&[("1.1", "Only One"), ("1.2", "Another")]));
    world.run(&["plan", "apply", "plan.md"]).exits(0);
    wait_until("1.2 is closed", || {
        world.statuses() == "1.1 closed, 1.2 closed"
    });
    world.run(&["stop"]).exits(0);
    running.end().exits(0);
}

#[test]
fn l_5_beads_teams_and_sprints_narrow_a_run() {
    let section = |number: &str, title: &str, team: &str| {
        sprint(number, title, &format!("**Team**: `{team}`\n"))
    };
    let plan = [
        section("1.1a", "A", "red"),
        section("1.1b", "B", "blue"),
        section("1.1c", "C", "red"),
        section("1.1d", "D", "green"),
    ];
    let world = World::new(&Setup {
        plan: format!("# Plan: p\n\n{}", plan.concat()),
        ..Setup::default()
    });
    let id = world.bead("1.1a")["id"].as_str().unwrap().to_owned();
    world.run(&["run", "--bead", &id]).exits(0);
    assert_eq!(
        world.statuses(),
        "1.1a closed, 1.1b open, 1.1c open, 1.1d open"
    );
    world.run(&["run", "--team", "red"]).exits(0);
    assert_eq!(
        world.statuses(),
        "1.1a closed, 1.1b open, 1.1c closed, 1.1d open"
    );
    world.run(&["run", "--sprint", "1.1d"]).exits(0);
    assert_eq!(
        world.statuses(),
        "1.1a closed, 1.1b open, 1.1c closed, 1.1d closed"
    );
    world
        .run(&["run", "--team", "red", "--team", "blue"])
        .exits(0);
    assert_eq!(
        world.statuses(),
        "1.1a closed, 1.1b closed, 1.1c closed, 1.1d closed"
    );
}

#[test]
fn l_7_a_selection_whose_blockers_are_left_out_ends_and_says_so() {
    let world = World::new(&Setup {
        plan: plan(&TWO),
        ..Setup::default()
    });
    let ended = world.run(&["run", "--sprint", "1.2"]).exits(0);
    assert_eq!(world.statuses(), "1.1 open, 1.2 open");
    ended.says("waits for bd-1-1-one");
}

#[test]
fn l_10_a_dry_run_does_nothing() {
    let world = World::new(&Setup::default());
    world
        .run(&["run", "--dry-run"])
        .exits(0)
        .says("1-1-only-one");
    assert_eq!((world.log().len(), world.runs().len()), (0, 0));
    assert_eq!(world.statuses(), "1.1 open");
}

#[test]
fn z_41_what_takes_longest_is_begun_first() {
    let world = World::new(&Setup {
        plan: sprint("1.1a", "Short", "**Estimate**: 5m\n")
            + &sprint("1.1b", "Long", "**Estimate**: 60m\n"),
        ..Setup::default()
    });
    world.run(&["run", "--max-parallel", "1"]).exits(0);
    let begun: Vec<String> = world
        .log()
        .into_iter()
        .filter(|line| line.starts_with("dev"))
        .collect();
    assert_eq!(begun, ["dev 1.1b 1", "dev 1.1a 1"]);
}
