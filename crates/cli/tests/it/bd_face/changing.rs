//! `update`, `close`, `reopen`, `delete`, `heartbeat`, `reclaim`.

use serde_json::{Value, json};

use super::{answer, bd, done, ids, value, world};
use crate::env::TestEnv;

fn one() -> TestEnv {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-1"]);
    env
}

fn as_bob(env: &TestEnv, args: &[&str]) -> crate::env::Output {
    let args: Vec<&str> = ["bd", "--actor", "bob"]
        .into_iter()
        .chain(args.iter().copied())
        .collect();
    env.run(&args)
}

#[test]
fn contracts_0_1_metadata_merges_and_notes_grow() {
    let env = one();
    done(
        &env,
        &["update", "tt-1", "--metadata", r#"{"a":1,"b":{"c":2}}"#],
    );
    let updated = answer(&env, &["update", "tt-1", "--metadata", r#"{"b":3}"#]);
    assert_eq!(updated[0]["metadata"], json!({"a": 1, "b": 3}));
    let updated = answer(
        &env,
        &[
            "update",
            "tt-1",
            "--set-metadata",
            "n=5",
            "--unset-metadata",
            "a",
        ],
    );
    assert_eq!(updated[0]["metadata"], json!({"b": 3, "n": 5}));
    done(&env, &["update", "tt-1", "--append-notes", "one"]);
    let updated = answer(&env, &["update", "tt-1", "--append-notes", "two"]);
    assert_eq!(updated[0]["notes"], "one\ntwo");
}

#[test]
fn a_claim_is_the_first_ones_and_again_for_the_same() {
    let env = one();
    let claimed = answer(&env, &["update", "tt-1", "--claim"]);
    assert_eq!(
        (&claimed[0]["status"], &claimed[0]["assignee"]),
        (&"in_progress".into(), &"ann".into())
    );
    assert_eq!(claimed[0]["lease_expires_at"], "2026-01-02T03:09:05Z");
    done(&env, &["update", "tt-1", "--claim"]);
    let refused = as_bob(&env, &["update", "tt-1", "--claim", "--json"]).exits(1);
    assert_eq!(refused.stdout, "");
    let last = refused.stderr.lines().last().unwrap();
    let report: Value = serde_json::from_str(last).unwrap();
    assert_eq!(
        report["failed"][0]["error"],
        "updating issue: issue already claimed by ann"
    );
    let record = env.run(&["show", "tt-1", "--json"]).exits(0).data();
    assert_eq!(
        record["beads"][0]["claim"]["holder"]["run"], "ann",
        "our own commands see it too"
    );
}

#[test]
fn a_guard_that_no_longer_holds_is_exit_code_13() {
    let env = one();
    let refused = bd(
        &env,
        &["update", "tt-1", "--if-status", "closed", "--title", "x"],
    )
    .exits(13);
    assert!(refused.stderr.starts_with(
        "Error updating tt-1: status mismatch: tt-1 has status \"open\", expected \"closed\"\n"
    ));
    done(
        &env,
        &[
            "update",
            "tt-1",
            "--if-status",
            "open",
            "--if-assignee",
            "",
            "--title",
            "x",
        ],
    );
    assert_eq!(answer(&env, &["show", "tt-1"])[0]["title"], "x");
}

#[test]
fn contracts_0_1_close_and_reopen_set_and_clear_the_time() {
    let env = one();
    let closed = answer(&env, &["close", "tt-1", "--reason", "done"]);
    assert_eq!(
        (&closed[0]["close_reason"], &closed[0]["closed_at"]),
        (&"done".into(), &"2026-01-02T03:04:05Z".into())
    );
    done(&env, &["close", "tt-1"]);
    let open = answer(&env, &["reopen", "tt-1"]);
    assert_eq!(
        (&open[0]["status"], open[0].get("closed_at")),
        (&"open".into(), None)
    );
    assert_eq!(
        bd(&env, &["reopen", "tt-1"]).exits(0).stderr,
        "tt-1 is already open\n"
    );
}

#[test]
fn what_is_held_back_or_has_open_parts_is_not_closed() {
    let env = one();
    done(&env, &["create", "B", "--id", "tt-2", "--deps", "tt-1"]);
    done(&env, &["create", "K", "--parent", "tt-1"]);
    let refused = |args: &[&str]| bd(&env, args).exits(1).stderr;
    assert_eq!(
        refused(&["close", "tt-2"]),
        "cannot close blocked issue: tt-2 is blocked by [tt-1] (use --force to override)\n"
    );
    assert_eq!(
        refused(&["close", "tt-1"]),
        "cannot close tt-1: 1 open child issue(s); close children first or use --force to override\n"
    );
    done(&env, &["close", "tt-1.1"]);
    let told = answer(&env, &["close", "tt-1", "--suggest-next"]);
    assert_eq!(ids(&told["unblocked"]), ["tt-2"]);
}

#[test]
fn ready_claim_takes_the_first_and_then_the_next() {
    let env = one();
    done(&env, &["create", "B", "--id", "tt-2", "-p", "0"]);
    assert_eq!(ids(&answer(&env, &["ready", "--claim"])), ["tt-2"]);
    assert_eq!(ids(&answer(&env, &["ready", "--claim"])), ["tt-1"]);
    assert_eq!(answer(&env, &["ready", "--claim"]), json!([]));
}

#[test]
fn a_lease_is_kept_by_heartbeats_and_ends_without() {
    let env = one();
    done(&env, &["update", "tt-1", "--claim"]);
    assert_eq!(answer(&env, &["heartbeat", "tt-1"])["status"], "heartbeat");
    let refused = as_bob(&env, &["heartbeat", "tt-1"]).exits(1);
    assert_eq!(
        refused.stderr,
        "Error: heartbeat tt-1: issue already claimed by ann\n"
    );
    assert_eq!(answer(&env, &["reclaim", "--older-than", "0s"])["count"], 0);
    let later = ["bd", "reclaim", "--older-than", "0s", "--json"];
    let later = value(
        &env.command(&later)
            .env("SOURCE_DATE_EPOCH", "1767329045")
            .run()
            .exits(0),
    );
    assert_eq!(
        later["reclaimed"],
        json!([{"id": "tt-1", "previous_owner": "ann"}])
    );
    let shown = answer(&env, &["show", "tt-1"]);
    assert_eq!(
        (&shown[0]["status"], shown[0].get("assignee")),
        (&"open".into(), None)
    );
}

#[test]
fn deleting_takes_edges_and_names_with_it() {
    let env = one();
    done(
        &env,
        &[
            "create",
            "B",
            "--id",
            "tt-2",
            "--deps",
            "tt-1",
            "-d",
            "after tt-1, not tt-12",
        ],
    );
    bd(&env, &["delete", "tt-1"])
        .exits(1)
        .stderr
        .contains("has dependents");
    assert_eq!(
        ids(&answer(&env, &["list", "--sort", "id"])),
        ["tt-1", "tt-2"],
        "only shown"
    );
    let deleted = answer(&env, &["delete", "tt-1", "--force"]);
    assert_eq!(
        (
            &deleted["dependencies_removed"],
            &deleted["references_updated"]
        ),
        (&1.into(), &1.into())
    );
    let shown = answer(&env, &["show", "tt-2"]);
    assert_eq!(shown[0]["description"], "after [deleted:tt-1], not tt-12");
    assert_eq!(ids(&answer(&env, &["ready"])), ["tt-2"]);
    env.run(&["doctor"]).exits(0);
    done(&env, &["create", "Again", "--id", "tt-1"]);
    env.run(&["doctor"]).exits(0);
}

#[test]
fn reopening_ends_a_postponement() {
    let env = one();
    done(&env, &["update", "tt-1", "--defer", "2031-01-01"]);
    done(&env, &["close", "tt-1"]);
    assert_eq!(
        answer(&env, &["reopen", "tt-1"])[0].get("defer_until"),
        None
    );
    assert_eq!(ids(&answer(&env, &["ready"])), ["tt-1"]);
}

#[test]
fn a_blocker_is_named_with_the_kind_of_its_edge() {
    let env = one();
    done(&env, &["create", "B", "--id", "tt-2"]);
    done(
        &env,
        &["dep", "add", "tt-1", "tt-2", "-t", "conditional-blocks"],
    );
    let refused = bd(&env, &["close", "tt-1"]).exits(1);
    assert!(
        refused
            .stderr
            .contains("tt-1 is blocked by [tt-2 (conditional-blocks)]"),
        "{}",
        refused.stderr
    );
}
