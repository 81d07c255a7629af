//! The scripted agent: a stand-in for a real one, which does real work and speaks the dialect of `claude`.

mod reading;

use std::time::Duration;

use beads_ralph_runtime::os::process::{
    self, Cancel, Ending, Environment, Limits, Mark, Silent, Spec, Stdin, Stopped, Units,
};
use camino::Utf8Path;
use serde_json::{Value, json};

use crate::env::{Output, TestEnv};

/// A world with a scenario.
fn world(scenario: &str) -> TestEnv {
    let env = TestEnv::new();
    env.write("scenario.yaml", scenario);
    env
}

/// Runs the agent with a prompt.
#[track_caller]
fn run(env: &TestEnv, prompt: &str, args: &[&str]) -> Output {
    attempt(env, prompt, "", args)
}

#[track_caller]
fn attempt(env: &TestEnv, prompt: &str, attempt: &str, args: &[&str]) -> Output {
    let common = ["scripted-agent", "--scenario", "scenario.yaml"];
    let command = env.command(&[&common, args].concat());
    command
        .env("BEADS_RALPH_ATTEMPT", attempt)
        .stdin(prompt)
        .run()
}

#[track_caller]
fn lines(output: &Output) -> Vec<Value> {
    let lines = output.stdout.lines().map(serde_json::from_str);
    lines
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("{error}: {output:#?}"))
}

/// The last line, which is the result.
#[track_caller]
fn result(output: &Output) -> Value {
    let last = lines(output).pop().expect("a line");
    assert_eq!(last["type"], "result", "{output:#?}");
    last
}

#[test]
fn it_works_and_tells_of_it_as_claude_does() {
    let env = world(
        "rules:
           - contains: [hello]
             sessions:
               - - run: echo hello >f; echo made
                   usage: {input: 1000, output: 100, cache_read: 10, cache_write: 1}
                 - run: cat f >&2; exit 3
                 - run: 'true'
                 - say: Done.
                   delay: 1ms",
    );
    let output = run(&env, "say hello", &["--session", "s-1", "--model", "m"]).exits(0);
    assert_eq!(env.text("f"), "hello\n");
    let lines = lines(&output);
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "system",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant",
            "result"
        ]
    );
    assert!(
        lines.iter().all(|line| line["session_id"] == "s-1"),
        "{output:#?}"
    );
    assert_eq!(
        (&lines[0]["subtype"], &lines[0]["model"]),
        (&json!("init"), &json!("m"))
    );
    assert_eq!(lines[0]["cwd"], env.path("").as_str().trim_end_matches('/'));
    let call = &lines[1]["message"]["content"][0];
    assert_eq!(
        (&call["name"], &call["input"]["command"]),
        (&json!("Bash"), &json!("echo hello >f; echo made"))
    );
    let told = |n: usize| &lines[n]["message"]["content"][0];
    assert_eq!(told(2)["tool_use_id"], call["id"]);
    assert_eq!(
        (&told(2)["content"], &told(2)["is_error"]),
        (&json!("made"), &json!(false))
    );
    assert_eq!(
        (&told(4)["content"], &told(4)["is_error"]),
        (&json!("Exit code 3\nhello"), &json!(true))
    );
    assert_eq!(told(7)["text"], "Done.");

    let result = &lines[8];
    assert_eq!(
        (
            &result["subtype"],
            &result["is_error"],
            &result["api_error_status"]
        ),
        (&json!("success"), &json!(false), &Value::Null)
    );
    assert_eq!(
        (&result["result"], &result["num_turns"]),
        (&json!("Done."), &json!(4))
    );
    assert_eq!(result["usage"]["input_tokens"], 1300);
    let costs = &result["modelUsage"]["m"];
    assert_eq!(
        (&costs["inputTokens"], &costs["cacheCreationInputTokens"]),
        (&json!(1300), &json!(1))
    );
    // 1300 × 3, 160 × 15, 10 × 0.3 and 3.75 millionths of a dollar.
    let usd = result["total_cost_usd"].as_f64().unwrap();
    assert!((usd - 0.006_306_75).abs() < 1e-12, "{usd}");
}

#[test]
fn every_attempt_has_its_session() {
    let env = world("rules: [{sessions: [[{say: one}], [{say: two}]]}]");
    for (n, said) in [("", "one"), ("1", "one"), ("2", "two"), ("9", "two")] {
        let output = attempt(&env, "x", n, &[]).exits(0);
        assert_eq!(result(&output)["result"], said, "{n}");
    }
    let output = attempt(&env, "x", "second", &[]).exits(1);
    assert!(
        output
            .stderr
            .contains("invalid BEADS_RALPH_ATTEMPT 'second'"),
        "{output:#?}"
    );
}

#[test]
fn a_report_is_structured_output_when_it_is_wanted() {
    let env = world("rules: [{sessions: [[{report: {ok: true, n: 1.50}}]]}]");
    let wanted = result(&run(&env, "x", &["--schema", "{}"]).exits(0));
    assert_eq!(wanted["structured_output"], json!({"ok": true, "n": 1.5}));
    let unwanted = result(&run(&env, "x", &[]).exits(0));
    assert_eq!(unwanted.get("structured_output"), None);
    assert!(
        unwanted["result"]
            .as_str()
            .unwrap()
            .starts_with(r#"{"ok":true"#),
        "{unwanted}"
    );
}

#[test]
fn it_insists_once_on_the_report_that_was_wanted() {
    let env = world(
        "rules: [{sessions: [[{say: I did it.}, {report: {ok: true}}], [{say: I did it.}]]}]",
    );
    let late = result(&run(&env, "x", &["--schema", "{}"]).exits(0));
    assert_eq!(
        (&late["structured_output"], &late["num_turns"]),
        (&json!({"ok": true}), &json!(2))
    );
    let never = result(&attempt(&env, "x", "2", &["--schema", "{}"]).exits(0));
    assert_eq!(
        (never.get("structured_output"), &never["num_turns"]),
        (None, &json!(2))
    );
    assert_eq!(result(&run(&env, "x", &[]).exits(0))["result"], "I did it.");
}

#[test]
fn a_refusal_for_good_is_a_success_that_is_an_error() {
    for (status, text) in [
        (429, "Request rejected (429)"),
        (401, "Failed to authenticate"),
        (529, "529 busy"),
        (400, "400 busy"),
    ] {
        let env = world(&format!(
            "rules: [{{sessions: [[{{fail: {{status: {status}, message: busy}}}}]]}}]"
        ));
        let result = result(&run(&env, "x", &[]).exits(1));
        assert_eq!(
            (&result["subtype"], &result["is_error"]),
            (&json!("success"), &json!(true))
        );
        assert_eq!(result["api_error_status"], status);
        assert!(
            result["result"].as_str().unwrap().contains(text),
            "{result}"
        );
    }
}

#[test]
fn what_no_rule_fits_is_refused() {
    let env = world("rules: [{contains: [a], sessions: [[{say: x}]]}]");
    let result = result(&run(&env, "something else", &[]).exits(1));
    assert_eq!(result["api_error_status"], 400);
    assert!(
        result["result"]
            .as_str()
            .unwrap()
            .contains("no rule of the scenario fits the prompt 'something else'"),
        "{result}"
    );
}

#[test]
fn a_refusal_in_passing_is_followed_by_the_next_turn() {
    let env = world(
        "rules: [{sessions: [[{fail: {status: 429, retry_after: 0}, times: 2}, {cut: midway}, {hang: 1ms}, {say: At last.}]]}]",
    );
    let output = run(&env, "x", &[]).exits(0);
    let lines = lines(&output);
    let retries: Vec<&Value> = lines
        .iter()
        .filter(|line| line["subtype"] == "api_retry")
        .collect();
    let told: Vec<(&Value, &Value)> = retries
        .iter()
        .map(|retry| (&retry["attempt"], &retry["error_status"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!(1), &json!(429)),
            (&json!(2), &json!(429)),
            (&json!(3), &Value::Null),
            (&json!(4), &Value::Null)
        ]
    );
    assert_eq!(result(&output)["result"], "At last.");
}

#[test]
fn a_limit_says_when_it_ends_and_is_not_tried_again() {
    let env = world(
        "rules: [{sessions: [[{fail: {status: 429, resets_at: 1900000000}}, {say: never}]]}]",
    );
    let output = run(&env, "x", &[]).exits(1);
    let limit = &lines(&output)[1];
    assert_eq!(
        (&limit["type"], &limit["rate_limit_info"]["resetsAt"]),
        (&json!("rate_limit_event"), &json!(1_900_000_000))
    );
    let result = result(&output);
    assert_eq!(
        (&result["api_error_status"], &result["api_error"]),
        (&json!(429), &json!("usage_limit_reached"))
    );
}

#[test]
fn a_cut_for_good_is_its_death() {
    let env = world(
        "rules: [{sessions: [[{run: 'true'}, {cut: before}], [{cut: midway}], [{hang: 1ms}]]}]",
    );
    let before = run(&env, "x", &[]).exits(1);
    assert_eq!((lines(&before).len(), before.stderr.as_str()), (3, ""));
    let midway = attempt(&env, "x", "2", &[]).exits(1);
    let last = midway.stdout.lines().last().unwrap();
    assert!(
        serde_json::from_str::<Value>(last).is_err() && !midway.stdout.ends_with('\n'),
        "{midway:#?}"
    );
    let silent = attempt(&env, "x", "3", &[]).exits(1);
    assert_eq!(lines(&silent).len(), 1);
}

#[test]
fn garbage_is_printed_as_it_is() {
    let env =
        world("rules: [{sessions: [[{garbage: '{\"type\":'}, {say: x}], [{garbage: <html>}]]}]");
    let in_passing = run(&env, "x", &[]).exits(0);
    assert_eq!(in_passing.stdout.lines().nth(1), Some("{\"type\":"));
    assert!(
        in_passing
            .stdout
            .lines()
            .last()
            .unwrap()
            .contains("\"result\"")
    );
    let to_the_end = attempt(&env, "x", "2", &[]).exits(0);
    assert_eq!(
        to_the_end.stdout.lines().skip(1).collect::<Vec<_>>(),
        ["<html>"]
    );
}

#[test]
fn its_own_limits_end_it() {
    let env = world(
        "rules: [{sessions: [[{run: touch one, usage: {input: 1000000}}, {run: touch two}, {say: x}]]}]",
    );
    let turns = result(&run(&env, "x", &["--max-turns", "1"]).exits(1));
    assert_eq!(
        (&turns["subtype"], &turns["num_turns"]),
        (&json!("error_max_turns"), &json!(1))
    );
    assert!(env.path("one").exists() && !env.path("two").exists());
    std::fs::remove_file(env.path("one")).unwrap();
    let budget = result(&run(&env, "x", &["--max-budget-usd", "2.5"]).exits(1));
    assert_eq!(budget["subtype"], "error_max_budget_usd");
    assert_eq!(
        (&budget["errors"][0], budget.get("result")),
        (&json!("Reached maximum budget ($2.5)"), None)
    );
    assert!(
        !env.path("one").exists(),
        "what cannot be paid for is not done"
    );
    run(&env, "x", &["--max-budget-usd", "4"]).exits(0);
}

#[test]
fn a_scenario_that_is_none_is_refused_with_its_place() {
    let env = world("rules:\n  - sessions:\n      - - shout: x\n");
    let output = run(&env, "x", &[]).exits(1);
    assert!(output.stdout.is_empty(), "{output:#?}");
    for part in ["scenario.yaml is not a valid scenario", "line 3", "shout"] {
        assert!(output.stderr.contains(part), "{part}: {output:#?}");
    }
    std::fs::remove_file(env.path("scenario.yaml")).unwrap();
    run(&env, "x", &[]).exits(3);
}

#[test]
fn people_are_not_bothered_with_it() {
    let env = TestEnv::new();
    for args in [["--help"], ["man"]] {
        let output = env.run(&args).exits(0);
        assert!(!output.stdout.contains("scripted"), "{output:#?}");
    }
}

#[test]
fn a_command_that_leaves_something_behind_is_cleaned_up_after() {
    let env = world("rules: [{sessions: [[{run: 'sleep 1000 & echo started'}, {say: x}]]}]");
    let output = run(&env, "x", &[]).exits(0);
    assert_eq!(
        lines(&output)[2]["message"]["content"][0]["content"],
        "started"
    );
}

/// Runs the agent as a unit, as it is run in earnest, and lets its silence end it.
#[track_caller]
fn idle(scenario: &str, name: &str) {
    let env = world(scenario);
    env.write("prompt", "x");
    let program = env!("CARGO_BIN_EXE_beads-ralph");
    let mark = Mark(format!("test-scripted-agent-{name}-{}", std::process::id()));
    let spec = Spec {
        mark: mark.clone(),
        argv: [program, "scripted-agent", "--scenario", "scenario.yaml"]
            .map(str::to_owned)
            .to_vec(),
        cwd: env.path(""),
        env: Environment::default(),
        stdin: Stdin::File(env.path("prompt")),
        limits: Limits {
            wall: None,
            idle: Some(Duration::from_secs(1)),
            grace: Duration::from_millis(200),
        },
        output: None,
    };
    let units = Units::with_shim(program);
    let ended = units
        .run(&spec, &Cancel::new().unwrap(), &mut Silent)
        .unwrap();
    assert_eq!(
        (ended.stopped, ended.ending),
        (Some(Stopped::Idle), Ending::Signalled(15)),
        "{ended:?}"
    );
    assert!(!ended.stdout.text().contains("\"result\""), "{ended:?}");
    assert!(
        ended.survivors.is_empty() && process::find(&mark).is_empty(),
        "{ended:?}"
    );
}

#[test]
fn z_22_a_silent_agent_is_noticed_and_ended() {
    idle("rules: [{sessions: [[{hang: forever}]]}]", "hang");
}

#[test]
fn z_19_nothing_is_left_of_the_command_of_an_agent_that_is_ended() {
    idle(
        "rules: [{sessions: [[{run: 'trap \"\" TERM; sleep 1000 & sleep 1000'}, {say: x}]]}]",
        "command",
    );
}

/// Runs the verifiers of the example as a shell would, and gives what is wrong.
#[track_caller]
fn verify(env: &TestEnv) -> Vec<String> {
    let bead = env.json("hello.json");
    let verifiers = bead["dod"]["verifiers"].as_array().unwrap().iter();
    let failed = verifiers.filter_map(|verifier| {
        let ended = env
            .tool("sh", &["-c", verifier["command"].as_str().unwrap()])
            .run();
        let expected = verifier["expect"]["stdout_contains"]
            .as_str()
            .unwrap_or_default();
        let is_there = ended.stdout.contains(expected);
        let is_right = ended.code == Some(0) && is_there;
        (!is_right).then(|| {
            format!(
                "- {}: stdout does not contain: {expected}",
                verifier["name"]
            )
        })
    });
    failed.collect()
}

#[test]
fn the_example_goes_wrong_and_then_right() {
    let env = TestEnv::new();
    let example = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hello");
    for name in ["hello.json", "scenario.yaml"] {
        env.write(name, std::fs::read(example.join(name)).unwrap());
    }
    let bead = env.json("hello.json");
    let intent = bead["intent"].as_str().unwrap();
    run(&env, intent, &[]).exits(0);
    let wrong = verify(&env);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    run(&env, &format!("{intent}\n{}", wrong[0]), &[]).exits(0);
    assert_eq!(verify(&env), Vec::<String>::new());
}
