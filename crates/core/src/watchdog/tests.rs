//! Silence, and what follows from it.

use serde_json::{Map, Value, json};

use super::*;
use crate::bead;
use crate::dod::{self, DodBead};
use crate::issue::{Claim, Fence, Holder, Issue, Record, apply};

const NOW: &str = "2026-01-02T12:00:00Z";

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn at(text: &str) -> bead::Timestamp {
    bead::Timestamp::parse(text).unwrap()
}

fn record(rest: &Value) -> Record {
    let mut document = json!({"id": "x", "title": "t", "status": "in_progress"});
    for (key, value) in rest.as_object().unwrap() {
        document[key] = value.clone();
    }
    Record {
        issue: Issue::without_comments(document).unwrap(),
        version: 1,
        fence: Fence(1),
        claim: None,
        is_blocked: false,
        n_comments: 0,
    }
}

/// A bead that was last heard of at a time of the day.
fn silent_since(time: &str, more: &Value) -> Record {
    let mut rest = json!({"assignee": "a", "updated_at": format!("2026-01-02T{time}:00Z")});
    for (key, value) in more.as_object().unwrap() {
        rest[key] = value.clone();
    }
    record(&rest)
}

fn step(record: &Record, worker: Worker) -> &'static str {
    word(&decide(&WatchedBead::of_record(record), worker, time(NOW)))
}

fn word(step: &Decision) -> &'static str {
    match step {
        Decision::Fresh => "fresh",
        Decision::Nobody => "nobody",
        Decision::Waits => "waits",
        Decision::Nudge => "nudge",
        Decision::Restart(_) => "restart",
        Decision::GiveUp(_) => "give up",
    }
}

#[test]
fn g_8_the_last_attempt_goes_before_the_last_change_and_that_before_the_making() {
    let [made, changed, tried] = [
        "2026-01-01T01:00:00Z",
        "2026-01-01T03:00:00Z",
        "2026-01-01T02:00:00Z",
    ];
    let meta = json!({"ralph_meta": {"last_attempt": tried}});
    for (rest, expected) in [
        (json!({"created_at": made}), Some(made)),
        (
            json!({"created_at": made, "updated_at": changed}),
            Some(changed),
        ),
        (
            json!({"created_at": made, "updated_at": changed, "metadata": meta}),
            Some(tried),
        ),
        (json!({}), None),
    ] {
        assert_eq!(
            WatchedBead::of_record(&record(&rest)).last_activity,
            expected.map(time),
            "{rest}"
        );
    }
    let mut held = record(&json!({"metadata": meta}));
    held.claim = Some(Claim {
        fence: Fence(1),
        holder: Holder {
            run: "r".to_owned(),
            host: "h".to_owned(),
            process: None,
        },
        claimed_at: time(changed),
        lease_until: time(NOW),
    });
    assert_eq!(
        WatchedBead::of_record(&held).last_activity,
        Some(time(changed)),
        "a claim is a sign of life"
    );
}

#[test]
fn g_8_silence_is_followed_by_a_reminder_and_then_by_a_restart() {
    let none = json!({});
    for (since, expected) in [
        ("11:45", "fresh"),
        ("11:30", "fresh"),
        ("11:29", "nudge"),
        ("11:00", "nudge"),
        ("10:59", "restart"),
        ("13:00", "fresh"),
    ] {
        let silent = silent_since(since, &none);
        assert_eq!(step(&silent, Worker::Unknown), expected, "{since}");
    }
    let unassigned = silent_since("01:00", &json!({"assignee": null}));
    assert_eq!(step(&unassigned, Worker::Unknown), "nobody");
    assert_eq!(
        step(&record(&none), Worker::Unknown),
        "fresh",
        "nothing is known of it"
    );
}

#[test]
fn g_8_what_a_claim_says_goes_before_silence() {
    let gone = Worker::Gone(Abandoned::ProcessDead);
    for (since, alive, dead) in [
        ("11:45", "fresh", "fresh"),
        ("11:20", "nudge", "restart"),
        ("01:00", "nudge", "restart"),
    ] {
        let silent = silent_since(since, &json!({"assignee": null}));
        assert_eq!(step(&silent, Worker::Alive), alive, "{since}");
        assert_eq!(step(&silent, gone), dead, "{since}");
    }
    let often = json!({"metadata": {"ralph_meta": {"restart_count": 5}}});
    assert_eq!(step(&silent_since("01:00", &often), gone), "give up");
    assert_eq!(step(&silent_since("01:00", &often), Worker::Alive), "nudge");
}

#[test]
fn g_8_a_bead_is_started_again_five_times_and_then_given_up() {
    let meta = json!({"ralph_meta": {"attempt_count": 7, "last_attempt": "2026-01-01T00:00:00Z"}, "kept": 1});
    let mut bead = silent_since("01:00", &json!({"metadata": meta}));
    let mut now = time(NOW);
    for n in 1..=MAX_RESTARTS {
        assert!(
            matches!(
                decide(&WatchedBead::of_record(&bead), Worker::Unknown, now),
                Decision::Restart(_)
            ),
            "{n}"
        );
        let stamp = bead::Timestamp::from_instant(now);
        let edits = restarted(&bead.issue, "why", "dog", &stamp);
        let change = apply(&bead.issue, &edits, &stamp).unwrap().unwrap();
        assert_eq!(
            (change.issue.status(), restarts(&change.issue)),
            ("open", json!(n))
        );
        assert_eq!(change.comments.len(), 1);
        bead.issue = change.issue;
        assert_eq!(
            decide(&WatchedBead::of_record(&bead), Worker::Unknown, now),
            Decision::Fresh,
            "it has just begun"
        );
        now += Duration::from_hours(2);
    }
    let Decision::GiveUp(why) = decide(&WatchedBead::of_record(&bead), Worker::Unknown, now) else {
        panic!("it is started again for ever");
    };
    let edits = given_up(&bead.issue, &why, "dog", &at(NOW));
    let issue = apply(&bead.issue, &edits, &at(NOW)).unwrap().unwrap().issue;
    assert_eq!(issue.status(), "blocked");
    assert!(issue.has_label("human"));
    let metadata = &issue.document()["metadata"];
    assert_eq!(metadata["kept"], 1);
    assert_eq!(
        metadata["ralph_meta"]["attempt_count"], 7,
        "attempts are another thing"
    );
    let reason = metadata["ralph_meta"]["failure_reason"].as_str().unwrap();
    assert!(
        reason.starts_with("given up after 5 restarts: "),
        "{reason}"
    );
}

fn restarts(issue: &Issue) -> Value {
    issue.document()["metadata"]["ralph_meta"]["restart_count"].clone()
}

#[test]
fn g_8_what_waits_for_a_person_is_left_alone() {
    for label in ["human", "merge-ready"] {
        let waiting = silent_since("01:00", &json!({"labels": [label]}));
        for worker in [
            Worker::Unknown,
            Worker::Alive,
            Worker::Gone(Abandoned::ProcessDead),
        ] {
            assert_eq!(step(&waiting, worker), "waits", "{label} {worker:?}");
        }
    }
    let whole = silent_since("01:00", &json!({}));
    assert_eq!(
        step(&whole, Worker::Person),
        "waits",
        "a part of it waits for a person"
    );
}

#[test]
fn g_8_restarts_are_counted_anew_when_a_person_has_decided() {
    let meta = json!({"ralph_meta": {"restart_count": 5, "odd": 1}, "kept": 1});
    let bead = silent_since("01:00", &json!({"metadata": meta}));
    let edits: Vec<_> = forgiven(&bead.issue).into_iter().collect();
    let issue = apply(&bead.issue, &edits, &at(NOW)).unwrap().unwrap().issue;
    assert_eq!(restarts(&issue), 0);
    let metadata = &issue.document()["metadata"];
    assert_eq!(
        (&metadata["ralph_meta"]["odd"], &metadata["kept"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(forgiven(&issue), None);
}

/// A bead in a file.
fn file(more: &Value) -> DodBead {
    let mut document = json!({"id": "f", "intent": "t", "status": "in_progress",
        "dod": {"verifiers": [{"name": "v", "command": "true"}]}});
    for (key, value) in more.as_object().unwrap() {
        document[key] = value.clone();
    }
    dod::read(document, None).unwrap()
}

fn read(document: Map<String, Value>) -> DodBead {
    dod::read(document.into(), None).unwrap()
}

#[test]
fn g_8_the_times_of_a_file_are_read_in_both_dialects() {
    let [made, changed, tried] = [
        "2026-01-01T01:00:00Z",
        "2026-01-01T03:00:00Z",
        "2026-01-01T02:00:00Z",
    ];
    for (rest, expected) in [
        (json!({}), None),
        (json!({"ralph_meta": {"created_at": made}}), Some(made)),
        (json!({"created_at": made}), Some(made)),
        (
            json!({"created_at": made, "updated_at": changed}),
            Some(changed),
        ),
        (
            json!({"created_at": made, "last_updated": changed}),
            Some(changed),
        ),
        (
            json!({"last_updated": changed, "ralph_meta": {"last_attempt": tried}}),
            Some(tried),
        ),
    ] {
        let seen = WatchedBead::of_bead(&file(&rest));
        assert_eq!(seen.last_activity, expected.map(time), "{rest}");
    }
}

#[test]
fn g_8_a_file_is_started_again_five_times_and_then_failed() {
    let changed = "2026-01-01T00:00:00Z";
    let mut bead = file(&json!({"assignee": "a", "last_updated": changed, "odd": 1}));
    let mut now = time(NOW);
    for n in 1..=MAX_RESTARTS {
        let decided = decide(&WatchedBead::of_bead(&bead), Worker::Unknown, now);
        assert_eq!(word(&decided), "restart", "{n}");
        bead = read(restarted_file(
            &bead,
            "why",
            &bead::Timestamp::from_instant(now),
        ));
        assert_eq!(bead.status, dod::DodStatus::Pending);
        assert_eq!(bead.meta("restart_count"), Some(&json!(n)));
        now += Duration::from_hours(2);
    }
    let decided = decide(&WatchedBead::of_bead(&bead), Worker::Unknown, now);
    assert_eq!(word(&decided), "give up");
    let bead = read(given_up_file(&bead, "why", &at(NOW)));
    assert_eq!(bead.status, dod::DodStatus::Failed);
    assert_eq!(
        bead.meta("failure_reason"),
        Some(&json!("given up after 5 restarts: why"))
    );
    assert_eq!(
        (&bead.document["odd"], &bead.document["assignee"]),
        (&json!(1), &json!("a"))
    );
}

#[test]
fn g_9_counts_add_up_over_passes() {
    let pass = Counts {
        total_runs: 1,
        beads_processed: 3,
        nudges_sent: 2,
        restarts_done: 1,
        failures: 0,
    };
    let first = pass.document(&Value::Null, &at("2026-01-01T00:00:00Z"), "1");
    let second = pass.document(&first, &at(NOW), "2");
    assert_eq!(
        second,
        json!({
            "total_runs": 2, "beads_processed": 6, "nudges_sent": 4, "restarts_done": 2, "failures": 0,
            "last_run": NOW, "start_time": "2026-01-01T00:00:00Z", "version": "2",
        })
    );
}
