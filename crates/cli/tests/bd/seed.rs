//! The integration tests of seed 001, with the real `bd`: availability, insertion, retrieval, the ready queue.

use serde_json::Value;

use crate::world::World;

fn plan() -> String {
    let sprint = |number: &str, title: &str, after: &str| {
        let slug = format!("{number}-{title}").to_lowercase().replace('.', "-");
        format!(
            "### Sprint {number}: {title}\n\n**Worktree**: `../worktrees/{slug}`\n**Branch**: `feature/{slug}`\n\
             **Source Branch**: `develop`\n**Dependencies**: {after}\n\n**Dev Agents**:\n- `python-backend-dev` (sonnet)\n\n\
             **QA Agents**:\n- `qa-python-tests` (haiku) - Run pytest\n\n**Tasks**:\n- {title}\n\n"
        )
    };
    [
        "# Plan\n\n".to_owned(),
        sprint("1.1", "Schema", "none"),
        sprint("1.2a", "Work", "Sprint 1.1"),
        sprint("1.2b", "Merge", "Sprint 1.1"),
        sprint("1.3", "Integration", "Sprint 1.2a, Sprint 1.2b"),
    ]
    .concat()
}

fn inserted() -> (World, Value) {
    let world = World::new();
    world.write("plan.md", &plan());
    let said = world.ralph(&["plan", "apply", "plan.md", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    (world, said["data"].clone())
}

fn json(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn s_1_integration_1_bd_is_there_and_has_a_database() {
    let world = World::new();
    assert!(world.bd(&["--version"]).contains("bd version"));
    let info: Value = serde_json::from_str(&world.bd(&["info", "--json"])).unwrap();
    assert!(info["database_path"].is_string());
    let doctor: Value = serde_json::from_str(&world.ralph(&["doctor", "--json"])).unwrap();
    assert_eq!(doctor["data"]["keeper"], "bd");
    assert_eq!(doctor["data"]["version"], "1.3.0");
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn s_1_integration_2_3_what_is_inserted_is_what_bd_shows() {
    let (world, data) = inserted();
    assert_eq!(data["beads_created"], 4);
    assert_eq!(data["database_status"], "inserted");
    for id in data["bead_ids"].as_array().unwrap() {
        let id = id.as_str().unwrap();
        let shown = json(&world.bd(&["show", id, "--json"])).remove(0);
        assert_eq!(shown["id"], id);
        assert_eq!(shown["assignee"], "beads-ralph-scrum-master");
        let ours = serde_json::from_str::<Value>(&world.ralph(&["show", id, "--json"])).unwrap();
        let ours = &ours["data"]["beads"][0];
        assert_eq!(shown["metadata"], ours["metadata"], "{id}");
        assert_eq!(shown["title"], ours["title"]);
    }
    let again = world.run(
        env!("CARGO_BIN_EXE_beads-ralph"),
        &["plan", "apply", "plan.md", "--insert-only", "--json"],
    );
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["error"]["code"], "DEPENDENCY.DUPLICATE_ID");
    let unchanged = world.ralph(&["plan", "apply", "plan.md", "--json"]);
    let unchanged: Value = serde_json::from_str(&unchanged).unwrap();
    assert_eq!(unchanged["data"]["beads_created"], 0, "{unchanged:#}");
    assert_eq!(
        unchanged["data"]["beads_updated"].as_array().map(Vec::len),
        Some(0)
    );
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn s_1_integration_4_the_ready_queue_is_that_of_bd() {
    let (world, _) = inserted();
    let mut expected = [vec!["1.1"], vec!["1.2a", "1.2b"], vec!["1.3"], vec![]].into_iter();
    for sprints in expected.by_ref() {
        let theirs = json(&world.bd(&["ready", "--json"]));
        let mut found: Vec<(String, String)> = (theirs.iter())
            .map(|bead| {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                (text(&bead["metadata"]["sprint"]), text(&bead["id"]))
            })
            .collect();
        found.sort();
        let numbers: Vec<&str> = found.iter().map(|(number, _)| number.as_str()).collect();
        assert_eq!(numbers, sprints);
        let ours: Value = serde_json::from_str(&world.ralph(&["ready", "--json"])).unwrap();
        assert_eq!(
            ours["data"]["beads"].as_array().unwrap().len(),
            sprints.len()
        );
        for (_, id) in found {
            world.ralph(&["close", &id, "--reason", "done"]);
        }
    }
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_25_an_edge_to_a_bead_that_is_not_there_is_refused_and_nothing_comes() {
    let world = World::new();
    let lines = "{\"id\":\"tt-1\",\"title\":\"One\"}\n{\"id\":\"tt-2\",\"title\":\"Two\",\"dependencies\":[\"tt-9\"]}\n";
    world.write("beads.jsonl", lines);
    let refused = world.run(
        env!("CARGO_BIN_EXE_beads-ralph"),
        &["import", "beads.jsonl", "--json"],
    );
    let refused: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(
        refused["error"]["code"], "DEPENDENCY.UNRESOLVED",
        "{refused:#}"
    );
    assert_eq!(world.bd(&["list", "--json"]).trim(), "[]");
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_18_z_26_our_bd_hands_over_to_the_real_one_and_only_reads_inside_a_unit() {
    let world = World::new();
    let ours = env!("CARGO_BIN_EXE_beads-ralph");
    world.ralph(&["bd", "create", "One", "--id=tt-1", "--silent"]);
    assert_eq!(
        world.bd(&["show", "tt-1", "--json"]),
        world.ralph(&["bd", "show", "tt-1", "--json"])
    );
    let inside = |words: &[&str]| {
        let mut command = world.command(ours, words);
        command.env("BEADS_RALPH_UNIT", "some").output().unwrap()
    };
    assert!(inside(&["bd", "list"]).status.success());
    let refused = inside(&["bd", "close", "tt-1"]);
    assert!(!refused.status.success());
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("read-only"),
        "{refused:?}"
    );
}
