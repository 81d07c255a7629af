//! Beads that move between the real `bd` and the embedded store, in both directions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::world::World;

/// Everything that `bd` has to say about an issue, in one database.
fn filled() -> World {
    let world = World::new();
    world.bd(&["config", "set", "types.custom", "beads-ralph-work"]);
    world.bd(&[
        "create",
        "Épic <b>",
        "--id=tt-e",
        "--type=epic",
        "--priority=0",
    ]);
    world.bd(&[
        "create",
        "Work",
        "--id=tt-w",
        "--type=beads-ralph-work",
        "--labels=z,a",
        "--description=line\nline",
        "--design=d",
        "--acceptance=a",
        "--notes=n",
        "--assignee=ann",
        "--estimate=30",
        "--external-ref=gh-9",
        "--spec-id=S-1",
        "--due=2027-01-01",
        "--metadata={\"k\":{\"deep\":[1,null,\"x\"]}}",
    ]);
    world.bd(&[
        "create",
        "Other",
        "--id=tt-o",
        "--deps=blocks:tt-w,discovered-from:tt-e",
    ]);
    world.bd(&["dep", "add", "tt-w", "tt-e", "--type=parent-child"]);
    world.bd(&["comments", "add", "tt-w", "said"]);
    world.bd(&["close", "tt-o", "--reason=because"]);
    world.bd(&["remember", "a note", "--key=note"]);
    world
}

/// The lines of an export by their ids, without what is counted.
fn lines(text: &str) -> BTreeMap<String, Value> {
    let lines = text.lines().map(|line| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        let map = value.as_object_mut().unwrap();
        for counted in [
            "dependency_count",
            "dependent_count",
            "comment_count",
            "parent",
        ] {
            map.remove(counted);
        }
        if let Some(edges) = map.get_mut("dependencies").and_then(Value::as_array_mut) {
            edges.sort_by_key(Value::to_string);
        }
        let key = value.get("id").or(value.get("key")).unwrap();
        (key.as_str().unwrap().to_owned(), value)
    });
    lines.collect()
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_26_what_bd_has_moves_into_the_embedded_store_without_loss() {
    let world = filled();
    let before = lines(&world.bd(&["export", "--all"]));
    assert_eq!(before.len(), 4);
    assert_eq!(
        lines(&world.ralph(&["export"])),
        before,
        "through the adapter"
    );
    let said = world.ralph(&["init", "--from-bd", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["data"]["uses"]["store"], "embedded");
    assert_eq!(
        lines(&world.ralph(&["export"])),
        before,
        "from the embedded store"
    );
    assert_eq!(
        lines(&world.bd(&["export", "--all"])),
        before,
        "the database of bd is as it was"
    );
    let again = world.run(
        env!("CARGO_BIN_EXE_beads-ralph"),
        &["init", "--from-bd", "--json"],
    );
    assert_eq!(again.status.code(), Some(3), "{again:?}");
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_26_what_we_have_moves_into_bd_without_loss_or_is_refused() {
    let world = filled();
    let before = lines(&world.ralph(&["export"]));
    world.ralph(&["export", "--output", "all.jsonl"]);
    let text = std::fs::read_to_string(world.root().join("all.jsonl")).unwrap();
    for import in ["bd", "beads-ralph"] {
        let other = World::new();
        other.write("all.jsonl", &text);
        if import == "bd" {
            other.bd(&["config", "set", "types.custom", "beads-ralph-work"]);
            other.bd(&["import", "all.jsonl"]);
        } else {
            other.ralph(&["import", "all.jsonl"]);
        }
        assert_eq!(
            without_edge_times(lines(&other.ralph(&["export"]))),
            without_edge_times(before.clone()),
            "{import}"
        );
    }
    let other = World::new();
    let odd = json!({"id": "tt-odd", "title": "odd", "colour": "blue"});
    other.write("odd.jsonl", &format!("{odd}\n"));
    let refused = other.run(
        env!("CARGO_BIN_EXE_beads-ralph"),
        &["import", "odd.jsonl", "--json"],
    );
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert_eq!(other.bd(&["list", "--json"]).trim(), "[]", "nothing came");
}

/// `bd` says of every edge that it imports that it was made just now, by whoever imports it.
fn without_edge_times(mut lines: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    for line in lines.values_mut() {
        let edges = line.get_mut("dependencies").and_then(Value::as_array_mut);
        for edge in edges.into_iter().flatten() {
            let edge = edge.as_object_mut().unwrap();
            edge.remove("created_at");
            edge.remove("created_by");
        }
    }
    lines
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_2_fences_and_orders_move_along() {
    let world = World::new();
    world.bd(&["create", "One", "--id=tt-1"]);
    world.bd(&["create", "Two", "--id=tt-2"]);
    world.ralph(&["claim", "tt-1"]);
    world.ralph(&["release", "tt-1"]);
    world.ralph(&["claim", "tt-2"]);
    let held = world.run(env!("CARGO_BIN_EXE_beads-ralph"), &["init", "--from-bd"]);
    assert!(!held.status.success(), "somebody works on tt-2");
    world.ralph(&["close", "tt-2", "--reason", "all done"]);
    world.ralph(&["pause"]);
    let exported = world.bd(&["export", "--all"]);
    assert!(exported.contains("beads_ralph"), "{exported}");

    let other = World::new();
    other.write("all.jsonl", &exported);
    other.ralph(&["import", "all.jsonl"]);
    world.ralph(&["init", "--from-bd"]);
    for world in [&other, &world] {
        let shown = world.ralph(&["show", "tt-2", "--json"]);
        assert!(
            shown.contains("all done") && !shown.contains("beads_ralph"),
            "{shown}"
        );
        assert!(world.ralph(&["claim", "tt-1"]).contains("fence 2"));
    }
    let status = world.ralph(&["status", "--json"]);
    assert!(status.contains("pause"), "{status}");
}
