//! Whose fault a red check is (`verify.flaky_retries`): a flaky one, one that was red before, and a regression are told apart.

use serde_json::{Value, json};

use super::{git_repository, results};
use crate::env::TestEnv;

const COMMIT: &str = "git add -A && git -c user.name=x -c user.email=x@x commit -qm work";

/// A bead with a worktree, and the commit that the worktree began from. `broken` is what the work breaks; what is flaky fails every other time.
#[track_caller]
fn with_worktree(retries: u32, verifiers: &Value) -> TestEnv {
    let env = TestEnv::new();
    git_repository(&env);
    env.run(&["init"]).exits(0);
    env.write(
        "beads-ralph.yaml",
        format!("verify: {{flaky_retries: {retries}}}\nagents: {{default: mine, adapters: {{mine: {{kind: command, executable: ../home/agent.sh}}}}}}\n"),
    );
    env.tool("git", &["worktree", "add", "-q", "-b", "b", "../tree"])
        .run()
        .exits(0);
    let head = env.tool("git", &["rev-parse", "HEAD"]).run().stdout;
    let bead = json!({
        "id": "bd-1", "title": "Do it", "metadata": {
            "dod": {"verifiers": verifiers}, "constraints": {"max_iterations": 2}, "ralph_meta": {"retry_backoff_seconds": 0},
            "worktree_path": "../tree", "base_commit": head.trim(),
        },
    });
    let import = env.command(&["import", "-"]).stdin(format!("{bead}\n"));
    import.run().exits(0);
    env
}

fn planted() -> Value {
    let go_on = |name: &str, command: &str| json!({"name": name, "command": command, "on_failure": "continue"});
    json!([
        go_on(
            "flaky",
            "f=../home/seen; [ -d ../home ] || exit 1; if [ -e $f ]; then rm $f; else touch $f; exit 1; fi"
        ),
        go_on("old", "test -e never"),
        go_on("regression", "test ! -e broken"),
        go_on("killed", "kill -9 $$"),
        go_on("fine", "true"),
    ])
}

#[track_caller]
fn commit(env: &TestEnv, script: &str) {
    let line = format!("cd ../tree && {script} && {COMMIT}");
    env.tool("sh", &["-c", &line]).run().exits(0);
}

/// The agent does what the script says and commits it.
#[track_caller]
fn agent(env: &TestEnv, script: &str) {
    env.write(
        "../home/agent.sh",
        format!("#!/bin/sh\n{script}\n{COMMIT}\n"),
    );
    let chmod = env.tool("chmod", &["+x", "../home/agent.sh"]);
    chmod.run().exits(0);
}

#[test]
fn z_22_flaky_red_before_and_regression_are_told_apart() {
    let env = with_worktree(1, &planted());
    commit(&env, "touch broken");
    let records = results(&env, &["verify", "bd-1"]);
    let told: Vec<(&str, bool, Option<&str>)> = (records.iter())
        .map(|it| {
            let name = it["name"].as_str().unwrap();
            (name, it["passed"] == true, it["cause"].as_str())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("flaky", true, Some("flaky")),
            ("old", false, Some("red_on_base")),
            ("regression", false, Some("regression")),
            ("killed", false, Some("infrastructure")),
            ("fine", true, None),
        ]
    );
    assert!(records[0]["warning"].as_str().unwrap().contains("try 2"));
    let worktrees = env.tool("git", &["worktree", "list"]).run().stdout;
    assert_eq!(
        worktrees.lines().count(),
        2,
        "the base leaves nothing: {worktrees}"
    );
}

#[test]
fn z_22_the_report_ranks_what_is_flaky() {
    let env = with_worktree(1, &planted());
    assert_eq!(
        env.run(&["qa-report", "--json"]).exits(0).data()["flaky_checks"],
        json!([])
    );
    for _ in 0..2 {
        env.run(&["verify", "bd-1"]).exits(1);
    }
    let data = env.run(&["qa-report", "--json"]).exits(0).data();
    let [flaky] = data["flaky_checks"].as_array().unwrap().as_slice() else {
        panic!("{data}");
    };
    assert_eq!(
        (&flaky["check"], &flaky["runs"], &flaky["flaky"]),
        (&json!("flaky"), &json!(2), &json!(2))
    );
    let text = env.run(&["qa-report"]).exits(0).stdout;
    assert!(
        text.contains("FLAKY CHECK") && text.contains("100%"),
        "{text}"
    );
}

#[test]
fn z_22_without_retries_a_check_that_fails_has_failed() {
    let env = with_worktree(0, &planted());
    commit(&env, "touch broken");
    for record in results(&env, &["verify", "bd-1"]) {
        assert_eq!(
            record["passed"] == true,
            record["name"] == "fine",
            "{record}"
        );
        assert!(record.get("cause").is_none() && record.get("tries").is_none());
    }
}

#[test]
fn z_22_the_next_agent_is_told_whose_fault_it_is() {
    let env = with_worktree(1, &planted());
    agent(
        &env,
        "cat >../home/prompt-$BEADS_RALPH_ATTEMPT\ntouch broken\ndate +%N >>work",
    );
    env.run(&["exec", "bd-1"]).exits(1);
    let prompt = env.text("../home/prompt-2");
    for part in [
        "old: Exit code 1 (expected 0); it fails on a clean checkout of the commit that the work began from too",
        "regression: Exit code 1 (expected 0); it passes on the commit that the work began from: a regression",
        "so that it says nothing about the work",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    let failures = prompt.split("## Previous failures").nth(1).unwrap();
    assert!(!failures.contains("- flaky"), "{failures}");
}

#[test]
fn z_22_in_an_exec_all_of_them_are_told_apart_and_the_next_agent_mends_it() {
    let mut planted = planted();
    planted
        .as_array_mut()
        .unwrap()
        .retain(|it| it["name"] != "killed");
    let env = with_worktree(1, &planted);
    agent(
        &env,
        "cat >../home/prompt-$BEADS_RALPH_ATTEMPT\nif [ -e broken ]; then rm broken; touch never; else touch broken; fi",
    );
    let live = env.run(&["exec", "bd-1"]).exits(0).stderr;
    let flaky = "flaky: passed at try 2, after: Exit code 1 (expected 0); it passes at one time and not at another: a flaky check";
    assert!(
        live.contains("check flaky passed") && live.contains("passed at try 2"),
        "{live}"
    );
    let bead = env.run(&["show", "bd-1", "--json"]).exits(0).stdout;
    let red = "attempt 1: checks failed: old: Exit code 1 (expected 0); it fails on a clean checkout of the commit that the work began from too: it was red before this work, or needs something that is not committed; \
               regression: Exit code 1 (expected 0); it passes on the commit that the work began from: a regression; ";
    for words in [
        format!("{red}{flaky}"),
        format!("attempt 2: all checks passed; {flaky}"),
    ] {
        assert!(bead.contains(&words), "{words}: {bead}");
    }
    let prompt = env.text("../home/prompt-2");
    assert!(
        prompt.contains("it was red before this work") && prompt.contains("a regression"),
        "{prompt}"
    );
    let data = env.run(&["qa-report", "--json"]).exits(0).data();
    assert_eq!(data["flaky_checks"][0]["check"], "flaky", "{data}");
}

#[test]
fn z_22_the_base_has_what_is_copied_into_worktrees() {
    let needy = json!([{"name": "t", "command": "test -f .env -a ! -e broken"}]);
    let env = with_worktree(1, &needy);
    let config = env.text("beads-ralph.yaml");
    env.write(
        "beads-ralph.yaml",
        format!("{config}worktrees: {{copy: [.env]}}\n"),
    );
    env.write(".env", "SECRET=1\n");
    commit(&env, "echo .env >.gitignore && touch .env broken");
    let [record] = results(&env, &["verify", "bd-1"]).try_into().unwrap();
    assert_eq!(record["cause"], "regression", "{record}");
}

#[test]
fn z_22_without_a_worktree_there_is_no_base_and_what_is_flaky_passes() {
    let env = TestEnv::new();
    env.write("beads-ralph.yaml", "verify: {flaky_retries: 2}\n");
    let flaky =
        json!([{"name": "t", "command": "echo x >>../home/n; [ $(wc -l <../home/n) -ge 3 ]"}]);
    env.write(".ralph/beads/x.json", super::bead(&flaky));
    let [record] = results(&env, &["verify", "x"]).try_into().unwrap();
    assert_eq!(
        (&record["cause"], &record["tries"]),
        (&json!("flaky"), &json!(3))
    );
    let red = json!([{"name": "t", "command": "false"}]);
    env.write(".ralph/beads/y.json", super::bead(&red));
    let [record] = results(&env, &["verify", "y"]).try_into().unwrap();
    assert_eq!((record.get("cause"), &record["tries"]), (None, &json!(3)));
}

#[test]
fn z_22_a_check_that_is_flaky_on_the_base_was_not_red_there() {
    // Here it always fails; on the base, where nothing is broken, it fails at the first try only.
    let tricky = json!([{"name": "t", "command": "test ! -e broken && if [ -e seen ]; then true; else touch seen; exit 1; fi"}]);
    let env = with_worktree(1, &tricky);
    commit(&env, "touch broken");
    let [record] = results(&env, &["verify", "bd-1"]).try_into().unwrap();
    assert_eq!(record["cause"], "regression", "{record}");
}

#[test]
fn z_22_a_check_that_cannot_be_run_calls_no_further_agent() {
    let broken = json!([{"name": "t", "command": "no-such-tool"}]);
    let env = with_worktree(1, &broken);
    agent(&env, "echo x >>../home/calls\ndate +%N >>work");
    let failed = env.run(&["exec", "bd-1"]).exits(1).stderr;
    assert!(
        failed.contains("the checks could not be run: t: Exit code 127 (expected 0)"),
        "{failed}"
    );
    assert_eq!(env.text("../home/calls"), "x\n");
    let bead = env.run(&["show", "bd-1", "--json"]).exits(0).stdout;
    assert_eq!(
        bead.matches("attempt 1: checks failed").count(),
        1,
        "{bead}"
    );
}

#[test]
fn z_22_what_is_mended_while_an_exec_waits_costs_no_iteration() {
    // Two tries here and two on the base are killed; then it goes.
    let mended = json!([{"name": "t", "command": "echo out; n=$HOME/n; echo x >>$n; [ $(wc -l <$n) -gt 4 ] || kill -9 $$"}]);
    let env = with_worktree(1, &mended);
    agent(&env, "echo x >>../home/calls\ndate +%N >>work");
    let data = env.run(&["exec", "bd-1", "--json"]).exits(0).data();
    assert_eq!(data["iterations"], 1, "{data}");
    assert_eq!(env.text("../home/calls"), "x\n");
}
