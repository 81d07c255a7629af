//! The table of §8.2, and what a check can do to whoever runs it.

use serde_json::{Value, json};

use super::{git_repository, results, runs, wait_for, with_bead};
use crate::env::TestEnv;

#[track_caller]
fn one(verifier: &Value) -> Value {
    let env = with_bead(&json!([verifier]));
    results(&env, &["verify", "x"]).remove(0)
}

#[test]
fn v_6_an_expected_exit_code_is_a_pass() {
    let record = one(&json!({"name": "three", "command": "exit 3", "expect": {"exit_code": 3}}));
    assert_eq!(
        (&record["passed"], &record["exit_code"]),
        (&json!(true), &json!(3))
    );
    let record = one(&json!({"command": "exit 3"}));
    assert_eq!(
        (&record["passed"], &record["reason"]),
        (&json!(false), &json!("Exit code 3 (expected 0)"))
    );
    let record = one(&json!({"command": "kill -9 $$"}));
    assert_eq!(
        (&record["exit_code"], &record["reason"]),
        (&json!(137), &json!("Exit code 137 (expected 0)"))
    );
    let record = one(&json!({"command": "no-such-command-at-all"}));
    assert_eq!(
        (&record["exit_code"], &record["passed"]),
        (&json!(127), &json!(false))
    );
}

#[test]
fn v_7_the_text_is_looked_for_as_it_is() {
    let record = one(&json!({"command": "echo hi", "expect": {"stdout_contains": "HI"}}));
    assert_eq!(record["reason"], "stdout does not contain: HI");
    let record = one(
        &json!({"command": "printf 'a[x]*'; printf '\\377bad' >&2", "expect": {"stdout_contains": "[x]*", "stderr_contains": "\u{fffd}bad"}}),
    );
    assert_eq!(record["passed"], true, "{record}");
}

#[test]
fn v_3_a_shell_runs_it_in_the_root_with_its_input_closed() {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.make_directory("below");
    let check = json!([{"command": "cat; pwd; ps -o pid=,pgid=,sid= -p $$"}]);
    env.write(".ralph/beads/x.json", super::bead(&check));
    let below = env.path("below");
    let output = env
        .command(&["verify", "x", "--json"])
        .at(&below)
        .run()
        .exits(0);
    let data = output.data();
    let stdout = data["results"][0]["stdout"].as_str().unwrap();
    let (place, numbers) = stdout.split_once('\n').unwrap();
    assert_eq!(place, env.path("").as_str().trim_end_matches('/'));
    let numbers: Vec<u32> = numbers
        .split_whitespace()
        .map(|n| n.parse().unwrap())
        .collect();
    assert_eq!(
        numbers[0], numbers[1],
        "it leads a group of its own: {numbers:?}"
    );
}

#[test]
fn v_4_all_of_a_large_output_is_looked_at_and_kept() {
    let command = "echo begin; head -c 3000000 /dev/zero | tr '\\0' x; echo middle; head -c 3000000 /dev/zero | tr '\\0' y; head -c 3000000 /dev/zero | tr '\\0' z >&2";
    let env = with_bead(
        &json!([{"command": command, "expect": {"stdout_contains": "xmiddle\ny", "stderr_contains": "zzz"}}]),
    );
    let record = results(&env, &["verify", "x"]).remove(0);
    assert_eq!(record["passed"], true, "{}", record["reason"]);
    assert!(record["stdout"].as_str().unwrap().len() <= 4096);
    let path = record["stdout_kept"]["path"].as_str().unwrap();
    assert_eq!(env.read(path).len(), 6 + 3_000_000 + 7 + 3_000_000);
    assert_eq!(record["stdout_kept"]["bytes"], 6_000_013);
    let sum = env.tool("sha256sum", &[path]).run().exits(0).stdout;
    assert!(sum.starts_with(record["stdout_kept"]["sha256"].as_str().unwrap()));
}

#[test]
fn v_5_what_takes_too_long_is_ended_with_all_that_it_started() {
    let record = one(&json!({"command": "sleep 61.25 & sleep 61.25", "timeout_seconds": 1}));
    assert_eq!(record["reason"], "Verifier timed out after 1s");
    assert_eq!(
        (&record["timed_out"], &record["exit_code"]),
        (&json!(true), &json!(null))
    );
    assert!(!runs("sleep 61.25"));
}

#[test]
fn v_5_what_is_left_in_the_background_is_ended_and_not_waited_for() {
    let record = one(&json!({"command": "sleep 101.25 & exit 0", "timeout_seconds": 30}));
    assert_eq!(
        (&record["passed"], &record["leaked"]),
        (&json!(true), &json!(1)),
        "{record}"
    );
    assert!(!runs("sleep 101.25"));
}

#[test]
fn v_5_a_gate_that_starts_a_server_leaves_nothing() {
    // The shape of the seed's own gate: start it, wait, ask it.
    let command = "python3 -u -m http.server 0 --bind 127.0.0.1 >port.txt 2>&1 & sleep 2 && grep -q 'Serving HTTP' port.txt";
    let record =
        one(&json!({"name": "Application starts", "command": command, "timeout_seconds": 30}));
    assert_eq!(
        (&record["passed"], &record["leaked"]),
        (&json!(true), &json!(1)),
        "{record}"
    );
    assert!(!runs("http.server 0 --bind"));
}

#[test]
fn v_8_after_a_failure_the_rest_is_skipped_unless_it_says_to_go_on() {
    let env = with_bead(
        &json!([{"name": "a", "command": "false", "on_failure": "continue"}, {"name": "b", "command": "true"}]),
    );
    let records = results(&env, &["verify", "x"]);
    assert_eq!(
        (&records[0]["passed"], &records[1]["passed"]),
        (&json!(false), &json!(true))
    );
    let env = with_bead(
        &json!([{"name": "a", "command": "false"}, {"name": "b", "command": "touch ran"}]),
    );
    let records = results(&env, &["verify", "x"]);
    assert_eq!(
        (&records[1]["passed"], &records[1]["skipped"]),
        (&json!(false), &json!(true))
    );
    assert!(!env.path("ran").exists());
    env.run(&["verify", "x"]).exits(1);
}

#[test]
fn v_9_a_record_has_everything() {
    let env = with_bead(&json!([{"name": "a", "command": "echo hi; echo ho >&2"}]));
    let record = results(&env, &["verify", "x"]).remove(0);
    for key in [
        "name",
        "passed",
        "reason",
        "exit_code",
        "timed_out",
        "skipped",
        "stdout",
        "stderr",
        "duration_ms",
        "timestamp",
        "command",
        "verifier_sha256",
    ] {
        assert!(record.get(key).is_some(), "{key}: {record}");
    }
    assert_eq!(
        (&record["stdout"], &record["stderr"]),
        (&json!("hi\n"), &json!("ho\n"))
    );
    assert_eq!(
        env.names(".ralph/evidence/x").len(),
        2,
        "the logs and the record"
    );
    let text = env.run(&["verify", "x"]).exits(0).stdout;
    assert!(text.contains("a      passed"), "{text}");
}

#[test]
fn v_9_the_commit_is_named() {
    let env = with_bead(&json!([{"command": "true"}]));
    git_repository(&env);
    let head = env.tool("git", &["rev-parse", "HEAD"]).run().stdout;
    let record = results(&env, &["verify", "x"]).remove(0);
    assert_eq!(record["commit"], head.trim());
}

#[test]
fn a_pattern_and_a_number_of_tests_can_be_asked_for() {
    let summary =
        "echo 'test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'";
    let record = one(&json!({"command": summary, "expect": {"min_tests": 1}}));
    assert_eq!(record["reason"], "Tests run: 0 (expected at least 1)");
    let record =
        one(&json!({"command": "echo 'ok: 12'", "expect": {"stdout_matches": "^ok: [0-9]+$"}}));
    assert_eq!(record["passed"], true);
    let record =
        one(&json!({"command": "echo 'ok: no'", "expect": {"stdout_matches": "^ok: [0-9]+$"}}));
    assert_eq!(record["reason"], "stdout does not match: ^ok: [0-9]+$");
}

#[test]
fn v_1_an_invalid_bead_is_refused_with_all_its_problems() {
    let env = TestEnv::new();
    env.write(".ralph/beads/x.json", r#"{"title": "no"}"#);
    let output = env.run(&["verify", "x"]).exits(1);
    assert!(
        output.stderr.contains("intent: Field required"),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.contains("dod.verifiers: Field required"),
        "{}",
        output.stderr
    );
    assert_eq!(env.names(".ralph"), ["beads"], "nothing was made");
    env.write("bad.json", b"{\"intent\": \xff");
    env.run(&["verify", "bad.json"]).exits(1);
    env.write(
        "evil.json",
        r#"{"id": "../../etc/passwd", "intent": "x", "dod": {"verifiers": [{"command": "true"}]}}"#,
    );
    let output = env.run(&["verify", "evil.json"]).exits(1);
    assert!(
        output.stderr.contains("id must be a plain name"),
        "{}",
        output.stderr
    );
    env.run(&["verify", "absent.json"]).exits(1);
}

#[test]
fn v_17_where_a_bead_is_looked_for() {
    let env = with_bead(&json!([{"command": "true"}]));
    env.write(
        ".beads/active/x.json",
        super::bead(&json!([{"command": "false"}])),
    );
    env.run(&["verify", "x"]).exits(0);
    env.write(
        ".beads/active/y.json",
        r#"{"id": "other", "intent": "x", "dod": {"verifiers": [{"command": "true"}]}}"#,
    );
    env.run(&["verify", "y"]).exits(0);
    env.run(&["verify", "other"]).exits(0);
    let output = env.run(&["verify", "z"]).exits(1);
    assert!(
        output.stderr.contains("unknown bead 'z'"),
        "{}",
        output.stderr
    );
    env.run(&["verify", "--bead-file", ".beads/active/x.json"])
        .exits(1);
    env.run(&["verify", "../../etc/passwd"]).exits(1);
}

#[test]
fn v_17_create_bead_writes_a_bead_that_can_be_worked_on() {
    let env = TestEnv::new();
    let first = env
        .run(&[
            "create-bead",
            "--intent",
            "do it",
            "--verifier",
            "lint=true",
            "--verifier",
            "A=1 true",
            "--json",
        ])
        .exits(0)
        .data();
    assert_eq!(first["id"], "gt-ralph-0001");
    let second = env
        .run(&[
            "create-bead",
            "--intent",
            "more",
            "--verifier",
            "false",
            "--json",
        ])
        .exits(0)
        .data();
    assert_eq!(second["id"], "gt-ralph-0002");
    let bead = env.json(".ralph/beads/gt-ralph-0001.json");
    assert_eq!(
        (&bead["priority"], &bead["constraints"]),
        (
            &json!(2),
            &json!({"max_iterations": 10, "time_budget_minutes": 60})
        )
    );
    assert_eq!(
        bead["dod"]["verifiers"][0],
        json!({"name": "lint", "command": "true"})
    );
    assert_eq!(
        bead["dod"]["verifiers"][1],
        json!({"name": "verifier 2", "command": "A=1 true"})
    );
    env.run(&["verify", "gt-ralph-0001"]).exits(0);
    env.run(&["create-bead", "--intent", "do it"]).exits(2);
    env.run(&[
        "create-bead",
        "--intent",
        "x",
        "--verifier",
        "true",
        "--id",
        "../x",
    ])
    .exits(1);
    env.run(&[
        "create-bead",
        "--intent",
        "x",
        "--verifier",
        "true",
        "--id",
        "gt-ralph-0001",
    ])
    .exits(1);
}

#[test]
fn v_17_init_makes_the_directories_and_the_formulas() {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.run(&["init"]).exits(0);
    for directory in [
        "beads", "gates", "evidence", "logs", "metrics", "patrol", "nudges", "alerts",
    ] {
        assert!(
            env.path(&format!(".ralph/{directory}")).is_dir(),
            "{directory}"
        );
    }
    for name in ["work", "patrol", "gate"] {
        let path = format!(".beads/formulas/molecule-ralph-{name}.formula.toml");
        assert!(
            env.text(&path)
                .contains(&format!("formula = \"molecule-ralph-{name}\""))
        );
    }
    env.write(".beads/formulas/molecule-ralph-work.formula.toml", "mine");
    env.run(&["init"]).exits(0);
    assert_eq!(
        env.text(".beads/formulas/molecule-ralph-work.formula.toml"),
        "mine"
    );
}

#[test]
fn logs_show_what_the_checks_wrote() {
    let env = with_bead(
        &json!([{"name": "a", "command": "echo one"}, {"name": "b", "command": "echo two >&2"}]),
    );
    env.run(&["logs", "x"]).exits(1);
    env.run(&["verify", "x"]).exits(0);
    env.run(&["verify", "x"]).exits(0);
    let list = env.run(&["logs", "x"]).exits(0).stdout;
    assert!(
        list.contains("verify-1/stdout  4") && list.contains("verify-2/stderr  4"),
        "{list}"
    );
    assert_eq!(
        env.run(&["logs", "x", "verify-1/stdout"]).exits(0).stdout,
        "one\n"
    );
    assert_eq!(
        env.run(&["logs", "x", "verify-2/stderr", "--run", "1"])
            .exits(0)
            .stdout,
        "two\n"
    );
    let data = env.run(&["logs", "x", "--json"]).exits(0).data();
    assert_eq!(data["runs"].as_array().unwrap().len(), 2);
    let output = env.run(&["logs", "x", "verify-1/stdot"]).exits(1);
    assert!(
        output.stderr.contains("did you mean verify-1/stdout?"),
        "{}",
        output.stderr
    );
    env.run(&["logs", "../x"]).exits(1);
    env.run(&["logs", "x", "--run", "7"]).exits(1);
}

#[test]
fn interrupting_leaves_nothing_running() {
    let env =
        with_bead(&json!([{"name": "a", "command": "touch begun; sleep 77.25 & sleep 77.25"}]));
    let child = env.command(&["verify", "x"]).spawn();
    wait_for(&env, "begun");
    let pid = child.id().to_string();
    env.tool("kill", &["-INT", &pid]).run().exits(0);
    let output = crate::env::Output::of(child, "verify".to_owned());
    assert_eq!(output.code, Some(1));
    assert!(!runs("sleep 77.25"));
    assert!(output.stderr.contains("Cancelled"), "{}", output.stderr);
}
