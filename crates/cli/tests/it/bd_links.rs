//! The `bd` face on our own store, without the real `bd`: what beads are called, have to do with each other, and are counted by.
//!
//! That the answers are those of the real `bd`, to the letter, is shown by `tests/real/bd_face`.

use serde_json::{Value, json};

use crate::env::{Output, TestEnv};

const BEADS: &str = r#"{"id":"work-a","title":"Alpha","priority":1,"labels":["x"],"created_at":"2025-01-01T00:00:00Z","updated_at":"2025-01-01T00:00:00Z"}
{"id":"work-b","title":"Beta","priority":2,"created_at":"2025-01-02T00:00:00Z","updated_at":"2025-01-02T00:00:00Z","dependencies":[{"depends_on_id":"work-a","type":"blocks"}]}
{"id":"work-q","title":"Which way?","priority":2,"labels":["human"],"created_at":"2025-01-03T00:00:00Z","updated_at":"2025-01-03T00:00:00Z"}
"#;

/// A world with three beads, put there by the face.
#[track_caller]
fn world() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).exits(0);
    let import = env.command(&["bd", "import", "-"]).stdin(BEADS).run();
    assert_eq!(import.exits(0).stderr, "Imported 3 issues from stdin\n");
    env
}

#[track_caller]
fn bd(env: &TestEnv, args: &[&str]) -> Output {
    let args: Vec<&str> = ["bd"].into_iter().chain(args.iter().copied()).collect();
    env.run(&args)
}

#[track_caller]
fn answer(env: &TestEnv, args: &[&str]) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let output = bd(env, &args).exits(0);
    serde_json::from_str(&output.stdout).unwrap()
}

#[track_caller]
fn refusal(env: &TestEnv, args: &[&str]) -> String {
    bd(env, args).exits(1).stderr
}

#[test]
fn z_24_labels_are_added_listed_and_removed() {
    let env = world();
    let added = bd(&env, &["label", "add", "a", "b", "y,z"]).exits(0);
    assert_eq!(
        added.stdout,
        "✓ Added labels 'y', 'z' to work-a\n✓ Added labels 'y', 'z' to work-b\n"
    );
    assert_eq!(
        answer(&env, &["label", "list", "work-a"]),
        json!(["x", "y", "z"])
    );
    let removed = answer(&env, &["label", "remove", "work-a", "y"]);
    assert_eq!(
        removed,
        json!([{"issue_id": "work-a", "label": "y", "status": "removed"}])
    );
    let all = answer(&env, &["label", "list-all"]);
    assert_eq!(all[0], json!({"label": "human", "count": 1}));
    assert!(refusal(&env, &["label", "add", "work-nope", "y"]).contains("no issue found matching"));
}

#[test]
fn z_24_edges_hold_back_and_go_round_in_no_circle() {
    let env = world();
    assert_eq!(
        answer(&env, &["dep", "add", "q", "b"]),
        json!({"depends_on_id": "work-b", "issue_id": "work-q", "schema_version": 1, "status": "added", "type": "blocks"})
    );
    let circle = refusal(&env, &["dep", "add", "work-a", "work-q"]);
    assert_eq!(circle, "Error: adding dependency would create a cycle\n");
    let other = refusal(&env, &["dep", "add", "work-b", "work-a", "-t", "related"]);
    assert!(
        other.contains("already exists with type \"blocks\" (requested \"related\")"),
        "{other}"
    );
    let blocked = answer(&env, &["blocked"]);
    assert_eq!(blocked[1]["blocked_by"], json!(["work-a"]));
    let tree = bd(&env, &["dep", "tree", "work-q"]).exits(0).stdout;
    assert!(
        tree.contains("        └── work-a: Alpha [P1] (open) [blocks]\n"),
        "{tree}"
    );
    bd(&env, &["dep", "remove", "work-q", "work-b"]).exits(0);
    assert_eq!(answer(&env, &["dep", "list", "work-q"]), json!([]));
    let lines =
        "{\"from\": \"work-a\", \"to\": \"work-q\"}\n{\"from\": \"work-q\", \"to\": \"work-b\"}\n";
    let bulk = env
        .command(&["bd", "dep", "add", "--file", "-"])
        .stdin(lines)
        .run();
    assert_eq!(
        bulk.exits(1).stderr,
        "Error: adding dependency would create a cycle\n"
    );
    assert_eq!(
        answer(&env, &["dep", "list", "work-a"]),
        json!([]),
        "all edges of a file or none"
    );
}

#[test]
fn z_24_questions_are_answered_once() {
    let env = world();
    assert_eq!(answer(&env, &["human", "list"])[0]["id"], "work-q");
    let answered = bd(&env, &["human", "respond", "q", "Left"]).exits(0);
    assert_eq!(answered.stdout, "✔ Bead work-q closed with response.\n");
    let comments = answer(&env, &["comments", "work-q"]);
    assert_eq!(comments[0]["text"], "Response: Left");
    assert_eq!(
        refusal(&env, &["human", "dismiss", "q"]),
        "Error: issue work-q is already closed\n"
    );
    let added = answer(&env, &["comment", "work-q", "And", "thanks"]);
    assert_eq!(added["text"], "And thanks");
    let ids: Vec<Value> = answer(&env, &["comments", "work-q"])
        .as_array()
        .unwrap()
        .iter()
        .map(|comment| comment["id"].clone())
        .collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1], "every comment has an id of its own");
}

#[test]
fn z_24_beads_are_counted_and_searched() {
    let env = world();
    assert_eq!(
        answer(&env, &["count", "--by-priority"])["groups"][0],
        json!({"count": 1, "group": "P1"})
    );
    assert_eq!(answer(&env, &["status"])["summary"]["blocked_issues"], 1);
    assert_eq!(answer(&env, &["search", "ALPHA"])[0]["dependent_count"], 1);
    assert_eq!(answer(&env, &["stale"]).as_array().unwrap().len(), 3);
    let nothing = bd(&env, &["search", "no-such-thing"]).exits(0);
    assert_eq!(nothing.stdout, "No issues found matching 'no-such-thing'\n");
}

#[test]
fn z_24_what_goes_out_comes_in_again() {
    let env = world();
    bd(&env, &["comments", "add", "work-a", "A word"]).exits(0);
    let out = bd(&env, &["export"]).exits(0).stdout;
    let other = TestEnv::new();
    other.run(&["init"]).exits(0);
    other
        .command(&["bd", "import", "-"])
        .stdin(out.as_str())
        .run()
        .exits(0);
    assert_eq!(bd(&other, &["export"]).exits(0).stdout, out);
    let again = other
        .command(&["bd", "import", "-", "--json"])
        .stdin(out.as_str())
        .run()
        .exits(0);
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(again["ids"], json!(["work-a", "work-q", "work-b"]));
    assert_eq!(
        bd(&other, &["export"]).exits(0).stdout,
        out,
        "nothing changed"
    );
}

#[test]
fn z_24_an_older_line_does_not_take_the_place_of_a_bead() {
    let env = world();
    let older = r#"{"id":"work-a","title":"Once","created_at":"2025-01-01T00:00:00Z","updated_at":"2024-01-01T00:00:00Z"}"#;
    let import = |args: &[&str]| {
        let args: Vec<&str> = ["bd", "import", "-"]
            .into_iter()
            .chain(args.iter().copied())
            .collect();
        env.command(&args).stdin(older).run().exits(0).stderr
    };
    assert!(import(&[]).contains("1 stale skipped"));
    assert_eq!(answer(&env, &["show", "work-a"])[0]["title"], "Alpha");
    import(&["--allow-stale"]);
    assert_eq!(answer(&env, &["show", "work-a"])[0]["title"], "Once");
    let loose = r#"{"id":"work-l","title":"Loose","dependencies":[{"depends_on_id":"work-gone","type":"blocks"}]}"#;
    let said = env
        .command(&["bd", "import", "-"])
        .stdin(loose)
        .run()
        .exits(0)
        .stderr;
    assert!(
        said.contains("Skipped dependency: work-l -> work-gone: target not found"),
        "{said}"
    );
}

#[test]
fn z_24_settings_are_kept_and_types_follow_them() {
    let env = world();
    bd(&env, &["config", "set", "types.custom", "convoy"]).exits(0);
    assert_eq!(answer(&env, &["types"])["custom_types"], json!(["convoy"]));
    bd(
        &env,
        &["config", "set", "status.custom", "in_review:active"],
    )
    .exits(0);
    assert_eq!(
        answer(&env, &["statuses"])["custom_statuses"][0]["name"],
        "in_review"
    );
    let wrong = refusal(&env, &["config", "set", "status.custom", "open:active"]);
    assert!(wrong.contains("collides with built-in status"), "{wrong}");
    assert!(refusal(&env, &["config", "set", "sync.remote", "x"]).contains("does not serve"));
    bd(&env, &["config", "unset", "types.custom"]).exits(0);
    assert_eq!(
        bd(&env, &["config", "get", "types.custom"]).exits(0).stdout,
        "types.custom (not set)\n"
    );
    let info = answer(&env, &["info"]);
    assert_eq!(info["daemon_running"], false);
    assert_eq!(info["issue_count"], 3);
    let place = answer(&env, &["where"]);
    assert_eq!(place["path"], env.path(".beads").as_str());
}

#[test]
fn z_18_nothing_is_written_where_nothing_may_be() {
    let env = world();
    for (args, what) in [
        (
            &["label", "add", "work-a", "y"][..],
            "operation 'label add' is not allowed in read-only mode",
        ),
        (
            &["dep", "work-a", "--blocks", "work-q"],
            "operation 'dep --blocks' is not allowed in read-only mode",
        ),
        (
            &["comments", "add", "work-a", "x"],
            "operation 'comment add' is not allowed in read-only mode",
        ),
        (
            &["config", "set", "custom.x", "y"],
            "setting config: embeddeddolt: store is read-only",
        ),
    ] {
        let args: Vec<&str> = ["--readonly"]
            .into_iter()
            .chain(args.iter().copied())
            .collect();
        assert_eq!(refusal(&env, &args), format!("Error: {what}\n"));
    }
    assert_eq!(answer(&env, &["label", "list", "work-a"]), json!(["x"]));
}
