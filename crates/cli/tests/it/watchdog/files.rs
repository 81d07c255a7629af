//! Beads in files are watched like those of a store (G-8).

use serde_json::{Value, json};

use super::{owned, steps};
use crate::dod::wait_for;
use crate::env::TestEnv;

/// Two hours after the moment of the tests.
const LATER: &str = "1767330245";

/// A world without a store.
#[track_caller]
pub(super) fn world() -> TestEnv {
    let env = TestEnv::new();
    env.make_directory(".git");
    env
}

/// Writes a bead into a file.
#[track_caller]
pub(super) fn write(env: &TestEnv, path: &str, more: &Value) {
    let mut document = json!({"intent": "x", "dod": {"verifiers": [{"name": "v", "command": "true"}]},
        "constraints": {"max_iterations": 1}});
    let fields = document.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    env.write(path, document.to_string());
}

fn silent(status: &str, since: &str, restarts: u64) -> Value {
    json!({"status": status, "assignee": "somebody", "last_updated": format!("2026-01-02T{since}Z"),
        "ralph_meta": {"restart_count": restarts, "odd": 1}})
}

#[test]
fn g_8_silent_files_are_reminded_of_put_back_and_failed() {
    let env = world();
    let files = [
        ("a", silent("in_progress", "03:00:00", 0)),
        ("b", silent("in_progress", "02:30:00", 0)),
        ("c", silent("hooked", "01:00:00", 2)),
        ("d", silent("in_progress", "01:00:00", 5)),
        ("e", silent("pending", "01:00:00", 0)),
        ("g", silent("blocked", "01:00:00", 0)),
    ];
    for (id, more) in &files {
        write(&env, &format!(".ralph/beads/{id}.json"), more);
    }
    let mut nobody = silent("in_progress", "01:00:00", 0);
    nobody["assignee"] = Value::Null;
    write(&env, ".beads/active/n.json", &nobody);
    let mut asked = silent("in_progress", "01:00:00", 0);
    asked["labels"] = json!(["human"]);
    write(&env, ".beads/active/p.json", &asked);
    env.write(".ralph/beads/broken.json", "{");
    let expected = owned(&[
        ("a", "fresh"),
        ("b", "nudge"),
        ("c", "restart"),
        ("d", "give_up"),
        ("n", "nobody"),
        ("p", "waits"),
    ]);
    let before = env.read(".ralph/beads/c.json");
    assert_eq!(steps(&env, &["--no-exec", "--dry-run"]), expected);
    assert_eq!(env.read(".ralph/beads/c.json"), before);
    assert_eq!(env.names(".ralph"), ["beads"], "a dry run writes nothing");

    assert_eq!(steps(&env, &["--no-exec"]), expected);
    let nudge = env.json(".ralph/nudges/b-20260102-030405.json");
    assert_eq!(nudge["assignee"], "somebody");
    let c = env.json(".ralph/beads/c.json");
    assert_eq!(
        (&c["status"], &c["assignee"]),
        (&json!("pending"), &json!("somebody"))
    );
    assert_eq!(
        (&c["ralph_meta"]["restart_count"], &c["ralph_meta"]["odd"]),
        (&json!(3), &json!(1))
    );
    let d = env.json(".ralph/beads/d.json");
    assert_eq!(d["status"], "failed");
    let alert = env.json(".ralph/alerts/alert-20260102-030405.json");
    assert_eq!(alert["body"], d["ralph_meta"]["failure_reason"]);
    let metrics = env.json(super::METRICS);
    for (key, expected) in [
        ("beads_processed", 6),
        ("nudges_sent", 1),
        ("restarts_done", 1),
        ("failures", 1),
    ] {
        assert_eq!(metrics[key], expected, "{key}: {metrics}");
    }
}

#[test]
fn g_8_a_file_that_exec_works_on_is_not_stale_until_exec_is_dead() {
    let env = world();
    agent(&env, "touch begun\nsleep 60");
    write(&env, ".ralph/beads/x.json", &json!({}));
    let mut exec = env.command(&["exec", "x"]).spawn();
    wait_for(&env, "begun");
    let step = |args: &[&str]| {
        let args = [&["watchdog", "--once", "--no-exec", "--json"], args].concat();
        let watched = env.command(&args).env("SOURCE_DATE_EPOCH", LATER).run();
        watched.exits(0).data()["beads"][0]["step"].clone()
    };
    assert_eq!(
        (step(&[]), step(&["--dry-run"])),
        ("fresh".into(), "fresh".into())
    );
    exec.kill().unwrap();
    exec.wait().unwrap();
    assert_eq!(step(&["--dry-run"]), "restart");
    assert_eq!(env.json(".ralph/beads/x.json")["status"], "in_progress");
    assert_eq!(step(&[]), "restart");
    let bead = env.json(".ralph/beads/x.json");
    assert_eq!(bead["status"], "pending");
    assert_eq!(bead["ralph_meta"]["restart_count"], 1);
}

#[test]
fn g_8_a_file_that_is_begun_again_after_it_was_given_up_counts_anew() {
    let env = world();
    agent(&env, "touch done");
    write(
        &env,
        ".ralph/beads/d.json",
        &silent("in_progress", "01:00:00", 5),
    );
    steps(&env, &["--no-exec"]);
    assert_eq!(env.json(".ralph/beads/d.json")["status"], "failed");
    env.run(&["exec", "d"]).exits(0);
    let meta = env.json(".ralph/beads/d.json")["ralph_meta"].clone();
    assert_eq!(meta["restart_count"], 0);
}

/// An agent that is this script.
#[track_caller]
pub(super) fn agent(env: &TestEnv, script: &str) {
    env.write(
        "beads-ralph.yaml",
        "agents: {default: mine, adapters: {mine: {kind: command, executable: ./agent.sh}}}\n",
    );
    env.write("agent.sh", format!("#!/bin/sh\n{script}\n"));
    env.tool("chmod", &["+x", "agent.sh"]).run().exits(0);
}
