//! `human list`, `show` and `resolve`: what waits for a person, and what an answer does (I-30, Z-36).

mod others;
mod resolving;
mod showing;

use serde_json::{Value, json};

use crate::env::{TestEnv, strings};
use crate::store::{data, seeded, shown};

/// The molecule of the bead `proj-1`.
const ROOT: &str = "bd-implement-feature-001";

/// What the dispatcher notes when a worker gave up.
const FAILED: &str = "implement-bead: red-tests ended with failed.\n- no runner: cargo is missing";

/// The id of a step.
fn step(stage: &str) -> String {
    format!("{ROOT}-{stage}")
}

/// A world with the bead `proj-1` and the molecule that was poured for it, at the stage `red-tests`.
#[track_caller]
fn poured() -> TestEnv {
    let env = seeded(
        r#"{"id":"proj-1","title":"Add search","issue_type":"feature","notes":"mine","labels":["implementation-ready"]}"#,
    );
    let pour = data(
        &env,
        &[
            "mol",
            "pour",
            "implement-feature",
            "--var",
            "feature=Add search",
            "--var",
            "bead-id=proj-1",
        ],
    );
    assert_eq!(pour["id"], ROOT, "{pour}");
    env.run(&["label", "add", ROOT, "for-bead-proj-1"]).exits(0);
    env.run(&["close", &step("preflight")]).exits(0);
    env
}

/// Flags a bead as the dispatcher does.
#[track_caller]
fn flag(env: &TestEnv, id: &str, note: &str) {
    env.run(&["label", "add", id, "human"]).exits(0);
    env.run(&["update", id, "--append-notes", note]).exits(0);
}

/// A world in which the worker of `red-tests` failed: the step is closed, and both wait.
#[track_caller]
fn failed() -> TestEnv {
    let env = poured();
    flag(&env, "proj-1", FAILED);
    flag(&env, &step("red-tests"), FAILED);
    env.run(&["close", &step("red-tests")]).exits(0);
    env
}

/// What `human list` has.
#[track_caller]
fn waiting(env: &TestEnv) -> Vec<Value> {
    let data = data(env, &["human", "list"]);
    data["waiting"].as_array().expect("a list").clone()
}

#[track_caller]
fn labels(env: &TestEnv, id: &str) -> Vec<String> {
    let data = data(env, &["label", "list", id]);
    strings(&data["labels"])
        .into_iter()
        .map(Into::into)
        .collect()
}

#[track_caller]
fn is_flagged(env: &TestEnv, id: &str) -> bool {
    labels(env, id).iter().any(|label| label == "human")
}

#[track_caller]
fn status(env: &TestEnv, id: &str) -> Value {
    shown(env, id)["status"].take()
}

#[track_caller]
fn notes(env: &TestEnv, id: &str) -> String {
    shown(env, id)["notes"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The ids of beads that a `resolve` changed, with their statuses.
#[track_caller]
fn changed(resolved: &Value) -> Vec<Value> {
    let changed = resolved["changed"].as_array().expect("a list").iter();
    changed
        .map(|bead| json!([bead["id"], bead["status"]]))
        .collect()
}
