//! `ready`, `list`, `search`, `show`, `stats` and `log`.

use std::fmt::Write as _;

use serde_json::json;

use super::{data, error, five, ids, seeded, shown};
use crate::env::{NOW, TestEnv, keys};
use crate::snapshot::snapshot;

#[test]
fn ready_is_what_waits_for_nothing() {
    let env = five();
    assert_eq!(ids(&data(&env, &["ready"])), ["bd-a", "bd-d"]);
    assert_eq!(ids(&data(&env, &["ready", "--type", "bug"])), ["bd-d"]);
    assert_eq!(ids(&data(&env, &["ready", "--label", "x,y"])), ["bd-a"]);
    assert!(ids(&data(&env, &["ready", "--label", "x,z"])).is_empty());
    assert_eq!(ids(&data(&env, &["ready", "--label-any", "x,z"])), ["bd-a"]);
    assert_eq!(ids(&data(&env, &["ready", "--priority", "P3"])), ["bd-d"]);
    assert!(ids(&data(&env, &["ready", "--assignee", "somebody"])).is_empty());
    let cut = data(&env, &["ready", "--limit", "1"]);
    assert_eq!((ids(&cut), &cut["more"]), (vec!["bd-a"], &json!(true)));
    assert_eq!(ids(&data(&env, &["ready", "--limit", "0"])).len(), 2);
    env.run(&["ready", "--priority", "5"]).exits(2);
}

#[test]
fn when_nothing_is_ready_the_reason_is_near() {
    let none = seeded("");
    assert!(none.run(&["ready"]).exits(0).stderr.contains("empty"));
    let blocked = seeded("{\"id\":\"a\",\"title\":\"t\",\"dependencies\":[\"b\"]}\n");
    assert!(
        blocked
            .run(&["ready"])
            .exits(0)
            .stderr
            .contains("list --blocked")
    );
    let output = blocked.run(&["-q", "ready"]).exits(0);
    assert!(output.stderr.is_empty() && output.stdout.is_empty());
}

#[test]
fn list_filters() {
    let env = five();
    for (args, expected) in [
        (&[][..], &["bd-c", "bd-a", "bd-b", "bd-d"][..]),
        (&["--all"], &["bd-c", "bd-a", "bd-e", "bd-b", "bd-d"]),
        (&["--status", "closed"], &["bd-e"]),
        (
            &["--status", "open,closed", "--sort", "id"],
            &["bd-a", "bd-b", "bd-c", "bd-d", "bd-e"],
        ),
        (&["--sort", "oldest"], &["bd-a", "bd-b", "bd-c", "bd-d"]),
        (&["--sort", "updated"], &["bd-d", "bd-c", "bd-b", "bd-a"]),
        (&["--no-label", "x"], &["bd-c", "bd-b", "bd-d"]),
        (&["--label", "y", "--no-label", "x"], &["bd-b"]),
        (&["--parent", "bd-a"], &["bd-d"]),
        (&["--metadata", "team_name=red"], &["bd-a"]),
        (&["--metadata", "attempt_count=2"], &["bd-a"]),
        (&["--metadata", "team_name=blue"], &[]),
        (&["--blocked"], &["bd-c", "bd-b"]),
        (&["--assignee", "somebody"], &["bd-b"]),
        (&["--type", "bug,feature"], &["bd-a", "bd-d"]),
    ] {
        let args: Vec<&str> = ["list"].iter().chain(args).copied().collect();
        assert_eq!(ids(&data(&env, &args)), expected, "{args:?}");
    }
    env.run(&["list", "--metadata", "no-pair"]).exits(2);
    env.run(&["list", "--all", "--status", "open"]).exits(2);
    assert_eq!(
        error(&env, &["list", "--parent", "zz"], 1)["code"],
        "DEPENDENCY.UNRESOLVED"
    );
}

#[test]
fn rows_that_are_left_out_are_mentioned() {
    let lines: Vec<String> = (0..60)
        .map(|n| format!("{{\"id\":\"b-{n:02}\",\"title\":\"t\"}}"))
        .collect();
    let env = seeded(&lines.join("\n"));
    let output = env.run(&["list"]).exits(0);
    assert_eq!(output.stdout.lines().count(), 51);
    assert!(output.stderr.contains("first 50") && output.stderr.contains("--limit 0"));
    let all = env.run(&["list", "--limit", "0"]).exits(0);
    assert_eq!((all.stdout.lines().count(), all.stderr.as_str()), (61, ""));
    assert_eq!(data(&env, &["list"])["more"], true);
}

#[test]
fn people_get_tables() {
    let env = five();
    env.run(&["claim", "bd-d", "--actor", "alice"]).exits(0);
    let mut text = String::new();
    for args in [
        &["list", "--all"][..],
        &["list", "--blocked"],
        &["ready"],
        &["search", "alpha"],
        &["dep", "list", "bd-a"],
        &["dep", "tree", "bd-b"],
        &["stats"],
    ] {
        let output = env.run(args).exits(0);
        _ = writeln!(text, "$ beads-ralph {}\n{}", args.join(" "), output.stdout);
    }
    snapshot("store-tables", &text);
}

#[test]
fn show_tells_everything() {
    let env = five();
    env.run(&["comment", "bd-b", "one\ntwo", "--actor", "alice"])
        .exits(0);
    let mut text = env.run(&["show", "bd-b", "bd-a"]).exits(0).stdout;
    text.push_str(&env.run(&["show", "bd-c", "--comments"]).exits(0).stdout);
    text.push_str(&env.run(&["show", "bd-e", "--comments"]).exits(0).stdout);
    snapshot("store-show", &text);
}

#[test]
fn z_21_show_json_is_the_document_with_what_the_store_knows() {
    let env = five();
    let bead = shown(&env, "bd-b");
    assert_eq!(bead["description"], "First line.\nSecond line.");
    assert_eq!(bead["dependencies"][0]["depends_on_id"], "bd-a");
    assert_eq!(bead["blockers"], json!([{"id": "bd-a", "waiting": "open"}]));
    assert_eq!(
        (&bead["version"], &bead["fence"], &bead["claim"]),
        (&json!(1), &json!(0), &json!(null))
    );
    assert_eq!(
        (&bead["dependency_count"], &bead["is_blocked"]),
        (&json!(1), &json!(true))
    );
    let alpha = shown(&env, "bd-a");
    assert_eq!(
        alpha["dependents"],
        json!([{"id": "bd-b", "type": "blocks"}, {"id": "bd-d", "type": "parent-child"}])
    );
    assert_eq!(
        (&alpha["dependent_count"], &alpha["comment_count"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(shown(&env, "bd-d")["parent"], "bd-a");
    assert_eq!(shown(&env, "bd-e")["comments"][0]["text"], "well done");
    assert_eq!(shown(&env, "bd-c")["blockers"][0]["waiting"], "missing");
}

#[test]
fn waiting_has_four_reasons() {
    let env = seeded(concat!(
        "{\"id\":\"open\",\"title\":\"t\"}\n",
        "{\"id\":\"held-back\",\"title\":\"t\",\"dependencies\":[\"open\",\"gone\"]}\n",
        "{\"id\":\"child\",\"title\":\"t\",\"dependencies\":[{\"depends_on_id\":\"held-back\",\"type\":\"parent-child\"}]}\n",
        "{\"id\":\"waiter\",\"title\":\"t\",\"dependencies\":[{\"depends_on_id\":\"held-back\",\"type\":\"waits-for\"}]}\n",
    ));
    let reason = |id: &str| shown(&env, id)["blockers"][0]["waiting"].clone();
    assert_eq!(
        [reason("held-back"), reason("child"), reason("waiter")],
        ["open", "parent", "children"]
    );
    let text = env
        .run(&["show", "held-back", "child", "waiter"])
        .exits(0)
        .stdout;
    for part in [
        "open (open)",
        "gone (there is no such bead)",
        "its parent, which waits itself",
        "parts of it are not closed",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn ids_may_be_cut_between_their_parts_where_they_are_unique() {
    let env = seeded(
        "{\"id\":\"bd-1-1-setup\",\"title\":\"t\"}\n{\"id\":\"bd-1-10-x\",\"title\":\"t\"}\n{\"id\":\"bd-other.1\",\"title\":\"t\"}\n{\"id\":\"bd-1-10\",\"title\":\"t\"}\n{\"id\":\"bd-1-20-y\",\"title\":\"t\"}\n",
    );
    assert_eq!(shown(&env, "bd-1-1")["id"], "bd-1-1-setup");
    assert_eq!(shown(&env, "bd-other")["id"], "bd-other.1");
    assert_eq!(shown(&env, "bd-1-10")["id"], "bd-1-10", "a whole id wins");
    let ambiguous = error(&env, &["show", "bd-1"], 1);
    assert_eq!(ambiguous["code"], "DEPENDENCY.UNRESOLVED");
    assert!(
        ambiguous["message"]
            .as_str()
            .unwrap()
            .contains("bd-1-1-setup, bd-1-10, bd-1-10-x, bd-1-20-y")
    );
    let near = error(&env, &["show", "bd-othre.1"], 1);
    assert_eq!(near["suggested_action"], "did you mean bd-other.1?");
    // The sprint 1.2 that is gone is not the sprint 1.20.
    for id in ["", "zzz", "bd-1-2", "bd-o"] {
        assert_eq!(
            error(&env, &["show", id], 1)["code"],
            "DEPENDENCY.UNRESOLVED"
        );
    }
    env.run(&["close", "bd-1-2"]).exits(1);
    assert_ne!(shown(&env, "bd-1-20-y")["status"], "closed");
}

#[test]
fn search_looks_everywhere_and_wants_all_words() {
    let env = five();
    assert_eq!(ids(&data(&env, &["search", "LINE", "second"])), ["bd-b"]);
    assert_eq!(ids(&data(&env, &["search", "epsilon"])), ["bd-e"]);
    assert!(ids(&data(&env, &["search", "epsilon", "--status", "open"])).is_empty());
    assert!(
        env.run(&["search", "nowhere"])
            .exits(0)
            .stderr
            .contains("no bead")
    );
    error(&env, &["search", " "], 1);
}

#[test]
fn stats_count() {
    let env = five();
    env.run(&["claim", "bd-a"]).exits(0);
    assert_eq!(
        data(&env, &["stats"]),
        json!({"total": 5, "ready": 1, "blocked": 2, "held": 1,
            "by_status": {"closed": 1, "in_progress": 1, "open": 3},
            "by_type": {"bug": 1, "feature": 1, "task": 3},
            "oldest_open": {"id": "bd-a", "title": "Alpha", "created_at": "2026-01-01T00:00:00Z"},
            "metrics": {"worked_on": 0, "closed": 0, "given_up": 0, "active_seconds": 0.0, "beads_per_hour": null,
                "mean_seconds_per_bead": null, "success_rate": null, "retry_rate": null, "mean_concurrency": null,
                "qa_failure_rate": {}}})
    );
    assert!(data(&seeded(""), &["stats"])["oldest_open"].is_null());
}

#[test]
fn log_tells_before_and_after() {
    let env = five();
    env.run(&[
        "update",
        "bd-a",
        "--title",
        "Alpha two",
        "--set-metadata",
        "k/l=v",
        "--actor",
        "alice",
    ])
    .exits(0);
    env.run(&["close", "bd-a", "--actor", "bob"]).exits(0);
    let output = env.run(&["log", "bd-a"]).exits(0).stdout;
    for part in [
        "bd-a created by unknown (version 1)",
        "bd-a updated by alice (version 2)\n    title: Alpha → Alpha two\n",
        "metadata.k/l: v",
        "bd-a closed by bob (version 3)",
        "close_reason: Closed",
    ] {
        assert!(output.contains(part), "{part}: {output}");
    }
    let all = data(&env, &["log"]);
    assert_eq!(
        (all["events"].as_array().unwrap().len(), &all["more"]),
        (7, &json!(false))
    );
    let event = &all["events"][5];
    assert_eq!(
        keys(event),
        [
            "number", "id", "version", "at", "actor", "kind", "before", "after"
        ]
    );
    assert_eq!(
        (&event["kind"], &event["at"]),
        (&json!("updated"), &json!(NOW))
    );
    assert_eq!(event["after"]["/title"], "Alpha two");
    for (args, numbers) in [
        (&["log", "--limit", "3"][..], &[5, 6, 7][..]),
        (&["log", "--limit", "7"], &[1, 2, 3, 4, 5, 6, 7]),
        (&["log", "--limit", "0"], &[1, 2, 3, 4, 5, 6, 7]),
        (&["log", "bd-a", "--limit", "1"], &[7]),
    ] {
        let log = data(&env, args);
        let events = log["events"].as_array().unwrap().iter();
        let found: Vec<u64> = events
            .map(|event| event["number"].as_u64().unwrap())
            .collect();
        assert_eq!(found, numbers, "{args:?}");
    }
    assert!(
        env.run(&["log", "--limit", "3"])
            .exits(0)
            .stderr
            .contains("last 3")
    );
    let empty = TestEnv::new();
    empty.run(&["init"]).exits(0);
    assert_eq!(empty.run(&["log"]).exits(0).stdout, "");
}
