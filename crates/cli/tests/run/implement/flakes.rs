//! Whose fault a red check is, in a stage (`verify.flaky_retries`).

use serde_json::Value;

use super::{Bench, REVIEWERS, SOURCE, notes};

/// Commits something in the worktree of the source.
#[track_caller]
fn commit(bench: &Bench, script: &str) {
    let line = format!(
        "cd {} && {script} && git add --all && git commit --quiet -m work",
        bench.worktree()
    );
    let output = bench.world.tool("sh", &["-c", &line]);
    output.output(crate::world::LONG).exits(0);
}

fn is_said(told: &Value, text: &str) -> bool {
    let decisions = told["decisions"].as_array().into_iter().flatten();
    let mut warnings = decisions.filter(|it| it["rule"] == "Z-22");
    warnings.any(|it| it["text"].as_str().unwrap().contains(text))
}

#[test]
fn z_22_in_a_stage_a_flaky_command_one_that_was_red_before_and_a_regression_are_told_apart() {
    let bench = Bench::with("diligent", REVIEWERS, "verify: {flaky_retries: 1}\n");
    // What the bead waited for is not on the source branch, and is what the work began from.
    bench.create("proj-0", "task", "");
    bench.world.git(&["checkout", "--quiet", "-b", "before"]);
    bench.world.write("before.txt", "the work of proj-0");
    bench.world.git(&["add", "before.txt"]);
    bench.world.git(&["commit", "--quiet", "-m", "before"]);
    let kept = ["update-ref", "refs/beads-ralph/proj-0/verified", "before"];
    bench.world.git(&kept);
    bench.world.git(&["checkout", "--quiet", "main"]);
    bench.source("feature", "");
    bench.bd(&["dep", "add", SOURCE, "proj-0"]);
    bench.bd(&["close", "proj-0"]);
    let seen = bench.world.base.join("seen");
    let flaky = format!("if [ -e {seen} ]; then rm {seen}; else touch {seen}; exit 1; fi");
    let acceptance =
        format!("[m] `{flaky}`\n[m] `test -e never`\n[m] `test -f before.txt -a ! -e broken`");
    bench.bd(&["update", SOURCE, "--acceptance", &acceptance]);
    bench.bring_to("verify-ac");

    commit(&bench, "touch broken");
    let told = bench.implement();
    assert_eq!(told["ending"], "needs_human", "{told:#}");
    assert!(is_said(&told, "a flaky check"), "{told:#}");
    bench.asks("verify-ac", "closed", "acceptance-not-met");
    let said = notes(&bench.bead(SOURCE)).to_owned();
    for words in [
        "test -e never: Exit code 1 (expected 0); it fails on a clean checkout of the commit that the work began from too",
        "! -e broken: Exit code 1 (expected 0); it passes on the commit that the work began from: a regression",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }

    commit(&bench, "rm broken && touch never");
    bench.again("verify-ac");
    let told = bench.implement();
    assert_eq!(told["ending"], "complete", "{told:#}");
    assert!(is_said(&told, "passed at try 2"), "{told:#}");
    let data = bench.world.data(&["qa-report"]);
    assert_eq!(data["flaky_checks"][0]["command"], flaky, "{data}");
}

#[test]
fn z_22_a_stage_whose_commands_cannot_be_run_is_given_back() {
    let bench = Bench::with("diligent", REVIEWERS, "verify: {flaky_retries: 1}\n");
    bench.source("feature", "");
    let tool = bench.world.base.join("tool");
    let acceptance = format!("[m] `{tool}`\n[m] `echo output`");
    bench.bd(&["update", SOURCE, "--acceptance", &acceptance]);
    bench.bring_to("verify-ac");
    commit(&bench, "touch work");
    for _ in 0..2 {
        let output = bench.run().exits(1);
        output.says("the checks could not be run: ");
        let step = bench.step("verify-ac");
        assert_eq!(step["status"], "open", "{step:#}");
        assert_eq!(notes(&bench.bead(SOURCE)), "", "nobody is asked");
    }
    bench.world.program("tool", "exit 0");
    assert_eq!(bench.implement()["ending"], "complete");
}
