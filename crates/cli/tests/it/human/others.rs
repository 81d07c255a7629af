//! What waits for a person otherwise: to be merged, given up by `run`, and parts of plans that no agent does.

use serde_json::json;

use super::{failed, is_flagged, status, waiting};
use crate::store::{data, error, seeded, shown};

#[test]
fn i_30_what_is_merged_is_closed() {
    let line =
        r#"{"id":"proj-1","title":"Add search","status":"in_progress","labels":["merge-ready"]}"#;
    let env = seeded(line);
    let row = waiting(&env).remove(0);
    assert_eq!(row["kind"], "merge");
    assert_eq!(
        row["why"],
        "the work is done; it is to be looked at and merged"
    );
    env.run(&["label", "add", "proj-1", "verified-by-human"])
        .exits(0);
    let row = waiting(&env).remove(0);
    assert_eq!(
        row["why"],
        "the work is done and was looked at; it is to be merged"
    );
    env.run(&["human", "resolve", "proj-1", "--answer", "as 1a2b"])
        .exits(0);
    let bead = shown(&env, "proj-1");
    assert_eq!(
        (&bead["status"], &bead["close_reason"], &bead["labels"]),
        (
            &json!("closed"),
            &json!("merged by a person: as 1a2b"),
            &json!(["verified-by-human"])
        )
    );
    assert!(waiting(&env).is_empty());
    let again = data(&env, &["human", "resolve", "proj-1", "--accept"]);
    assert_eq!(again["resolved"], false);
}

const GIVEN_UP: &str = r#"{"id":"bd-1","title":"Sprint","status":"blocked","labels":["human"],"notes":"max retry attempts reached","metadata":{"attempt_count":3}}"#;

#[test]
fn z_1_a_bead_of_run_is_tried_again_with_the_answer_as_a_comment() {
    let env = seeded(GIVEN_UP);
    let row = waiting(&env).remove(0);
    assert_eq!(
        (&row["kind"], &row["why"]),
        (&json!("run"), &json!("max retry attempts reached"))
    );
    let args = ["human", "resolve", "bd-1", "--answer", "use the other key"];
    let resolved = data(&env, &args);
    assert_eq!(resolved["kind"], "run");
    let bead = shown(&env, "bd-1");
    assert_eq!(bead["status"], "open");
    assert_eq!(bead["metadata"]["attempt_count"], 0);
    assert_eq!(bead["comments"][0]["text"], "use the other key");
    assert_eq!(bead["notes"], "max retry attempts reached");
    assert!(!is_flagged(&env, "bd-1") && waiting(&env).is_empty());
}

#[test]
fn z_1_a_bead_of_run_that_is_accepted_is_closed() {
    let env = seeded(GIVEN_UP);
    env.run(&[
        "human",
        "resolve",
        "bd-1",
        "--accept",
        "--answer",
        "done by hand",
    ])
    .exits(0);
    let bead = shown(&env, "bd-1");
    assert_eq!(
        (&bead["status"], &bead["close_reason"]),
        (&json!("closed"), &json!("done by hand"))
    );
    assert!(!is_flagged(&env, "bd-1"));
}

#[test]
fn z_1_what_is_in_progress_without_a_holder_is_refused_as_retry_refuses_it() {
    let env = seeded(r#"{"id":"bd-1","title":"Sprint","status":"in_progress","labels":["human"]}"#);
    let error = error(&env, &["human", "resolve", "bd-1"], 1);
    assert!(
        error["message"].to_string().contains("in progress"),
        "{error}"
    );
    assert!(is_flagged(&env, "bd-1"));
}

#[test]
fn z_27_a_gate_of_a_plan_is_closed() {
    let env = seeded(concat!(
        r#"{"id":"m","title":"work","issue_type":"molecule","metadata":{"plan_file":"plan.md","formula":"work","steps":["go"]}}"#,
        "\n",
        r#"{"id":"m-gate","title":"Approve","issue_type":"gate","description":"Ask Ann","dependencies":[{"depends_on_id":"m","type":"parent-child"}]}"#,
        "\n",
        r#"{"id":"m-go","title":"Go","issue_type":"beads-ralph-work","dependencies":[{"depends_on_id":"m","type":"parent-child"},{"depends_on_id":"m-gate","type":"blocks"}]}"#,
        "\n",
    ));
    let rows = waiting(&env);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (&rows[0]["id"], &rows[0]["kind"]),
        (&json!("m-gate"), &json!("gate"))
    );
    let text = env.run(&["human", "show", "m-gate"]).exits(0).stdout;
    assert!(text.contains("Ask Ann"), "{text}");
    env.run(&["human", "resolve", "m-gate", "--answer", "approved"])
        .exits(0);
    assert_eq!(shown(&env, "m-gate")["close_reason"], "approved");
    assert_eq!(status(&env, "m-go"), "open");
    assert!(waiting(&env).is_empty());
}

#[test]
fn z_18_an_agent_answers_nothing() {
    let env = failed();
    let store = env.path(".beads");
    let ended = env
        .command(&["human", "resolve", "proj-1"])
        .env("BEADS_RALPH_UNIT", "1")
        .env("BEADS_RALPH_STORE", store.as_str())
        .run()
        .exits(1);
    assert!(ended.stderr.contains("read-only"), "{ended:?}");
    assert!(is_flagged(&env, "proj-1"));
}
