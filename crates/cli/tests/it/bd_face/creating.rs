//! `create`: from flags, from a whole bead, from a graph.

use serde_json::json;

use super::{answer, bd, done, ids, value, world};
use crate::env::keys;

#[test]
fn z_24_create_answers_like_the_real_bd() {
    let env = world();
    let created = answer(
        &env,
        &["create", "A <b>", "-p", "1", "-l", "x,a", "-d", "text"],
    );
    assert_eq!(
        (&created["status"], &created["priority"]),
        (&"open".into(), &1.into())
    );
    assert_eq!(created["schema_version"], 1);
    assert_eq!(created["labels"], json!(["x", "a"]));
    assert_eq!(created["created_by"], "ann");
    let sorted = {
        let mut sorted = keys(&created);
        sorted.sort_unstable();
        sorted
    };
    assert_eq!(keys(&created), sorted, "objects come sorted");
    let id = created["id"].as_str().unwrap();
    assert!(id.starts_with("tt-") && id.len() == 6, "{id}");
    let said = bd(&env, &["create", "B", "--id", "tt-b"]).exits(0).stdout;
    assert_eq!(
        said,
        "✓ Created issue: tt-b — B\n  Priority: P2\n  Status: open\n"
    );
    assert_eq!(
        bd(&env, &["create", "C", "--id", "tt-c", "--silent"])
            .exits(0)
            .stdout,
        "tt-c\n"
    );
}

#[test]
fn z_24_a_whole_bead_comes_as_it_is() {
    let env = world();
    let bead = json!({"id": "bd-1-1-x", "title": "X", "issue_type": "beads-ralph-work", "odd": [1],
        "metadata": {"z": 1, "a": {"b": null}}, "dependencies": ["bd-0"]});
    let create = ["bd", "create", "--json", "-"];
    let created = value(&env.command(&create).stdin(bead.to_string()).run().exits(0));
    assert_eq!(
        created,
        json!({"id": "bd-1-1-x", "schema_version": 1, "status": "created"})
    );
    let shown = answer(&env, &["show", "bd-1-1-x"]);
    assert_eq!(
        (&shown[0]["odd"], &shown[0]["metadata"]),
        (&bead["odd"], &bead["metadata"])
    );
    let again = env.command(&create).stdin(bead.to_string()).run().exits(1);
    assert!(again.stderr.contains("duplicate key"), "{}", again.stderr);
}

#[test]
fn z_24_a_word_is_a_file_only_if_it_is_one_and_holds_an_object() {
    let env = world();
    env.write("bead.json", r#"{"id": "tt-9", "title": "From a file"}"#);
    env.write("list.json", "[1]");
    assert_eq!(answer(&env, &["create", "bead.json"])["status"], "created");
    for title in ["list.json", "missing.json"] {
        let created = answer(&env, &["create", title]);
        assert_eq!(
            (&created["title"], &created["status"]),
            (&title.into(), &"open".into())
        );
    }
    done(&env, &["create", "bead.json", "--id", "tt-t"]);
    assert_eq!(
        answer(&env, &["show", "tt-t"])[0]["title"],
        "bead.json",
        "without --json it is a title"
    );
}

#[test]
fn edges_of_a_new_bead_go_both_ways() {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-a"]);
    done(&env, &["create", "B", "--id", "tt-b"]);
    done(
        &env,
        &["create", "C", "--id", "tt-c", "--deps", "tt-a,blocks:tt-b"],
    );
    let list = answer(&env, &["list", "--sort", "id"]);
    assert_eq!(list[1]["dependencies"][0]["depends_on_id"], "tt-c");
    assert_eq!(list[2]["dependencies"][0]["depends_on_id"], "tt-a");
    assert_eq!(ids(&answer(&env, &["ready"])), ["tt-a"]);
    let circle = bd(&env, &["create", "D", "--deps", "tt-c,blocks:tt-a"]).exits(1);
    assert!(
        circle.stderr.contains("would create a cycle"),
        "{}",
        circle.stderr
    );
    assert_eq!(
        answer(&env, &["list"]).as_array().unwrap().len(),
        3,
        "nothing was made"
    );
}

#[test]
fn a_child_has_its_parents_name_and_labels() {
    let env = world();
    done(&env, &["create", "P", "--id", "tt-p", "-l", "area"]);
    let child = answer(&env, &["create", "K", "--parent", "tt-p", "-l", "own"]);
    assert_eq!(
        (&child["id"], &child["labels"]),
        (&"tt-p.1".into(), &json!(["own", "area"]))
    );
    let bare = answer(
        &env,
        &["create", "L", "--parent", "tt-p", "--no-inherit-labels"],
    );
    assert_eq!((&bare["id"], bare.get("labels")), (&"tt-p.2".into(), None));
    assert_eq!(answer(&env, &["show", "tt-p.2"])[0]["parent"], "tt-p");
}

#[test]
fn a_graph_comes_whole_or_not_at_all() {
    let env = world();
    let nodes = json!([{"key": "a", "title": "A", "type": "epic"},
        {"key": "b", "title": "B", "parent_key": "a"}, {"key": "c", "title": "C"}]);
    let edges = json!([{"from_key": "c", "to_key": "b"}]);
    env.write(
        "plan.json",
        json!({"nodes": nodes, "edges": edges}).to_string(),
    );
    let made = answer(&env, &["create", "--graph", "plan.json"]);
    let id = |key: &str| made["ids"][key].as_str().unwrap();
    let b = answer(&env, &["show", id("b")]);
    assert_eq!(b[0]["parent"], id("a"));
    let c = answer(&env, &["show", id("c")]);
    assert_eq!(c[0]["dependencies"][0]["id"], id("b"));
    let circle = json!([{"from_key": "c", "to_key": "b"}, {"from_key": "b", "to_key": "c"}]);
    env.write(
        "plan.json",
        json!({"nodes": nodes, "edges": circle}).to_string(),
    );
    let refused = bd(&env, &["create", "--graph", "plan.json"]).exits(1);
    assert!(refused.stderr.contains("cycle"), "{}", refused.stderr);
    assert_eq!(answer(&env, &["list"]).as_array().unwrap().len(), 3);
}

#[test]
fn what_cannot_be_created_is_refused_in_bds_words() {
    let env = world();
    let refused = |args: &[&str]| bd(&env, args).exits(1).stderr;
    assert_eq!(
        refused(&["create"]),
        "Error: title required (or use --file to create from markdown)\n"
    );
    assert_eq!(
        refused(&["create", "x", "-p", "high"]),
        "Error: invalid priority \"high\" (expected 0-4 or P0-P4, not words like high/medium/low)\n"
    );
    assert_eq!(
        refused(&["create", "x", "--id", "zz-1"]),
        "Error: prefix mismatch: database uses 'tt-' but ID 'zz-1' doesn't match (use --force to override)\n"
    );
    done(&env, &["create", "x", "--id", "tt-1"]);
    assert_eq!(
        refused(&["create", "x", "--id", "tt-1"]),
        "Error: tt-1 already exists; use bd update, or bd import for upsert semantics\n"
    );
    assert_eq!(
        refused(&["create", "x", "--deps", "nope"]),
        "Error: resolving --deps target \"nope\": no issue found matching \"nope\"\n"
    );
}
