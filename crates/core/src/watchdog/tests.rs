//! Silence, and what follows from it.

use super::*;
use crate::issue::{Claim, Fence, Holder, apply};

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
    match decide(record, worker, time(NOW)) {
        Step::Fresh => "fresh",
        Step::Nobody => "nobody",
        Step::Nudge => "nudge",
        Step::Restart(_) => "restart",
        Step::GiveUp(_) => "give up",
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
        assert_eq!(last_activity(&record(&rest)), expected.map(time), "{rest}");
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
        last_activity(&held),
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
            matches!(decide(&bead, Worker::Unknown, now), Step::Restart(_)),
            "{n}"
        );
        let stamp = bead::Timestamp::from_instant(now);
        let edits = restarted(&bead.issue, "why", "dog", &stamp);
        let change = apply(&bead.issue, &edits, &stamp).unwrap().unwrap();
        assert_eq!(
            (change.issue.status(), restart_count(&change.issue)),
            ("open", n)
        );
        assert_eq!(change.comments.len(), 1);
        bead.issue = change.issue;
        assert_eq!(
            decide(&bead, Worker::Unknown, now),
            Step::Fresh,
            "it has just begun"
        );
        now += Duration::from_hours(2);
    }
    let Step::GiveUp(why) = decide(&bead, Worker::Unknown, now) else {
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
