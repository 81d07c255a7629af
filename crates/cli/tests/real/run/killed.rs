//! The orchestrator is killed in the middle, more than once, and whoever comes next goes on: nothing is done twice.

use std::thread;
use std::time::Duration;

use beads_ralph_testkit::github::{Call, Fault};
use beads_ralph_testkit::scripted_model::Login;
use serde_json::{Value, json};

use super::ground::{Ground, MAX_RUN, data};
use super::whole::{SPRINTS, all_is_done, rules};

/// Runs the plan until there are so many pull requests, and the run was gone on with so often: they may be there before it is.
#[track_caller]
fn kill_at(ground: &Ground, n_pulls: usize, n_adoptions: usize) {
    let mut running = ground.run_plan().start();
    for _ in 0..MAX_RUN.as_secs() {
        let has_pulls = (ground.github).wait_for_pulls(n_pulls, Duration::from_secs(1));
        if has_pulls && ground.n_adoptions() >= n_adoptions {
            return running.kill();
        }
        if has_pulls {
            thread::sleep(Duration::from_millis(100));
        }
        if running.has_ended() {
            break;
        }
    }
    panic!("before {n_pulls}: {:#?}", running.end());
}

#[test]
#[ignore = "needs the real claude, codex and gh: scripts/real-tools claude codex gh"]
fn a_run_that_is_killed_goes_on_and_proposes_everything_once() {
    let ground = Ground::new(&SPRINTS, &rules(), Login::Key, &json!({}));
    let head = ground.real.git(&["rev-parse", "HEAD"]);
    // The third pull request is made, and nobody is told; so is the seventh, while agents work on the other track.
    for (n_adoptions, n) in [3, 7].into_iter().enumerate() {
        ground.github.plan_nth(Call::Create, n, Fault::HangAfter);
        kill_at(&ground, n, n_adoptions);
    }
    // The ninth is made, and the connection breaks: that is no reason to make it again.
    ground.github.plan_nth(Call::Create, 9, Fault::CutAfter);
    kill_at(&ground, 8, 2);

    // What the run was told at its beginning holds, whatever the last one is told.
    let last = ["run", "--integration", "none", "--json"];
    let last = ground.program(&last).start();
    let ended = last.end_within(MAX_RUN);
    all_is_done(&ground, &ended, &head);
    let journal = ground.journal();
    let is_adoption = |entry: &&Value| entry["event"].get("adopted").is_some();
    assert_eq!(journal.iter().filter(is_adoption).count(), 3, "one run");
    assert_eq!(data(&ended)["adopted"], true);
}
