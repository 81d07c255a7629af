//! Formulas poured into a database of the real `bd`: compiled by us and written as beads, all of them or none (Z-25).

use serde_json::{Value, json};

use crate::world::World;

/// Needs, children, gates, loops, metadata, and waiting for children.
const RELEASE: &str = r#"
formula = "release"
description = "Release {{version}}"
[vars.version]
required = true
[[steps]]
id = "plan"
title = "Plan {{version}}"
notes = "Ask first"
priority = 1
labels = ["area:{{version}}"]
assignee = "ann"
metadata = { version = "{{version}}", deep = { list = [1, "two"] } }
[[steps]]
id = "build"
title = "Build"
needs = ["plan"]
[[steps.children]]
id = "lib"
title = "Library"
[[steps.children]]
id = "app"
title = "Program"
needs = ["lib"]
[[steps]]
id = "try"
title = "Try"
needs = ["build"]
[steps.loop]
range = "1..2"
var = "n"
[[steps.loop.body]]
id = "once"
title = "Try {n}"
metadata = { turn = "{n}" }
[[steps]]
id = "ship"
title = "Ship"
needs = ["try"]
waits_for = "children-of(build)"
[steps.gate]
type = "gh:run"
id = "release.yml"
timeout = "1h"
repo = "org/name"
"#;

const ROOT: &str = "bd-release-001";

fn world() -> World {
    let world = World::new();
    add_formula(&world);
    world
}

fn add_formula(world: &World) {
    std::fs::create_dir_all(world.root().join(".beads/formulas")).unwrap();
    world.write(".beads/formulas/release.formula.toml", RELEASE);
}

/// Everything that the real program has, by id.
fn exported(world: &World) -> Vec<Value> {
    read(&world.bd(&["export", "--all"]))
}

fn read(lines: &str) -> Vec<Value> {
    let mut beads: Vec<Value> = (lines.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    beads.sort_by_key(|bead| bead["id"].to_string());
    beads
}

/// What is compared: everything but what stores add.
fn comparable(mut bead: Value) -> Value {
    let own = bead.as_object_mut().unwrap();
    own.retain(|key, _| {
        let added = ["_type", "created_at", "updated_at", "created_by", "owner"];
        !(added.contains(&key.as_str()) || key.ends_with("_count"))
    });
    let edges = bead["dependencies"].as_array().into_iter().flatten();
    let mut edges: Vec<Value> = edges
        .map(|edge| {
            let carried = edge["metadata"].as_str().unwrap_or("{}");
            let carried: Value = serde_json::from_str(carried).unwrap();
            json!([edge["type"], edge["depends_on_id"], carried])
        })
        .collect();
    edges.sort_by_key(Value::to_string);
    bead["dependencies"] = edges.into();
    if let Some(labels) = bead["labels"].as_array_mut() {
        labels.sort_by_key(Value::to_string);
    }
    bead
}

/// What our own store keeps of the same pour, for comparison.
fn in_our_store(words: &[&str]) -> Vec<Value> {
    let world = World::new();
    std::fs::remove_dir_all(world.root().join(".beads")).unwrap();
    world.ralph(&["init"]);
    assert!(world.root().join(".beads/beads-ralph.db").exists());
    add_formula(&world);
    world.ralph(words);
    read(&world.ralph(&["bd", "export", "--all"]))
}

const POUR: [&str; 6] = ["mol", "pour", "release", "--var", "version=1.2", "--json"];

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_25_every_bead_label_edge_and_key_of_a_formula_is_in_the_database_of_bd() {
    let world = world();
    let said: Value = serde_json::from_str(&world.ralph(&POUR)).unwrap();
    assert_eq!(said["data"]["id"], ROOT);
    let theirs: Vec<Value> = exported(&world).into_iter().map(comparable).collect();
    let ours: Vec<Value> = in_our_store(&POUR).into_iter().map(comparable).collect();
    assert_eq!(theirs.len(), 9);
    for (theirs, ours) in theirs.iter().zip(&ours) {
        assert_eq!(theirs, ours);
    }
    assert_eq!(theirs.len(), ours.len());
    let shown: Value =
        serde_json::from_str(&world.bd(&["show", &format!("{ROOT}-plan"), "--json"])).unwrap();
    assert_eq!(shown[0]["title"], "Plan 1.2");
    assert_eq!(shown[0]["metadata"]["deep"]["list"], json!([1, "two"]));
    let current: Value =
        serde_json::from_str(&world.bd(&["mol", "current", ROOT, "--json"])).unwrap();
    assert_eq!(current[0]["molecule_id"], ROOT);
    assert_eq!(current[0]["total"], 8);
    let again: Value = serde_json::from_str(&world.ralph(&POUR)).unwrap();
    assert_eq!(again["data"]["id"], "bd-release-002");
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn f_10_wisps_are_wisps_for_bd_too() {
    let world = world();
    let wisp = ["mol", "wisp", "release", "--var", "version=1.2", "--json"];
    world.ralph(&wisp);
    let beads = exported(&world);
    assert_eq!(beads.len(), 9);
    for bead in &beads {
        assert_eq!(bead["ephemeral"], true, "{bead:#}");
    }
    let listed: Value =
        serde_json::from_str(&world.bd(&["mol", "wisp", "list", "--json"])).unwrap();
    assert_eq!(listed["count"], 9);
    let own: Value = serde_json::from_str(&world.ralph(&["mol", "show", ROOT, "--json"])).unwrap();
    assert_eq!(own["success"], true, "{own:#}");
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_25_a_pour_that_fails_half_way_leaves_nothing() {
    let world = world();
    // A program that loses the last line of what it is to import, and says nothing about it.
    let real = crate::world::program();
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = import ]; then shift 2; sed '$d' | {real} import - \"$@\"; else exec {real} \"$@\"; fi\n"
    );
    std::fs::create_dir_all(world.root().join("bin")).unwrap();
    world.write("bin/bd", &script);
    world.run("chmod", &["+x", "bin/bd"]);
    let ours = env!("CARGO_BIN_EXE_beads-ralph");
    let path = format!("{}/bin:/usr/local/bin:/usr/bin:/bin", world.root());
    let refused = world
        .command(ours, &POUR)
        .env("PATH", path)
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(said["error"]["code"], "FORMULA.POUR_FAILED", "{said:#}");
    let details = said["error"]["details"].as_str().unwrap();
    assert!(details.contains("DATABASE."), "{said:#}");
    assert_eq!(exported(&world), Vec::<Value>::new());
}
