//! `human` over a database of the real `bd`: what waits for a person, and what an answer does (I-30, Z-36).

use serde_json::{Value, json};

use crate::world::World;

const ROOT: &str = "bd-implement-feature-001";
const STEP: &str = "bd-implement-feature-001-merge-or-handoff";

/// The data of an answer.
fn data(world: &World, words: &[&str]) -> Value {
    let text = world.ralph(&[words, &["--json"]].concat());
    let mut answer: Value = serde_json::from_str(&text).unwrap();
    answer["data"].take()
}

fn bead(world: &World, id: &str) -> Value {
    let text = world.bd(&["show", id, "--json"]);
    let mut beads: Value = serde_json::from_str(&text).unwrap();
    beads[0].take()
}

/// A bead whose last step failed, so that its molecule is closed.
fn failed() -> (World, String) {
    let world = World::new();
    let made = world.bd(&["create", "Add search", "--json"]);
    let made: Value = serde_json::from_str(&made).unwrap();
    let source = made["id"].as_str().unwrap().to_owned();
    let bead_id = format!("bead-id={source}");
    let vars = ["--var", "feature=Add search", "--var", &bead_id];
    let pour = ["mol", "pour", "implement-feature"];
    let poured = data(&world, &[&pour[..], &vars].concat());
    world.ralph(&["label", "add", ROOT, &format!("for-bead-{source}")]);
    for step in poured["bead_ids"].as_array().unwrap() {
        let step = step.as_str().unwrap();
        if step == STEP {
            for id in [step, &source] {
                world.ralph(&["label", "add", id, "human"]);
                world.ralph(&["update", id, "--append-notes", "implement-bead: no rights"]);
            }
        }
        world.ralph(&["close", step]);
    }
    assert_eq!(bead(&world, ROOT)["status"], "closed");
    (world, source)
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_36_an_answer_reaches_the_bead_its_step_and_its_molecule() {
    let (world, source) = failed();
    let waiting = data(&world, &["human", "list"]);
    let row = &waiting["waiting"][0];
    assert_eq!(
        [&row["id"], &row["step"], &row["stage"], &row["why"]],
        [
            &json!(source),
            &json!(STEP),
            &json!("merge-or-handoff"),
            &json!("implement-bead: no rights")
        ]
    );
    let resolve = ["human", "resolve", &source, "--answer", "try again"];
    assert_eq!(data(&world, &resolve)["resolved"], true);
    for id in [&source, STEP] {
        let bead = bead(&world, id);
        assert_eq!(bead["status"], "open", "{bead}");
        assert_eq!(
            bead["notes"],
            "implement-bead: no rights\nhuman: try again (tester)"
        );
        assert!(!bead["labels"].to_string().contains("\"human\""), "{bead}");
    }
    assert_eq!(bead(&world, ROOT)["status"], "open");
    assert_eq!(data(&world, &resolve)["resolved"], false);
    assert_eq!(data(&world, &["human", "list"])["waiting"], json!([]));
}
