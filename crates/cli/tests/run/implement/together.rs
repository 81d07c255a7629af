//! Several dispatchers on one source at once: one molecule, one claim, one worker (Z-36).

use rustix::process::Signal;
use serde_json::Value;

use super::{Bench, SOURCE, is_human};
use crate::world::{Output, wait_until};

/// Starts some of them at the same moment.
fn at_once(bench: &Bench, n: usize) -> Vec<Output> {
    let args = ["implement", SOURCE, "--json"];
    let all: Vec<_> = (0..n).map(|_| bench.world.command(&args).start()).collect();
    all.into_iter().map(|one| one.end()).collect()
}

#[test]
fn z_36_of_many_that_pour_at_once_one_does() {
    for _ in 0..3 {
        let bench = Bench::new("diligent");
        bench.source("bug", "");
        let ended = at_once(&bench, 6);
        assert_eq!(bench.molecules().len(), 1, "{ended:#?}");
        for one in &ended {
            assert!([Some(0), Some(4)].contains(&one.code), "{one:#?}");
        }
        assert!(ended.iter().any(|one| one.code == Some(0)));
        let step = bench.step("preflight");
        assert_eq!(step["status"], "closed", "{step:#}");
        let worktrees = bench.world.git(&["worktree", "list"]);
        assert_eq!(worktrees.lines().count(), 2, "{worktrees}");
        let mut ran = bench.ran();
        let n = ran.len();
        ran.sort();
        ran.dedup();
        assert_eq!(n, ran.len(), "no step twice: {ran:?}");
    }
}

#[test]
fn z_36_of_two_that_work_at_once_one_does_and_the_other_says_who() {
    let bench = Bench::new(
        "touch \"$base/working\"; while ! [ -f \"$base/go\" ]; do sleep 0.02; done; diligent",
    );
    bench.source("bug", "");
    bench.implement();
    let one = bench
        .world
        .command(&["implement", SOURCE, "--json"])
        .start();
    bench.world.wait_for("working");
    let other = bench.run().exits(4);
    assert!(other.stderr.contains("already claimed"), "{other:#?}");
    bench.world.touch("go");
    let told: Value = serde_json::from_str(&one.end().exits(0).stdout).unwrap();
    assert_eq!(told["data"]["ending"], "complete");
    assert_eq!(bench.ran().len(), 1);
    assert_eq!(bench.implement()["stage"], "red-tests");
}

#[test]
fn z_36_a_step_that_is_taken_away_is_not_closed_by_the_one_who_had_it() {
    let bench = Bench::new(
        "touch \"$base/working\"; while ! [ -f \"$base/go\" ]; do sleep 0.02; done; diligent",
    );
    bench.source("bug", "");
    bench.implement();
    let one = bench.world.command(&["implement", SOURCE]).start();
    bench.world.wait_for("working");
    let step = bench.step("diagnose")["id"].as_str().unwrap().to_owned();
    bench.world.run(&["release", &step, "--force"]).exits(0);
    bench.world.run(&["claim", &step]).exits(0);
    bench.world.touch("go");
    let ended = one.end();
    assert!(ended.code.is_some_and(|code| code != 0), "{ended:#?}");
    assert_eq!(bench.step("diagnose")["status"], "in_progress");
}

#[test]
fn z_36_an_interrupted_dispatch_gives_the_step_back_and_a_worker_that_was_cut_off_works_anew() {
    let bench = Bench::new("diligent; touch \"$base/working\"; sleep 60");
    bench.source("bug", "");
    bench.implement();
    let one = bench.world.command(&["implement", SOURCE]).start();
    bench.world.wait_for("working");
    one.signal(Signal::INT);
    one.end().exits(130);
    wait_until("nobody is left", || bench.world.processes().is_empty());
    let step = bench.step("diagnose");
    assert!(step["status"] == "open" && !is_human(&step), "{step:#}");
    bench.agent("diligent");
    let told = bench.implement();
    assert_eq!(told["ending"], "complete", "{told:#}");
    assert_eq!(bench.ran().len(), 2);
}
