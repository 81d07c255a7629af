//! What people and programs are shown.

use serde_json::json;

use super::{FAILED, ROOT, failed, flag, poured, step, waiting};
use crate::env::NOW;
use crate::snapshot::snapshot;
use crate::store::{data, error};

#[test]
fn i_30_what_waits_is_one_row_with_its_stage_and_its_reason() {
    let env = failed();
    let rows = waiting(&env);
    assert_eq!(rows.len(), 1, "{rows:?}");
    let row = &rows[0];
    for (key, expected) in [
        ("id", json!("proj-1")),
        ("title", json!("Add search")),
        ("kind", json!("implement")),
        ("step", json!(step("red-tests"))),
        ("stage", json!("red-tests")),
        ("molecule", json!(ROOT)),
        ("why", json!(FAILED)),
        ("since", json!(NOW)),
    ] {
        assert_eq!(row[key], expected, "{key}");
    }
    let commands = row["commands"].to_string();
    for command in [
        "human show proj-1",
        "human resolve proj-1 --answer TEXT",
        "human resolve proj-1 --accept",
    ] {
        assert!(commands.contains(command), "{commands}");
    }
    let text = env.run(&["human", "list"]).exits(0).stdout;
    snapshot("human-list", &text);
    let blocked = data(&env, &["blocked"])["beads"][0]["commands"].to_string();
    assert!(blocked.contains("human resolve proj-1"), "{blocked}");
    assert!(!blocked.contains("retry"), "{blocked}");
}

#[test]
fn i_30_an_open_step_that_waits_is_no_row_of_its_own() {
    let env = poured();
    flag(&env, "proj-1", "implement-bead: x");
    flag(&env, &step("red-tests"), "implement-bead: x");
    assert_eq!(waiting(&env).len(), 1);
}

#[test]
fn i_30_everything_about_it_is_shown() {
    let env = failed();
    for label in [
        "worktree-path-__w__a_x20b",
        "pr-url-https_c____github.com__a__b__pull__7",
    ] {
        env.run(&["label", "add", ROOT, label]).exits(0);
    }
    let folder = format!(".beads/worker-audit/{}", step("red-tests"));
    env.write(
        &format!("{folder}/tdd-red-team.yaml"),
        "status: failed\nevidence: {}\nescalations:\n- {reason: no runner, detail: \"cargo \\e[31mis\\nmissing\"}\ndiscovered_work: []\ncommits: []\n",
    );
    env.write(
        &format!("{folder}/tdd-green-team-iter2.yaml"),
        "[not a report]",
    );
    let data = data(&env, &["human", "show", &step("red-tests")]);
    assert_eq!(data["worktree"], "/w/a b");
    assert_eq!(data["pull_request"], "https://github.com/a/b/pull/7");
    assert_eq!(data["waiting"], true);
    let reports = &data["steps"][0]["reports"];
    assert_eq!(
        (&reports[0]["agent"], &reports[0]["status"]),
        (&json!("tdd-green-team"), &json!(null))
    );
    assert!(reports[0]["error"].to_string().contains("not a mapping"));
    assert_eq!(
        (&reports[1]["agent"], &reports[1]["status"]),
        (&json!("tdd-red-team"), &json!("failed"))
    );
    assert_eq!(
        reports[1]["escalations"],
        json!([{"reason": "no runner", "detail": "cargo [31mis\nmissing"}])
    );
    let text = env.run(&["human", "show", "proj-1"]).exits(0).stdout;
    for part in [
        "proj-1 Add search (implement, open)",
        "  implement-bead: red-tests ended with failed.\n  - no runner: cargo is missing\n",
        "(red-tests, closed)",
        "report of tdd-red-team: failed",
        "no runner: cargo [31mis\n",
        "/w/a b",
        "cd '/w/a b'",
        "https://github.com/a/b/pull/7",
        "beads-ralph human resolve proj-1 --accept",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn i_30_hostile_notes_steer_no_terminal() {
    let env = poured();
    flag(
        &env,
        "proj-1",
        "implement-bead: \u{1b}]0;x\u{7}\u{202e}\u{9b}31m\tend",
    );
    for args in [&["human", "list"][..], &["human", "show", "proj-1"]] {
        let text = env.run(args).exits(0).stdout;
        assert!(text.contains("\\u{1b}]0;x"), "{text:?}");
        let is_steering = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(is_steering), "{text:?}");
    }
}

#[test]
fn i_30_what_does_not_wait_says_so() {
    let env = poured();
    assert!(waiting(&env).is_empty());
    let text = env.run(&["human", "show", "proj-1"]).exits(0).stdout;
    assert!(text.contains("does not wait for a person"), "{text}");
    assert_eq!(data(&env, &["human", "show", "proj-1"])["waiting"], false);
    let failure = error(&env, &["human", "show", "proj-9"], 1);
    assert_eq!(failure["code"], "DEPENDENCY.UNRESOLVED");
}
