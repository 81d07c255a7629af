//! Gates and the governor (contracts §8.5): no green, no features.

mod asking;
mod documented;
mod enforcing;
mod unseen;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::snapshot::snapshot;

/// A world with a store and an agent that makes the file `done`.
#[track_caller]
pub(crate) fn with_store() -> TestEnv {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.run(&["init"]).exits(0);
    agent(&env);
    env
}

#[track_caller]
fn agent(env: &TestEnv) {
    env.write(
        "beads-ralph.yaml",
        "agents: {default: mine, adapters: {mine: {kind: command, executable: ./agent.sh}}}\n",
    );
    env.write("agent.sh", "#!/bin/sh\ntouch done\n");
    env.tool("chmod", &["+x", "agent.sh"]).run().exits(0);
}

/// Puts a bead into the store.
#[track_caller]
pub(crate) fn import(env: &TestEnv, bead: &Value) {
    let line = format!("{bead}\n");
    env.command(&["import", "-"]).stdin(line).run().exits(0);
}

/// A bead of the store with a check.
pub(crate) fn bead(id: &str, more: &Value) -> Value {
    let mut bead = json!({
        "id": id, "title": id, "description": "Make the file done", "issue_type": "feature",
        "metadata": {"dod": {"verifiers": [{"name": "t", "command": "test -e done"}]}},
    });
    let fields = more.as_object().unwrap().clone();
    bead.as_object_mut().unwrap().extend(fields);
    bead
}

#[track_caller]
fn states(env: &TestEnv) -> Vec<(String, String)> {
    let data = env.run(&["gate", "list", "--json"]).exits(0).data();
    let gates = data["gates"].as_array().unwrap().iter();
    let text = |gate: &Value, key: &str| gate[key].as_str().unwrap().to_owned();
    gates
        .map(|it| (text(it, "id"), text(it, "state")))
        .collect()
}

fn all(states: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(id, state): &(&str, &str)| ((*id).to_owned(), (*state).to_owned());
    states.iter().map(owned).collect()
}

#[test]
fn g_1_a_gate_is_red_until_its_checks_have_passed() {
    let env = with_store();
    env.run(&[
        "gate",
        "create",
        "smoke",
        "--verifier",
        "works=test -e works",
    ])
    .exits(0);
    env.run(&["gate", "create", "lint", "--file", "--verifier", "true"])
        .exits(0);
    assert_eq!(states(&env), all(&[("lint", "red"), ("smoke", "red")]));
    let list = env.run(&["gate", "list"]).exits(0).stdout;
    let checked = env.run(&["gate", "check"]).exits(1);
    snapshot(
        "gate-list-and-check",
        &format!("{list}\n{}", checked.stderr),
    );
}

#[test]
fn g_2_a_run_turns_gates_green_and_red_in_store_and_files_alike() {
    let env = with_store();
    env.run(&[
        "gate",
        "create",
        "smoke",
        "--verifier",
        "works=test -e works",
    ])
    .exits(0);
    env.run(&[
        "gate",
        "create",
        "lint",
        "--file",
        "--verifier",
        "works=test -e works",
    ])
    .exits(0);
    let ran = env.run(&["gate", "run", "--json"]).exits(1).json();
    let gates = ran["error"]["results"]["gates"].as_array().unwrap().clone();
    assert_eq!(gates.len(), 2);
    for gate in &gates {
        assert_eq!(gate["state"], "red", "{gate}");
        assert_eq!(gate["results"][0]["reason"], "Exit code 1 (expected 0)");
    }
    let list = env.run(&["gate", "list", "--json"]).exits(0).data();
    for gate in list["gates"].as_array().unwrap() {
        assert_eq!(gate["failure"], "works: Exit code 1 (expected 0)", "{gate}");
        assert!(gate["last_run"].is_string(), "{gate}");
    }
    env.write("works", "");
    env.run(&["gate", "run"]).exits(0);
    assert_eq!(states(&env), all(&[("lint", "green"), ("smoke", "green")]));
    env.run(&["gate", "check"]).exits(0);
    let smoke = env
        .run(&["show", "smoke", "--json"])
        .exits(0)
        .data()
        .to_string();
    assert!(smoke.contains("\"status\":\"closed\""), "{smoke}");
    // What passed once is run again, and may fail.
    env.tool("rm", &["works"]).run().exits(0);
    env.run(&["gate", "run", "smoke"]).exits(1);
    assert_eq!(states(&env), all(&[("lint", "green"), ("smoke", "red")]));
    let smoke = env
        .run(&["show", "smoke", "--json"])
        .exits(0)
        .data()
        .to_string();
    assert!(smoke.contains("\"status\":\"open\""), "{smoke}");
}

#[test]
fn g_2_a_gate_that_stays_open_is_green_all_the_same() {
    let env = with_store();
    env.run(&[
        "gate",
        "create",
        "smoke",
        "--stays-open",
        "--verifier",
        "true",
    ])
    .exits(0);
    env.run(&["gate", "run", "smoke"]).exits(0);
    assert_eq!(states(&env), all(&[("smoke", "green")]));
    let smoke = env
        .run(&["show", "smoke", "--json"])
        .exits(0)
        .data()
        .to_string();
    assert!(smoke.contains("\"status\":\"open\""), "{smoke}");
}

#[test]
fn v_2_flat_gates_count_and_unreadable_ones_are_red() {
    let env = TestEnv::new();
    let flat = json!({"gate_type": "smoke", "verifier_command": "true"});
    env.write(".ralph/gates/flat.json", flat.to_string());
    env.write(".ralph/gates/odd.json", "{");
    env.run(&["gate", "run", "flat"]).exits(0);
    assert_eq!(states(&env), all(&[("flat", "green"), ("odd", "red")]));
    env.run(&["gate", "run"]).exits(1);
}

#[test]
fn g_3_a_red_gate_keeps_exec_from_features_and_from_nothing_else() {
    let env = with_store();
    env.run(&["gate", "create", "smoke", "--verifier", "false"])
        .exits(0);
    import(&env, &bead("bd-1", &json!({})));
    import(&env, &bead("bd-2", &json!({"issue_type": "bug"})));
    let denied = env.run(&["exec", "bd-1", "--json"]).exits(1).json();
    assert_eq!(denied["error"]["message"], "Gates are RED: smoke");
    assert_eq!(denied["error"]["results"]["red"], json!(["smoke"]));
    assert!(!env.path("done").exists());
    env.run(&["exec", "bd-1", "--dry-run"]).exits(0);
    env.run(&["exec", "bd-2"]).exits(0);
    assert!(env.path("done").exists());
}

#[test]
fn g_3_force_begins_a_feature_and_the_bead_says_so() {
    let env = with_store();
    env.run(&["gate", "create", "smoke", "--verifier", "false"])
        .exits(0);
    import(&env, &bead("bd-1", &json!({})));
    let forced = env.run(&["exec", "bd-1", "--force"]).exits(0);
    assert!(
        forced.stderr.contains("warning: Gates are RED: smoke"),
        "{forced:#?}"
    );
    let shown = env
        .run(&["show", "bd-1", "--json"])
        .exits(0)
        .data()
        .to_string();
    assert!(
        shown.contains("begun by force: Gates are RED: smoke"),
        "{shown}"
    );
    let file = json!({"intent": "x", "type": "feature", "dod": {"verifiers": [{"name": "t", "command": "test -e done"}]}});
    env.write(".ralph/beads/x.json", file.to_string());
    env.run(&["exec", "x"]).exits(1);
    env.run(&["exec", "x", "--force"]).exits(0);
    let kept: Value = serde_json::from_str(&env.text(".ralph/beads/x.json")).unwrap();
    assert_eq!(
        kept["ralph_meta"]["gates_overruled"],
        "Gates are RED: smoke"
    );
    assert_eq!(kept["status"], "completed");
}

#[test]
fn g_4_check_answers_for_beads_and_groups() {
    let env = with_store();
    env.run(&[
        "gate",
        "create",
        "pay",
        "--group",
        "pay",
        "--verifier",
        "true",
    ])
    .exits(0);
    env.run(&["gate", "create", "rest", "--verifier", "false"])
        .exits(0);
    env.run(&["gate", "run", "pay"]).exits(0);
    import(&env, &bead("bd-1", &json!({})));
    import(&env, &bead("bd-2", &json!({"labels": ["group-pay"]})));
    import(&env, &bead("bd-3", &json!({"issue_type": "task"})));
    let denied = env.run(&["gate", "check", "bd-1"]).exits(1);
    assert!(denied.stderr.contains("Gates are RED: rest"), "{denied:#?}");
    env.run(&["gate", "check", "bd-2"]).exits(0);
    env.run(&["gate", "check", "bd-3"]).exits(0);
    env.run(&["gate", "check", "bd-9"]).exits(1);
    env.run(&["gate", "check", "--group", "pay"]).exits(0);
    let red = env.run(&["gate", "check", "--json"]).exits(1).json();
    assert_eq!(red["error"]["results"]["held"], json!(["bd-1"]));
    assert_eq!(
        red["error"]["results"]["next"],
        json!(["rest", "bd-2", "bd-3"])
    );
}

#[test]
fn g_3_blocked_says_which_gates_hold_a_feature_back() {
    let env = with_store();
    env.run(&["gate", "create", "smoke", "--verifier", "test -e works"])
        .exits(0);
    import(&env, &bead("bd-1", &json!({})));
    let blocked = env.run(&["blocked"]).exits(0).stdout;
    for part in ["bd-1", "Gates are RED: smoke", "beads-ralph gate run"] {
        assert!(blocked.contains(part), "{part}: {blocked}");
    }
    env.write("works", "");
    env.run(&["gate", "run"]).exits(0);
    let data = env.run(&["blocked", "--json"]).exits(0).data();
    assert_eq!(data["beads"], json!([]));
}

#[test]
fn g_3_implement_and_drive_do_not_take_a_feature() {
    let env = with_store();
    crate::dod::git_repository(&env);
    env.run(&["gate", "create", "smoke", "--verifier", "false"])
        .exits(0);
    import(
        &env,
        &bead("bd-1", &json!({"labels": ["implementation-ready"]})),
    );
    let told = env.run(&["implement", "bd-1", "--json"]).exits(0).data();
    assert_eq!(told["ending"], "waiting", "{told}");
    assert_eq!(told["message"], "Gates are RED: smoke");
    assert_eq!(told["molecule"], Value::Null);
    let driven = env.run(&["drive"]).exits(0);
    let expected = "bd-1 is not taken: Gates are RED: smoke";
    assert!(driven.stderr.contains(expected), "{driven:#?}");
    let listed = env.run(&["list", "--json"]).exits(0).data().to_string();
    assert!(!listed.contains("molecule"), "{listed}");
}

#[test]
fn g_1_gates_that_cannot_be_listed_are_red() {
    let env = with_store();
    import(&env, &bead("bd-1", &json!({})));
    env.tool("rm", &["-r", ".ralph/gates"]).run().exits(0);
    env.write(".ralph/gates", "no directory");
    let denied = env.run(&["gate", "check", "bd-1"]).exits(1);
    assert!(
        denied.stderr.contains("Gates are RED: .ralph/gates"),
        "{denied:#?}"
    );
}
