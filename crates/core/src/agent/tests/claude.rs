//! What the real `claude` printed (reference: its version is in the adapter).

use serde_json::json;

use super::super::{CostSource, Halt, Outcome, Reader, ReportFault, Status, Tokens};
use super::{adapter, call, exited, halted, outcome, played, recorded};

#[test]
fn every_end_has_its_status() {
    for (name, code, status, words) in [
        ("success", 0, Status::Ok, "success"),
        ("tool-use", 0, Status::Ok, "success"),
        ("limit-warning", 0, Status::Ok, "success"),
        ("denied-and-done", 0, Status::Ok, "success"),
        ("resumed", 0, Status::Ok, "success"),
        ("bad-key", 1, Status::Auth, "Invalid API key"),
        ("forbidden", 1, Status::Auth, "403"),
        ("no-key", 1, Status::Auth, "Please run /login"),
        ("rate-limit", 1, Status::Limit, "429"),
        (
            "plan-limit",
            1,
            Status::Limit,
            "You've hit your 5-hour limit",
        ),
        ("no-credit", 1, Status::Limit, "Credit balance is too low"),
        ("overloaded", 1, Status::Failed, "529 Overloaded"),
        ("server-error", 1, Status::Failed, "500 boom"),
        ("cut", 1, Status::Failed, "ECONNRESET"),
        ("prompt-too-long", 1, Status::Failed, "Prompt is too long"),
        (
            "max-turns",
            1,
            Status::Failed,
            "Reached maximum number of turns (2)",
        ),
        (
            "max-budget",
            1,
            Status::Failed,
            "Reached maximum budget ($0.01)",
        ),
        ("unknown-model", 1, Status::Config, "It may not exist"),
        (
            "unknown-agent",
            1,
            Status::Config,
            "--agent 'nobody' not found",
        ),
        ("unknown-option", 1, Status::Config, "unknown option"),
        (
            "unknown-session",
            1,
            Status::Config,
            "No conversation found",
        ),
        ("session-in-use", 1, Status::Config, "already in use"),
        ("bad-schema", 1, Status::Config, "not a valid JSON Schema"),
        ("no-prompt", 1, Status::Config, "Input must be provided"),
        (
            "no-sandbox",
            1,
            Status::Config,
            "Sandbox required but unavailable",
        ),
        ("root", 1, Status::Config, "root/sudo"),
    ] {
        let outcome = played("claude", name, &call(), &exited(code));
        assert_eq!(outcome.status, status, "{name}: {outcome:#?}");
        assert!(outcome.reason.contains(words), "{name}: {}", outcome.reason);
        assert_eq!(outcome.exit_code, Some(code));
        assert!(!outcome.reason.contains('\n'), "one sentence");
    }
}

#[test]
fn whether_to_try_again_is_told() {
    for (name, is_retryable) in [
        ("cut", true),
        ("overloaded", true),
        ("rate-limit", true),
        ("plan-limit", true),
        ("max-turns", false),
        ("max-budget", false),
        ("prompt-too-long", false),
        ("bad-key", false),
        ("unknown-agent", false),
    ] {
        let outcome = played("claude", name, &call(), &exited(1));
        assert_eq!(outcome.is_retryable, is_retryable, "{name}");
    }
}

#[test]
fn a_run_that_succeeded_is_known_in_full() {
    let outcome = played("claude", "tool-use", &call(), &exited(0));
    assert_eq!(
        outcome.session.as_deref(),
        Some("00000000-0000-4000-8000-000000000001")
    );
    assert_eq!(outcome.model_id.as_deref(), Some("claude-sonnet-5-5"));
    assert_eq!(outcome.turns, Some(2));
    assert_eq!(
        outcome.tokens,
        Tokens {
            input: 20,
            output: 10,
            cache_read: 14,
            cache_write: 6,
            reasoning: 0
        }
    );
    assert_eq!(outcome.cost.source, CostSource::Reported);
    assert!((outcome.cost.usd.unwrap() - 0.000_156_4).abs() < 1e-9);
    assert_eq!(outcome.text.as_deref(), Some("Done."));
    assert!(!outcome.is_estimate && outcome.notes.is_empty() && outcome.denials.is_empty());
}

#[test]
fn a_resumed_session_costs_only_what_came_new() {
    // The program reports `total_cost_usd` and `modelUsage` of the whole session here.
    let outcome = played("claude", "resumed", &call(), &exited(0));
    assert_eq!((outcome.tokens.input, outcome.tokens.output), (10, 5));
    assert!((outcome.cost.usd.unwrap() - 0.000_078_2).abs() < 1e-9);
}

#[test]
fn what_runs_in_the_background_is_waited_for_and_its_rounds_are_added_up() {
    for (name, text, input) in [
        ("background-command", "main says 6", 30),
        ("background-agent", "main says 4", 40),
    ] {
        let outcome = played("claude", name, &call(), &exited(0));
        assert_eq!(
            (outcome.status, outcome.text.as_deref()),
            (Status::Ok, Some(text))
        );
        assert_eq!((outcome.turns, outcome.tokens.input), (Some(3), input));
    }
    let (stdout, _) = recorded("claude", "background-command");
    let claude = adapter("claude");
    let call = call();
    let mut reader = Reader::new(&claude, &call);
    let mut n_results = 0;
    for line in stdout.split_inclusive('\n') {
        reader.stdout(line.as_bytes());
        n_results += usize::from(line.contains("\"type\":\"result\""));
        assert_eq!(
            reader.is_over(),
            n_results == 2,
            "the first result is not the last word: {line}"
        );
    }
}

#[test]
fn a_round_that_is_cut_off_is_no_success_and_a_server_that_was_left_is_no_failure() {
    let (stdout, _) = recorded("claude", "background-command");
    let claude = adapter("claude");
    let result = stdout.find("\"type\":\"result\"").unwrap();
    let end = result + stdout[result..].find('\n').unwrap() + 1;
    let late = halted(Halt::Idle("15 minutes".to_owned()));
    let waiting = outcome(&claude, &call(), (&stdout[..end], ""), &late);
    assert_eq!(waiting.status, Status::Ok);
    assert!(
        waiting.notes[0].contains("in the background"),
        "{:?}",
        waiting.notes
    );
    let second = stdout.rfind("\"subtype\":\"init\"").unwrap();
    let end = second + stdout[second..].find('\n').unwrap() + 1;
    let cut = outcome(&claude, &call(), (&stdout[..end], ""), &late);
    assert_eq!(cut.status, Status::Timeout, "it had begun anew");
}

#[test]
fn a_rejected_limit_has_its_reset_time_and_a_warning_is_none() {
    let limit = played("claude", "plan-limit", &call(), &exited(1));
    assert_eq!(limit.resets_at, "2026-11-15T15:50:23Z".parse().ok());
    let warning = played("claude", "limit-warning", &call(), &exited(0));
    assert_eq!((warning.status, warning.resets_at), (Status::Ok, None));
    let without = played("claude", "rate-limit", &call(), &exited(1));
    assert_eq!(without.resets_at, None);
}

#[test]
fn denials_are_listed_also_of_a_success() {
    let outcome = played("claude", "denied-and-done", &call(), &exited(0));
    assert_eq!(
        (outcome.status, outcome.denials),
        (Status::Ok, vec!["Bash: touch /repo/denied".to_owned()])
    );
}

#[test]
fn a_report_is_a_field_and_success_needs_it() {
    let mut asking = call();
    asking.schema = Some(json!({"type": "object"}));
    let outcome = played("claude", "report", &asking, &exited(0));
    assert_eq!(outcome.status, Status::Ok);
    assert_eq!(
        outcome.report,
        Some(json!({"status": "pass", "message": "good"}))
    );
    let missing = played("claude", "report-missing", &asking, &exited(0));
    assert_eq!(
        (missing.status, missing.report_fault),
        (Status::Failed, Some(ReportFault::NoJson))
    );
    let unasked = played("claude", "report-missing", &call(), &exited(0));
    assert_eq!((unasked.status, unasked.report_fault), (Status::Ok, None));
}

#[test]
fn a_hanging_run_is_a_timeout_that_says_where_it_was() {
    let idle = halted(Halt::Idle("15 minutes".to_owned()));
    let outcome = played("claude", "hang", &call(), &idle);
    assert_eq!(outcome.status, Status::Timeout);
    assert_eq!(
        outcome.reason,
        "it was silent for 15 minutes; last seen: started with claude-sonnet-5-5"
    );
    assert!(outcome.session.is_some(), "it can be resumed");
}

#[test]
fn an_outcome_that_was_written_can_be_read_back() {
    for (name, code) in [("tool-use", 0), ("plan-limit", 1), ("denied-and-done", 0)] {
        let outcome = played("claude", name, &call(), &exited(code));
        let written = serde_json::to_string(&outcome).unwrap();
        let read: Outcome = serde_json::from_str(&written).unwrap();
        assert_eq!(read, outcome, "{written}");
    }
}
