//! What the real `codex exec` printed.

use serde_json::json;

use super::super::{CostSource, Halt, Price, Reader, Status, Tokens};
use super::{adapter, call, exited, halted, now, played, recorded};

#[test]
fn every_end_has_its_status() {
    for (name, code, status, words) in [
        ("success", 0, Status::Ok, "success"),
        ("tool-use", 0, Status::Ok, "success"),
        ("resumed", 0, Status::Ok, "success"),
        ("bad-key", 1, Status::Auth, "401 Unauthorized"),
        ("rate-limit", 1, Status::Limit, "429 Too Many Requests"),
        ("plan-limit", 1, Status::Limit, "hit your usage limit"),
        ("no-credit", 1, Status::Limit, "Quota exceeded"),
        ("server-error", 1, Status::Failed, "high demand"),
        ("server-failure", 1, Status::Failed, "it broke"),
        ("context-full", 1, Status::Failed, "ran out of room"),
        ("cut", 1, Status::Failed, "stream disconnected"),
        ("unknown-model", 1, Status::Config, "does not exist"),
        ("schema-file-missing", 1, Status::Config, "output schema"),
        ("no-prompt", 1, Status::Config, "No prompt provided"),
        ("unknown-option", 2, Status::Config, "unexpected argument"),
        ("unknown-session", 1, Status::Config, "no rollout found"),
        ("no-repository", 1, Status::Config, "trusted directory"),
    ] {
        let outcome = played("codex", name, &call(), &exited(code));
        assert_eq!(outcome.status, status, "{name}: {outcome:#?}");
        assert!(outcome.reason.contains(words), "{name}: {}", outcome.reason);
    }
}

#[test]
fn a_warning_item_and_a_try_that_failed_are_no_failures() {
    // Every recording has an item of type `error` in it.
    let (stdout, _) = recorded("codex", "success");
    assert!(stdout.contains("\"type\":\"error\""));
    let retried = stdout.replace(
        "{\"type\":\"turn.started\"}",
        "{\"type\":\"turn.started\"}\n{\"type\":\"error\",\"message\":\"Reconnecting... 1/5 (429 Too Many Requests)\"}",
    );
    let (codex, call) = (adapter("codex"), call());
    let outcome = super::outcome(&codex, &call, (&retried, ""), &exited(0));
    assert_eq!(outcome.status, Status::Ok);
}

#[test]
fn a_time_of_day_without_its_zone_is_no_reset_time() {
    assert_eq!(
        played("codex", "plan-limit", &call(), &exited(1)).resets_at,
        None
    );
}

#[test]
fn usage_is_the_threads_total_and_what_was_before_is_subtracted() {
    let first = played("codex", "success", &call(), &exited(0));
    let expected = Tokens {
        input: 60,
        output: 20,
        cache_read: 40,
        cache_write: 0,
        reasoning: 5,
    };
    assert_eq!(
        (first.tokens, first.session_tokens),
        (expected, Some(expected))
    );
    let (codex, call) = (adapter("codex"), call());
    let mut reader = Reader::new(&codex, &call).resuming(expected);
    reader.stdout(recorded("codex", "resumed").0.as_bytes());
    let second = reader.finish(&exited(0), now());
    assert_eq!(second.tokens, expected, "the same again, not twice as much");
    assert_eq!(second.session_tokens.unwrap().output, 40);
    assert_eq!(second.session, first.session);
}

#[test]
fn z_13_a_cost_is_computed_from_the_configured_price_or_unknown() {
    let unknown = played("codex", "success", &call(), &exited(0));
    assert_eq!(
        (unknown.cost.usd, unknown.cost.source),
        (None, CostSource::Unknown)
    );
    let mut codex = adapter("codex");
    codex.price.default = Some(Price {
        input: 1.0,
        output: 10.0,
        cache_read: Some(0.1),
        cache_write: None,
    });
    let (stdout, stderr) = recorded("codex", "success");
    let outcome = super::outcome(&codex, &call(), (&stdout, &stderr), &exited(0));
    assert_eq!(outcome.cost.source, CostSource::Computed);
    assert!((outcome.cost.usd.unwrap() - 264e-6).abs() < 1e-12);
}

#[test]
fn a_report_is_in_the_text_of_the_last_message() {
    let mut asking = call();
    asking.schema = Some(json!({"type": "object"}));
    let outcome = played("codex", "report", &asking, &exited(0));
    assert_eq!(
        outcome.report,
        Some(json!({"status": "pass", "message": "good"}))
    );
    let missing = played("codex", "success", &asking, &exited(0));
    assert_eq!(missing.status, Status::Failed);
    assert!(missing.reason.contains("no JSON"), "{}", missing.reason);
}

#[test]
fn an_interrupted_turn_has_neither_end() {
    let outcome = played(
        "codex",
        "hang",
        &call(),
        &halted(Halt::Wall("10 minutes".to_owned())),
    );
    assert_eq!(outcome.status, Status::Timeout);
    assert!(outcome.session.is_some());
    let outcome = played("codex", "hang", &call(), &exited(1));
    assert_eq!(outcome.status, Status::NoResult);
    assert!(outcome.reason.contains("exit code 1"), "{}", outcome.reason);
}
