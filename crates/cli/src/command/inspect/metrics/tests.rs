//! The figures of a run that was thought out, calculated by hand, with names that would break the format.

use beads_ralph_core::engine::{BeadState, CommitId, End, RunState, Spent, Task};
use beads_ralph_core::history::{Attempt, Run, Story};
use beads_ralph_testkit::exposition::{self, Sample};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::*;

const HOSTILE: &str = "a\"b\\c\nd} 1\n# TYPE x gauge\r\u{1b}é";

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

fn ran(kind: RunKind, status: &str, from: i64, to: i64) -> Run {
    Run {
        kind,
        agent: HOSTILE.to_owned(),
        model: Some(HOSTILE.to_owned()),
        began: at(from),
        ended: at(to),
        is_good: true,
        status: status.to_owned(),
        message: String::new(),
        spent: Spent {
            micros: 250_000,
            tokens: 10,
            ..Spent::default()
        },
        evidence: None,
    }
}

/// An attempt of a dev agent and a judge, one after the other.
fn attempt(number: u32, verdict: &str, [from, middle, to]: [i64; 3]) -> Attempt {
    Attempt {
        number,
        runs: vec![
            ran(RunKind::Develop, "ok", from, middle),
            ran(RunKind::Judge, verdict, middle, to),
        ],
        ..Attempt::default()
    }
}

fn story(id: &str, state: BeadState, attempts: Vec<Attempt>) -> Story {
    let task: Task = serde_json::from_value(json!({
        "id": id, "title": HOSTILE, "sprint": "1.1", "team": HOSTILE, "priority": 1, "weight": 1, "branch": "b", "worktree": "w",
        "is_merge": false, "standing": "open", "developers": [], "judges": [], "attempts": 0, "max_attempts": 3,
        "spent": {"micros": 0, "tokens": 0, "turns": 0, "time_ms": 0},
    }))
    .unwrap();
    let mut story = Story::of(task);
    (story.state, story.attempts) = (state, attempts);
    (story.claimed, story.ended) = (Some(at(0)), Some(at(200)));
    story
}

/// One bead closed in two attempts, one given up in its first, one not begun.
fn chronicle(run: &str) -> Chronicle {
    let closed = BeadState::Ended(End::Closed {
        commit: CommitId("c".to_owned()),
        pull: None,
    });
    let given_up = BeadState::Ended(End::NeedsPerson {
        reason: HOSTILE.to_owned(),
    });
    Chronicle {
        run: run.to_owned(),
        version: HOSTILE.to_owned(),
        began: at(0),
        last: at(400),
        outcome: None,
        state: RunState::Running,
        is_left: false,
        n_adopted: 0,
        width: 2,
        stories: vec![
            story(
                "a",
                closed,
                vec![
                    attempt(1, "fail", [0, 60, 90]),
                    attempt(2, "pass", [100, 160, 190]),
                ],
            ),
            story("b", given_up, vec![attempt(1, "stop", [30, 60, 90])]),
            story("c", BeadState::Ready, Vec::new()),
        ],
        spent: Spent::default(),
    }
}

fn read(chronicles: &[Chronicle]) -> Vec<Sample> {
    let mut metrics = Metrics::default();
    for chronicle in chronicles {
        metrics.count(chronicle);
    }
    let text = metrics.text();
    exposition::read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

#[test]
fn section_7_9_every_rate_is_there() {
    let samples = read(&[chronicle("r")]);
    let is = |name: &str, expected: f64| {
        let found: Vec<&Sample> = samples.iter().filter(|it| it.name == name).collect();
        let [only] = found.as_slice() else {
            panic!("{name}: {found:#?}");
        };
        assert!((only.value - expected).abs() < 1e-5, "{only:?} {expected}");
    };
    // Of 240 seconds that agents ran, 60 are at the same time as others.
    is("beads_ralph_active_seconds", 180.0);
    is("beads_ralph_beads_per_hour", 20.0);
    is("beads_ralph_bead_seconds_mean", 180.0);
    is("beads_ralph_success_ratio", 0.5);
    is("beads_ralph_retry_ratio", 0.5);
    is("beads_ralph_concurrency_mean", 240.0 / 180.0);
    is("beads_ralph_qa_failure_ratio", 2.0 / 3.0);
    is("beads_ralph_attempts_total", 3.0);
    is("beads_ralph_run_seconds", 400.0);
}

#[test]
fn the_text_is_valid_whatever_agents_and_runs_are_called() {
    let samples = read(&[chronicle("r"), chronicle(HOSTILE)]);
    let costs = samples
        .iter()
        .filter(|it| it.name == "beads_ralph_agent_cost_usd_total");
    let costs: Vec<&Sample> = costs.collect();
    assert_eq!(costs.len(), 4, "two runs, two kinds of work");
    assert!(costs.iter().all(|it| it.labels["agent"] == HOSTILE));
    assert!(costs.iter().any(|it| it.labels["run"] == HOSTILE));
    assert!((costs.iter().map(|it| it.value).sum::<f64>() - 3.0).abs() < 1e-9);
    assert!(KNOWN.is_sorted(), "names are in order, each once");
}

#[test]
fn what_cannot_be_told_has_no_series() {
    let mut empty = chronicle("r");
    empty.stories.truncate(0);
    let samples = read(&[empty]);
    let names: Vec<&str> = samples.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "beads_ralph_run_began_seconds",
            "beads_ralph_run_info",
            "beads_ralph_run_seconds"
        ]
    );
    assert_eq!(Metrics::default().text(), "");
}
