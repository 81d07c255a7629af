//! `show`, `list`, `ready`: the shapes that callers read.

use serde_json::{Value, json};

use super::{answer, bd, done, ids, value, world};
use crate::env::TestEnv;

fn seeded() -> TestEnv {
    let env = world();
    done(
        &env,
        &["create", "Alpha", "--id", "tt-a", "-p", "1", "-l", "x,y"],
    );
    done(
        &env,
        &[
            "create", "Beta", "--id", "tt-b", "--deps", "tt-a", "-l", "x", "-a", "bob",
        ],
    );
    done(&env, &["create", "Gamma", "--id", "tt-c", "-t", "bug"]);
    env
}

#[test]
fn contracts_0_1_show_is_an_array_of_one() {
    let env = seeded();
    let shown = answer(&env, &["show", "tt-b"]);
    assert_eq!(ids(&shown), ["tt-b"]);
    assert_eq!(
        shown[0]["dependencies"][0]["id"], "tt-a",
        "S4 reads .[0].title"
    );
    assert_eq!(shown[0]["dependencies"][0]["dependency_type"], "blocks");
    assert_eq!(shown[0]["dependency_count"], 1);
    assert_eq!(
        shown[0]["schema_version"],
        Value::Null,
        "lists have no version"
    );
}

#[test]
fn contracts_0_1_list_filters_by_all_labels_or_by_any() {
    let env = seeded();
    assert_eq!(ids(&answer(&env, &["list", "--label", "x,y"])), ["tt-a"]);
    assert_eq!(
        ids(&answer(&env, &["list", "--label-any", "y,z"])),
        ["tt-a"]
    );
    assert_eq!(ids(&answer(&env, &["list", "--type", "bug"])), ["tt-c"]);
    assert_eq!(ids(&answer(&env, &["list", "--assignee", "bob"])), ["tt-b"]);
    done(&env, &["close", "tt-c"]);
    assert_eq!(ids(&answer(&env, &["list"])), ["tt-a", "tt-b"]);
    assert_eq!(
        ids(&answer(&env, &["list", "--all"])),
        ["tt-a", "tt-b", "tt-c"]
    );
    assert_eq!(ids(&answer(&env, &["list", "-s", "closed"])), ["tt-c"]);
    assert_eq!(answer(&env, &["list", "--label", "none"]), json!([]));
}

#[test]
fn contracts_0_1_ready_is_what_nothing_holds_back() {
    let env = seeded();
    assert_eq!(ids(&answer(&env, &["ready"])), ["tt-a", "tt-c"]);
    assert_eq!(ids(&answer(&env, &["ready", "--label", "x"])), ["tt-a"]);
    done(&env, &["close", "tt-a"]);
    assert_eq!(ids(&answer(&env, &["ready"])), ["tt-b", "tt-c"]);
    assert_eq!(
        ids(&answer(&env, &["ready", "--assignee", "bob"])),
        ["tt-b"]
    );
}

#[test]
fn the_envelope_stands_around_every_answer() {
    let env = seeded();
    let run = |args: &[&str]| {
        let args: Vec<&str> = ["bd"].into_iter().chain(args.iter().copied()).collect();
        env.command(&args).env("BD_JSON_ENVELOPE", "1").run()
    };
    let listed = value(&run(&["list", "--json"]).exits(0));
    assert_eq!(listed["data"].as_array().unwrap().len(), 3);
    assert_eq!(listed["schema_version"], 1);
    let page = run(&["ready", "--json", "-n", "1"]).exits(0);
    let pagination = json!({"returned": 1, "total": 2, "truncated": true});
    assert_eq!(
        serde_json::from_str::<Value>(&page.stdout).unwrap()["pagination"],
        pagination
    );
    let refused = run(&["show", "nope", "--json"]).exits(1);
    let refused: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(
        refused["data"]["error"],
        "no issues found matching the provided IDs"
    );
}

#[test]
fn json_is_escaped_as_go_escapes_it() {
    let env = world();
    done(&env, &["create", "<a> & b", "--id", "tt-1"]);
    let listed = bd(&env, &["list", "--json"]).exits(0).stdout;
    assert!(listed.contains(r"\u003ca\u003e \u0026 b"), "{listed}");
}

#[test]
fn ids_are_found_by_their_beginnings() {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-abc"]);
    done(&env, &["create", "B", "--id", "tt-abd"]);
    assert_eq!(ids(&answer(&env, &["show", "abc"])), ["tt-abc"]);
    assert_eq!(ids(&answer(&env, &["show", "tt-abd"])), ["tt-abd"]);
    let refused = bd(&env, &["show", "ab"]).exits(1).stderr;
    assert!(
        refused.contains("ambiguous issue ID: \"ab\" matches 2 issues: [tt-abc tt-abd]"),
        "{refused}"
    );
    let partly = bd(&env, &["show", "nope", "abc", "--short"]).exits(0);
    assert_eq!(partly.stdout, "○ tt-abc P2 A\n");
    assert!(
        partly.stderr.starts_with("Issue nope not found\nHint: "),
        "{}",
        partly.stderr
    );
}

#[test]
fn lists_for_people_look_as_in_bd() {
    let env = seeded();
    let flat = bd(&env, &["list", "--flat"]).exits(0).stdout;
    assert_eq!(
        flat,
        "○ tt-a [P1] [task] [x y] - Alpha (blocks: tt-b)\n● tt-b [P2] [task] @bob [x] - Beta (blocked by: tt-a)\n○ tt-c [P2] [bug] - Gamma\n"
    );
    let plain = bd(&env, &["ready", "--plain"]).exits(0).stdout;
    assert_eq!(
        plain,
        "\n📋 Ready work (2 issues with no active blockers):\n\n1. [P1] [task] tt-a: Alpha\n2. [P2] [bug] tt-c: Gamma\n\n"
    );
    let page = bd(&env, &["show", "tt-b"]).exits(0).stdout;
    assert!(
        page.starts_with(
            "○ tt-b · Beta   [P2 · OPEN]\nCreated by: ann · Assignee: bob · Type: task\n"
        ),
        "{page}"
    );
    assert!(
        page.ends_with("\nLABELS: x\n\nDEPENDS ON\n  → ○ tt-a: Alpha P1\n\n"),
        "{page}"
    );
}
