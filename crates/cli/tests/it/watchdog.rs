//! `watchdog` (contracts §8.7): silence is noticed, and the living are left alone.

mod executing;
mod files;

use serde_json::{Value, json};

use crate::dod::wait_for;
use crate::env::TestEnv;

const METRICS: &str = ".ralph/metrics/watchdog-metrics.json";

/// A store with beads that were last changed some hours before the moment of the tests, 03:04:05.
#[track_caller]
fn with_beads(beads: &[Value]) -> TestEnv {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.run(&["init"]).exits(0);
    let lines: Vec<String> = beads.iter().map(Value::to_string).collect();
    let import = env.command(&["import", "-"]).stdin(lines.join("\n")).run();
    import.exits(0);
    env
}

fn bead(id: &str, changed: &str, restarts: u64) -> Value {
    json!({
        "id": id, "title": id, "status": "in_progress", "assignee": "somebody",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": format!("2026-01-02T{changed}Z"),
        "metadata": {"ralph_meta": {"restart_count": restarts, "odd": 1}, "kept": true},
    })
}

#[track_caller]
fn shown(env: &TestEnv, id: &str) -> Value {
    env.run(&["show", id, "--json"]).exits(0).data()["beads"][0].clone()
}

#[track_caller]
fn steps(env: &TestEnv, args: &[&str]) -> Vec<(String, String)> {
    let args = [&["watchdog", "--once", "--json"], args].concat();
    let data = env.run(&args).exits(0).data();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let beads = data["beads"].as_array().unwrap().iter();
    beads
        .map(|bead| (text(&bead["id"]), text(&bead["step"])))
        .collect()
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let pairs = pairs.iter();
    pairs
        .map(|(id, step)| ((*id).to_owned(), (*step).to_owned()))
        .collect()
}

#[test]
fn g_8_the_silent_are_reminded_put_back_and_given_up() {
    let env = with_beads(&[
        bead("a", "03:00:00", 0),
        bead("b", "02:30:00", 0),
        bead("c", "01:00:00", 2),
        bead("d", "01:00:00", 5),
    ]);
    let expected = owned(&[
        ("a", "fresh"),
        ("b", "nudge"),
        ("c", "restart"),
        ("d", "give_up"),
    ]);
    assert_eq!(steps(&env, &["--dry-run"]), expected);
    for directory in [".ralph/nudges", ".ralph/alerts", ".ralph/metrics"] {
        assert_eq!(
            env.names(directory),
            Vec::<String>::new(),
            "a dry run writes nothing"
        );
    }
    assert_eq!(shown(&env, "c")["status"], "in_progress");

    assert_eq!(steps(&env, &[]), expected);
    let nudge = env.json(".ralph/nudges/b-20260102-030405.json");
    assert_eq!(
        (&nudge["bead_id"], &nudge["assignee"]),
        (&json!("b"), &json!("somebody"))
    );
    let alert = env.json(".ralph/alerts/alert-20260102-030405.json");
    assert_eq!(alert["severity"], "critical");
    assert!(alert["subject"].as_str().unwrap().contains('d') && alert["body"].is_string());
    let c = shown(&env, "c");
    assert_eq!(
        (&c["status"], &c["assignee"]),
        (&json!("open"), &json!("somebody"))
    );
    assert_eq!(c["metadata"]["ralph_meta"]["restart_count"], 3);
    assert_eq!(
        (&c["metadata"]["ralph_meta"]["odd"], &c["metadata"]["kept"]),
        (&json!(1), &json!(true))
    );
    let d = shown(&env, "d");
    assert_eq!(
        (&d["status"], &d["labels"]),
        (&json!("blocked"), &json!(["human"]))
    );
    let waiting = env.run(&["human", "list"]).exits(0).stdout;
    assert!(waiting.contains('d'), "{waiting}");
}

#[test]
fn g_9_metrics_add_up() {
    let env = with_beads(&[bead("b", "02:30:00", 0), bead("c", "01:00:00", 2)]);
    steps(&env, &[]);
    steps(&env, &[]);
    let metrics = env.json(METRICS);
    for (key, expected) in [
        ("total_runs", 2),
        ("beads_processed", 3),
        ("nudges_sent", 2),
        ("restarts_done", 1),
        ("failures", 0),
    ] {
        assert_eq!(metrics[key], expected, "{key}: {metrics}");
    }
    for key in ["last_run", "start_time", "version"] {
        assert!(metrics[key].is_string(), "{key}: {metrics}");
    }
    env.write(METRICS, "{");
    steps(&env, &[]);
    assert_eq!(
        env.json(METRICS)["total_runs"],
        1,
        "a broken file is begun anew"
    );
}

#[test]
fn g_8_a_bead_whose_holder_is_alive_is_never_taken_away() {
    let old = |id: &str| {
        let mut bead = bead(id, "01:00:00", 0);
        bead["status"] = "open".into();
        bead
    };
    let mut whole = bead("whole", "01:00:00", 0);
    whole["assignee"] = "somebody".into();
    let mut part = old("part");
    part["dependencies"] =
        json!([{"issue_id": "part", "depends_on_id": "whole", "type": "parent-child"}]);
    let env = with_beads(&[whole, part, old("gone")]);
    let mut living = env.tool("sleep", &["60"]).spawn();
    let mut dying = env.tool("sleep", &["60"]).spawn();
    // The claims are made long before the moment of the tests.
    for (id, process) in [("part", &living), ("gone", &dying)] {
        let pid = process.id().to_string();
        env.command(&["claim", id, "--pid", &pid, "--lease", "1m"])
            .env("SOURCE_DATE_EPOCH", "1767315845")
            .run()
            .exits(0);
    }
    dying.kill().unwrap();
    dying.wait().unwrap();
    let expected = [("gone", "restart"), ("part", "nudge"), ("whole", "nudge")];
    assert_eq!(steps(&env, &[]), owned(&expected));
    living.kill().unwrap();
    living.wait().unwrap();
    assert_eq!(shown(&env, "part")["status"], "in_progress");
    assert_eq!(shown(&env, "gone")["status"], "open");
    let expected = [("part", "restart"), ("whole", "restart")];
    assert_eq!(steps(&env, &[]), owned(&expected));
    env.run(&["claim", "gone"]).exits(0);
}

#[test]
fn g_8_what_waits_for_a_person_is_left_alone() {
    let mut asked = bead("asked", "01:00:00", 0);
    asked["labels"] = json!(["human"]);
    let part = |id: &str, whole: &str, labels: Value| {
        let edge = json!([{"issue_id": id, "depends_on_id": whole, "type": "parent-child"}]);
        json!({"id": id, "title": id, "status": "open", "labels": labels, "dependencies": edge,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T01:00:00Z"})
    };
    let root = |id: &str, source: &str| {
        json!({"id": id, "title": id, "status": "open", "issue_type": "molecule",
            "labels": [format!("for-bead-{source}")],
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T01:00:00Z"})
    };
    let env = with_beads(&[
        asked,
        bead("flagged", "01:00:00", 0),
        root("flagged-mol", "flagged"),
        part("flagged-step", "flagged-mol", json!(["human"])),
        bead("worked", "01:00:00", 0),
        root("worked-mol", "worked"),
        part("worked-step", "worked-mol", json!([])),
        bead("left", "01:00:00", 0),
        root("left-mol", "left"),
        part("left-step", "left-mol", json!([])),
    ]);
    let mut living = env.tool("sleep", &["60"]).spawn();
    let pid = living.id().to_string();
    env.run(&["claim", "worked-step", "--pid", &pid]).exits(0);
    let expected = [
        ("asked", "waits"),
        ("flagged", "waits"),
        ("left", "restart"),
        ("worked", "nudge"),
        ("worked-step", "fresh"),
    ];
    assert_eq!(steps(&env, &[]), owned(&expected));
    living.kill().unwrap();
    living.wait().unwrap();
    for id in ["asked", "flagged", "worked"] {
        assert_eq!(shown(&env, id)["status"], "in_progress", "{id}");
    }
}

#[test]
fn g_8_what_a_person_opens_again_is_not_given_up_at_the_first_silence() {
    let ways: [(&str, &[&str]); 3] = [
        ("retried", &["retry"]),
        ("opened", &["reopen"]),
        ("answered", &["human", "resolve"]),
    ];
    let mut beads = ways.map(|(id, _)| bead(id, "01:00:00", 5));
    beads[2]["labels"] = json!(["implementation-ready"]);
    let env = with_beads(&beads);
    steps(&env, &[]);
    for (id, way) in ways {
        assert_eq!(shown(&env, id)["status"], "blocked", "{id}");
        env.run(&[way, &[id]].concat()).exits(0);
        let bead = shown(&env, id);
        assert_eq!(bead["status"], "open", "{id}");
        let meta = &bead["metadata"]["ralph_meta"];
        assert_eq!(
            (&meta["restart_count"], &meta["odd"]),
            (&json!(0), &json!(1)),
            "{id}"
        );
    }
}

#[test]
fn g_8_reminders_are_kept_to_a_bounded_number() {
    let env = with_beads(&[bead("b", "02:30:00", 0)]);
    for n in 0..120 {
        env.write(&format!(".ralph/nudges/old-{n}.json"), "{}");
    }
    env.write(".ralph/nudges/mine.txt", "");
    steps(&env, &[]);
    let names = env.names(".ralph/nudges");
    assert_eq!(names.len(), 101);
    for kept in ["b-20260102-030405.json", "mine.txt"] {
        assert!(names.iter().any(|name| name == kept), "{kept}: {names:?}");
    }
}

#[test]
fn g_9_watchdogs_at_the_same_time_lose_no_count() {
    let env = with_beads(&[bead("c", "01:00:00", 0)]);
    let dogs: Vec<_> = (0..4)
        .map(|_| env.command(&["watchdog", "--once"]).spawn())
        .collect();
    for dog in dogs {
        crate::env::Output::of(dog, "watchdog".to_owned()).exits(0);
    }
    let metrics = env.json(METRICS);
    assert_eq!(
        (&metrics["total_runs"], &metrics["restarts_done"]),
        (&json!(4), &json!(1))
    );
    assert_eq!(
        shown(&env, "c")["metadata"]["ralph_meta"]["restart_count"],
        1
    );
}

#[test]
fn g_8_without_once_it_goes_on_until_it_is_interrupted() {
    let env = with_beads(&[bead("b", "02:30:00", 0)]);
    let child = env
        .command(&["watchdog", "--interval", "10ms", "--json"])
        .spawn();
    wait_for(&env, ".ralph/nudges/b-20260102-030405-3.json");
    env.tool("kill", &[&child.id().to_string()]).run().exits(0);
    let data = crate::env::Output::of(child, "watchdog".to_owned())
        .exits(0)
        .data();
    assert!(data["passes"].as_u64().unwrap() >= 3, "{data}");
}
