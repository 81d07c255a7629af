//! `status`, `blocked`, `qa-report`, `retry`, `stop` and `pause` (contracts §7.9, Z-15).

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{data, error, seeded, shown};
use crate::env::{NOW, TestEnv};
use crate::snapshot::snapshot;

/// One dev run and one QA run of an attempt, each some minutes long.
fn attempt(n: u32, verdict: &str, message: &str) -> (Value, Value) {
    let at = |minute: u32| format!("2026-01-01T10:{:02}:00Z", (n - 1) * 20 + minute);
    let dev = json!({"attempt": n, "session_id": "s", "agent_path": ".claude/agents/dev.md", "model": "sonnet",
        "started_at": at(0), "completed_at": at(12), "status": "completed", "feedback_from_qa": null});
    let qa = json!({"attempt": n, "session_id": "s", "agent_path": ".claude/agents/qa.md", "model": "haiku",
        "started_at": at(12), "completed_at": at(15), "status": verdict, "message": message, "details": {}});
    (dev, qa)
}

fn sprint(id: &str, number: &str, team: &str, status: &str, attempts: &[(Value, Value)]) -> Value {
    let (dev, qa): (Vec<Value>, Vec<Value>) = attempts.iter().cloned().unzip();
    let mut bead = json!({
        "id": id, "title": format!("Sprint {number}"), "status": status, "priority": 1,
        "issue_type": "beads-ralph-work", "assignee": "beads-ralph-scrum-master",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        "metadata": {"sprint": number, "team_name": team, "branch": format!("feature/{id}"),
            "worktree_path": format!("../wt/{id}"), "attempt_count": attempts.len(),
            "dev_agent_executions": dev, "qa_agent_executions": qa},
    });
    if status == "closed" {
        bead["closed_at"] = json!("2026-01-01T11:00:00Z");
    }
    bead
}

/// Six sprints of two teams: one done at the second attempt, one given up, one that waits for it, one ready, one that is worked on,
/// and one that a person was asked about; and a bead that is no sprint.
fn sprints() -> TestEnv {
    let failed = attempt(1, "fail", "tests are red");
    let passed = attempt(2, "pass", "all good");
    let mut given_up = sprint(
        "bd-1-2",
        "1.2",
        "backend",
        "blocked",
        std::slice::from_ref(&failed),
    );
    given_up["labels"] = json!(["human"]);
    given_up["metadata"]["scrum_result"] =
        json!({"success": false, "error": "max retry attempts reached"});
    let mut waiting = sprint("bd-1-10", "1.10", "backend", "open", &[]);
    waiting["dependencies"] = json!(["bd-1-2"]);
    let mut asked = sprint("bd-2-2", "2.2", "", "open", &[]);
    asked["labels"] = json!(["human"]);
    asked["metadata"]["question"] = json!("Which database?\nSQLite or \u{1b}[31mPostgres?");
    asked["dependencies"] = json!(["bd-absent"]);
    let beads = [
        sprint("bd-1-1", "1.1", "backend", "closed", &[failed, passed]),
        given_up,
        waiting,
        sprint("bd-2-1", "2.1", "frontend", "open", &[]),
        sprint("bd-2-3", "2.3", "frontend", "open", &[]),
        asked,
        json!({"id": "bd-other", "title": "No sprint"}),
    ];
    let lines: Vec<String> = beads.iter().map(ToString::to_string).collect();
    let env = seeded(&lines.join("\n"));
    env.run(&["claim", "bd-2-3", "--actor", "run-7"]).exits(0);
    env
}

#[test]
fn section_7_9_status_has_teams_counts_and_what_is_ready() {
    let env = sprints();
    let status = data(&env, &["status"]);
    let teams: Vec<(&str, Vec<&str>)> = (status["teams"].as_array().unwrap().iter())
        .map(|team| {
            let beads = team["beads"].as_array().unwrap().iter();
            let ids = beads.map(|bead| bead["id"].as_str().unwrap());
            (team["team_name"].as_str().unwrap(), ids.collect())
        })
        .collect();
    assert_eq!(
        teams,
        [
            ("backend", vec!["bd-1-1", "bd-1-2", "bd-1-10"]),
            ("default-team", vec!["bd-2-2"]),
            ("frontend", vec!["bd-2-1", "bd-2-3"]),
        ]
    );
    assert_eq!(
        status["teams"][0]["beads"][0],
        json!({"id": "bd-1-1", "sprint": "1.1", "title": "Sprint 1.1", "status": "closed", "attempt_count": 2,
            "holder": null, "is_gone": false, "human": false, "held_back": null})
    );
    assert_eq!(status["teams"][2]["beads"][1]["holder"], "run-7");
    assert_eq!(
        status["counts"],
        json!({"open": 3, "in_progress": 1, "blocked": 1, "closed": 1})
    );
    assert_eq!(status["ready"], json!(["bd-2-1"]));
    assert_eq!(
        (&status["stop"], &status["pause"]),
        (&json!(null), &json!(null))
    );
    assert!(status.get("metrics").is_none());
}

#[test]
fn section_7_9_metrics_come_from_what_beads_tell() {
    let env = sprints();
    let metrics = &data(&env, &["status", "--metrics"])["metrics"];
    assert_eq!(&data(&env, &["stats"])["metrics"], metrics);
    let said = env.run(&["stats"]).exits(0).stdout;
    let of_status = env.run(&["status", "--metrics"]).exits(0).stdout;
    let rates = |text: &str| text[text.find("beads worked on").unwrap()..].to_owned();
    assert_eq!(rates(&said), rates(&of_status));
    assert!(
        said.contains("beads per hour") && said.contains("67%"),
        "{said}"
    );
    for (key, expected) in [
        ("worked_on", 2.0),
        ("closed", 1.0),
        ("given_up", 1.0),
        ("active_seconds", 1800.0),
        ("beads_per_hour", 2.0),
        ("mean_seconds_per_bead", 1800.0),
        ("success_rate", 0.5),
        ("retry_rate", 0.5),
        ("mean_concurrency", 1.5),
    ] {
        let value = metrics[key].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-9, "{key} {value}");
    }
    let rate = metrics["qa_failure_rate"][".claude/agents/qa.md"].as_f64();
    assert!((rate.unwrap() - 2.0 / 3.0).abs() < 1e-9, "{rate:?}");
}

#[test]
fn section_7_9_status_of_one_bead_has_its_executions() {
    let env = sprints();
    let one = data(&env, &["status", "--bead", "bd-1-1"]);
    assert_eq!(one["bead"]["id"], "bd-1-1");
    assert_eq!(one["bead"]["version"], 1);
    let kinds: Vec<&Value> = (one["executions"].as_array().unwrap().iter())
        .map(|run| &run["kind"])
        .collect();
    assert_eq!(kinds, ["dev", "qa", "dev", "qa"]);
    assert_eq!(
        one["executions"][1],
        json!({"kind": "qa", "attempt": 1, "agent": ".claude/agents/qa.md", "model": "haiku", "status": "fail",
            "message": "tests are red", "started_at": "2026-01-01T10:12:00Z", "completed_at": "2026-01-01T10:15:00Z",
            "seconds": 180.0})
    );
    assert_eq!(
        error(&env, &["status", "--bead", "bd-9"], 1)["code"],
        "DEPENDENCY.UNRESOLVED"
    );
    assert_eq!(
        error(&env, &["status", "--bead", "bd-1"], 1)["code"],
        "DEPENDENCY.UNRESOLVED"
    );
    env.run(&["status", "--bead", "bd-1-1", "--metrics"])
        .exits(2);
}

#[test]
fn section_7_9_blocked_says_why_and_how_to_go_on() {
    let env = sprints();
    let blocked = data(&env, &["blocked"]);
    let beads = blocked["beads"].as_array().unwrap();
    assert_eq!(beads.len(), 2);
    let given_up = &beads[0];
    assert_eq!(
        (&given_up["id"], &given_up["status"], &given_up["human"]),
        (&json!("bd-1-2"), &json!("blocked"), &json!(true))
    );
    assert_eq!(given_up["last_error"], "max retry attempts reached");
    assert_eq!(given_up["question"], "max retry attempts reached");
    assert_eq!(given_up["dependents"], 1);
    assert_eq!(given_up["branch"], "feature/bd-1-2");
    let commands: Vec<&str> = (given_up["commands"].as_array().unwrap().iter())
        .map(|it| it["command"].as_str().unwrap())
        .collect();
    assert_eq!(
        commands,
        [
            "beads-ralph status --bead bd-1-2",
            "beads-ralph logs bd-1-2",
            "cd ../wt/bd-1-2",
            "beads-ralph retry bd-1-2",
            "beads-ralph close bd-1-2 --reason TEXT",
        ]
    );
    let asked = &beads[1];
    assert_eq!(
        asked["unmet"],
        json!([{"id": "bd-absent", "waiting": "missing"}])
    );
    assert!(
        asked["question"]
            .as_str()
            .unwrap()
            .starts_with("Which database?")
    );
    env.run(&["retry", "bd-1-2", "bd-2-2"]).exits(0);
    let after = env.run(&["blocked"]).exits(0);
    assert!(after.stdout.is_empty() && after.stderr.contains("nothing waits for you"));
}

#[test]
fn section_7_9_qa_report_counts_verdicts() {
    let env = sprints();
    let report = data(&env, &["qa-report"]);
    let agent = &report["agents"][0];
    assert_eq!(
        (
            &agent["runs"],
            &agent["pass"],
            &agent["fail"],
            &agent["stop"]
        ),
        (&json!(3), &json!(1), &json!(2), &json!(0))
    );
    let rate = agent["fail_rate"].as_f64().unwrap();
    assert!((rate - 2.0 / 3.0).abs() < 1e-9, "{rate}");
    assert_eq!(agent["last_message"], "tests are red");
    let none = seeded("{\"id\":\"a\",\"title\":\"t\"}\n");
    assert_eq!(data(&none, &["qa-report"])["agents"], json!([]));
    assert!(
        none.run(&["qa-report"])
            .exits(0)
            .stderr
            .contains("no QA agent")
    );
}

#[test]
fn what_people_see_of_the_loop() {
    let env = sprints();
    env.run(&["pause", "--actor", "alice"]).exits(0);
    let mut text = String::new();
    for args in [
        &["status"][..],
        &["status", "--metrics"],
        &["status", "--bead", "bd-1-1"],
        &["status", "--bead", "bd-2-1"],
        &["blocked"],
        &["qa-report"],
        &["retry", "bd-1-2"],
        &["pause"],
        &["pause", "--off"],
        &["pause", "--off"],
        &["stop"],
        &["stop", "--now"],
    ] {
        let output = env.run(args).exits(0);
        assert!(!output.stdout.contains('\u{1b}'), "{}", output.stdout);
        _ = writeln!(text, "$ beads-ralph {}\n{}", args.join(" "), output.stdout);
    }
    snapshot("status-and-blocked", &text);
}

#[test]
fn section_7_9_retry_opens_counts_anew_asks_nobody_and_keeps_the_history() {
    let env = sprints();
    let results = data(&env, &["retry", "bd-1-2", "bd-2-1"]);
    assert_eq!(
        results["results"],
        json!([
            {"id": "bd-1-2", "retried": true, "status": "open", "changed": true},
            {"id": "bd-2-1", "retried": true, "status": "open", "changed": false},
        ])
    );
    let bead = shown(&env, "bd-1-2");
    assert_eq!(
        (
            &bead["status"],
            &bead["labels"],
            &bead["metadata"]["attempt_count"]
        ),
        (&json!("open"), &json!([]), &json!(0))
    );
    assert_eq!(
        bead["metadata"]["qa_agent_executions"][0]["message"],
        "tests are red"
    );
    assert_eq!(
        data(&env, &["status"])["ready"],
        json!(["bd-1-2", "bd-2-1"])
    );
}

#[test]
fn section_7_9_only_what_was_given_up_is_tried_again() {
    let env = sprints();
    let closed = error(&env, &["retry", "bd-1-1"], 1);
    assert!(
        closed["suggested_action"]
            .as_str()
            .unwrap()
            .contains("reopen bd-1-1")
    );
    let held = error(&env, &["retry", "bd-2-3"], 4);
    assert!(
        held["message"]
            .as_str()
            .unwrap()
            .contains("already claimed by run-7")
    );
    assert_eq!(shown(&env, "bd-2-3")["status"], "in_progress");
    env.run(&["retry"]).exits(2);
    let several = error(&env, &["retry", "bd-1-1", "bd-1-2"], 1);
    assert_eq!(several["results"][1]["retried"], true, "each is tried");
}

#[test]
fn z_15_stop_and_pause_are_rows_that_runs_look_at() {
    let env = sprints();
    let stop = &data(&env, &["stop", "--now", "--actor", "alice"])["stop"];
    assert_eq!(*stop, json!({"at": NOW, "by": "alice", "now": true}));
    let paused = data(&env, &["pause", "--actor", "bob"]);
    assert_eq!(
        paused,
        json!({"pause": {"at": NOW, "by": "bob", "now": false}, "changed": true})
    );
    let again = data(&env, &["pause", "--actor", "carol"]);
    assert_eq!(
        (&again["pause"]["by"], &again["changed"]),
        (&json!("bob"), &json!(false))
    );
    let status = data(&env, &["status"]);
    assert_eq!(
        (&status["stop"]["by"], &status["pause"]["by"]),
        (&json!("alice"), &json!("bob"))
    );
    assert_eq!(
        data(&env, &["pause", "--off"]),
        json!({"pause": null, "changed": true})
    );
    assert_eq!(
        data(&env, &["pause", "--off"]),
        json!({"pause": null, "changed": false})
    );
    assert!(data(&env, &["status"])["pause"].is_null());
}

#[test]
fn section_7_9_without_sprints_the_next_step_is_named() {
    let env = seeded("{\"id\":\"a\",\"title\":\"t\"}\n");
    let output = env.run(&["status"]).exits(0);
    assert!(output.stderr.contains("plan apply"), "{output:?}");
    assert_eq!(
        data(&env, &["status"])["counts"],
        json!({"open": 0, "in_progress": 0, "blocked": 0, "closed": 0})
    );
    let none = TestEnv::new();
    for args in [
        &["status"][..],
        &["blocked"],
        &["qa-report"],
        &["stop"],
        &["pause"],
        &["retry", "a"],
    ] {
        assert_eq!(error(&none, args, 3)["code"], "DATABASE.NOT_INITIALIZED");
    }
}
