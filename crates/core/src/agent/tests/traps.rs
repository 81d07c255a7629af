//! The traps of headless agents that are not in the recordings, one by one.

use serde_json::{Value, json};

use super::super::{
    Adapter, Budget, CostSource, Ending, Halt, Overrides, ProcessEnd, Reader, Status,
};
use super::{adapter, call, exited, halted, now, outcome, recorded};

/// What `claude` says last, with something changed.
fn result(changes: Value) -> String {
    let mut result = json!({
        "type": "result", "subtype": "success", "is_error": false, "api_error_status": null, "num_turns": 1,
        "result": "Done.", "session_id": "s-1", "total_cost_usd": 0.5, "permission_denials": [],
    });
    let members = result.as_object_mut().unwrap();
    let Value::Object(changes) = changes else {
        panic!("changes are an object");
    };
    members.extend(changes);
    format!("{result}\n")
}

fn claude(stdout: &str, ending: &Ending) -> super::Outcome {
    outcome(&adapter("claude"), &call(), (stdout, ""), ending)
}

#[test]
fn a_success_that_is_an_error_is_no_success() {
    let limit = result(
        json!({"is_error": true, "api_error_status": 429, "result": "API Error: Server is temporarily limiting requests"}),
    );
    assert_eq!(claude(&limit, &exited(1)).status, Status::Limit);
    assert_eq!(
        claude(&limit, &exited(0)).status,
        Status::Limit,
        "whatever its exit code"
    );
    let error = result(json!({"is_error": true}));
    assert_eq!(claude(&error, &exited(0)).status, Status::Failed);
    let status = result(json!({"api_error_status": 500}));
    assert_eq!(claude(&status, &exited(0)).status, Status::Failed);
    let unknown = result(json!({"is_error": null}));
    assert_eq!(
        claude(&unknown, &exited(0)).status,
        Status::Failed,
        "what is not said is not so"
    );
}

#[test]
fn a_plan_limit_that_comes_as_a_success_is_a_limit() {
    let text = "You've hit your limit · resets Nov 17, 8pm (UTC)";
    let limit = claude(
        &result(json!({"total_cost_usd": 0, "result": text})),
        &exited(0),
    );
    assert_eq!(limit.status, Status::Limit);
    assert_eq!(limit.resets_at, "2026-11-17T20:00:00Z".parse().ok());
    let about = claude(
        &result(json!({"result": "I wrote the text \"You've hit your limit\"."})),
        &exited(0),
    );
    assert_eq!(about.status, Status::Ok, "an agent may write about limits");
}

#[test]
fn old_results_without_the_newer_fields_are_read() {
    let usage = json!({"a": {"inputTokens": 3, "outputTokens": 4, "cacheReadInputTokens": 5, "cacheCreationInputTokens": 6}, "b": {"inputTokens": 1, "outputTokens": 1}});
    let outcome = claude(&result(json!({"modelUsage": usage})), &exited(0));
    assert_eq!(
        (
            outcome.tokens.input,
            outcome.tokens.output,
            outcome.tokens.cache_write
        ),
        (4, 5, 6)
    );
    assert_eq!(
        (outcome.cost.usd, outcome.cost.source),
        (Some(0.5), CostSource::Reported)
    );
}

#[test]
fn an_error_subtype_has_errors_and_no_result() {
    let crash = json!({"subtype": "error_during_execution", "is_error": true, "result": null, "errors": ["first", "second"], "total_cost_usd": 0});
    let outcome = claude(&result(crash), &exited(1));
    assert_eq!(
        (outcome.status, outcome.reason.as_str()),
        (Status::Failed, "it failed: first second")
    );
    let odd = json!({"subtype": "error_of_tomorrow", "is_error": false});
    assert_eq!(claude(&result(odd), &exited(0)).status, Status::Failed);
}

#[test]
fn no_last_word_is_no_result() {
    let (stdout, _) = recorded("claude", "tool-use");
    let is_kept = |line: &&str| !line.contains("\"type\":\"result\"");
    let without: String = stdout.split_inclusive('\n').filter(is_kept).collect();
    let outcome = claude(&without, &exited(0));
    assert_eq!(outcome.status, Status::NoResult);
    assert!(outcome.is_estimate && outcome.tokens.input > 0 && outcome.session.is_some());
    assert_eq!(claude("", &exited(0)).status, Status::NoResult);
    assert_eq!(
        claude("Done! Everything works.\n", &exited(0)).status,
        Status::NoResult,
        "never by text"
    );
}

#[test]
fn a_success_with_another_exit_code_is_a_failure() {
    let outcome = claude(&result(json!({})), &exited(1));
    assert_eq!(outcome.status, Status::Failed);
    assert_eq!(
        outcome.reason,
        "it said that it succeeded, and ended with exit code 1"
    );
    let signalled = Ending {
        end: ProcessEnd::Signalled(11),
        halt: None,
    };
    assert_eq!(
        claude(&result(json!({})), &signalled).status,
        Status::Failed
    );
}

#[test]
fn a_result_and_then_a_hang_is_a_success_with_a_note() {
    for halt in [
        Halt::Drained,
        Halt::Wall("10 minutes".to_owned()),
        Halt::Idle("15 minutes".to_owned()),
    ] {
        let outcome = claude(&result(json!({})), &halted(halt));
        assert_eq!(outcome.status, Status::Ok);
        assert_eq!(
            outcome.notes,
            ["it did not end after its last word, and was ended"]
        );
    }
    let failed = claude(&result(json!({"is_error": true})), &halted(Halt::Drained));
    assert_eq!(failed.status, Status::Failed, "the last word decides");
}

#[test]
fn the_last_of_several_results_counts() {
    let (good, bad) = (result(json!({})), result(json!({"is_error": true})));
    assert_eq!(
        claude(&format!("{bad}{good}"), &exited(0)).status,
        Status::Ok
    );
    assert_eq!(
        claude(&format!("{good}{bad}"), &exited(0)).status,
        Status::Failed
    );
    let one_line = format!("{}{}", bad.trim(), good);
    assert_eq!(
        claude(&one_line, &exited(0)).status,
        Status::Ok,
        "two objects on a line"
    );
}

#[test]
fn whoever_ended_it_is_told_apart() {
    let ended = |end: ProcessEnd| claude("", &Ending { end, halt: None }).status;
    let not_started = |is_temporary: bool| ProcessEnd::NotStarted {
        reason: "cannot start 'claude': why ever".to_owned(),
        is_temporary,
    };
    for (end, status) in [
        (ProcessEnd::Signalled(15), Status::Killed),
        (ProcessEnd::Signalled(9), Status::Killed),
        (ProcessEnd::Exited(143), Status::Killed),
        (ProcessEnd::Exited(137), Status::Killed),
        (ProcessEnd::Exited(130), Status::Killed),
        (ProcessEnd::Signalled(11), Status::Crashed),
        (ProcessEnd::Exited(134), Status::Crashed),
        (ProcessEnd::Lost, Status::Crashed),
        (not_started(false), Status::Config),
        (not_started(true), Status::Failed),
        (ProcessEnd::Exited(0), Status::NoResult),
        (ProcessEnd::Exited(7), Status::NoResult),
    ] {
        assert_eq!(ended(end.clone()), status, "{end:?}");
    }
}

#[test]
fn cancelled_is_killed_and_a_budget_is_named() {
    let good = result(json!({}));
    assert_eq!(
        claude(&good, &halted(Halt::Cancelled)).status,
        Status::Killed
    );
    let spent = claude(
        "",
        &halted(Halt::Budget(
            "its budget of $5 is used up ($5.10 so far)".to_owned(),
        )),
    );
    assert_eq!((spent.status, spent.is_retryable), (Status::Failed, false));
    assert!(spent.reason.contains("budget of $5"), "{}", spent.reason);
}

#[test]
fn a_failure_with_denials_was_denied() {
    let denials = json!([{"tool_name": "Bash", "tool_input": {"command": "cargo test"}}, {"tool_name": "Edit", "tool_input": {"file_path": "a.rs"}}]);
    let denied = claude(
        &result(json!({"is_error": true, "permission_denials": denials})),
        &exited(1),
    );
    assert_eq!(
        (denied.status, denied.is_retryable),
        (Status::Denied, false)
    );
    assert!(
        denied
            .reason
            .starts_with("it was not allowed to use Bash: cargo test, Edit: a.rs;"),
        "{}",
        denied.reason
    );
    let limit = json!({"is_error": true, "api_error_status": 429, "permission_denials": denials});
    let limit = claude(&result(limit), &exited(1));
    assert_eq!(
        (limit.status, limit.denials.len()),
        (Status::Limit, 2),
        "what is known better stays"
    );
    let event = json!({"type": "system", "subtype": "permission_denied", "tool_name": "Bash"});
    let cut_short = claude(&format!("{event}\n"), &exited(1));
    assert_eq!(
        (cut_short.status, cut_short.denials),
        (Status::Denied, vec!["Bash".to_owned()])
    );
}

#[test]
fn what_was_in_the_way_and_is_over_is_not_the_cause() {
    let retry = json!({"type": "system", "subtype": "api_retry", "error": "rate_limit", "error_status": 429});
    let answer = json!({"type": "assistant", "message": {"id": "m", "content": []}});
    let failed = result(json!({"is_error": true, "result": "something else"}));
    let still = claude(&format!("{retry}\n{failed}"), &exited(1));
    assert_eq!(still.status, Status::Limit);
    let over = claude(&format!("{retry}\n{answer}\n{failed}"), &exited(1));
    assert_eq!(over.status, Status::Failed);
    let stuck = claude(
        &format!("{retry}\n"),
        &halted(Halt::Wall("10 minutes".to_owned())),
    );
    assert_eq!(
        (stuck.status, stuck.reason.as_str()),
        (
            Status::Timeout,
            "it took longer than 10 minutes; the account is at its limit"
        )
    );
}

#[test]
fn garbage_around_the_events_is_passed_over_and_noted() {
    let mut stdout = b"\xef\xbb\xbf".to_vec();
    stdout.extend(b"npm warn something\r\n\xff\xfe\x00garbage\n{\"type\": \"result\", broken\n\n[1, 2]\nnull\n");
    stdout.extend(result(json!({})).replace('\n', "\r\n").as_bytes());
    let claude = adapter("claude");
    let call = call();
    let mut reader = Reader::new(&claude, &call);
    reader.stdout(&stdout);
    assert!(reader.is_over());
    let outcome = reader.finish(&exited(0), now());
    assert_eq!(
        (outcome.status, outcome.notes),
        (
            Status::Ok,
            vec!["5 lines of its output were not JSON".to_owned()]
        )
    );
}

#[test]
fn invalid_utf_8_inside_an_event_does_not_hide_it() {
    let mut stdout = result(json!({"result": "X"})).into_bytes();
    let at = stdout.iter().position(|byte| *byte == b'X').unwrap();
    stdout[at] = 0xff;
    let claude = adapter("claude");
    let call = call();
    let mut reader = Reader::new(&claude, &call);
    reader.stdout(&stdout);
    let outcome = reader.finish(&exited(0), now());
    assert_eq!(
        (outcome.status, outcome.text.as_deref()),
        (Status::Ok, Some("\u{fffd}"))
    );
}

#[test]
fn a_last_event_without_its_line_end_counts() {
    let outcome = claude(result(json!({})).trim_end(), &exited(0));
    assert_eq!(outcome.status, Status::Ok);
    let half = result(json!({}));
    assert_eq!(
        claude(&half[..half.len() / 2], &exited(0)).status,
        Status::NoResult
    );
}

#[test]
fn a_budget_is_watched_while_it_runs() {
    let claude = adapter("claude");
    let call = call();
    let mut reader = Reader::new(&claude, &call);
    let answer = |id: &str, tokens: u64| {
        let usage = json!({"input_tokens": tokens, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0});
        format!(
            "{}\n",
            json!({"type": "assistant", "message": {"id": id, "content": [{"type": "text", "text": "x"}], "usage": usage}, "parent_tool_use_id": null})
        )
    };
    for id in ["m1", "m1", "m2"] {
        reader.stdout(answer(id, 100).as_bytes());
    }
    let spent = reader.spent();
    assert_eq!(
        (spent.turns, spent.tokens.total()),
        (Some(2), 202),
        "a message of two lines is one"
    );
    let over = |reader: &Reader<'_>, budget: Budget| reader.over_budget(&budget);
    let budget = Budget::default();
    assert_eq!(over(&reader, budget), None);
    assert_eq!(
        over(
            &reader,
            Budget {
                turns: Some(2),
                tokens: Some(202),
                ..budget
            }
        ),
        None
    );
    let words = over(
        &reader,
        Budget {
            turns: Some(1),
            ..budget
        },
    )
    .unwrap();
    assert_eq!(words, "its budget of 1 turns is used up");
    let words = over(
        &reader,
        Budget {
            tokens: Some(200),
            ..budget
        },
    )
    .unwrap();
    assert_eq!(words, "its budget of 200 tokens is used up (202 so far)");
    assert_eq!(
        over(
            &reader,
            Budget {
                usd: Some(0.0),
                ..budget
            }
        ),
        None,
        "what is not known cannot be watched"
    );
    reader.stdout(result(json!({})).as_bytes());
    assert_eq!(
        over(
            &reader,
            Budget {
                turns: Some(1),
                ..budget
            }
        ),
        None,
        "it is over by itself"
    );
}

#[test]
fn what_it_does_is_shown_in_a_line() {
    let claude = adapter("claude");
    let call = call();
    let mut reader = Reader::new(&claude, &call);
    let (stdout, _) = recorded("claude", "tool-use");
    let mut shown = Vec::new();
    for line in stdout.split_inclusive('\n') {
        reader.stdout(line.as_bytes());
        shown.push(reader.activity().unwrap().to_owned());
    }
    assert_eq!(shown[0], "started with claude-sonnet-5-5");
    assert_eq!(shown[1], "Bash: echo hi-1");
    assert_eq!(shown[3], "Done.");
    let codex = adapter("codex");
    let mut reader = Reader::new(&codex, &call);
    let (stdout, _) = recorded("codex", "tool-use");
    let start = stdout
        .find("{\"type\":\"item.completed\",\"item\":{\"id\":\"item_1\"")
        .unwrap();
    reader.stdout(&stdout.as_bytes()[..start]);
    assert_eq!(
        reader.activity(),
        Some("/bin/bash -lc 'echo hi; touch made'")
    );
}

#[test]
fn one_object_over_many_lines_can_be_read_by_an_adapter_of_ones_own() {
    let yaml = "
executable: mine
call: [[run, '{prompt}']]
read:
  stream: json
  rules:
    - {when: {/status: done}, take: {text: /answer, session: /id}, ends: ok}
    - {ends: failed}
";
    let overrides: Overrides = serde_saphyr::from_str(yaml).unwrap();
    let mine: Adapter = adapter("command").with("mine", overrides);
    assert_eq!(
        (mine.kind.as_str(), mine.verified.as_deref()),
        ("command", None)
    );
    let read = |text: &str, code: i32| outcome(&mine, &call(), (text, ""), &exited(code));
    let ok = read(
        "{\n  \"status\": \"done\",\n  \"answer\": \"42\",\n  \"id\": \"s\"\n}\n",
        0,
    );
    assert_eq!(
        (ok.status, ok.text.as_deref(), ok.session.as_deref()),
        (Status::Ok, Some("42"), Some("s"))
    );
    assert_eq!(read("{\"status\": \"lost\"}", 0).status, Status::Failed);
    assert_eq!(read("not JSON", 0).status, Status::NoResult);
    assert!(read("not JSON", 0).reason.contains("not JSON"));
}
