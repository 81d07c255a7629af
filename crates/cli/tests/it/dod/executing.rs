//! The loop of §8.3, with an agent that is a shell script.

use std::time::Duration;

use serde_json::{Value, json};

use super::{bead, runs, wait_for};
use crate::env::{Output, TestEnv};

const CONFIG: &str =
    "agents: {default: mine, adapters: {mine: {kind: command, executable: ./agent.sh}}}\n";

/// A world with the bead `x` and an agent that is this script.
#[track_caller]
fn with_agent(script: &str, document: &Value) -> TestEnv {
    let env = TestEnv::new();
    env.write(".ralph/beads/x.json", document.to_string());
    agent(&env, script);
    env
}

#[track_caller]
fn agent(env: &TestEnv, script: &str) {
    env.write("beads-ralph.yaml", CONFIG);
    env.write("agent.sh", format!("#!/bin/sh\n{script}\n"));
    env.tool("chmod", &["+x", "agent.sh"]).run().exits(0);
}

fn document(verifiers: &Value, extra: &Value) -> Value {
    let mut document: Value = serde_json::from_str(&bead(verifiers)).unwrap();
    for (key, value) in extra.as_object().unwrap() {
        document[key] = value.clone();
    }
    document
}

fn done() -> Value {
    json!([{"name": "is done", "command": "test -e done"}])
}

fn meta(env: &TestEnv) -> Value {
    env.json(".ralph/beads/x.json")["ralph_meta"].clone()
}

#[test]
fn v_10_the_loop_goes_on_until_the_checks_pass() {
    let script = "cat >prompt-$BEADS_RALPH_ATTEMPT\necho $BEADS_RALPH_ATTEMPT >>tries\n[ $BEADS_RALPH_ATTEMPT -lt 3 ] || touch done";
    let env = with_agent(script, &document(&done(), &json!({"odd": 1})));
    let data = env.run(&["exec", "x", "--json"]).exits(0).data();
    assert_eq!(
        (&data["status"], &data["iterations"]),
        (&json!("completed"), &json!(3))
    );
    assert_eq!(env.text("tries"), "1\n2\n3\n");
    let bead = env.json(".ralph/beads/x.json");
    assert_eq!(
        (&bead["status"], &bead["odd"]),
        (&json!("completed"), &json!(1))
    );
    let meta = &bead["ralph_meta"];
    assert_eq!(
        (&meta["attempt_count"], &meta["total_attempts"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(meta["verifier_results"][0]["passed"], true);
    assert_eq!(meta.get("last_failure_summary"), None);
    assert!(
        meta["executor_version"]
            .as_str()
            .unwrap()
            .starts_with("beads-ralph ")
    );
    // V-11: the second prompt says what was wrong with the first attempt.
    assert!(!env.text("prompt-1").contains("Previous failures"));
    assert!(
        env.text("prompt-2")
            .contains("- is done: Exit code 1 (expected 0)"),
        "{}",
        env.text("prompt-2")
    );
}

#[test]
fn v_10_attempts_are_counted_within_a_run_and_over_all() {
    let env = with_agent(
        "echo >>tries",
        &document(&done(), &json!({"constraints": {"max_iterations": 2}})),
    );
    let output = env
        .run(&["exec", "x", "--max-iterations", "9", "--json"])
        .exits(1);
    assert!(
        output.error()["message"]
            .as_str()
            .unwrap()
            .contains("Max iterations reached")
    );
    assert_eq!(meta(&env)["failure_reason"], "Max iterations reached");
    assert_eq!(env.json(".ralph/beads/x.json")["status"], "failed");
    env.run(&["exec", "x"]).exits(1);
    assert_eq!(
        (&meta(&env)["attempt_count"], &meta(&env)["total_attempts"]),
        (&json!(2), &json!(4))
    );
    assert_eq!(env.text("tries").len(), 4);
}

#[test]
fn v_10_without_a_bound_in_the_bead_the_command_line_counts() {
    let env = with_agent("echo >>tries", &document(&done(), &json!({})));
    env.run(&["exec", "x", "--max-iterations", "3"]).exits(1);
    assert_eq!(env.text("tries").len(), 3);
    env.run(&["exec", "x", "--max-iterations", "0"]).exits(2);
}

#[test]
fn v_11_a_missing_agent_changes_nothing() {
    let env = TestEnv::new();
    env.write(
        ".ralph/beads/x.json",
        document(&done(), &json!({})).to_string(),
    );
    env.write("beads-ralph.yaml", CONFIG);
    let before = env.read(".ralph/beads/x.json");
    let output = env.run(&["exec", "x"]).exits(1);
    assert!(output.stderr.contains("agent.sh"), "{}", output.stderr);
    assert_eq!(env.read(".ralph/beads/x.json"), before);
    assert_eq!(env.names(".ralph"), ["beads"]);
    env.run(&["exec", "x", "--agent", "nobody"]).exits(1);
    let output = env
        .run(&["exec", "x", "--agent", "claude", "--permissions", "bypass"])
        .exits(1);
    assert!(output.stderr.contains("claude"), "{}", output.stderr);
}

#[test]
fn v_11_an_agent_that_fails_is_not_verified() {
    let env = with_agent(
        "touch done\nexit 3",
        &document(
            &json!([{"command": "touch verified"}]),
            &json!({"constraints": {"max_iterations": 2}}),
        ),
    );
    let error = env.run(&["exec", "x", "--json"]).exits(1).error();
    assert_eq!(error["results"]["iterations"], 2);
    assert!(!env.path("verified").exists());
    assert!(
        meta(&env)["last_failure_summary"]
            .as_str()
            .unwrap()
            .starts_with("agent: ")
    );
}

#[test]
fn v_11_verify_only_verify_first_and_dry_run() {
    let env = with_agent("touch called done", &document(&done(), &json!({})));
    let before = env.read(".ralph/beads/x.json");
    let said = env.run(&["exec", "x", "--dry-run"]).exits(0).stdout;
    assert!(
        said.contains("./agent.sh") || said.contains("agent.sh"),
        "{said}"
    );
    assert!(
        said.contains("check is done (at most 300s): test -e done"),
        "{said}"
    );
    assert_eq!(env.read(".ralph/beads/x.json"), before);
    assert_eq!(env.names(".ralph"), ["beads"]);

    env.run(&["exec", "x", "--verify-only"]).exits(1);
    assert!(!env.path("called").exists());
    assert_eq!(env.json(".ralph/beads/x.json")["status"], "pending");

    env.write("done", "");
    let data = env
        .run(&["exec", "x", "--verify-first", "--json"])
        .exits(0)
        .data();
    assert_eq!(
        (&data["iterations"], &data["receipt"]["agent_calls"]),
        (&json!(0), &json!(0))
    );
    assert!(!env.path("called").exists());
}

#[test]
fn v_11_a_gate_never_calls_an_agent() {
    let gate = json!({"id": "x", "gate_type": "smoke", "verifier_command": "test -e done", "blocks_convoy": true});
    let env = with_agent("touch called done", &gate);
    env.run(&["exec", "x"]).exits(1);
    let bead = env.json(".ralph/beads/x.json");
    assert_eq!(
        (&bead["status"], &bead["ralph_meta"]["gate_status"]),
        (&json!("pending"), &json!("red"))
    );
    env.write("done", "");
    env.run(&["exec", "x"]).exits(0);
    let bead = env.json(".ralph/beads/x.json");
    assert_eq!(
        (&bead["status"], &bead["ralph_meta"]["gate_status"]),
        (&json!("completed"), &json!("green"))
    );
    assert_eq!(
        bead["verifier_command"], "test -e done",
        "what the flat shape holds stays"
    );
    assert!(!env.path("called").exists());
}

#[test]
fn v_13_a_deadline_is_kept() {
    let past = document(
        &done(),
        &json!({"constraints": {"deadline": "2020-01-01T00:00:00Z"}}),
    );
    let env = with_agent("touch called", &past);
    env.run(&["exec", "x"]).exits(1);
    assert_eq!(meta(&env)["failure_reason"], "Deadline passed");
    assert!(!env.path("called").exists());
    let bad = document(&done(), &json!({"constraints": {"deadline": "soon"}}));
    let env = with_agent("touch called", &bad);
    let output = env.run(&["exec", "x"]).exits(1);
    assert!(
        output.stderr.contains("constraints.deadline"),
        "{}",
        output.stderr
    );
}

#[test]
fn v_12_what_runs_when_the_time_is_over_is_ended() {
    let soon = jiff::Timestamp::from_second(seconds_now() + 2)
        .unwrap()
        .to_string();
    let late = document(&done(), &json!({"constraints": {"deadline": soon}}));
    let env = with_agent("sleep 63.25", &late);
    env.run(&["exec", "x"]).exits(1);
    assert_eq!(meta(&env)["failure_reason"], "Deadline passed");
    assert!(!runs("sleep 63.25"));
}

fn seconds_now() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "a deadline is about the clock on the wall"
    )]
    let now = jiff::Timestamp::now();
    now.as_second()
}

#[test]
fn v_14_kill_9_leaves_a_bead_that_can_be_run_again() {
    let env = with_agent(
        "touch begun\n[ -e again ] && touch done && exit 0\nsleep 66.25 & sleep 66.25",
        &document(&done(), &json!({})),
    );
    let mut child = env.command(&["exec", "x"]).spawn();
    wait_for(&env, "begun");
    child.kill().unwrap();
    child.wait().unwrap();
    let bead = env.json(".ralph/beads/x.json");
    assert_eq!(
        (&bead["status"], &bead["ralph_meta"]["attempt_count"]),
        (&json!("in_progress"), &json!(1))
    );
    for _ in 0..1000 {
        if !runs("sleep 66.25") {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!runs("sleep 66.25"), "the shim ends what the dead left");
    env.write("again", "");
    env.run(&["exec", "x"]).exits(0);
}

#[test]
fn v_15_evidence_is_kept_of_success_and_failure() {
    let env = with_agent(
        "[ ! -e enough ] || touch done",
        &document(&done(), &json!({"constraints": {"max_iterations": 1}})),
    );
    env.run(&["exec", "x"]).exits(1);
    let record = env.json(".ralph/evidence/x/failure-20260102-030405.json");
    assert_eq!(
        (&record["bead_id"], &record["iterations"]),
        (&json!("x"), &json!(1))
    );
    assert_eq!(record["results"][0]["passed"], false);
    env.write("enough", "");
    env.run(&["exec", "x"]).exits(0);
    let record = env.json(".ralph/evidence/x/success-20260102-030405.json");
    assert_eq!(
        (&record["timestamp"], &record["results"][0]["name"]),
        (&json!("2026-01-02T03:04:05Z"), &json!("is done"))
    );
}

#[test]
fn v_15_without_its_artifacts_a_success_is_none() {
    let mut with_artifacts = document(&done(), &json!({"constraints": {"max_iterations": 2}}));
    with_artifacts["dod"]["artifact_paths"] = json!(["shots/*.png"]);
    let script = "touch done\n[ $BEADS_RALPH_ATTEMPT = 1 ] || { mkdir shots; touch shots/a.png; }";
    let env = with_agent(script, &with_artifacts);
    let data = env.run(&["exec", "x", "--json"]).exits(0).data();
    assert_eq!(data["iterations"], 2);
    let prompt = env
        .run(&["logs", "x", "attempt-2/agent/prompt.md"])
        .exits(0)
        .stdout;
    assert!(
        prompt.contains("- evidence: Evidence missing: shots/*.png"),
        "{prompt}"
    );
}

#[test]
fn v_15_evidence_that_cannot_be_written_is_no_success() {
    // The check itself passes; it is the place of the evidence that is gone.
    let check =
        json!([{"name": "t", "command": "rm -rf .ralph/evidence/x && touch .ralph/evidence/x"}]);
    let env = with_agent(
        "touch changed",
        &document(&check, &json!({"constraints": {"max_iterations": 1}})),
    );
    let error = env.run(&["exec", "x", "--json"]).exits(1).error();
    let results = error["results"]["results"].as_array().unwrap();
    assert_eq!(results[0]["passed"], true, "{error:#}");
    assert_eq!(results[1]["name"], "evidence");
    let bead = env.json(".ralph/beads/x.json");
    assert_eq!(bead["status"], "failed");
}

#[test]
fn v_16_a_completed_bead_is_left_alone() {
    let env = with_agent(
        "echo >>tries; touch done",
        &document(&done(), &json!({"status": "GREEN"})),
    );
    let before = env.read(".ralph/beads/x.json");
    let output = env.run(&["exec", "x"]).exits(0);
    assert!(
        output.stderr.contains("completed already"),
        "{}",
        output.stderr
    );
    assert_eq!(env.read(".ralph/beads/x.json"), before);
    env.run(&["exec", "x", "--force"]).exits(0);
    assert_eq!(env.text("tries"), "\n");
}

#[test]
fn an_agent_that_edits_its_own_checks_changes_nothing() {
    let script = r#"echo '{"intent": "x", "dod": {"verifiers": [{"name": "free", "command": "true"}]}}' >.ralph/beads/x.json; date >>changed"#;
    let env = with_agent(
        script,
        &document(&done(), &json!({"constraints": {"max_iterations": 2}})),
    );
    let output = env.run(&["exec", "x"]).exits(1);
    assert!(
        output.stderr.contains("was changed during the work"),
        "{}",
        output.stderr
    );
    let bead = env.json(".ralph/beads/x.json");
    assert_eq!(
        (&bead["status"], &bead["dod"]["verifiers"][0]["name"]),
        (&json!("failed"), &json!("is done"))
    );
    let kept = env.names(".ralph/evidence/x");
    let kept = kept
        .iter()
        .find(|name| name.starts_with("bead-changed-"))
        .unwrap();
    assert!(
        env.text(&format!(".ralph/evidence/x/{kept}"))
            .contains("free")
    );
}

#[test]
fn an_agent_that_changes_nothing_while_checks_are_red_is_no_pass() {
    // The check passes the second time all by itself: that is not the agent's doing, and proves nothing.
    let flaky = json!([{"name": "flaky", "command": "test -e ../home/seen || { touch ../home/seen; exit 1; }"}]);
    let env = with_agent(
        "true",
        &document(&flaky, &json!({"constraints": {"max_iterations": 3}})),
    );
    env.run(&["exec", "x"]).exits(1);
    let summary = meta(&env)["last_failure_summary"].clone();
    assert_eq!(
        summary,
        "agent: The agent changed nothing while checks were red"
    );
}

#[test]
fn an_active_bead_moves_when_it_is_completed() {
    let env = TestEnv::new();
    agent(&env, "touch done");
    env.write(".beads/active/y.json", bead(&done()));
    env.write(".beads/completed/y.json", "{\"an\": \"earlier one\"}");
    env.run(&["exec", "y"]).exits(0);
    assert!(!env.path(".beads/active/y.json").exists());
    assert_eq!(env.json(".beads/completed/y-2.json")["status"], "completed");
    assert!(env.text(".beads/completed/y.json").contains("earlier one"));
}

#[test]
fn two_at_once_are_one() {
    let env = with_agent(
        "touch begun\nwhile [ ! -e go ]; do sleep 0.05; done\ntouch done",
        &document(&done(), &json!({})),
    );
    let first = env.command(&["exec", "x"]).spawn();
    wait_for(&env, "begun");
    let output = env.run(&["exec", "x"]).exits(4);
    assert!(
        output.stderr.contains("already claimed"),
        "{}",
        output.stderr
    );
    env.write("go", "");
    Output::of(first, "exec".to_owned()).exits(0);
}

#[test]
fn an_interrupt_ends_the_agent_and_gives_the_bead_back() {
    let env = with_agent(
        "touch begun\nsleep 71.25 & sleep 71.25",
        &document(&done(), &json!({})),
    );
    let child = env.command(&["exec", "x"]).spawn();
    wait_for(&env, "begun");
    env.tool("kill", &["-TERM", &child.id().to_string()])
        .run()
        .exits(0);
    let output = Output::of(child, "exec".to_owned()).exits(1);
    assert!(
        output.stderr.contains("was interrupted"),
        "{}",
        output.stderr
    );
    assert_eq!(env.json(".ralph/beads/x.json")["status"], "pending");
    assert!(!runs("sleep 71.25"));
}

#[test]
fn the_context_reaches_the_agent() {
    let script = "env | grep ^BEADS_RALPH_ | sort >context; pwd >>context; touch done";
    let env = with_agent(script, &document(&done(), &json!({})));
    env.run(&["exec", "x"]).exits(0);
    let context = env.text("context");
    let root = env.path("");
    let root = root.as_str().trim_end_matches('/');
    for part in [
        "BEADS_RALPH_BEAD=x\n",
        "BEADS_RALPH_ROLE=dev\n",
        "BEADS_RALPH_ATTEMPT=1\n",
        "BEADS_RALPH_AGENT=mine\n",
        &format!("BEADS_RALPH_WORKTREE={root}\n"),
        &format!("\n{root}\n"),
    ] {
        assert!(context.contains(part), "{part}\n{context}");
    }
}

#[test]
fn our_logs_are_kept_out_of_the_agents_commits() {
    let env = with_agent(
        "touch done; git add -A; git -c user.name=x -c user.email=x@x commit -qm all",
        &document(&done(), &json!({})),
    );
    env.tool("git", &["init", "-q"]).run().exits(0);
    env.run(&["exec", "x"]).exits(0);
    env.tool("rm", &["done"]).run().exits(0);
    env.write("y.json", bead(&done()));
    env.run(&["exec", "y.json"]).exits(0);
    let files = env.tool("git", &["ls-files"]).run().exits(0).stdout;
    assert!(!files.contains("lock"), "{files}");
    assert!(
        files.contains(".ralph/beads/x.json") && !files.contains("evidence"),
        "{files}"
    );
}

#[test]
fn z_31_checks_for_every_bead_are_run_too() {
    let env = with_agent(
        "touch done",
        &document(&done(), &json!({"constraints": {"max_iterations": 1}})),
    );
    let config = format!(
        "{CONFIG}verify:\n  default: ['test -e everywhere', {{command: 'true', timeout_seconds: 9}}]\n"
    );
    env.write("beads-ralph.yaml", &config);
    let error = env.run(&["exec", "x", "--json"]).exits(1).error();
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("Max iterations reached")
    );
    assert_eq!(error["results"]["results"][1]["name"], "test -e everywhere");
    env.run(&["verify", "x"]).exits(1);
    env.write("everywhere", "");
    env.run(&["verify", "x"]).exits(0);
    let bead = env.json(".ralph/beads/x.json");
    assert_eq!(
        bead["dod"]["verifiers"].as_array().unwrap().len(),
        1,
        "they are not written into beads"
    );
    env.write("beads-ralph.yaml", "verify: {default: [{command: ' '}]}\n");
    let output = env.run(&["verify", "x"]).exits(3);
    assert!(
        output.stderr.contains("verify.default: 0.command"),
        "{}",
        output.stderr
    );
}

#[test]
fn work_that_a_failed_call_did_is_verified_after_the_next_one() {
    // Attempt 1 is red, attempt 2 does the work and dies, attempt 3 finds nothing left to do.
    let script = "case $BEADS_RALPH_ATTEMPT in 1) touch started;; 2) touch done; exit 7;; esac";
    let env = with_agent(
        script,
        &document(&done(), &json!({"constraints": {"max_iterations": 4}})),
    );
    let data = env.run(&["exec", "x", "--json"]).exits(0).data();
    assert_eq!(data["iterations"], 3);
}

#[test]
fn z_7_what_a_killed_run_left_is_ended_before_the_next_begins() {
    let script = "touch begun-$BEADS_RALPH_ATTEMPT; trap '' TERM; [ -e again ] && touch done && exit 0; sleep 68.25 & wait";
    let env = with_agent(script, &document(&done(), &json!({})));
    let mut child = env.command(&["exec", "x"]).spawn();
    wait_for(&env, "begun-1");
    child.kill().unwrap();
    child.wait().unwrap();
    env.write("again", "");
    env.run(&["exec", "x"]).exits(0);
    assert!(!runs("sleep 68.25"));
}

#[test]
fn two_at_once_from_different_places_are_one() {
    let env = with_agent(
        "touch begun\nwhile [ ! -e go ]; do sleep 0.05; done\ntouch done",
        &document(&done(), &json!({})),
    );
    let first = env.command(&["exec", "x"]).spawn();
    wait_for(&env, "begun");
    env.make_directory("elsewhere/.git");
    env.write("elsewhere/beads-ralph.yaml", CONFIG);
    env.tool("cp", &["agent.sh", "elsewhere/agent.sh"])
        .run()
        .exits(0);
    env.tool(
        "ln",
        &["-s", "../.ralph/beads/x.json", "elsewhere/link.json"],
    )
    .run()
    .exits(0);
    let elsewhere = env.path("elsewhere");
    env.command(&["exec", "link.json"])
        .at(&elsewhere)
        .run()
        .exits(4);
    env.write("go", "");
    Output::of(first, "exec".to_owned()).exits(0);
}

#[test]
fn z_23_what_is_withheld_reaches_neither_agent_nor_checks() {
    let env = with_agent(
        "env >agent-env; touch done",
        &document(
            &json!([{"command": "env >check-env; test -e done"}]),
            &json!({}),
        ),
    );
    env.write(
        "beads-ralph.yaml",
        CONFIG.replace("agents: {", "agents: {withhold_env: [SECRET_*, ONE], "),
    );
    env.command(&["exec", "x"])
        .env("SECRET_A", "hush")
        .env("ONE", "hush")
        .env("OTHER", "seen")
        .run()
        .exits(0);
    for file in ["agent-env", "check-env"] {
        let text = env.text(file);
        assert!(
            !text.contains("hush") && text.contains("OTHER=seen"),
            "{text}"
        );
    }
}

#[test]
fn a_budget_is_one_for_all_runs() {
    let env = with_agent(
        "true",
        &document(
            &done(),
            &json!({
                "constraints": {"max_iterations": 1},
                "ralph_meta": {"retry_backoff_seconds": 0, "receipt": {"agent_calls": 3, "turns": 12}},
            }),
        ),
    );
    env.write(
        "beads-ralph.yaml",
        format!("{CONFIG}budgets: {{bead: {{turns: 10}}}}\n"),
    );
    let output = env.run(&["exec", "x"]).exits(1);
    assert!(
        output.stderr.contains("Budget exceeded: 12 of 10 turns"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("caps: "), "{}", output.stderr);
}
