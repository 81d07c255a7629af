//! What beads tell, also those that tell nonsense.

use serde_json::json;

use super::*;

fn issue(document: Value) -> Issue {
    Issue::without_comments(document).unwrap()
}

/// A bead with a dev run of a minute and a QA run after it, for each of some verdicts.
fn worked(id: &str, status: &str, hour: u32, verdicts: &[&str]) -> Issue {
    let at = |attempt: usize, minute: u32| {
        format!(
            "2026-01-01T{hour:02}:{:02}:00Z",
            attempt * 10 + minute as usize
        )
    };
    let dev = |n: usize| {
        json!({"attempt": n + 1, "agent_path": "dev.md", "model": "sonnet", "status": "completed",
            "started_at": at(n, 0), "completed_at": at(n, 2)})
    };
    let qa = |(n, verdict): (usize, &&str)| {
        json!({"attempt": n + 1, "agent_path": "qa.md", "status": verdict, "message": format!("{verdict} {}", n + 1),
            "started_at": at(n, 2), "completed_at": at(n, 3)})
    };
    let mut document = json!({"id": id, "title": "t", "status": status, "metadata": {
        "attempt_count": 0,
        "dev_agent_executions": (0..verdicts.len()).map(dev).collect::<Vec<_>>(),
        "qa_agent_executions": verdicts.iter().enumerate().map(qa).collect::<Vec<_>>(),
    }});
    if status == "closed" {
        document["closed_at"] = json!("2026-01-02T00:00:00Z");
    }
    issue(document)
}

#[test]
fn section_7_9_runs_come_in_order_and_with_what_is_known() {
    let runs = runs(&worked("a", "open", 1, &["fail", "pass"]));
    let told: Vec<(&str, u64, &str, bool)> = runs
        .iter()
        .map(|run| {
            (
                run.kind.as_str(),
                run.attempt,
                run.status.as_str(),
                run.is_good(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("dev", 1, "completed", true),
            ("qa", 1, "fail", false),
            ("dev", 2, "completed", true),
            ("qa", 2, "pass", true),
        ]
    );
}

#[test]
fn section_7_9_verdicts_are_counted_for_each_agent() {
    let mut all = runs(&worked("a", "open", 1, &["fail", "pass"]));
    all.extend(runs(&worked("b", "open", 2, &["stop"])));
    all.extend(runs(&issue(
        json!({"id": "c", "title": "t", "metadata": {"qa_agent_executions": [
            {"agent_path": "other.md", "status": "confused", "message": " "},
            {"agent_path": "other.md", "status": "pass", "message": "fine"},
        ]}}),
    )));
    let reports = qa_report(&all);
    let qa = reports
        .iter()
        .find(|report| report.agent == "qa.md")
        .unwrap();
    assert_eq!((qa.runs, qa.pass, qa.fail, qa.stop), (3, 1, 1, 1));
    assert!((qa.fail_rate - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(
        qa.last_message.as_deref(),
        Some("stop 1"),
        "the last that did not pass"
    );
    let other = reports
        .iter()
        .find(|report| report.agent == "other.md")
        .unwrap();
    assert_eq!(
        (other.pass, other.fail),
        (1, 1),
        "what is no verdict is no pass"
    );
    assert_eq!(other.last_message.as_deref(), Some("fine"));
}

#[test]
fn section_7_9_figures_come_from_executions() {
    let beads = [
        worked("a", "closed", 1, &["fail", "pass"]),
        worked("b", "closed", 1, &["pass"]),
        worked("c", "blocked", 3, &["fail"]),
        worked("d", "open", 4, &[]),
    ];
    let figures = figures(&beads);
    assert_eq!(
        (figures.worked_on, figures.closed, figures.given_up),
        (3, 2, 1)
    );
    // At one o'clock two minutes each of three runs are at the same time as others.
    let close = |value: Option<f64>, expected: f64| {
        let value = value.unwrap();
        assert!((value - expected).abs() < 1e-9, "{value} {expected}");
    };
    close(Some(figures.active_seconds), 9.0 * 60.0);
    close(figures.beads_per_hour, 2.0 * 60.0 / 9.0);
    close(figures.mean_seconds_per_bead, (6.0 + 3.0) * 60.0 / 2.0);
    close(figures.success_rate, 2.0 / 3.0);
    close(figures.retry_rate, 1.0 / 3.0);
    close(figures.mean_concurrency, 12.0 / 9.0);
    close(figures.qa_failure_rate.get("qa.md").copied(), 0.5);
}

#[test]
fn section_7_9_where_nothing_was_done_there_are_no_figures() {
    let none = figures(&[issue(json!({"id": "a", "title": "t"}))]);
    assert_eq!(none, Figures::default());
}

#[test]
fn section_7_9_the_last_error_is_what_was_said_last_and_best() {
    let error = |document: Value| last_error(&issue(document));
    let mut document = json!({"id": "a", "title": "t", "notes": "first\nlast line\n\n"});
    assert_eq!(error(document.clone()).as_deref(), Some("last line"));
    document["metadata"] = json!({"qa_agent_executions": [
        {"attempt": 1, "agent_path": "qa.md", "status": "fail", "message": "red"},
        {"attempt": 2, "agent_path": "qa.md", "status": "pass", "message": "green"},
    ]});
    assert_eq!(error(document.clone()).as_deref(), Some("qa.md: red"));
    document["metadata"]["last_feedback"] = json!("the checks failed");
    assert_eq!(
        error(document.clone()).as_deref(),
        Some("the checks failed")
    );
    document["metadata"]["ralph_meta"] = json!({"last_failure_summary": "tests: Exit code 1"});
    assert_eq!(
        error(document.clone()).as_deref(),
        Some("tests: Exit code 1")
    );
    document["metadata"]["ralph_meta"]["failure_reason"] = json!("Max iterations reached");
    assert_eq!(
        error(document.clone()).as_deref(),
        Some("Max iterations reached")
    );
    document["metadata"]["scrum_result"] = json!({"error": "max retry attempts reached"});
    assert_eq!(
        error(document).as_deref(),
        Some("max retry attempts reached")
    );
    assert_eq!(error(json!({"id": "a", "title": "t"})), None);
}

#[test]
fn what_cannot_be_read_is_left_out() {
    let odd = issue(json!({"id": "a", "title": "t", "metadata": {
        "question": 5, "scrum_result": [], "ralph_meta": {"failure_reason": " "},
        "dev_agent_executions": [1, null, {}, {"status": 3}, {"status": "failed", "started_at": "soon", "attempt": -1}],
        "qa_agent_executions": {"status": "pass"},
    }}));
    let runs = runs(&odd);
    assert_eq!(runs.len(), 1);
    assert_eq!((runs[0].attempt, runs[0].span()), (0, None));
    assert_eq!(last_error(&odd).as_deref(), Some("failed"));
    assert_eq!(question(&odd), None);
    assert!(figures(&[odd]).beads_per_hour.is_none());
}
