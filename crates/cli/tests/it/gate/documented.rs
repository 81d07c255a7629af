//! docs/gates.md says what programs read and write; what it shows must be so.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::with_store;
use crate::env::TestEnv;

const DOCS: &str = include_str!("../../../../../docs/gates.md");

/// The examples in JSON, in the order of the page.
fn examples() -> Vec<Value> {
    let blocks = DOCS.split("```json\n").skip(1);
    let texts = blocks.map(|block| block.split("```").next().unwrap_or_default());
    texts
        .map(|text| serde_json::from_str(text).unwrap())
        .collect()
}

fn keys(object: &Value) -> BTreeSet<&str> {
    let object = object.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

#[test]
fn the_gate_in_a_file_is_what_is_written() {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.run(&["gate", "create", "smoke", "--verifier", "tests=cargo test"])
        .exits(0);
    assert_eq!(env.json(".ralph/gates/smoke.json"), examples()[0]);
}

#[test]
fn the_keys_of_answers_are_those_of_the_page() {
    let env = with_store();
    env.run(&["gate", "create", "smoke", "--verifier", "tests=exit 101"])
        .exits(0);
    let ran = env.run(&["gate", "run", "--json"]).exits(1);
    let ran: Value = serde_json::from_str(&ran.stdout).unwrap();
    let run = &ran["error"]["results"]["gates"][0];
    let shape = "`{\"id\", \"state\", \"results\", \"evidence\", \"logs\", \"error\"}`";
    assert!(DOCS.contains(shape), "a run of a gate");
    let expected = ["error", "evidence", "id", "logs", "results", "state"];
    assert_eq!(keys(run), expected.into());
    for key in keys(&run["results"][0]) {
        assert!(DOCS.contains(&format!("`{key}`")), "{key} is not described");
    }
    let listed = env.run(&["gate", "list", "--json"]).exits(0).data();
    let (shown, gate) = (&examples()[1], &listed["gates"][0]);
    assert_eq!(keys(gate), keys(shown));
    for key in ["id", "title", "state", "why", "holds", "groups", "failure"] {
        assert_eq!(gate[key], shown[key], "{key}");
    }
    assert_eq!(keys(&listed), ["gates", "green"].into());
    let checked = env.run(&["gate", "check", "--json"]).exits(1);
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    let results = &checked["error"]["results"];
    assert_eq!(keys(results), ["green", "held", "next", "red"].into());
    let enforced = env.run(&["gate", "enforce", "--json"]).exits(0).data();
    let expected = json!({"blocked": [], "released": [], "held": [], "red": ["smoke"]});
    assert_eq!(enforced, expected);
}
