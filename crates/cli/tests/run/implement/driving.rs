//! `drive`: the queue, several beads at once, rests, and ends (I-40…I-43).

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::Value;

use super::{Bench, SOURCE, has, is_human, labels, notes};
use crate::world::wait_until;

const READY: &str = "implementation-ready,brainstormed";

/// What a driver did that left work for a person.
#[track_caller]
fn needing_person(bench: &Bench, args: &[&str]) -> Value {
    let output = bench.world.run(&[args, &["--json"]].concat()).exits(1);
    let mut answer: Value = serde_json::from_str(&output.stdout).unwrap();
    answer["error"]["results"].take()
}

fn eight(bench: &Bench) -> Vec<String> {
    let ids: Vec<String> = (1..=8).map(|n| format!("many-{n}")).collect();
    for id in &ids {
        bench.create(
            id,
            "bug",
            &format!("{READY},mine,ralf:required,ralf:cycles=1"),
        );
    }
    ids
}

#[test]
fn i_40_eight_beads_at_once_go_through_all_their_stages_and_nothing_is_done_twice() {
    let bench = Bench::new("sleep 0.1; diligent");
    let ids = eight(&bench);
    let driven = bench.world.data(&["drive", "--parallel", "8"]);
    assert_eq!(driven["failures"], serde_json::json!([]), "{driven:#}");
    for id in &ids {
        let bead = bench.bead(id);
        assert!(!is_human(&bead), "{bead:#}");
        for label in [
            "implementation-ready",
            "brainstormed",
            "mine",
            "merge-ready",
        ] {
            assert!(has(&bead, label), "{label}: {bead:#}");
        }
    }
    let beads = bench.beads();
    let steps = beads
        .iter()
        .filter(|bead| bead["metadata"]["stage"].is_string());
    let steps: Vec<&Value> = steps.collect();
    assert_eq!(steps.len(), 8 * 9);
    for step in steps {
        assert_eq!(step["status"], "closed", "{step:#}");
        assert!(
            labels(step).iter().any(|label| label.starts_with("stage-")),
            "{step:#}"
        );
    }
    let ran = bench.ran();
    let once: BTreeSet<&String> = ran.iter().collect();
    assert_eq!(ran.len(), once.len(), "{ran:#?}");
    let workers = ran
        .iter()
        .filter(|line| line.starts_with("worker tdd-") || line.starts_with("worker bug-"));
    assert_eq!(workers.count(), 8 * 3);
    let before = bench.export();
    bench.world.run(&["drive", "--parallel", "8"]).exits(0);
    assert_eq!(bench.export(), before, "there is nothing left to do");
}

#[test]
fn i_40_once_is_one_stage_of_as_many_as_may_be_at_once_the_most_urgent_first() {
    let bench = Bench::new("diligent");
    for (id, priority) in [("q-1", "2"), ("q-2", "0"), ("q-3", "2"), ("q-4", "1")] {
        bench.create(id, "bug", READY);
        bench.bd(&["update", id, "-p", priority]);
    }
    let driven = bench.world.data(&["drive", "--once", "--parallel", "2"]);
    let mut sources: Vec<&str> = driven["dispatched"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["source"].as_str().unwrap())
        .collect();
    sources.sort_unstable();
    assert_eq!(sources, ["q-2", "q-4"], "{driven:#}");
    assert!(
        driven["dispatched"]
            .as_array()
            .unwrap()
            .iter()
            .all(|it| it["stage"] == "preflight")
    );
    let driven = bench.world.data(&["drive", "--once"]);
    assert_eq!(
        driven["dispatched"][0]["source"], "q-2",
        "it goes on with what it began: {driven:#}"
    );
    assert_eq!(driven["dispatched"][0]["stage"], "diagnose");
}

#[test]
fn i_40_a_dry_run_shows_the_queue_and_changes_nothing() {
    let bench = Bench::new("diligent");
    bench.create("q-1", "bug", READY);
    bench.create("q-2", "epic", READY);
    let before = bench.export();
    let shown = bench.world.run(&["drive", "--dry-run"]).exits(0);
    assert!(
        shown.stdout.contains("q-1") && shown.stdout.contains("the formula is fix-bug"),
        "{shown:#?}"
    );
    let queue = bench.world.data(&["drive", "--dry-run"]);
    assert_eq!(queue["queue"].as_array().unwrap().len(), 2, "{queue:#}");
    assert_eq!(bench.export(), before);
    assert!(bench.ran().is_empty() && !bench.world.root.join(".claude/worktrees").exists());
}

#[test]
fn i_43_what_is_not_labelled_waits_or_is_blocked_is_not_touched_and_what_is_in_progress_is() {
    let bench = Bench::new("diligent");
    bench.create("q-1", "bug", &format!("{READY},human"));
    bench.create("q-2", "bug", "brainstormed");
    bench.create("q-3", "bug", READY);
    bench.create("q-4", "bug", "other");
    bench.bd(&["dep", "add", "q-3", "q-4"]);
    // In progress by hand, without a molecule: somebody else works on it.
    bench.create("q-5", "bug", READY);
    bench.bd(&["update", "q-5", "--status", "in_progress"]);
    let before = bench.export();
    let driven = needing_person(&bench, &["drive", "--parallel", "4"]);
    assert_eq!(driven["dispatched"], serde_json::json!([]), "{driven:#}");
    assert_eq!(driven["needs_person"], serde_json::json!(["q-1"]));
    assert_eq!(bench.export(), before);
    bench.bd(&["label", "remove", "q-1", "human"]);
    bench.bd(&["close", "q-1"]);
    bench.source("bug", "");
    bench.implement();
    assert_eq!(bench.bead(SOURCE)["status"], "in_progress");
    bench.world.run(&["drive"]).exits(0);
    assert!(has(&bench.bead(SOURCE), "merge-ready"));
}

#[test]
fn i_42_a_bead_that_cannot_be_worked_on_three_times_is_for_a_person_and_the_others_go_on() {
    let bench = Bench::with(
        "if [ \"$role\" = reviewer ]; then exit 1; else diligent; fi",
        "poll_interval: 100ms, reviewers: {codex: worker, gemini: worker}",
        "gates: {test: sh t.sh}\n",
    );
    bench.create("q-1", "bug", &format!("{READY},ralf:required"));
    bench.create("q-2", "feature", READY);
    let driven = needing_person(&bench, &["drive"]);
    assert_eq!(driven["needs_person"], serde_json::json!(["q-1"]));
    let failures = driven["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 3, "{driven:#}");
    assert!(failures.iter().all(|it| it["source"] == "q-1"));
    let bead = bench.bead("q-1");
    assert!(
        is_human(&bead) && notes(&bead).contains("3 times in a row"),
        "{bead:#}"
    );
    assert!(has(&bench.bead("q-2"), "merge-ready"));
}

#[test]
fn i_42_u_17_a_driver_that_leaves_work_for_a_person_ends_with_1_and_names_it() {
    let bench = Bench::new("diligent");
    bench.create("q-1", "epic", READY);
    let driven = bench.world.run(&["drive"]).exits(1);
    driven.says("q-1").says("beads-ralph human list");
    assert!(is_human(&bench.bead("q-1")));
    // As long as nobody answers.
    bench.world.run(&["drive"]).exits(1).says("q-1");
    bench.bd(&["close", "q-1"]);
    bench.world.run(&["drive"]).exits(0);
}

#[test]
fn i_42_an_agent_that_is_not_there_stops_the_driver_and_flags_no_bead() {
    let bench = Bench::with("diligent", "poll_interval: 100ms", "");
    let text = bench.world.read("beads-ralph.yaml");
    let text = text.replacen(
        "worktrees:",
        "    broken: {kind: command, executable: ./nowhere}\nworktrees:",
        1,
    );
    let workers =
        "workers: {diagnose/fix-bug: {agent: bug-diagnoser, adapter: broken}}, poll_interval";
    let text = text.replacen("poll_interval", workers, 1);
    bench.world.write("beads-ralph.yaml", &text);
    bench.create("q-1", "bug", READY);
    bench.world.run(&["drive"]).exits(1).says("not installed");
    assert!(!is_human(&bench.bead("q-1")));
}

#[test]
fn i_42_what_somebody_else_works_on_is_waited_for() {
    let bench = Bench::with(
        "touch \"$base/working\"; while ! [ -f \"$base/go\" ]; do sleep 0.02; done; diligent",
        "poll_interval: 50ms",
        "",
    );
    bench.source("bug", "");
    bench.implement();
    let one = bench.world.command(&["implement", SOURCE]).start();
    bench.world.wait_for("working");
    let driver = bench.world.command(&["drive"]).start();
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert!(!is_human(&bench.bead(SOURCE)), "{:#}", bench.bead(SOURCE));
    bench.world.touch("go");
    one.end().exits(0);
    driver.end().exits(0);
    let source = bench.bead(SOURCE);
    assert!(
        has(&source, "merge-ready") && !is_human(&source),
        "{source:#}"
    );
}

#[test]
fn i_40_two_drivers_share_the_queue() {
    let bench = Bench::with(
        "diligent",
        "poll_interval: 100ms, reviewers: {codex: worker, gemini: worker}",
        "gates: {test: sh t.sh}\n",
    );
    let ids = eight(&bench);
    let all = [(); 2].map(|()| bench.world.command(&["drive", "--parallel", "4"]).start());
    for driver in all {
        driver.end().exits(0);
    }
    for id in &ids {
        let bead = bench.bead(id);
        assert!(has(&bead, "merge-ready") && !is_human(&bead), "{bead:#}");
    }
    let ran = bench.ran();
    let once: BTreeSet<&String> = ran.iter().collect();
    assert_eq!(ran.len(), once.len(), "{ran:#?}");
}

#[test]
fn i_40_an_interrupted_driver_gives_its_steps_back() {
    let bench = Bench::new(
        "touch \"$base/working-$bead\"; while ! [ -f \"$base/go\" ]; do sleep 0.02; done; diligent",
    );
    for id in ["q-1", "q-2"] {
        bench.create(id, "bug", READY);
    }
    let driver = bench.world.command(&["drive", "--parallel", "2"]).start();
    let n_working = || bench.ran().len();
    wait_until("both work", || n_working() == 2);
    driver.signal(Signal::INT);
    driver.end().exits(130);
    wait_until("nobody is left", || bench.world.processes().is_empty());
    let steps: Vec<Value> = bench
        .beads()
        .into_iter()
        .filter(|it| it["metadata"]["stage"] == "diagnose")
        .collect();
    assert_eq!(steps.len(), 2);
    for step in &steps {
        assert_eq!(step["status"], "open", "{step:#}");
        assert!(!is_human(step));
    }
    bench.world.touch("go");
    bench.world.run(&["drive", "--parallel", "2"]).exits(0);
    assert!(has(&bench.bead("q-2"), "merge-ready"));
}

#[test]
fn i_40_a_driver_that_watches_takes_what_comes_later() {
    let bench = Bench::with("diligent", "poll_interval: 100ms", "");
    let driver = bench.world.command(&["drive", "--watch"]).start();
    bench.create("q-1", "bug", READY);
    wait_until("it is worked on", || has(&bench.bead("q-1"), "merge-ready"));
    bench.create("q-2", "bug", READY);
    wait_until("the second one too", || {
        has(&bench.bead("q-2"), "merge-ready")
    });
    driver.signal(Signal::INT);
    driver.end().exits(130);
}

#[test]
fn z_36_a_driver_that_is_killed_loses_nothing() {
    let bench = Bench::new("sleep 0.1; diligent");
    let ids = eight(&bench);
    let driver = bench.world.command(&["drive", "--parallel", "8"]).start();
    wait_until("they work", || bench.ran().len() >= 12);
    driver.signal(Signal::KILL);
    assert_eq!(driver.end().code, None);
    bench.world.run(&["drive", "--parallel", "8"]).exits(0);
    for id in &ids {
        let bead = bench.bead(id);
        assert!(has(&bead, "merge-ready") && !is_human(&bead), "{bead:#}");
    }
    wait_until("nobody is left", || bench.world.processes().is_empty());
}
