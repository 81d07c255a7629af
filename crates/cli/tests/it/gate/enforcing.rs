//! `gate enforce`: features in progress are blocked, and released again (G-4).

use serde_json::{Value, json};

use super::{bead, import, with_store};
use crate::env::TestEnv;

#[track_caller]
fn status(env: &TestEnv, id: &str) -> String {
    let shown = env.run(&["show", id, "--json"]).exits(0).data();
    let bead = shown.as_array().map_or(&shown, |beads| &beads[0]);
    let bead = bead.get("beads").map_or(bead, |beads| &beads[0]);
    bead["status"]
        .as_str()
        .unwrap_or_else(|| panic!("{shown}"))
        .to_owned()
}

#[track_caller]
fn enforce(env: &TestEnv) -> Value {
    env.run(&["gate", "enforce", "--json"]).exits(0).data()
}

#[test]
fn g_4_features_in_progress_are_blocked_and_released() {
    let env = with_store();
    env.run(&["gate", "create", "smoke", "--verifier", "test -e works"])
        .exits(0);
    import(&env, &bead("bd-1", &json!({"status": "in_progress"})));
    import(
        &env,
        &bead(
            "bd-2",
            &json!({"status": "in_progress", "issue_type": "task"}),
        ),
    );
    import(&env, &bead("bd-3", &json!({"status": "blocked"})));
    let file = json!({"intent": "x", "type": "feature", "status": "in_progress", "dod": {"verifiers": [{"name": "t", "command": "true"}]}});
    env.write(".ralph/beads/x.json", file.to_string());
    let done = enforce(&env);
    let reason = "Gates are RED: smoke";
    assert_eq!(
        done["blocked"],
        json!([{"id": "bd-1", "reason": reason}, {"id": "x", "reason": reason}])
    );
    assert_eq!(status(&env, "bd-1"), "blocked");
    assert_eq!(status(&env, "bd-2"), "in_progress");
    let kept: Value = serde_json::from_str(&env.text(".ralph/beads/x.json")).unwrap();
    assert_eq!(kept["status"], "blocked");
    env.write("works", "");
    env.run(&["gate", "run"]).exits(0);
    assert_eq!(enforce(&env)["released"], json!(["x", "bd-1"]));
    assert_eq!(status(&env, "bd-1"), "open");
    // What people blocked stays so.
    assert_eq!(status(&env, "bd-3"), "blocked");
    let kept: Value = serde_json::from_str(&env.text(".ralph/beads/x.json")).unwrap();
    assert_eq!(kept["status"], "pending");
    assert!(kept["ralph_meta"].get("held_by_gates").is_none(), "{kept}");
}

#[test]
fn g_4_what_somebody_works_on_is_told_of_and_left_to_them() {
    let env = with_store();
    env.run(&["gate", "create", "smoke", "--verifier", "false"])
        .exits(0);
    import(&env, &bead("bd-1", &json!({})));
    env.run(&["claim", "bd-1"]).exits(0);
    let done = enforce(&env);
    assert_eq!(done["held"][0]["id"], "bd-1");
    assert_eq!(done["blocked"], json!([]));
    assert_eq!(status(&env, "bd-1"), "in_progress");
}

#[test]
fn g_4_what_a_person_opened_is_not_released_again() {
    let env = with_store();
    env.run(&["gate", "create", "smoke", "--verifier", "test -e works"])
        .exits(0);
    import(&env, &bead("bd-1", &json!({"status": "in_progress"})));
    enforce(&env);
    env.run(&["reopen", "bd-1"]).exits(0);
    env.run(&["update", "bd-1", "--status", "blocked"]).exits(0);
    env.write("works", "");
    env.run(&["gate", "run"]).exits(0);
    assert_eq!(enforce(&env)["released"], json!([]));
    assert_eq!(status(&env, "bd-1"), "blocked");
}

/// A store with a red gate and a feature that was blocked because of it.
#[track_caller]
fn with_blocked() -> TestEnv {
    let env = with_store();
    env.run(&["gate", "create", "smoke", "--verifier", "test -e works"])
        .exits(0);
    import(&env, &bead("bd-1", &json!({"status": "in_progress"})));
    enforce(&env);
    assert_eq!(status(&env, "bd-1"), "blocked");
    env
}

#[track_caller]
fn turn_green(env: &TestEnv) {
    env.write("works", "");
    env.run(&["gate", "run"]).exits(0);
}

#[test]
fn g_4_what_a_person_blocked_after_that_is_theirs() {
    let steps: [&[&str]; 3] = [
        &["update", "bd-1", "--status", "open"],
        &["close", "bd-1", "--reason", "not wanted"],
        &["exec", "bd-1", "--force"],
    ];
    for step in steps {
        let env = with_blocked();
        env.run(step).exits(0);
        env.run(&["update", "bd-1", "--status", "blocked"]).exits(0);
        let blocked = env.run(&["blocked", "--json"]).exits(0).data();
        assert_eq!(blocked["beads"][0]["gates"], Value::Null, "{step:?}");
        turn_green(&env);
        assert_eq!(enforce(&env)["released"], json!([]), "{step:?}");
        assert_eq!(status(&env, "bd-1"), "blocked", "{step:?}");
    }
}

#[test]
fn g_4_what_was_begun_by_force_is_not_released() {
    let env = with_store();
    let file = json!({"intent": "x", "type": "feature", "status": "in_progress", "ralph_meta": {"retry_backoff_seconds": 0},
        "constraints": {"max_iterations": 1}, "dod": {"verifiers": [{"name": "t", "command": "test -e more"}]}});
    env.write(".ralph/beads/x.json", file.to_string());
    env.run(&["gate", "create", "smoke", "--verifier", "test -e works"])
        .exits(0);
    enforce(&env);
    env.run(&["exec", "x", "--force"]).exits(1);
    let kept: Value = serde_json::from_str(&env.text(".ralph/beads/x.json")).unwrap();
    assert_eq!(kept["ralph_meta"].get("held_by_gates"), None, "{kept}");
}

#[test]
fn g_4_what_hangs_on_a_hook_is_held_too() {
    let env = with_store();
    env.run(&["gate", "create", "smoke", "--verifier", "test -e works"])
        .exits(0);
    import(&env, &bead("bd-1", &json!({"status": "hooked"})));
    let file = json!({"intent": "x", "type": "feature", "status": "hooked", "dod": {"verifiers": [{"name": "t", "command": "true"}]}});
    env.write(".ralph/beads/x.json", file.to_string());
    let done = enforce(&env);
    assert_eq!(done["blocked"].as_array().unwrap().len(), 2, "{done}");
    assert_eq!(status(&env, "bd-1"), "blocked");
    turn_green(&env);
    assert_eq!(enforce(&env)["released"], json!(["x", "bd-1"]));
}

#[test]
fn g_4_red_gates_are_named_also_when_they_hold_nothing() {
    let env = with_store();
    env.run(&["gate", "create", "smoke", "--verifier", "true"])
        .exits(0);
    let said = env.run(&["gate", "enforce"]).exits(0).stdout;
    assert_eq!(
        said,
        "0 features blocked, 0 released\nGates are RED: smoke\n"
    );
    assert_eq!(enforce(&env)["red"], json!(["smoke"]));
    env.run(&["gate", "run"]).exits(0);
    let said = env.run(&["gate", "enforce"]).exits(0).stdout;
    assert_eq!(said, "0 features blocked, 0 released\n");
}
