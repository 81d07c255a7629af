//! Beads in files that are pending are worked on, one after the other (G-8, G-5).

use serde_json::{Value, json};

use super::files::{agent, world, write};
use crate::dod::{runs, wait_for};
use crate::env::{Output, TestEnv};

/// What became of the pending beads.
#[track_caller]
fn executed(env: &TestEnv, args: &[&str]) -> Vec<(String, String)> {
    let args = [&["watchdog", "--once", "--json"], args].concat();
    let data = env.run(&args).exits(0).data();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let beads = data["executed"].as_array().unwrap().iter();
    beads
        .map(|bead| (text(&bead["id"]), text(&bead["status"])))
        .collect()
}

fn status(env: &TestEnv, path: &str) -> Value {
    env.json(path)["status"].clone()
}

#[test]
fn g_8_pending_files_are_worked_on_in_the_order_of_g_5() {
    let env = world();
    agent(&env, "echo $BEADS_RALPH_BEAD >>order");
    let bead = |name: &str, more: Value| write(&env, &format!(".ralph/beads/{name}.json"), &more);
    bead("a-feature", json!({"type": "feature", "priority": 0}));
    bead("b-late", json!({"priority": 4}));
    bead("c-soon", json!({"priority": 1}));
    bead("d-also", json!({"priority": 1}));
    let fails = json!([{"name": "v", "command": "false"}]);
    bead(
        "z-bug",
        json!({"type": "bug", "priority": 5, "dod": {"verifiers": fails}}),
    );
    bead("e-done", json!({"status": "completed"}));
    bead("f-failed", json!({"status": "failed"}));
    bead("g-gate", json!({"type": "gate", "status": "completed"}));
    write(&env, ".beads/active/h-active.json", &json!({"priority": 3}));
    env.write(".ralph/beads/i-broken.json", "{}");
    let expected = |done: &str, failed: &str| {
        super::owned(&[
            ("i-broken", "invalid"),
            ("z-bug", failed),
            ("a-feature", done),
            ("c-soon", done),
            ("d-also", done),
            ("h-active", done),
            ("b-late", done),
        ])
    };
    let before = env.read(".ralph/beads/c-soon.json");
    assert_eq!(
        executed(&env, &["--dry-run"]),
        expected("pending", "pending")
    );
    assert_eq!(executed(&env, &["--no-exec"]), []);
    assert_eq!(env.read(".ralph/beads/c-soon.json"), before);

    assert_eq!(executed(&env, &[]), expected("completed", "failed"));
    assert_eq!(
        env.text("order"),
        "z-bug\na-feature\nc-soon\nd-also\nh-active\nb-late\n"
    );
    assert_eq!(status(&env, ".ralph/beads/c-soon.json"), "completed");
    assert_eq!(status(&env, ".beads/completed/h-active.json"), "completed");
    assert_eq!(status(&env, ".ralph/beads/z-bug.json"), "failed");
    assert_eq!(
        env.names(".ralph/evidence/c-soon").len(),
        2,
        "evidence is kept"
    );
    let metrics = env.json(super::METRICS);
    assert_eq!(
        (&metrics["beads_processed"], &metrics["failures"]),
        (&json!(6), &json!(1))
    );
    assert_eq!(
        executed(&env, &[]),
        super::owned(&[("i-broken", "invalid")]),
        "nothing is done twice"
    );
}

#[test]
fn g_8_a_feature_is_not_begun_while_a_gate_is_red() {
    let env = world();
    agent(&env, "echo $BEADS_RALPH_BEAD >>order");
    write(&env, ".ralph/gates/smoke.json", &json!({"type": "gate"}));
    write(&env, ".ralph/beads/new.json", &json!({"type": "feature"}));
    write(&env, ".ralph/beads/old.json", &json!({}));
    let held = super::owned(&[("new", "held_back"), ("old", "pending")]);
    assert_eq!(executed(&env, &["--dry-run"]), held);
    let held = super::owned(&[("new", "held_back"), ("old", "completed")]);
    assert_eq!(executed(&env, &[]), held);
    assert!(env.json(".ralph/beads/new.json").get("status").is_none());
    env.run(&["gate", "run"]).exits(0);
    assert_eq!(executed(&env, &[]), super::owned(&[("new", "completed")]));
}

#[test]
fn g_8_one_that_cannot_be_begun_stays_pending() {
    let env = world();
    write(&env, ".ralph/beads/x.json", &json!({}));
    env.write(
        "beads-ralph.yaml",
        "agents: {default: mine, adapters: {mine: {kind: command, executable: ./nobody}}}\n",
    );
    let before = env.read(".ralph/beads/x.json");
    assert_eq!(executed(&env, &[]), super::owned(&[("x", "error")]));
    assert_eq!(env.read(".ralph/beads/x.json"), before);
}

#[test]
fn g_8_a_signal_ends_the_work_cleanly() {
    let env = world();
    let marker = format!("sleep 60.{}", std::process::id());
    agent(&env, &format!("touch begun-$BEADS_RALPH_BEAD\n{marker}"));
    write(&env, ".ralph/beads/x.json", &json!({}));
    write(&env, ".ralph/beads/y.json", &json!({}));
    let child = env.command(&["watchdog", "--json"]).spawn();
    wait_for(&env, "begun-x");
    env.tool("kill", &[&child.id().to_string()]).run().exits(0);
    let data = Output::of(child, "watchdog".to_owned()).exits(0).data();
    assert_eq!(data["executed"][0]["status"], "interrupted", "{data}");
    assert_eq!(data["executed"].as_array().unwrap().len(), 1, "{data}");
    assert_eq!(status(&env, ".ralph/beads/x.json"), "pending");
    assert!(!env.path("begun-y").exists());
    assert!(!runs(&marker), "nothing that ran is left");
}

#[test]
fn g_8_beads_of_the_store_are_left_to_those_who_claim_them() {
    let dod = json!({"dod": {"verifiers": [{"name": "v", "command": "true"}]}});
    let env = super::with_beads(&[json!({"id": "s", "title": "s", "status": "open",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "metadata": dod})]);
    agent(&env, "touch begun");
    assert_eq!(executed(&env, &[]), []);
    assert!(!env.path("begun").exists());
}
