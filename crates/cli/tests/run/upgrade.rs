//! A project that version 0.1.0 left behind: its store, journals, configuration, plan and export.
//!
//! `tests/fixtures/0.1.0/README.md` says what is in it. Every later version reads it or says how to go on.

use serde_json::Value;

use crate::world::{LONG, World};

const PROJECT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/0.1.0/project.tar.gz"
);
const FINISHED_RUN: &str = "run-20261116T192711Z";
const KILLED_RUN: &str = "run-20261116T192727Z";
const N_BEADS: usize = 22;

/// The project in a place of its own.
#[track_caller]
fn project() -> World {
    let world = World::empty("word-count");
    std::fs::create_dir(world.base.join("home")).unwrap();
    std::fs::create_dir(&world.root).unwrap();
    let args = ["-xzf", PROJECT, "-C", world.base.as_str()];
    world.tool("tar", &args).output(LONG).exits(0);
    world.git(&["config", "user.name", "Ann Ünger"]);
    world.git(&["config", "user.email", "ann@example.org"]);
    world
}

/// The beads of an export, in the order of their ids.
fn beads(lines: &str) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap();
    let mut beads: Vec<Value> = lines.lines().map(parse).collect();
    beads.sort_by_key(|bead| bead["id"].to_string());
    beads
}

#[test]
fn the_store_of_0_1_0_holds_what_it_held() {
    let world = project();
    world.run(&["doctor"]).exits(0);
    let now = beads(&world.run(&["export"]).exits(0).stdout);
    assert_eq!(now.len(), N_BEADS);
    assert_eq!(now, beads(&world.read("export.jsonl")));
    let listed = world.data(&["list", "--all"]);
    assert_eq!(listed["beads"].as_array().unwrap().len(), N_BEADS);
    let history = world.data(&["log", "bd-1-2b-count-bytes"]);
    assert!(!history["events"].as_array().unwrap().is_empty());
}

#[test]
fn the_store_of_0_1_0_can_be_written() {
    let world = project();
    world
        .run(&["comment", "word-count-9xl", "Seen again"])
        .exits(0);
    world
        .run(&["claim", "word-count-smq.1"])
        .exits(4)
        .says("dev");
    world
        .run(&["bd", "create", "Another bug", "-t", "bug"])
        .exits(0);
    world.run(&["doctor"]).exits(0);
}

#[test]
fn an_export_of_0_1_0_can_be_imported() {
    let world = project();
    std::fs::remove_dir_all(world.root.join(".beads")).unwrap();
    world.run(&["init"]).exits(0);
    world.run(&["import", "export.jsonl"]).exits(0);
    let now = beads(&world.run(&["export"]).exits(0).stdout);
    assert_eq!(now, beads(&world.read("export.jsonl")));
}

#[test]
fn plan_and_configuration_of_0_1_0_are_understood() {
    let world = project();
    world.run(&["plan", "check", "plan.md"]).exits(0);
    let applied = world.data(&["plan", "apply", "plan.md", "--dry-run"]);
    for count in ["new", "removed", "conflicts"] {
        assert_eq!(applied["counts"][count], 0, "{applied}");
    }
    world.run(&["status"]).exits(0).says("bd-1-2b-count-bytes");
}

#[test]
fn journals_of_0_1_0_can_be_told() {
    let world = project();
    for run in [FINISHED_RUN, KILLED_RUN] {
        world.run(&["replay", run]).exits(0);
        let page = format!("{run}.html");
        world.run(&["report", run, "--output", &page]).exits(0);
        assert!(world.read(&page).contains(run));
    }
    world
        .run(&["qa-report"])
        .exits(0)
        .says("src/bytes.rs still counts characters");
}

#[test]
fn a_run_that_0_1_0_left_is_resumed() {
    let world = project();
    let worktree = "../word-count-worktrees/docs/7-2-examples";
    world.git(&["worktree", "add", "--quiet", worktree, "docs/7-2-examples"]);
    world.run(&["run", "later.md"]).exits(0).says(KILLED_RUN);
    let bead = world.data(&["show", "bd-7-2-examples"]);
    assert_eq!(bead["beads"][0]["status"], "closed", "{bead}");
    world.run(&["doctor"]).exits(0);
}

#[test]
fn work_that_0_1_0_gave_up_can_be_retried() {
    let world = project();
    world.run(&["retry", "bd-1-2b-count-bytes"]).exits(0);
    let bead = world.data(&["show", "bd-1-2b-count-bytes"]);
    assert_eq!(bead["beads"][0]["status"], "open", "{bead}");
}
