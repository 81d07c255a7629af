//! `close`, `reopen`, `update`, `label` and `comment`.

use serde_json::json;

use super::{data, error, five, shown};
use crate::env::{NOW, strings};

#[test]
fn closing_sets_the_time_and_frees_what_waits() {
    let env = five();
    let closed = data(&env, &["close", "bd-a", "--reason", "tested"]);
    assert_eq!(
        closed["results"][0],
        json!({"id": "bd-a", "closed": true, "changed": true, "unblocked": ["bd-b"], "completed": []})
    );
    let bead = shown(&env, "bd-a");
    assert_eq!(
        (&bead["status"], &bead["closed_at"], &bead["close_reason"]),
        (&json!("closed"), &json!(NOW), &json!("tested"))
    );
    assert_eq!(
        data(&env, &["close", "bd-a"])["results"][0]["changed"],
        false
    );
    assert_eq!(shown(&env, "bd-a")["close_reason"], "tested");
    let text = env.run(&["close", "bd-a", "bd-b"]).exits(0).stdout;
    assert!(
        text.contains("is already closed") && text.contains("closed bd-b"),
        "{text}"
    );
}

#[test]
fn what_waits_is_not_closed_unless_forced() {
    let env = five();
    let refused = error(&env, &["close", "bd-b", "bd-c", "bd-d"], 1);
    assert!(
        refused["results"][0]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("blocked by bd-a (open)")
    );
    assert!(
        refused["results"][1]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("bd-absent (missing)")
    );
    assert_eq!(refused["results"][2]["closed"], true);
    let update = error(&env, &["update", "bd-b", "--status", "closed"], 1);
    assert!(update["message"].as_str().unwrap().contains("waits for"));
    env.run(&["close", "bd-b", "--force"]).exits(0);
    // In one call, the first makes way for the second.
    env.run(&["reopen", "bd-b"]).exits(0);
    env.run(&["close", "bd-a", "bd-b"]).exits(0);
}

#[test]
fn what_somebody_else_holds_is_not_closed() {
    let env = five();
    env.run(&["claim", "bd-a", "--actor", "alice"]).exits(0);
    for args in [
        &["close", "bd-a", "--actor", "bob"][..],
        &["reopen", "bd-a", "--actor", "bob"],
        &["update", "bd-a", "--status", "blocked", "--actor", "bob"],
    ] {
        let refused = error(&env, args, 4);
        assert!(
            refused["message"]
                .as_str()
                .unwrap()
                .contains("already claimed by alice"),
            "{refused}"
        );
    }
    env.run(&["update", "bd-a", "--append-notes", "seen", "--actor", "bob"])
        .exits(0);
    env.run(&["close", "bd-a", "--actor", "alice"]).exits(0);
    env.run(&["reopen", "bd-a"]).exits(0);
    env.run(&["claim", "bd-a", "--actor", "alice"]).exits(0);
    env.run(&["close", "bd-a", "--actor", "bob", "--force"])
        .exits(0);
    assert!(shown(&env, "bd-a")["claim"].is_null());
}

#[test]
fn z_2_a_program_passes_its_fence_even_under_the_same_name() {
    let env = five();
    let pid = std::process::id().to_string();
    env.run(&["claim", "bd-a", "--actor", "alice", "--pid", &pid])
        .exits(0);
    error(&env, &["close", "bd-a", "--actor", "alice"], 4);
    env.run(&["close", "bd-a", "--actor", "alice", "--fence", "1"])
        .exits(0);
}

#[test]
fn section_7_9_reopening_counts_attempts_anew() {
    let env = five();
    env.run(&["update", "bd-a", "--status", "blocked"]).exits(0);
    let reopened = data(&env, &["reopen", "bd-a", "bd-e", "bd-d"]);
    assert_eq!(reopened["results"][0]["status"], "open");
    assert_eq!(reopened["results"][2]["changed"], false);
    assert_eq!(
        shown(&env, "bd-a")["metadata"],
        json!({"team_name": "red", "attempt_count": 0})
    );
    let epsilon = shown(&env, "bd-e");
    assert_eq!(
        (&epsilon["status"], &epsilon["closed_at"]),
        (&json!("open"), &json!(null))
    );
    assert!(epsilon["metadata"].is_null());
}

#[test]
fn update_changes_everything_at_once_or_nothing() {
    let env = five();
    env.write("more.json", "{\"n\": 1.50, \"deep\": {\"a\": [1]}}");
    let updated = data(
        &env,
        &[
            "update",
            "bd-a",
            "--title",
            "New",
            "--description",
            "D",
            "--priority",
            "0",
            "--type",
            "task",
            "--assignee",
            "me",
            "--notes",
            "N",
            "--metadata",
            "@more.json",
            "--set-metadata",
            "k=1",
            "--unset-metadata",
            "team_name",
            "--add-label",
            "z",
            "--remove-label",
            "x",
            "--status",
            "deferred",
        ],
    );
    assert_eq!(
        (&updated["version"], &updated["changed"]),
        (&json!(2), &json!(true))
    );
    let bead = &updated["bead"];
    assert_eq!(
        [
            &bead["title"],
            &bead["description"],
            &bead["issue_type"],
            &bead["assignee"],
            &bead["notes"],
            &bead["status"]
        ],
        ["New", "D", "task", "me", "N", "deferred"]
    );
    assert_eq!(strings(&bead["labels"]), ["y", "z"]);
    assert_eq!(
        bead["metadata"].to_string(),
        "{\"attempt_count\":2,\"n\":1.50,\"deep\":{\"a\":[1]},\"k\":\"1\"}"
    );
    env.run(&[
        "update",
        "bd-a",
        "--append-notes",
        "one",
        "--append-notes",
        "two",
    ])
    .exits(0);
    assert_eq!(shown(&env, "bd-a")["notes"], "N\none\ntwo");
    let same = data(&env, &["update", "bd-a", "--title", "New"]);
    assert_eq!(
        (&same["version"], &same["changed"]),
        (&json!(3), &json!(false))
    );
    error(&env, &["update", "bd-a"], 1);
    error(
        &env,
        &["update", "bd-a", "--title", "Newer", "--add-label", "a,b"],
        1,
    );
    assert_eq!(shown(&env, "bd-a")["title"], "New");
}

#[test]
fn update_happens_only_if_things_are_as_expected() {
    let env = five();
    let status = error(
        &env,
        &["update", "bd-a", "--title", "t", "--if-status", "closed"],
        1,
    );
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .contains("is open, not closed")
    );
    let version = error(
        &env,
        &["update", "bd-a", "--title", "t", "--if-version", "7"],
        1,
    );
    assert!(version["message"].as_str().unwrap().contains("is 1, not 7"));
    env.run(&[
        "update",
        "bd-a",
        "--title",
        "t",
        "--if-version",
        "1",
        "--if-status",
        "open",
    ])
    .exits(0);
    let started = error(&env, &["update", "bd-a", "--status", "in_progress"], 1);
    assert_eq!(
        started["suggested_action"],
        "claim it: beads-ralph claim bd-a"
    );
    env.run(&["update", "bd-a", "--fence", "1", "--force", "--title", "t"])
        .exits(2);
}

#[test]
fn e_2_wrong_values_name_their_field() {
    let env = five();
    for (args, says) in [
        (&["--title", " "][..], "title"),
        (&["--status", "Not A Word"], "status"),
        (&["--metadata", "[1]"], "metadata: "),
        (&["--metadata", "{"], "metadata: "),
        (&["--add-label", ""], "label"),
    ] {
        let args: Vec<&str> = ["update", "bd-a"].iter().chain(args).copied().collect();
        let error = error(&env, &args, 1);
        assert!(
            error["code"].as_str().unwrap().starts_with("VALIDATION."),
            "{args:?}: {error}"
        );
        assert!(
            error["message"].as_str().unwrap().contains(says),
            "{args:?}: {error}"
        );
    }
    assert_eq!(
        error(&env, &["update", "bd-a", "--metadata", "@absent"], 3)["code"],
        "IO.FILE_NOT_FOUND"
    );
    assert_eq!(
        error(&env, &["update", "zz", "--title", "t"], 1)["code"],
        "DEPENDENCY.UNRESOLVED"
    );
    assert_eq!(shown(&env, "bd-a")["version"], 1);
}

#[test]
fn labels_come_and_go() {
    let env = five();
    let added = data(&env, &["label", "add", "bd-a", "z", "y"]);
    assert_eq!(strings(&added["bead"]["labels"]), ["x", "y", "z"]);
    assert_eq!(data(&env, &["label", "add", "bd-a", "z"])["changed"], false);
    env.run(&["label", "remove", "bd-a", "x", "nope"]).exits(0);
    assert_eq!(
        env.run(&["label", "list", "bd-a"]).exits(0).stdout,
        "y\nz\n"
    );
    assert_eq!(
        data(&env, &["label", "list", "bd-a"]),
        json!({"id": "bd-a", "labels": ["y", "z"]})
    );
    env.run(&["label", "add", "bd-a"]).exits(2);
    error(&env, &["label", "add", "bd-a", "../x"], 1);
    error(&env, &["label", "list", "zz"], 1);
}

#[test]
fn comments_are_kept_in_order() {
    let env = five();
    env.run(&["comment", "bd-a", "several", "words"]).exits(0);
    let output = env
        .command(&["comment", "bd-a", "-", "--json"])
        .stdin("two\nlines\n")
        .run();
    let said = output.exits(0).data();
    assert_eq!(
        said["comment"],
        json!({"issue_id": "bd-a", "author": "unknown", "text": "two\nlines", "created_at": NOW})
    );
    assert_eq!(said["comment_count"], 2);
    let comments = shown(&env, "bd-a")["comments"].take();
    assert_eq!(
        [&comments[0]["text"], &comments[1]["text"]],
        ["several words", "two\nlines"]
    );
    error(&env, &["comment", "bd-a", " "], 1);
    env.command(&["comment", "bd-a", "-"])
        .stdin(b"\xff".to_vec())
        .run()
        .exits(1);
    env.run(&["comment", "bd-a"]).exits(2);
}

#[test]
fn z_2_labels_comments_and_edges_take_a_fence_too() {
    let env = five();
    for _ in 0..2 {
        env.run(&["claim", "bd-a", "--actor", "alice"]).exits(0);
        env.run(&["release", "bd-a", "--actor", "alice"]).exits(0);
    }
    env.run(&["claim", "bd-a", "--actor", "alice"]).exits(0);
    for args in [
        &["label", "add", "bd-a", "z"][..],
        &["label", "remove", "bd-a", "x"],
        &["comment", "bd-a", "said"],
        &["dep", "add", "bd-a", "bd-e"],
        &["dep", "remove", "bd-a", "bd-e"],
    ] {
        let stale = error(&env, &[args, &["--fence", "1"]].concat(), 1);
        let message = stale["message"].as_str().unwrap();
        assert!(message.contains("fence 1 is stale"), "{args:?}: {message}");
        env.run(&[args, &["--fence", "3"]].concat()).exits(0);
        let both = [args, &["--fence", "3", "--force"]].concat();
        env.run(&both).exits(2);
    }
    env.run(&["label", "add", "bd-a", "w", "--actor", "bob", "--force"])
        .exits(0);
    assert_eq!(shown(&env, "bd-a")["claim"]["fence"], 3);
}
