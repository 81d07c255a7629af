//! `dep`: edges, circles and trees.

use std::fmt::Write as _;

use serde_json::json;

use super::{data, error, five, ids, seeded, shown};
use crate::env::NOW;

#[test]
fn an_edge_holds_back_until_it_goes() {
    let env = five();
    let added = data(&env, &["dep", "add", "bd-d", "bd-b"]);
    assert_eq!(
        added,
        json!({"issue_id": "bd-d", "depends_on_id": "bd-b", "type": "blocks", "changed": true, "is_blocked": true})
    );
    let edge = &shown(&env, "bd-d")["dependencies"][1];
    assert_eq!(
        (&edge["created_at"], &edge["created_by"]),
        (&json!(NOW), &json!("unknown"))
    );
    assert_eq!(ids(&data(&env, &["ready"])), ["bd-a"]);
    assert_eq!(
        data(&env, &["dep", "add", "bd-d", "bd-b"])["changed"],
        false
    );
    let other = error(
        &env,
        &["dep", "add", "bd-d", "bd-b", "--type", "related"],
        1,
    );
    assert!(
        other["suggested_action"]
            .as_str()
            .unwrap()
            .contains("dep remove")
    );
    let text = env.run(&["dep", "remove", "bd-d", "bd-b"]).exits(0).stdout;
    assert_eq!(text, "bd-d no longer depends on bd-b (blocks)\n");
    assert_eq!(ids(&data(&env, &["ready"])), ["bd-a", "bd-d"]);
    assert_eq!(
        error(&env, &["dep", "remove", "bd-d", "bd-b"], 1)["code"],
        "DEPENDENCY.UNRESOLVED"
    );
    env.run(&["dep", "add", "bd-d", "bd-e", "--type", "discovered-from"])
        .exits(0);
    assert_eq!(shown(&env, "bd-d")["is_blocked"], false);
}

#[test]
fn both_ends_must_be_known() {
    let env = five();
    for args in [
        &["dep", "add", "bd-a", "zz"][..],
        &["dep", "add", "zz", "bd-a"],
        &["dep", "remove", "bd-a", "zz"],
        &["dep", "list", "zz"],
        &["dep", "tree", "zz"],
    ] {
        assert_eq!(
            error(&env, args, 1)["code"],
            "DEPENDENCY.UNRESOLVED",
            "{args:?}"
        );
    }
    assert_eq!(
        data(&env, &["dep", "add", "bd-a", "external:other:login"])["is_blocked"],
        false
    );
    for wrong in ["external:", "external:a b", "external:\u{1b}[31m"] {
        assert_eq!(
            error(&env, &["dep", "add", "bd-a", wrong], 1)["code"],
            "VALIDATION.INVALID_PATTERN"
        );
    }
    env.run(&["dep", "remove", "bd-c", "bd-absent"]).exits(0);
    assert_eq!(
        error(&env, &["dep", "add", "bd-a", "bd-b", "--type", "a b"], 1)["code"],
        "VALIDATION.INVALID_PATTERN"
    );
}

#[test]
fn circles_and_loops_are_refused() {
    let env = five();
    let circle = error(&env, &["dep", "add", "bd-a", "bd-b"], 1);
    assert_eq!(circle["code"], "DEPENDENCY.CYCLE_DETECTED");
    assert!(
        circle["message"]
            .as_str()
            .unwrap()
            .contains("bd-a → bd-b → bd-a"),
        "{circle}"
    );
    assert_eq!(
        error(&env, &["dep", "add", "bd-a", "bd-a"], 1)["code"],
        "DEPENDENCY.SELF_DEP"
    );
    assert_eq!(shown(&env, "bd-a")["version"], 1);
}

#[test]
fn a_tree_draws_each_bead_once() {
    let env = seeded(concat!(
        "{\"id\":\"top\",\"title\":\"T\",\"dependencies\":[\"l\",\"r\"]}\n",
        "{\"id\":\"l\",\"title\":\"L\",\"dependencies\":[\"base\"]}\n",
        "{\"id\":\"r\",\"title\":\"R\",\"dependencies\":[\"l\",\"gone\"]}\n",
        "{\"id\":\"base\",\"title\":\"B\"}\n",
    ));
    assert_eq!(
        env.run(&["dep", "tree", "top"]).exits(0).stdout,
        "top (open) T\n  l (open) L\n    base (open) B\n  r (open) R\n    l (open) (as above) L\n    gone (missing)\n"
    );
    let nodes = data(&env, &["dep", "tree", "top", "--depth", "1"])["nodes"].take();
    assert_eq!(
        nodes[1],
        json!({"id": "l", "depth": 1, "parent_id": "top", "type": "blocks", "status": "open",
        "title": "L", "is_repeated": false, "truncated": true})
    );
    assert_eq!(nodes.as_array().unwrap().len(), 3);
    let listed = data(&env, &["dep", "list", "l"]);
    assert_eq!(
        listed["depends_on"],
        json!([{"id": "base", "type": "blocks", "status": "open", "title": "B"}])
    );
    assert_eq!(listed["dependents"].as_array().unwrap().len(), 2);
    assert_eq!(
        listed["blockers"],
        json!([{"id": "base", "waiting": "open"}])
    );
}

#[test]
fn a_ladder_has_more_paths_than_could_be_drawn() {
    let mut lines =
        String::from("{\"id\":\"n0\",\"title\":\"t\"}\n{\"id\":\"m0\",\"title\":\"t\"}\n");
    for n in 1..200 {
        let below = n - 1;
        for side in ["n", "m"] {
            _ = writeln!(
                lines,
                "{{\"id\":\"{side}{n}\",\"title\":\"t\",\"dependencies\":[\"n{below}\",\"m{below}\"]}}"
            );
        }
    }
    let env = seeded(&lines);
    let nodes = data(&env, &["dep", "tree", "n199", "--depth", "1000"])["nodes"].take();
    assert!(nodes.as_array().unwrap().len() < 1000);
}
