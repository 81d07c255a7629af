//! `exec` on a bead of the store (Z-28, Z-37).

use serde_json::{Value, json};

use super::git_repository;
use crate::env::TestEnv;

#[track_caller]
fn with_store(script: &str) -> TestEnv {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.run(&["init"]).exits(0);
    env.write(
        "beads-ralph.yaml",
        "agents: {default: mine, adapters: {mine: {kind: command, executable: ./agent.sh}}}\n",
    );
    env.write("agent.sh", format!("#!/bin/sh\n{script}\n"));
    env.tool("chmod", &["+x", "agent.sh"]).run().exits(0);
    let bead = json!({
        "id": "bd-1", "title": "Do it", "description": "Make the file done", "issue_type": "task",
        "metadata": {"dod": {"verifiers": [{"name": "t", "command": "test -e done"}]}, "constraints": {"max_iterations": 2}, "ralph_meta": {"retry_backoff_seconds": 0, "odd": 1}, "kept": true},
    });
    env.command(&["import", "-"])
        .stdin(format!("{bead}\n"))
        .run()
        .exits(0);
    env
}

#[track_caller]
fn shown(env: &TestEnv) -> Value {
    env.run(&["show", "bd-1", "--json"]).exits(0).data()
}

#[test]
fn z_37_a_bead_of_the_store_is_claimed_worked_on_and_closed() {
    let env = with_store(
        "[ $BEADS_RALPH_ATTEMPT = 1 ] && touch other || touch done; beads=$BEADS_RALPH_BEAD; echo $beads >who",
    );
    env.run(&["exec", "bd-1"]).exits(0);
    let shown = shown(&env).to_string();
    for part in [
        "\"status\":\"closed\"",
        "Definition of Done met: 1 checks passed",
        "\"attempt_count\":2",
        "\"odd\":1",
        "\"kept\":true",
        "attempt 1: checks failed: t: Exit code 1 (expected 0)",
        "attempt 2: all checks passed",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(env.text("who"), "bd-1\n");
    env.run(&["exec", "bd-1"]).exits(0);
}

#[test]
fn z_1_a_bead_that_is_given_up_waits_for_a_person() {
    let env = with_store("date +%N >>changed");
    env.run(&["exec", "bd-1"]).exits(1);
    let shown = shown(&env).to_string();
    for part in [
        "\"status\":\"blocked\"",
        "\"human\"",
        "Max iterations reached",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn z_37_somebody_elses_claim_is_respected() {
    let env = with_store("touch done");
    env.run(&["claim", "bd-1", "--holder", "somebody"]).exits(0);
    env.run(&["exec", "bd-1"]).exits(4);
    assert!(!env.path("done").exists());
}

#[test]
fn z_29_in_a_worktree_everything_is_committed_before_the_checks() {
    let env = with_store(
        "touch done; [ $BEADS_RALPH_ATTEMPT = 1 ] && exit 0; git add done; git -c user.name=x -c user.email=x@x commit -qm done",
    );
    env.tool("rm", &["-r", ".git"]).run().exits(0);
    git_repository(&env);
    env.tool("git", &["worktree", "add", "-q", "-b", "b", "../tree"])
        .run()
        .exits(0);
    let output = env.run(&["update", "bd-1", "--set-metadata", "worktree_path=../gone"]);
    output.exits(0);
    let output = env.run(&["exec", "bd-1"]).exits(1);
    assert!(output.stderr.contains("worktree"), "{}", output.stderr);
    env.run(&["update", "bd-1", "--set-metadata", "worktree_path=../tree"])
        .exits(0);
    env.run(&["exec", "bd-1"]).exits(0);
    let shown = shown(&env).to_string();
    assert!(
        shown.contains("clean worktree: Not everything is committed: done"),
        "{shown}"
    );
    let head = env
        .tool("git", &["-C", "../tree", "rev-parse", "HEAD"])
        .run()
        .stdout;
    assert!(shown.contains(head.trim()), "{shown}");
}

#[test]
fn z_28_a_bead_without_checks_cannot_be_worked_on() {
    let env = with_store("touch done");
    let bead = json!({"id": "bd-2", "title": "No checks"});
    env.command(&["import", "-"])
        .stdin(format!("{bead}\n"))
        .run()
        .exits(0);
    let output = env.run(&["exec", "bd-2"]).exits(1);
    assert!(
        output.stderr.contains("dod.verifiers: Field required"),
        "{}",
        output.stderr
    );
    env.run(&["verify", "bd-1"]).exits(1);
    env.write("done", "");
    env.run(&["verify", "bd-1"]).exits(0);
}

#[test]
fn v_16_force_works_again_on_what_is_closed_or_given_up() {
    let env = with_store("[ -e enough ] && touch done; date +%N >>changed");
    env.run(&["exec", "bd-1"]).exits(1);
    env.run(&["exec", "bd-1"]).exits(1);
    env.write("enough", "");
    env.run(&["exec", "--force", "bd-1"]).exits(0);
    let shown = shown(&env).to_string();
    assert!(
        shown.contains("\"status\":\"closed\"") && !shown.contains("\"human\""),
        "{shown}"
    );
    env.run(&["exec", "--force", "bd-1"]).exits(0);
}

#[test]
fn z_29_verify_looks_at_what_is_committed_too() {
    let env = with_store("true");
    env.tool("rm", &["-r", ".git"]).run().exits(0);
    git_repository(&env);
    env.tool("git", &["worktree", "add", "-q", "-b", "b", "../tree"])
        .run()
        .exits(0);
    env.run(&["update", "bd-1", "--set-metadata", "worktree_path=../tree"])
        .exits(0);
    env.write("../tree/done", "");
    let output = env.run(&["verify", "bd-1"]).exits(1);
    assert!(
        output.stderr.contains("Not everything is committed: done"),
        "{}",
        output.stderr
    );
    // What git cannot tell is not believed.
    env.run(&["update", "bd-1", "--set-metadata", "worktree_path=../bare"])
        .exits(0);
    env.write("../bare/done", "");
    let output = env.run(&["verify", "bd-1"]).exits(1);
    assert!(
        output.stderr.contains("git cannot tell"),
        "{}",
        output.stderr
    );
}
