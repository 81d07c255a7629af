//! A bug, through every stage of `fix-bug`, with a loop that strangers look into.

use beads_ralph_runtime::implement::session_id;
use beads_ralph_testkit::scripted_model::Protocol;
use serde_json::{Value, json};

use super::ground::{
    GREEN, Ground, RED, Terms, commits, finds, has_label, notes, nothing, report, reports,
    reviewer, simplifier, worker,
};
use crate::remote;

const TITLE: &str = "Sum is wrong";
const BRANCH: &str = "fix/proj-1-sum-is-wrong";
const CAUSE: &str = "one is added too many in sum.sh";

/// What no worker may do, under either name of the program, and what it may.
const LOOKS: &str = concat!(
    "bd close proj-1 2>&1; bd update proj-1 --title=Mine 2>&1; bd label add proj-1 human 2>&1; bd create Mine 2>&1; ",
    env!("CARGO_BIN_EXE_beads-ralph"),
    " close proj-1 2>&1; bd show proj-1",
);

/// The cause is found, the tests are red, the first mend knows one sum only, the second all of them.
fn rules() -> [Value; 6] {
    let mut diagnosis = report("complete", &json!({}));
    diagnosis["root_cause_note"] = json!(CAUSE);
    let critical = json!([{
        "severity": "critical", "title": "It knows one sum only", "detail": "Try 1 and 1.", "file": "sum.sh",
    }]);
    let mends = [commits("echo 'echo 5' >sum.sh", 0), commits(GREEN, 0)];
    [
        worker("diagnose", TITLE, &[reports(LOOKS, &diagnosis)]),
        worker("red-tests", TITLE, &[commits(RED, 1)]),
        worker("green-loop", TITLE, &mends),
        worker("quality-sweep", TITLE, &[nothing()]),
        reviewer(TITLE, &[finds(&critical), finds(&json!([]))]),
        simplifier(TITLE),
    ]
}

#[test]
#[ignore = "needs the real claude, codex and gh: scripts/real-tools claude codex gh"]
fn i_18_a_bug_goes_through_every_stage_and_waits_to_be_merged() {
    let terms = Terms {
        has_remote: true,
        ..Terms::default()
    };
    let ground = Ground::with(&rules(), &terms);
    ground.create("bug", TITLE, "ralf:required", "");
    ground.completes("preflight");
    assert_eq!(ground.source()["status"], "in_progress");
    diagnosed(&ground);
    let red = ground.completes("red-tests");
    assert_eq!(red["gate"], "fail", "that is its success: {red:#}");
    let tests = ground.asked("red-tests");
    assert!(tests[0].prompt.contains(CAUSE), "{:#?}", tests[0]);
    looped(&ground);
    ground.completes("quality-sweep");
    ground.completes("verify-ac");
    let proposed = ground.completes("create-pr");
    reviewed(&ground);
    ground.completes("merge-or-handoff");
    handed_over(&ground, &proposed);
    assert_eq!(ground.implement()["ending"], "molecule_done");
}

/// The diagnosis is that of a worker of the built-in kind, which can look at beads and change none.
#[track_caller]
fn diagnosed(ground: &Ground) {
    let before = ground.source();
    let told = ground.completes("diagnose");
    let step = ground.bead(told["step"].as_str().unwrap());
    assert!(has_label(&step, "worker-audit-bug-diagnoser"), "{step:#}");
    assert_eq!(ground.source(), before);

    let asked = ground.asked("diagnose");
    assert_eq!(asked[0].session, session_id("proj-1", "diagnose"));
    let instructions = "# Find the cause\n";
    assert!(asked[0].prompt.contains(instructions), "{:#?}", asked[0]);
    assert!(!asked[0].system.contains(instructions));
    let said = &asked[1].results[0];
    assert_eq!(said.matches("read-only").count(), 5, "{said}");
    assert!(said.contains(TITLE), "it can look: {said}");
}

/// Of two cycles the first is sent back by the real `codex`; the second one would be looked at by `gemini`, which is not there.
#[track_caller]
fn looped(ground: &Ground) {
    let told = ground.completes("green-loop");
    assert_eq!(told["shape"], "ralf-implement");
    assert_eq!(told["aggregate"]["score"], "PASS", "{told:#}");
    let step = ground.bead(told["step"].as_str().unwrap());
    for n in [1, 2] {
        let label = format!("worker-audit-tdd-green-team-iter{n}");
        assert!(has_label(&step, &label), "{step:#}");
    }
    for note in [
        "IMPLEMENTATION-REPORT: score=PASS; cycles=2/3; severity=blocking:0,critical:0,major:0,minor:0; ",
        "FOREIGN-EYES: cycle-1=codex:COMPLETED; cycle-2=gemini:UNAVAILABLE>fresh-eyes:COMPLETED; degraded=1",
        "RALF-IT-ITER:2/3",
    ] {
        assert!(notes(&step).contains(note), "{note}\n{step:#}");
    }
    let workers = ground.asked("green-loop");
    assert_eq!(workers[0].session, session_id("proj-1", "green-loop"));
    assert_ne!(workers[2].session, workers[0].session, "{workers:#?}");
    // The second worker is told what the first was told, but for the name of its report, and nothing of what was found.
    let other = workers[0].prompt.replace("-iter1.yaml", "-iter2.yaml");
    assert_eq!(workers[2].prompt, other);
    let eyes: Vec<Protocol> = (ground.asked("review").iter())
        .step_by(2)
        .map(|asked| asked.protocol)
        .collect();
    let (claude, codex) = (Protocol::Messages, Protocol::Responses);
    assert_eq!(eyes, [codex, claude, claude], "the last one for quality");
    assert_eq!(ground.asked("simplify").len(), 1);
}

#[track_caller]
fn reviewed(ground: &Ground) {
    let told = ground.completes("review-cycle");
    assert_eq!(told["shape"], "ralf-review");
    let step = ground.bead(told["step"].as_str().unwrap());
    let note = "REVIEW-REPORT: score=PASS; cycles=1/2; ";
    assert!(notes(&step).contains(note), "{step:#}");
}

/// What is handed over is what was proposed: the branch with the commits.
#[track_caller]
fn handed_over(ground: &Ground, proposed: &Value) {
    let source = ground.source();
    assert!(has_label(&source, "merge-ready"), "{source:#}");
    assert!(notes(&source).contains(BRANCH), "{source:#}");
    let branch = ground.real.git(&["rev-parse", BRANCH]);
    assert_eq!(remote::pushed(&ground.real, BRANCH), branch);
    let commits = ground
        .real
        .git(&["rev-list", "--count", &format!("main..{BRANCH}")]);
    assert_eq!(commits, "3", "the tests and two mends");
    let mended = ground.real.git(&["show", &format!("{BRANCH}:sum.sh")]);
    assert_eq!(mended, "echo $(($1 + $2))");
    assert_eq!(ground.real.git(&["status", "--porcelain"]), "");

    let pulls = ground.github.as_ref().unwrap().pulls();
    assert_eq!(pulls.len(), 1, "{pulls:#?}");
    assert_eq!(pulls[0].head, BRANCH, "{pulls:#?}");
    let said = proposed["message"].as_str().unwrap();
    assert!(said.contains("/pull/1"), "{said}");
}
