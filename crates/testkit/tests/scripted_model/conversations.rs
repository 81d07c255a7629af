//! Which turn whom, in both protocols.

use std::thread;

use beads_ralph_testkit::scripted_model::{Protocol, ScriptedModel};
use serde_json::{Value, json};

use crate::client::{
    Client, MAX_WAIT, ask, ask_responses, call, item, messages, responses, said, text,
};

const TWO_SESSIONS: &str = "
rules:
  - name: dev
    contains: [greet]
    sessions:
      - - run: echo one
          usage: {input: 7, output: 5, cache_read: 3, cache_write: 2}
        - say: first
      - - run: echo two
        - say: second
";

#[test]
fn claude_gets_a_command_and_after_its_result_the_end() {
    let model = ScriptedModel::with(TWO_SESSIONS);
    let mut client = Client::new(&model);
    let answer = ask(&mut client, "s1", &messages("greet them", &[]));
    let events = answer.events();
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    assert_eq!(events[0]["message"]["model"], "some-model");
    assert_eq!(events[0]["message"]["content"], json!([]));
    let usage = json!({"input_tokens": 7, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 5});
    assert_eq!(events[4]["usage"], usage);
    let (id, tool, input) = call(&answer);
    assert_eq!(
        (tool.as_str(), &input["command"]),
        ("Bash", &json!("echo one"))
    );

    let end = ask(&mut client, "s1", &messages("greet them", &[&id]));
    assert_eq!(said(&end), "first");
    let asked = model.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(
        (asked[1].protocol, asked[1].session.as_str()),
        (Protocol::Messages, "s1")
    );
    assert_eq!(
        (asked[1].prompt.as_str(), asked[1].system.as_str()),
        ("greet them", "Be good.")
    );
    assert_eq!(asked[1].results, [format!("result of {id}")]);
    let done = asked[1].done.as_ref().unwrap();
    assert_eq!(
        (done.rule.as_str(), done.n_session, done.n_turn),
        ("dev", 1, 2)
    );
}

#[test]
fn codex_gets_a_command_and_after_its_result_the_end() {
    let model = ScriptedModel::with(TWO_SESSIONS);
    let mut client = Client::new(&model);
    let answer = ask_responses(&mut client, "s1", &responses("greet them", &[]));
    let events = answer.events();
    assert_eq!(events[0]["type"], "response.created");
    assert_eq!(events[2]["type"], "response.completed");
    let usage = &events[2]["response"]["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["total_tokens"]),
        (&json!(12), &json!(17))
    );
    assert_eq!(usage["input_tokens_details"]["cached_tokens"], 3);
    let called = item(&answer);
    assert_eq!(called["name"], "exec_command");
    let arguments: Value = serde_json::from_str(called["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments["cmd"], "echo one");

    let id = text(&called["call_id"]);
    let end = ask_responses(&mut client, "s1", &responses("greet them", &[&id]));
    assert_eq!(item(&end)["content"][0]["text"], "first");
    let asked = model.asked();
    assert_eq!(
        (asked[1].protocol, asked[1].prompt.as_str()),
        (Protocol::Responses, "greet them")
    );
    assert_eq!(asked[1].results, [format!("result of {id}")]);
    assert!(asked[1].system.contains("Be good."));
}

#[test]
fn sessions_that_run_at_once_are_told_apart() {
    let model = ScriptedModel::with(TWO_SESSIONS);
    let begin = |session: &str| {
        let mut client = Client::new(&model);
        let answer = ask(&mut client, session, &messages("greet", &[]));
        let (id, _, input) = call(&answer);
        (client, id, text(&input["command"]))
    };
    let (mut one, first, command) = begin("one");
    assert_eq!(command, "echo one");
    let (mut two, second, command) = begin("two");
    assert_eq!(command, "echo two");
    assert_ne!(first, second);
    let finish = |client: &mut Client, session: &str, id: &str| {
        said(&ask(client, session, &messages("greet", &[id])))
    };
    thread::scope(|scope| {
        let second = scope.spawn(|| finish(&mut two, "two", &second));
        let first = scope.spawn(|| finish(&mut one, "one", &first));
        assert_eq!(
            (first.join().unwrap(), second.join().unwrap()),
            ("first".to_owned(), "second".to_owned())
        );
    });
    assert_eq!(model.asked().len(), 4);
}

#[test]
fn a_session_without_a_header_is_known_by_its_body() {
    let model = ScriptedModel::with(TWO_SESSIONS);
    let mut client = Client::new(&model);
    let mut body = messages("greet", &[]);
    body["metadata"] = json!({"user_id": json!({"session_id": "inside"}).to_string()});
    client.post("/v1/messages", &[], &body);
    client.post("/v1/responses", &[], &responses("greet", &[]));
    let sessions: Vec<String> = model
        .asked()
        .into_iter()
        .map(|asked| asked.session)
        .collect();
    assert_eq!(sessions, ["inside", "from-the-key"]);
}

#[test]
fn a_session_that_is_resumed_begins_a_new_conversation() {
    let model = ScriptedModel::with(TWO_SESSIONS);
    let mut client = Client::new(&model);
    let (id, _, _) = call(&ask(&mut client, "s", &messages("greet", &[])));
    let mut body = messages("greet", &[&id]);
    ask(&mut client, "s", &body);
    let history = body["messages"].as_array_mut().unwrap();
    history.push(json!({"role": "assistant", "content": [{"type": "text", "text": "first"}]}));
    history.push(json!({"role": "user", "content": "greet better"}));
    let (_, _, input) = call(&ask(&mut client, "s", &body));
    assert_eq!(input["command"], "echo two");
    let last = model.asked().pop().unwrap();
    assert_eq!(
        (last.prompt.as_str(), last.results.len()),
        ("greet better", 0)
    );
}

#[test]
fn a_codex_session_that_is_resumed_begins_a_new_conversation() {
    let model = ScriptedModel::with(TWO_SESSIONS);
    let mut client = Client::new(&model);
    let id = text(&item(&ask_responses(&mut client, "s", &responses("greet", &[])))["call_id"]);
    let mut body = responses("greet", &[&id]);
    ask_responses(&mut client, "s", &body);
    let history = body["input"].as_array_mut().unwrap();
    history.push(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "first"}]}));
    history.push(json!({"type": "message", "role": "user", "content": "<environment_context>\n</environment_context>"}));
    history.push(json!({"type": "message", "role": "user", "content": "greet better"}));
    let answer = ask_responses(&mut client, "s", &body);
    assert!(text(&item(&answer)["arguments"]).contains("echo two"));
    assert_eq!(model.asked().pop().unwrap().prompt, "greet better");
}

#[test]
fn what_the_program_says_for_itself_is_no_prompt() {
    let model = ScriptedModel::with(
        "rules: [{sessions: [[{run: a}, {say: early}, {report: {ok: true}}]]}]",
    );
    let mut client = Client::new(&model);
    let mut body = messages("do it", &[]);
    body["tools"] = json!([{"name": "Bash"}, {"name": "StructuredOutput"}]);
    let (id, _, _) = call(&ask(&mut client, "s", &body));
    let reminder = json!({"type": "text", "text": "<system-reminder>be quick</system-reminder>"});
    let mut next = messages("do it", &[&id]);
    next["tools"] = body["tools"].clone();
    next["messages"][2]["content"]
        .as_array_mut()
        .unwrap()
        .push(reminder);
    assert_eq!(said(&ask(&mut client, "s", &next)), "early");
    let nag =
        json!({"type": "text", "text": "[structured-output-enforce] You MUST call the tool."});
    let history = next["messages"].as_array_mut().unwrap();
    history.push(json!({"role": "assistant", "content": [{"type": "text", "text": "early"}]}));
    history.push(json!({"role": "user", "content": [nag]}));
    let (_, tool, input) = call(&ask(&mut client, "s", &next));
    assert_eq!(
        (tool.as_str(), input),
        ("StructuredOutput", json!({"ok": true}))
    );
}

#[test]
fn structured_output_is_a_call_or_a_text() {
    let model = ScriptedModel::with("rules: [{sessions: [[{report: {ok: true}}]]}]");
    let mut client = Client::new(&model);
    assert_eq!(
        said(&ask(&mut client, "a", &messages("x", &[]))),
        r#"{"ok":true}"#
    );
    let mut body = messages("x", &[]);
    body["tools"] = json!([{"name": "StructuredOutput"}]);
    let (_, tool, input) = call(&ask(&mut client, "b", &body));
    assert_eq!(
        (tool.as_str(), input),
        ("StructuredOutput", json!({"ok": true}))
    );
    let answer = ask_responses(&mut client, "c", &responses("x", &[]));
    assert_eq!(item(&answer)["content"][0]["text"], r#"{"ok":true}"#);
}

#[test]
fn results_of_other_tools_do_not_count() {
    let model = ScriptedModel::with("rules: [{sessions: [[{run: a}, {say: b}]]}]");
    let mut client = Client::new(&model);
    let (id, _, _) = call(&ask(&mut client, "s", &messages("x", &[])));
    call(&ask(&mut client, "s", &messages("x", &["toolu_other"])));
    assert_eq!(
        said(&ask(
            &mut client,
            "s",
            &messages("x", &["toolu_other", &id])
        )),
        "b"
    );
}

#[test]
fn who_asks_in_passing_is_answered_and_not_counted() {
    let model = ScriptedModel::with(TWO_SESSIONS);
    let mut client = Client::new(&model);
    let mut body = messages("a title for: greet", &[]);
    body["tools"] = json!([]);
    assert_eq!(said(&ask(&mut client, "s", &body)), "ok");
    assert_eq!((model.asked().len(), model.n_asides()), (0, 1));
    call(&ask(&mut client, "s", &messages("greet", &[])));
    assert_eq!(model.asked()[0].done.as_ref().unwrap().n_session, 1);
}

#[test]
fn a_test_can_wait_for_a_question() {
    let model = ScriptedModel::with("rules: [{sessions: [[{say: x}]]}]");
    thread::scope(|scope| {
        scope.spawn(|| ask(&mut Client::new(&model), "s", &messages("later", &[])));
        assert!(model.wait_until(MAX_WAIT, |asked| {
            asked.iter().any(|asked| asked.prompt == "later")
        }));
    });
    assert!(!model.wait_until(std::time::Duration::ZERO, |asked| asked.len() > 1));
}
