//! Gates that could be overlooked: without the label, not valid, not to be listed, or two of one id (G-1, Z-28).

use serde_json::{Value, json};

use super::{all, bead, import, states, with_store};
use crate::env::TestEnv;

#[test]
fn z_28_a_gate_of_the_store_is_one_by_its_metadata_too() {
    let checks = json!({"verifiers": [{"name": "t", "command": "test -e works"}]});
    for fields in [
        json!({"lane": "gate"}),
        json!({"blocking": {"is_gate": true}}),
    ] {
        let env = with_store();
        let mut metadata = fields.clone();
        metadata["dod"] = checks.clone();
        let gate = json!({"issue_type": "task", "metadata": metadata});
        import(&env, &bead("bd-gate", &gate));
        import(&env, &bead("bd-1", &json!({})));
        assert_eq!(states(&env), all(&[("bd-gate", "red")]), "{fields}");
        env.run(&["gate", "check", "bd-1"]).exits(1);
        env.write("works", "");
        env.run(&["gate", "run"]).exits(0);
        assert_eq!(states(&env), all(&[("bd-gate", "green")]), "{fields}");
        env.run(&["gate", "check", "bd-1"]).exits(0);
    }
}

#[test]
fn g_1_a_gate_that_is_not_valid_is_red_wherever_its_file_is() {
    for fields in [
        json!({"type": "gate"}),
        json!({"lane": "gate"}),
        json!({"blocking": {"is_gate": true}}),
        json!({"verifier_command": ""}),
    ] {
        for place in [".ralph/beads", ".ralph/gates", ".beads/active"] {
            let env = with_store();
            let mut gate = fields.clone();
            gate["intent"] = "be green".into();
            if gate.get("verifier_command").is_none() {
                gate["dod"] = json!({"verifiers": []});
            }
            env.write(&format!("{place}/odd.json"), gate.to_string());
            assert_eq!(states(&env), all(&[("odd", "red")]), "{fields} {place}");
        }
    }
}

#[test]
fn g_1_what_is_not_valid_and_no_gate_holds_nothing_back() {
    let env = TestEnv::new();
    let work = json!({"intent": "x", "type": "task", "dod": {"verifiers": []}});
    env.write(".ralph/beads/x.json", work.to_string());
    assert!(states(&env).is_empty());
    // Nobody knows what this is.
    env.write(".ralph/beads/y.json", "{");
    assert_eq!(states(&env), all(&[("y", "red")]));
}

#[test]
fn g_1_places_that_cannot_be_listed_are_red() {
    let env = with_store();
    env.tool("rm", &["-r", ".ralph/beads", ".beads/active"])
        .run()
        .exits(0);
    env.write(".ralph/beads", "no directory");
    env.write(".beads/active", "no directory");
    assert_eq!(
        states(&env),
        all(&[(".beads/active", "red"), (".ralph/beads", "red")])
    );
}

#[test]
fn g_1_of_two_gates_with_one_id_the_red_one_counts() {
    let env = with_store();
    let done = json!({"intent": "be green", "type": "gate", "status": "completed",
        "dod": {"verifiers": [{"name": "t", "command": "true"}]}});
    env.write(".beads/completed/smoke.json", done.to_string());
    assert_eq!(states(&env), all(&[("smoke", "green")]));
    env.run(&["gate", "create", "smoke", "--verifier", "test -e works"])
        .exits(0);
    assert_eq!(states(&env), all(&[("smoke", "red")]));
    let list = env.run(&["gate", "list"]).exits(0).stdout;
    assert!(list.contains("another gate has this id"), "{list}");
    env.write("works", "");
    env.run(&["gate", "run"]).exits(0);
    assert_eq!(states(&env), all(&[("smoke", "green")]));
}

#[test]
fn g_1_a_gate_that_passed_with_other_checks_is_red() {
    for place in [None, Some("--file")] {
        let env = with_store();
        let mut create = vec!["gate", "create", "smoke", "--verifier", "works=true"];
        create.extend(place);
        env.run(&create).exits(0);
        env.run(&["gate", "run"]).exits(0);
        assert_eq!(states(&env), all(&[("smoke", "green")]));
        for verifiers in [
            json!([{"name": "works", "command": "false"}]),
            json!([{"name": "works", "command": "true", "expect": {"exit_code": 1}}]),
            json!([{"name": "works", "command": "true"}, {"name": "more", "command": "true"}]),
            json!("x"),
        ] {
            change(&env, place.is_some(), &verifiers);
            assert_eq!(states(&env), all(&[("smoke", "red")]), "{verifiers}");
            let list = env.run(&["gate", "list", "--json"]).exits(0).data();
            let why = "its checks changed since it last ran";
            assert_eq!(list["gates"][0]["why"], why, "{verifiers}");
        }
        // Whoever takes the change back has what passed.
        change(
            &env,
            place.is_some(),
            &json!([{"name": "works", "command": "true"}]),
        );
        assert_eq!(states(&env), all(&[("smoke", "green")]));
        let others = json!([{"name": "others", "command": "true"}]);
        change(&env, place.is_some(), &others);
        env.run(&["gate", "run"]).exits(0);
        assert_eq!(states(&env), all(&[("smoke", "green")]));
    }
}

/// Gives the gate `smoke` other checks.
#[track_caller]
fn change(env: &TestEnv, is_file: bool, verifiers: &Value) {
    let dod = json!({"verifiers": verifiers});
    if is_file {
        let path = ".ralph/gates/smoke.json";
        let mut gate: Value = serde_json::from_str(&env.text(path)).unwrap();
        gate["dod"] = dod;
        env.write(path, gate.to_string());
    } else {
        let metadata = json!({"dod": dod}).to_string();
        env.run(&["update", "smoke", "--metadata", &metadata])
            .exits(0);
    }
}
