//! What the real `claude` makes of what a model does.

use beads_ralph_testkit::scripted_model::Login;
use serde_json::{Value, json};

use crate::world::{Ended, MAX_WAIT, RealWorld};

const BYPASS: &str = "--dangerously-skip-permissions";
const SCHEMA: &str =
    r#"{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}"#;

/// Runs a scenario to its end.
#[track_caller]
fn run(scenario: &str, args: &[&str]) -> (RealWorld, Ended) {
    let world = RealWorld::new(scenario);
    let args = [&[BYPASS], args].concat();
    let ended = world.claude(Login::Key, "Do the work.", &args).run();
    (world, ended)
}

/// The final event of a run that failed while it called itself a success.
#[track_caller]
fn failed(ended: Ended) -> Value {
    let result = ended.exits(1).last("result");
    assert_eq!(
        (&result["subtype"], &result["is_error"]),
        (&json!("success"), &json!(true))
    );
    result
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn it_runs_commands_and_ends_with_a_text() {
    let (world, ended) = run(
        "rules:
           - contains: [Do the work]
             sessions:
               - - run: echo one >f && git add f && git commit -qm 'add f' && echo made
                   usage: {input: 1000, output: 10, cache_read: 50}
                 - run: cat f; exit 3
                 - say: All done.",
        &["--session-id", "11111111-2222-4333-8444-555555555555"],
    );
    let result = ended.exits(0).last("result");
    assert_eq!(
        (&result["subtype"], &result["is_error"]),
        (&json!("success"), &json!(false))
    );
    assert_eq!(
        (&result["result"], &result["num_turns"]),
        (&json!("All done."), &json!(3))
    );
    assert_eq!(result["usage"]["input_tokens"], 1200);
    assert!(result["total_cost_usd"].as_f64().unwrap() > 0.0, "{result}");
    assert_eq!(world.text("f"), "one\n");
    assert_eq!(world.git(&["log", "-1", "--format=%s"]), "add f");

    let asked = world.model().asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0].session, "11111111-2222-4333-8444-555555555555");
    assert_eq!(asked[0].prompt, "Do the work.");
    assert!(
        asked[2].results[0].contains("made") && asked[2].results[1].contains("Exit code 3"),
        "{asked:#?}"
    );
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn a_resumed_session_is_the_next_one_of_its_rule() {
    let world = RealWorld::new("rules: [{sessions: [[{run: 'true'}, {say: one}], [{say: two}]]}]");
    let id = "11111111-2222-4333-8444-666666666666";
    let first = world
        .claude(Login::Key, "Do the work.", &[BYPASS, "--session-id", id])
        .run();
    let first = first.exits(0).last("result");
    let second = world
        .claude(Login::Key, "It is wrong.", &[BYPASS, "--resume", id])
        .run();
    let second = second.exits(0).last("result");
    assert_eq!(
        (&second["result"], &second["session_id"]),
        (&json!("two"), &json!(id))
    );
    let asked = world.model().asked();
    let prompts: Vec<&str> = asked.iter().map(|asked| asked.prompt.as_str()).collect();
    assert_eq!(prompts, ["Do the work.", "Do the work.", "It is wrong."]);
    // The cost is that of the whole session, the usage that of this call.
    let cost = |result: &Value| result["total_cost_usd"].as_f64().unwrap();
    assert!(cost(&second) > cost(&first), "{first} {second}");
    assert_eq!(
        (
            &first["usage"]["input_tokens"],
            &second["usage"]["input_tokens"]
        ),
        (&json!(200), &json!(100))
    );
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn it_gives_structured_output() {
    let (_world, ended) = run(
        "rules: [{sessions: [[{run: 'true'}, {report: {ok: true}}]]}]",
        &["--json-schema", SCHEMA],
    );
    let result = ended.exits(0).last("result");
    assert_eq!(result["structured_output"], json!({"ok": true}));
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn it_calls_itself_successful_without_the_structured_output_that_was_wanted() {
    let (world, ended) = run(
        "rules: [{sessions: [[{say: I did it.}]]}]",
        &["--json-schema", SCHEMA],
    );
    let result = ended.exits(0).last("result");
    assert_eq!(
        (&result["subtype"], &result["is_error"]),
        (&json!("success"), &json!(false))
    );
    assert_eq!(result.get("structured_output"), None);
    assert_eq!(world.model().asked().len(), 2, "it insists once");
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn it_says_when_the_structured_output_never_fits() {
    let (_world, ended) = run(
        "rules: [{sessions: [[{report: {ok: 5}}]]}]",
        &["--json-schema", SCHEMA],
    );
    let result = ended.exits(1).last("result");
    assert_eq!(result["subtype"], "error_max_structured_output_retries");
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn it_tries_again_after_a_429() {
    let (world, ended) = run(
        "rules: [{sessions: [[{fail: {status: 429, retry_after: 0}}, {say: At last.}]]}]",
        &[],
    );
    let ended = ended.exits(0);
    assert_eq!(ended.last("result")["result"], "At last.");
    let system = ended.of_type("system");
    let retry = system
        .iter()
        .find(|event| event["subtype"] == "api_retry")
        .unwrap();
    assert_eq!(
        (&retry["error_status"], &retry["error"]),
        (&json!(429), &json!("rate_limit"))
    );
    assert_eq!(world.model().asked().len(), 2);
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn being_limited_for_ever_is_a_success_that_is_an_error() {
    let (_world, ended) = run(
        "rules: [{sessions: [[{fail: {status: 429, retry_after: 0}}]]}]",
        &[],
    );
    assert_eq!(failed(ended)["api_error_status"], 429);
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn an_overload_and_a_bad_key_are_told_by_their_status() {
    for status in [529, 500, 401] {
        let scenario = format!("rules: [{{sessions: [[{{fail: {{status: {status}}}}}]]}}]");
        let (_world, ended) = run(&scenario, &[]);
        assert_eq!(failed(ended)["api_error_status"], status);
    }
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn the_limit_of_a_plan_says_when_it_ends() {
    let world =
        RealWorld::new("rules: [{sessions: [[{fail: {status: 429, resets_at: 1900000000}}]]}]");
    let ended = world.claude(Login::Plan, "Do the work.", &[BYPASS]).run();
    let limits = ended.of_type("rate_limit_event");
    let info = &limits[0]["rate_limit_info"];
    assert_eq!(
        (&info["status"], &info["resetsAt"]),
        (&json!("rejected"), &json!(1_900_000_000))
    );
    let result = failed(ended);
    assert_eq!(
        (&result["api_error_status"], &result["api_error"]),
        (&json!(429), &json!("usage_limit_reached"))
    );
    assert_eq!(world.model().asked().len(), 1, "it does not try again");
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn a_connection_that_is_always_cut_has_no_status() {
    for cut in ["before", "midway"] {
        let (_world, ended) = run(&format!("rules: [{{sessions: [[{{cut: {cut}}}]]}}]"), &[]);
        let result = failed(ended);
        assert_eq!(
            (&result["api_error_status"], &result["api_error"]),
            (&Value::Null, &json!("connection_failed"))
        );
    }
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn it_goes_on_after_a_cut_connection() {
    let (world, ended) = run(
        "rules: [{sessions: [[{run: echo x >f}, {cut: midway}, {say: Whole.}]]}]",
        &[],
    );
    assert_eq!(ended.exits(0).last("result")["result"], "Whole.");
    assert_eq!(world.text("f"), "x\n");
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn garbage_is_an_error() {
    let (_world, ended) = run("rules: [{sessions: [[{garbage: <html>}]]}]", &[]);
    assert_eq!(failed(ended)["api_error_status"], Value::Null);
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn it_waits_for_a_silent_model_until_it_is_ended_and_then_gives_no_result() {
    let world = RealWorld::new("rules: [{sessions: [[{hang: forever}]]}]");
    let running = world.claude(Login::Key, "Do the work.", &[BYPASS]).start();
    assert!(world.model().wait_until(MAX_WAIT, |asked| asked.len() == 1));
    running.terminate();
    let ended = running.end();
    assert!(
        ended.code == Some(143) || ended.signal == Some(15),
        "{ended:#?}"
    );
    assert!(ended.of_type("result").is_empty(), "{ended:#?}");
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn a_budget_ends_it() {
    let (world, ended) = run(
        "rules: [{sessions: [[{run: echo x, usage: {input: 2000000, output: 100000}}, {say: Done.}]]}]",
        &["--max-budget-usd", "1"],
    );
    let result = ended.exits(1).last("result");
    assert_eq!(
        (&result["subtype"], &result["is_error"]),
        (&json!("error_max_budget_usd"), &json!(true))
    );
    assert_eq!(world.model().asked().len(), 1);
    assert!(result["total_cost_usd"].as_f64().unwrap() > 1.0, "{result}");
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn an_unknown_agent_is_refused_before_anything_is_asked() {
    let (world, ended) = run("rules: [{sessions: [[{say: x}]]}]", &["--agent", "nobody"]);
    let ended = ended.exits(1);
    assert_eq!(ended.stdout, "");
    assert!(
        ended.stderr.contains("--agent 'nobody' not found"),
        "{ended:#?}"
    );
    assert!(world.model().asked().is_empty());
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn what_it_may_not_do_is_listed_and_no_error() {
    let world = RealWorld::new("rules: [{sessions: [[{run: echo x >f}, {say: I could not.}]]}]");
    let ended = world
        .claude(
            Login::Key,
            "Do the work.",
            &["--permission-mode", "dontAsk"],
        )
        .run();
    let result = ended.exits(0).last("result");
    assert_eq!(
        (&result["subtype"], &result["is_error"]),
        (&json!("success"), &json!(false))
    );
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn what_no_rule_fits_is_told() {
    let (_world, ended) = run("rules: [{contains: [play], sessions: [[{say: x}]]}]", &[]);
    let result = failed(ended);
    assert_eq!(result["api_error_status"], 400);
    assert!(
        result["result"]
            .as_str()
            .unwrap()
            .contains("no rule of the scenario"),
        "{result}"
    );
}
