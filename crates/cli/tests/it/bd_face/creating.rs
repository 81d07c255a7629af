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

#[test]
fn the_id_of_a_deleted_child_is_never_given_again() {
    let env = world();
    done(&env, &["create", "P", "--id", "tt-p"]);
    let child = || {
        let made = bd(&env, &["create", "c", "--parent", "tt-p", "--silent"]).exits(0);
        made.stdout.trim().to_owned()
    };
    assert_eq!([child(), child(), child()], ["tt-p.1", "tt-p.2", "tt-p.3"]);
    done(&env, &["delete", "tt-p.3", "--force"]);
    assert_eq!(child(), "tt-p.4");
    done(&env, &["create", "far", "--id", "tt-p.9"]);
    done(&env, &["delete", "tt-p.9", "tt-p.4", "--force"]);
    assert_eq!(child(), "tt-p.10");
}

#[test]
fn a_title_has_at_most_500_bytes() {
    let env = world();
    let (fits, long, wide) = ("x".repeat(500), "x".repeat(501), "é".repeat(251));
    done(&env, &["create", &fits, "--id", "tt-1"]);
    for (title, n) in [(&long, 501), (&wide, 502)] {
        let said = format!("title must be 500 characters or less (got {n})");
        let graph = json!({"nodes": [{"key": "a", "title": title}]}).to_string();
        env.write("graph.json", graph);
        env.write(
            "one.jsonl",
            json!({"id": "tt-9", "title": title}).to_string() + "\n",
        );
        env.write("more.md", format!("## {title}\ntext\n"));
        for call in [
            &["create", title.as_str()][..],
            &["update", "tt-1", "--title", title],
            &["import", "one.jsonl"],
            &["create", "--graph", "graph.json"],
            &["create", "-f", "more.md"],
            &["gate", "create", "--blocks", "tt-1", "--title", title],
        ] {
            let refused = bd(&env, call).exits(1);
            assert!(refused.stderr.contains(&said), "{}", refused.stderr);
        }
    }
    assert_eq!(ids(&answer(&env, &["list"])), ["tt-1"]);
}

#[test]
fn a_message_does_not_last() {
    let env = world();
    let made = answer(&env, &["create", "Hello", "-t", "message", "--id", "tt-1"]);
    assert_eq!(made["ephemeral"], true);
    assert_eq!(ids(&answer(&env, &["list"])), [""; 0]);
    assert_eq!(bd(&env, &["export"]).exits(0).stdout, "");
}

const ODD_TYPES: &str = r#"
formula = "odd"
description = "Types that nobody registered"
version = 1
type = "workflow"

[[steps]]
id = "look"
title = "Look"
type = "research"

[[steps]]
id = "all"
title = "All"
type = "campaign"
needs = ["look"]

[[steps.children]]
id = "part"
title = "Part"
type = "bug"
"#;

#[test]
fn what_a_pour_makes_can_be_exported_and_imported_again() {
    let warning = "flattening unregistered issue type(s) to task (epic for steps with children): campaign, research";
    for pour in [&["bd", "mol", "pour", "odd"][..], &["mol", "pour", "odd"]] {
        let env = world();
        env.write(".beads/formulas/odd.formula.toml", ODD_TYPES);
        let poured = env.run(pour).exits(0);
        assert!(poured.stderr.contains(warning), "{}", poured.stderr);
        let types = || {
            let list = answer(&env, &["list", "--all"]);
            let mut types: Vec<String> = (list.as_array().unwrap().iter())
                .map(|bead| format!("{} {}", bead["title"], bead["issue_type"]).replace('"', ""))
                .collect();
            types.sort();
            types
        };
        let expected = ["All epic", "Look task", "Part bug", "odd molecule"];
        assert_eq!(types(), expected, "{pour:?}");
        let exported = bd(&env, &["export"]).exits(0).stdout;
        let other = world();
        other.write("all.jsonl", exported);
        let imported = bd(&other, &["import", "all.jsonl"]).exits(0);
        assert_eq!(imported.stderr, "Imported 4 issues from all.jsonl\n");
    }
}

#[test]
fn a_registered_type_survives_a_pour() {
    let env = world();
    env.write(".beads/formulas/odd.formula.toml", ODD_TYPES);
    done(
        &env,
        &["config", "set", "types.custom", "research,campaign"],
    );
    let poured = bd(&env, &["mol", "pour", "odd"]).exits(0);
    assert_eq!(poured.stderr, "");
    let research = answer(&env, &["list", "-t", "research"]);
    assert_eq!(ids(&research), ["bd-odd-001-look"]);
}
