//! Refusals, silence, broken connections and nonsense.

use beads_ralph_testkit::scripted_model::ScriptedModel;
use serde_json::json;

use crate::client::{Client, MAX_WAIT, ask, ask_responses, messages, responses, said};

#[test]
fn a_refusal_has_its_status_and_says_why() {
    let model = ScriptedModel::with(
        "rules: [{sessions: [[{fail: {status: 429, retry_after: 3, message: slowly}}, {fail: {status: 529}}, {fail: {status: 401}}, {say: at last}]]}]",
    );
    let mut client = Client::new(&model);
    let body = messages("x", &[]);
    let limited = ask(&mut client, "s", &body);
    assert_eq!(
        (limited.status, limited.header("retry-after")),
        (429, Some("3"))
    );
    let error =
        json!({"type": "error", "error": {"type": "rate_limit_error", "message": "slowly"}});
    assert_eq!(limited.json(), error);
    let overloaded = ask(&mut client, "s", &body);
    assert_eq!(
        (overloaded.status, overloaded.header("retry-after")),
        (529, None)
    );
    assert_eq!(overloaded.json()["error"]["type"], "overloaded_error");
    assert_eq!(
        ask(&mut client, "s", &body).json()["error"]["type"],
        "authentication_error"
    );
    assert_eq!(said(&ask(&mut client, "s", &body)), "at last");
}

#[test]
fn a_limit_says_when_it_ends() {
    let model = ScriptedModel::with(
        "rules: [{sessions: [[{fail: {status: 429, resets_at: 1800000000}}]]}]",
    );
    let mut client = Client::new(&model);
    let answer = ask(&mut client, "s", &messages("x", &[]));
    assert_eq!(answer.status, 429);
    assert_eq!(
        answer.header("anthropic-ratelimit-unified-status"),
        Some("rejected")
    );
    assert_eq!(
        answer.header("anthropic-ratelimit-unified-reset"),
        Some("1800000000")
    );
    let answer = ask_responses(&mut client, "t", &responses("x", &[]));
    let error = &answer.json()["error"];
    assert_eq!(
        (answer.status, &error["type"]),
        (429, &json!("usage_limit_reached"))
    );
    assert_eq!(error["resets_at"], 1_800_000_000);
}

#[test]
fn codex_is_refused_in_its_own_words() {
    let model = ScriptedModel::with(
        "rules: [{sessions: [[{fail: {status: 401}}, {fail: {status: 500}}, {fail: {status: 429}}]]}]",
    );
    let mut client = Client::new(&model);
    let mut kind =
        || ask_responses(&mut client, "s", &responses("x", &[])).json()["error"]["type"].take();
    assert_eq!(
        [kind(), kind(), kind(), kind()],
        [
            "invalid_api_key",
            "server_error",
            "rate_limit_exceeded",
            "rate_limit_exceeded"
        ]
    );
}

#[test]
fn a_connection_is_cut_before_the_answer_or_in_its_middle() {
    let model =
        ScriptedModel::with("rules: [{sessions: [[{cut: before}, {cut: midway}, {say: whole}]]}]");
    let mut client = Client::new(&model);
    client.send_post("/v1/messages", &[], &messages("x", &[]));
    assert!(client.answer().is_none());
    let mut client = Client::new(&model);
    let half = ask(&mut client, "", &messages("x", &[]));
    assert!(!half.is_whole);
    let events = half.events();
    assert_eq!(
        (events.len(), &events[2]["type"]),
        (3, &json!("content_block_delta"))
    );
    assert!(client.answer().is_none());
    assert_eq!(
        said(&ask(&mut Client::new(&model), "", &messages("x", &[]))),
        "whole"
    );
}

#[test]
fn a_codex_stream_is_cut_in_its_middle() {
    let model = ScriptedModel::with("rules: [{sessions: [[{cut: midway}]]}]");
    let half = ask_responses(&mut Client::new(&model), "s", &responses("x", &[]));
    assert!(!half.is_whole && half.events().len() == 2, "{half:?}");
}

#[test]
fn silence_lasts_as_long_as_it_is_to() {
    let model = ScriptedModel::with("rules: [{sessions: [[{hang: 20ms}, {say: x, delay: 20ms}]]}]");
    let mut client = Client::new(&model);
    client.send_post("/v1/messages", &[], &messages("x", &[]));
    assert!(client.answer().is_none());
    assert_eq!(
        said(&ask(&mut Client::new(&model), "", &messages("x", &[]))),
        "x"
    );
}

#[test]
fn a_model_that_is_silent_for_ever_can_be_stopped() {
    let model = ScriptedModel::with("rules: [{sessions: [[{hang: forever}]]}]");
    let address = model.address();
    let mut clients: Vec<Client> = (0..5).map(|_| Client::new(&model)).collect();
    for client in &mut clients {
        client.send_post("/v1/messages", &[], &messages("x", &[]));
    }
    let idle = Client::new(&model);
    assert!(model.wait_until(MAX_WAIT, |asked| asked.len() == 5));
    drop(model);
    for mut client in clients {
        assert!(client.answer().is_none());
    }
    drop(idle);
    assert!(
        std::net::TcpStream::connect(address).is_err(),
        "nobody listens any more"
    );
}

#[test]
fn nonsense_comes_as_it_is_written() {
    let model = ScriptedModel::with("rules: [{sessions: [[{garbage: \"data: {\\\"type\\\":\"}]]}]");
    let answer = ask(&mut Client::new(&model), "s", &messages("x", &[]));
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, "data: {\"type\":\n\n")
    );
}

#[test]
fn what_no_rule_fits_is_refused_and_kept() {
    let model = ScriptedModel::with("rules: [{contains: [a], sessions: [[{say: x}]]}]");
    let answer = ask(
        &mut Client::new(&model),
        "s",
        &messages("something else", &[]),
    );
    assert_eq!(answer.status, 400);
    let error = answer.json();
    let message = error["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("no rule") && message.contains("something else"),
        "{message}"
    );
    let asked = model.asked();
    assert_eq!((asked.len(), &asked[0].done), (1, &None));
}

#[test]
fn a_command_needs_a_tool() {
    let model = ScriptedModel::with("rules: [{sessions: [[{run: a}, {say: b}]]}]");
    let mut body = messages("x", &[]);
    body["tools"] = json!([{"name": "StructuredOutput"}]);
    let answer = ask(&mut Client::new(&model), "s", &body);
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("no tool for it"), "{}", answer.body);
}
