//! Adapters that are data from documents, and the one for any command.

use serde_json::json;

use super::super::{Halt, Status};
use super::{adapter, call, exited, halted, outcome};

#[test]
fn every_adapter_is_sound_and_only_what_was_tried_says_so() {
    for (name, verified) in [
        ("claude", Some("2.1.325")),
        ("codex", Some("0.166.0")),
        ("gemini", None),
        ("opencode", None),
        ("command", Some("any")),
    ] {
        let adapter = adapter(name);
        assert_eq!(adapter.verified.as_deref(), verified, "{name}");
        assert_eq!(adapter.read.fault(), None, "{name}");
        assert_eq!(adapter.executable.is_empty(), name == "command", "{name}");
    }
}

#[test]
fn gemini_succeeds_by_its_result() {
    let gemini = adapter("gemini");
    let lines = |result: &str| {
        format!(
            "{}\n{}\n{}\n{}\n{result}\n",
            json!({"type": "init", "session_id": "s-1", "model": "m-1"}),
            json!({"type": "message", "role": "user", "content": "Do it."}),
            json!({"type": "message", "role": "assistant", "content": "It is ", "delta": true}),
            json!({"type": "message", "role": "assistant", "content": "done.", "delta": true}),
        )
    };
    let good = json!({"type": "result", "status": "success", "stats": {"input_tokens": 30, "output_tokens": 5, "cached": 10}});
    let ok = outcome(
        &gemini,
        &call(),
        (&lines(&good.to_string()), ""),
        &exited(0),
    );
    assert_eq!(
        (ok.status, ok.text.as_deref()),
        (Status::Ok, Some("It is done."))
    );
    assert_eq!((ok.tokens.input, ok.tokens.cache_read), (20, 10));
    let bad = json!({"type": "result", "status": "error", "error": {"type": "x", "message": "Quota exceeded"}});
    let limit = outcome(&gemini, &call(), (&lines(&bad.to_string()), ""), &exited(1));
    assert_eq!(limit.status, Status::Limit);
    for (code, status) in [
        (41, Status::Auth),
        (42, Status::Config),
        (53, Status::Failed),
        (130, Status::Killed),
    ] {
        let outcome = outcome(&gemini, &call(), ("", "oops"), &exited(code));
        assert_eq!(outcome.status, status, "{code}");
    }
}

#[test]
fn opencode_succeeds_by_its_last_step_and_its_steps_are_added_up() {
    let opencode = adapter("opencode");
    let step = |reason: &str| {
        let tokens =
            json!({"input": 10, "output": 2, "reasoning": 1, "cache": {"read": 3, "write": 4}});
        json!({"type": "step_finish", "sessionID": "ses_1", "part": {"reason": reason, "cost": 0.25, "tokens": tokens}}).to_string()
    };
    let text = json!({"type": "text", "sessionID": "ses_1", "part": {"text": "Done."}}).to_string();
    let unfinished = format!("{}\n", step("tool-calls"));
    let none = outcome(&opencode, &call(), (&unfinished, ""), &exited(0));
    assert_eq!(none.status, Status::NoResult);
    let finished = format!("{unfinished}{text}\n{}\n", step("stop"));
    let ok = outcome(&opencode, &call(), (&finished, ""), &exited(0));
    assert_eq!(
        (ok.status, ok.turns, ok.tokens.input),
        (Status::Ok, Some(2), 20)
    );
    assert!((ok.cost.usd.unwrap() - 0.5).abs() < 1e-9);
    let error = json!({"type": "error", "sessionID": "ses_1", "error": {"name": "APIError", "data": {"message": "slow down", "statusCode": 429}}});
    let limit = outcome(&opencode, &call(), (&format!("{error}\n"), ""), &exited(1));
    assert_eq!(
        (limit.status, limit.reason.as_str()),
        (Status::Limit, "the account is at its limit: slow down")
    );
}

#[test]
fn a_command_succeeds_by_its_exit_code() {
    let command = adapter("command");
    let ok = outcome(&command, &call(), ("all\r\ndone\n", "chatter"), &exited(0));
    assert_eq!(
        (ok.status, ok.text.as_deref()),
        (Status::Ok, Some("all\r\ndone\n"))
    );
    let failed = outcome(&command, &call(), ("", "no such thing\n"), &exited(3));
    assert_eq!(
        (failed.status, failed.reason.as_str()),
        (Status::Failed, "it failed: no such thing (exit code 3)")
    );
    let late = outcome(
        &command,
        &call(),
        ("working\n", ""),
        &halted(Halt::Wall("10 minutes".to_owned())),
    );
    assert_eq!(
        (late.status, late.reason.as_str()),
        (
            Status::Timeout,
            "it took longer than 10 minutes; last seen: working"
        )
    );
    let limit = outcome(
        &command,
        &call(),
        ("You've hit your limit · resets 8pm (UTC)", ""),
        &exited(1),
    );
    assert_eq!(
        limit.status,
        Status::Failed,
        "words of a program that nobody knows mean nothing"
    );
}

#[test]
fn l_4_a_commands_report_is_in_what_it_prints() {
    let command = adapter("command");
    let mut asking = call();
    asking.schema = Some(json!({}));
    let text = "thinking\n```json\n{\"status\": \"pass\", \"message\": \"m\"}\n```\n";
    let ok = outcome(&command, &asking, (text, ""), &exited(0));
    assert_eq!(
        (ok.status, ok.report.unwrap()["status"].as_str()),
        (Status::Ok, Some("pass"))
    );
    let none = outcome(&command, &asking, ("I think it is fine", ""), &exited(0));
    assert_eq!(none.status, Status::Failed);
}
