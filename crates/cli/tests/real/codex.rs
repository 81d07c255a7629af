//! What the real `codex` makes of what a model does.

use serde_json::{Value, json};

use crate::world::{Ended, MAX_WAIT, RealWorld};

const SCHEMA: &str = r#"{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}"#;

/// Runs a scenario to its end.
#[track_caller]
fn run(scenario: &str, args: &[&str]) -> (RealWorld, Ended) {
    let world = RealWorld::new(scenario);
    let ended = world.codex("Do the work.", args).run();
    (world, ended)
}

/// The last thing that the agent said.
#[track_caller]
fn said(ended: &Ended) -> Value {
    let items = ended.of_type("item.completed").into_iter();
    let mut messages = items.filter(|event| event["item"]["type"] == "agent_message");
    messages.next_back().unwrap()["item"]["text"].clone()
}

/// Why the turn failed.
#[track_caller]
fn failure(ended: Ended) -> String {
    let failed = ended.exits(1).last("turn.failed");
    failed["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn it_runs_commands_and_ends_with_a_text() {
    let (world, ended) = run(
        "rules:
           - contains: [Do the work]
             sessions:
               - - run: echo one >f && git add f && git commit -qm 'add f' && echo made
                   usage: {input: 1000, output: 10, cache_read: 50}
                 - run: cat f; exit 3
                 - say: All done.",
        &[],
    );
    let ended = ended.exits(0);
    assert_eq!(said(&ended), "All done.");
    let usage = ended.last("turn.completed")["usage"].take();
    assert_eq!(
        (
            &usage["input_tokens"],
            &usage["cached_input_tokens"],
            &usage["output_tokens"]
        ),
        (&json!(1250), &json!(50), &json!(50))
    );
    let items = ended.of_type("item.completed");
    let commands: Vec<&Value> = (items.iter().map(|event| &event["item"]))
        .filter(|item| item["type"] == "command_execution")
        .map(|item| &item["exit_code"])
        .collect();
    assert_eq!(commands, [&json!(0), &json!(3)]);
    assert_eq!(world.text("f"), "one\n");
    assert_eq!(world.git(&["log", "-1", "--format=%s"]), "add f");

    let asked = world.model().asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(ended.events()[0]["thread_id"], json!(asked[0].session));
    assert_eq!(asked[0].prompt, "Do the work.");
    assert!(
        asked[2].results[0].contains("made") && asked[2].results[1].contains("code 3"),
        "{asked:#?}"
    );
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn the_instructions_of_a_project_are_no_prompt() {
    let world = RealWorld::new("rules: [{lacks: [never], sessions: [[{say: Good.}]]}]");
    world.write("AGENTS.md", "Say never.\n");
    let ended = world.codex("Do the work.", &[]).run().exits(0);
    assert_eq!(said(&ended), "Good.");
    assert_eq!(world.model().asked()[0].prompt, "Do the work.");
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn a_resumed_session_is_the_next_one_of_its_rule_and_its_usage_is_the_sum() {
    let world = RealWorld::new("rules: [{sessions: [[{run: 'true'}, {say: one}], [{say: two}]]}]");
    let first = world.codex("Do the work.", &[]).run().exits(0);
    let thread = first.events()[0]["thread_id"].as_str().unwrap().to_owned();
    let second = world
        .codex("It is wrong.", &["resume", &thread])
        .run()
        .exits(0);
    assert_eq!(said(&second), "two");
    assert_eq!(second.events()[0]["thread_id"], json!(thread));
    let asked = world.model().asked();
    let prompts: Vec<&str> = asked.iter().map(|asked| asked.prompt.as_str()).collect();
    assert_eq!(prompts, ["Do the work.", "Do the work.", "It is wrong."]);
    let tokens = |ended: &Ended| ended.last("turn.completed")["usage"]["input_tokens"].take();
    assert_eq!((tokens(&first), tokens(&second)), (json!(200), json!(300)));
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn it_gives_structured_output_as_its_last_text() {
    let world = RealWorld::new("rules: [{sessions: [[{run: 'true'}, {report: {ok: true}}]]}]");
    let schema = world.write("schema.json", SCHEMA);
    let last = world.work().join("last.json");
    let ended = world
        .codex(
            "Do the work.",
            &["--output-schema", schema.as_str(), "-o", last.as_str()],
        )
        .run();
    assert_eq!(said(&ended.exits(0)), r#"{"ok":true}"#);
    assert_eq!(world.text("last.json"), r#"{"ok":true}"#);
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn it_completes_with_a_text_that_does_not_fit_the_schema() {
    let world = RealWorld::new("rules: [{sessions: [[{say: I did it.}]]}]");
    let schema = world.write("schema.json", SCHEMA);
    let ended = world
        .codex("Do the work.", &["--output-schema", schema.as_str()])
        .run()
        .exits(0);
    assert_eq!(said(&ended), "I did it.");
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn it_tries_again_after_a_429_and_an_error_event_is_not_the_end() {
    let (world, ended) = run(
        "rules: [{sessions: [[{fail: {status: 429, retry_after: 0}}, {say: At last.}]]}]",
        &[],
    );
    let ended = ended.exits(0);
    assert_eq!(said(&ended), "At last.");
    let errors = ended.of_type("error");
    assert!(
        errors[0]["message"]
            .as_str()
            .unwrap()
            .starts_with("Reconnecting"),
        "{errors:?}"
    );
    assert_eq!(ended.last("turn.completed")["usage"]["input_tokens"], 100);
    assert_eq!(world.model().asked().len(), 2);
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn being_limited_for_ever_fails_the_turn() {
    let (_world, ended) = run(
        "rules: [{sessions: [[{fail: {status: 429, retry_after: 0}}]]}]",
        &[],
    );
    let message = failure(ended);
    assert!(message.contains("429 Too Many Requests"), "{message}");
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn the_limit_of_a_plan_says_when_it_ends() {
    let (world, ended) = run(
        "rules: [{sessions: [[{fail: {status: 429, resets_at: 1900000000}}]]}]",
        &[],
    );
    let message = failure(ended);
    assert!(
        message.contains("hit your usage limit") && message.contains("Mar 17th, 2030"),
        "{message}"
    );
    assert_eq!(world.model().asked().len(), 1, "it does not try again");
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn a_bad_key_and_a_broken_service_fail_the_turn() {
    for (status, expected) in [(401, "401 Unauthorized"), (500, "high demand")] {
        let scenario = format!("rules: [{{sessions: [[{{fail: {{status: {status}}}}}]]}}]");
        let (_world, ended) = run(&scenario, &[]);
        let message = failure(ended);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn a_connection_that_is_always_cut_fails_the_turn() {
    for cut in ["before", "midway"] {
        let (_world, ended) = run(&format!("rules: [{{sessions: [[{{cut: {cut}}}]]}}]"), &[]);
        let message = failure(ended);
        assert!(message.contains("stream disconnected"), "{message}");
    }
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn it_goes_on_after_a_cut_connection() {
    let (world, ended) = run(
        "rules: [{sessions: [[{run: echo x >f}, {cut: midway}, {say: Whole.}]]}]",
        &[],
    );
    assert_eq!(said(&ended.exits(0)), "Whole.");
    assert_eq!(world.text("f"), "x\n");
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn garbage_fails_the_turn() {
    let (_world, ended) = run("rules: [{sessions: [[{garbage: <html>}]]}]", &[]);
    let message = failure(ended);
    assert!(message.contains("stream"), "{message}");
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn it_waits_for_a_silent_model_until_it_is_ended_and_then_completes_nothing() {
    let world = RealWorld::new("rules: [{sessions: [[{hang: forever}]]}]");
    let running = world.codex("Do the work.", &[]).start();
    assert!(world.model().wait_until(MAX_WAIT, |asked| asked.len() == 1));
    running.terminate();
    let ended = running.end();
    assert_ne!(ended.code, Some(0), "{ended:#?}");
    for kind in ["turn.completed", "turn.failed"] {
        assert!(ended.of_type(kind).is_empty(), "{ended:#?}");
    }
}
