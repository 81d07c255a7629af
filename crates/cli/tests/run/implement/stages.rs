//! What follows from a report, and the stages that need no agent (I-24…I-30, §9.10, §9.13, §9.14, Z-35).

use super::{Bench, REVIEWERS, SOURCE, has, is_human, notes, rules};

/// A bug whose tests are about to be written.
fn diagnosed(script: &str) -> Bench {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    if script.contains("bug-diagnoser") {
        bench.agent(script);
    }
    bench.bring_to("red-tests");
    bench.agent(script);
    bench
}

fn prompt(bench: &Bench, stage: &str, run: &str) -> String {
    let step = bench.step(stage);
    let id = step["id"].as_str().unwrap();
    bench
        .world
        .read(&format!(".beads/worker-audit/{id}/{run}.run/prompt.md"))
}

#[test]
fn i_24_the_cause_of_a_bug_reaches_those_who_test_and_mend_it() {
    let script = "if [ \"$agent\" = bug-diagnoser ]; then report complete 'root_cause_note: the sum is off by one' 'reproduction_steps: add one and one'; else diligent; fi";
    let bench = diagnosed(script);
    bench.implement();
    let red = prompt(&bench, "red-tests", "tdd-red-team");
    assert!(
        red.contains("off by one") && red.contains("add one and one"),
        "{red}"
    );
    bench.implement();
    let green = prompt(&bench, "green-loop", "tdd-green-team");
    assert!(
        green.contains("off by one") && !green.contains("add one and one"),
        "{green}"
    );
}

#[test]
fn i_25_without_a_diagnosis_nobody_begins() {
    let bench = diagnosed("diligent");
    let step = bench.step("diagnose");
    let id = step["id"].as_str().unwrap().to_owned();
    let path = bench
        .world
        .root
        .join(format!(".beads/worker-audit/{id}/bug-diagnoser.yaml"));
    let ran = bench.ran().len();
    for text in [
        Some("status: complete\nroot_cause_note: ''\n"),
        Some("status: [\n"),
        Some("status: needs_human\n"),
        Some("- a\n"),
        None,
    ] {
        match text {
            Some(text) => bench.world.write(path.as_str(), text),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let told = bench.implement();
        assert_eq!(told["ending"], "needs_human", "{text:?}: {told:#}");
        assert!(rules(&told).contains(&"I-25"), "{told:#}");
        bench.asks("red-tests", "open", path.as_str());
        bench.answer("again", &[]);
    }
    bench
        .world
        .write(path.as_str(), "status: complete\nroot_cause_note: found\n");
    bench.bd(&[
        "create",
        "Diagnose: once more",
        "--id",
        "bd-second",
        "--force",
    ]);
    let root = bench.molecules()[0]["id"].as_str().unwrap().to_owned();
    bench.bd(&[
        "update",
        "bd-second",
        "--parent",
        &root,
        "--status",
        "closed",
    ]);
    bench.implement();
    bench.asks("red-tests", "open", "several diagnose steps");
    assert_eq!(bench.ran().len(), ran, "nobody ran");
}

const FINDS: &str = "if [ \"$agent\" = tdd-red-team ]; then report \"$(cat \"$base/status\" 2>/dev/null || echo failed)\" 'discovered_work: [{title: Look at dates, type: bug, priority: 1, detail: they are odd}, {title: Look at dates, type: bug, priority: 3}, {title: And at times, type: chore, priority: 4}]'; else diligent; fi";

#[test]
fn i_26_i_27_discovered_work_is_filed_once_whatever_the_status() {
    let bench = diagnosed(FINDS);
    let told = bench.implement();
    assert_eq!(told["ending"], "needs_human");
    assert_eq!(told["discovered"].as_array().unwrap().len(), 2, "{told:#}");
    let found = bench.bead(told["discovered"][0].as_str().unwrap());
    assert_eq!(found["title"], "Look at dates");
    assert_eq!(
        (&found["issue_type"], &found["priority"]),
        (&"bug".into(), &1.into())
    );
    assert_eq!(found["description"], "they are odd");
    let edge = &found["dependencies"][0];
    assert_eq!(
        (&edge["depends_on_id"], &edge["type"]),
        (&SOURCE.into(), &"discovered-from".into())
    );
    assert_eq!(found["status"], "open");
    let before = bench.beads().len();
    for status in ["needs_human", "complete"] {
        bench
            .world
            .write(bench.world.base.join("status").as_str(), status);
        bench.answer("again", &[]);
        let told = bench.implement();
        assert_eq!(told["discovered"], serde_json::json!([]), "{told:#}");
    }
    assert_eq!(bench.beads().len(), before, "not twice");
}

#[test]
fn i_26_what_cannot_be_a_bead_does_not_keep_the_rest_from_being_written() {
    let long = "x".repeat(600);
    let script = format!(
        "echo 'exit 1' >t.sh; report complete \"$(tests 1 0 1)\" \"$(commit red)\" 'discovered_work: [{{title: {long}, type: bug, priority: 1}}, {{title: \"two\\nlines\", type: bug, priority: 1}}, {{title: Good, type: bug, priority: 1}}]'"
    );
    let bench = diagnosed("diligent");
    bench.agent(&script);
    let told = bench.implement();
    assert_eq!(told["ending"], "complete", "{told:#}");
    assert_eq!(told["discovered"].as_array().unwrap().len(), 3, "{told:#}");
}

#[test]
fn i_27_the_hook_may_say_that_it_belongs_to_the_epic() {
    for (answer, is_sibling) in [
        ("sibling", true),
        ("orphan", false),
        ("sibling; exit 1", false),
    ] {
        let hook = format!(
            "{REVIEWERS}, sibling: 'test \"$BEADS_RALPH_EPIC\" = proj-9 && test \"$BEADS_RALPH_TITLE\" = \"And at times\" && echo {answer}'"
        );
        let bench = Bench::with(FINDS, &hook, "");
        bench.bd(&[
            "create", "The epic", "-t", "epic", "--id", "proj-9", "--force",
        ]);
        bench.source("feature", "");
        bench.bd(&["update", SOURCE, "--parent", "proj-9"]);
        bench.bring_to("red-tests");
        let told = bench.implement();
        let parents = |n: usize| {
            let bead = bench.bead(told["discovered"][n].as_str().unwrap());
            let edges = bead["dependencies"].as_array().unwrap().clone();
            edges
                .iter()
                .filter(|edge| edge["type"] == "parent-child")
                .count()
        };
        assert_eq!(
            (parents(0), parents(1)),
            (0, usize::from(is_sibling)),
            "{answer}"
        );
    }
}

#[test]
fn i_29_i_30_a_person_is_asked_once_and_that_is_no_failure() {
    let bench = diagnosed("report failed 'escalations: [{reason: r, detail: the reason}]'");
    bench.run().exits(0).says("a person is needed");
    let before = bench.export();
    bench.run().exits(0).says("paused");
    assert_eq!(bench.export(), before);
    let source = bench.bead(SOURCE);
    assert_eq!(notes(&source).matches("the reason").count(), 1);
    assert_eq!(bench.step("red-tests")["status"], "closed");
}

#[test]
fn i_30_notes_are_added_to_what_is_there() {
    let bench = diagnosed("report failed 'escalations: [{reason: r, detail: the reason}]'");
    bench.bd(&["update", SOURCE, "--notes", "mine"]);
    bench.implement();
    let source = bench.bead(SOURCE);
    assert!(notes(&source).starts_with("mine\n"), "{source:#}");
    assert!(notes(&source).contains("the reason"));
}

#[test]
fn i_31_a_bead_that_waits_for_a_person_is_not_ready_and_there_is_no_bead_for_the_question() {
    let bench = diagnosed("report failed");
    let before = bench.beads().len();
    bench.implement();
    assert_eq!(bench.beads().len(), before, "no bead besides");
    bench.create("proj-2", "bug", "implementation-ready,human");
    bench.create("proj-3", "bug", "implementation-ready");
    let ready = bench
        .world
        .run(&["ready", "--label", "implementation-ready", "--json"])
        .exits(0);
    assert!(
        ready.stdout.contains("proj-3") && !ready.stdout.contains("proj-2"),
        "{}",
        ready.stdout
    );
}

#[test]
fn z_35_verify_ac_runs_the_commands_and_leaves_words_to_an_agent() {
    let bench = Bench::with("diligent", REVIEWERS, "");
    bench.source("feature", "");
    bench.bring_to("verify-ac");
    for (acceptance, ending, note, agents) in [
        ("[m] `true`\n[m] `test -f shared.txt`", "complete", "", 0),
        (
            "[m] `true`\n[m] `echo it is broken; exit 7`",
            "needs_human",
            "acceptance-not-met",
            0,
        ),
        ("[m] `true`\n[m] it is fast", "complete", "", 1),
        (
            "[m] it is fast\n[m] `false`",
            "needs_human",
            "acceptance-not-met",
            0,
        ),
        ("[h] it is pretty", "complete", "", 0),
        ("", "complete", "", 0),
    ] {
        bench.bd(&["update", SOURCE, "--acceptance", acceptance]);
        let told = bench.implement();
        assert_eq!(told["ending"], ending, "{acceptance}: {told:#}");
        if ending == "needs_human" {
            bench.asks("verify-ac", "closed", note);
        }
        assert_eq!(bench.ran().len(), agents, "{acceptance}");
        bench.again("verify-ac");
    }
}

#[test]
fn z_35_the_commands_of_the_project_must_hold_too_whatever_workers_say() {
    let bench = Bench::with("diligent", REVIEWERS, "gates: {test: test -f proof.txt}\n");
    bench.source("feature", "auto-mergeable");
    bench.bd(&["update", SOURCE, "--acceptance", "[m] `true`"]);
    bench.bring_to("verify-ac");
    assert_eq!(bench.implement()["ending"], "needs_human");
    bench.asks("verify-ac", "closed", "acceptance-not-met");
    bench.answer("go past it", &["--accept"]);
    assert_eq!(
        bench.implement()["ending"],
        "needs_human",
        "nothing is proposed that does not hold"
    );
}

#[test]
fn a_bead_without_any_check_is_never_merged_by_a_program() {
    let bench = Bench::with("diligent", REVIEWERS, "integration: merge\n");
    bench.source("feature", "auto-mergeable");
    bench.bd(&["update", SOURCE, "--acceptance", ""]);
    bench.bring_to("red-tests");
    bench.implement_all();
    let source = bench.bead(SOURCE);
    assert_eq!(source["status"], "in_progress");
    assert!(has(&source, "merge-ready"), "{source:#}");
}

#[test]
fn z_6_work_starts_from_what_the_bead_waited_for() {
    let bench = Bench::with("diligent", REVIEWERS, "");
    bench.create("proj-0", "task", "");
    bench.world.git(&["checkout", "--quiet", "-b", "before"]);
    bench.world.write("before.txt", "the work of proj-0");
    bench.world.git(&["add", "before.txt"]);
    bench.world.git(&["commit", "--quiet", "-m", "before"]);
    bench
        .world
        .git(&["update-ref", "refs/beads-ralph/proj-0/verified", "before"]);
    bench.world.git(&["checkout", "--quiet", "main"]);
    bench.source("feature", "");
    bench.bd(&["dep", "add", SOURCE, "proj-0"]);
    let told = bench.implement();
    assert_eq!(told["ending"], "waiting", "{told:#}");
    bench.bd(&["close", "proj-0"]);
    assert_eq!(bench.implement()["ending"], "complete");
    let path = bench.worktree();
    let kept = std::fs::read_to_string(format!("{path}/before.txt")).unwrap();
    assert_eq!(kept, "the work of proj-0");
}

#[test]
fn z_35_what_a_person_must_look_at_is_said_when_the_work_is_handed_over() {
    let bench = Bench::new("diligent");
    bench.source("feature", "");
    bench.bd(&[
        "update",
        SOURCE,
        "--acceptance",
        "[m] `true`\n[h] it is pretty",
    ]);
    bench.bring_to("red-tests");
    let told = bench.implement_all();
    assert_eq!(told["ending"], "molecule_done", "{told:#}");
    let source = bench.bead(SOURCE);
    assert!(
        has(&source, "merge-ready") && notes(&source).contains("it is pretty"),
        "{source:#}"
    );
}

#[test]
fn create_pr_without_any_work_is_for_a_person() {
    let bench = Bench::new("diligent");
    bench.source("feature", "");
    bench.bring_to("create-pr");
    assert_eq!(bench.implement()["ending"], "needs_human");
    bench.asks("create-pr", "closed", "nothing-was-done");
}

#[test]
fn policy_labels_skip_what_they_say() {
    let bench = Bench::new("diligent");
    bench.source("bug", "review-level:none");
    let told = bench.implement_all();
    assert_eq!(told["ending"], "molecule_done", "{told:#}");
    let agents: Vec<String> = bench.ran();
    assert_eq!(agents.len(), 3, "{agents:?}");
    for stage in ["quality-sweep", "verify-ac", "review-cycle"] {
        let step = bench.step(stage);
        let reason = step["close_reason"].as_str().unwrap();
        assert!(reason.contains("skipped: review-level:none"), "{reason}");
    }
}

#[test]
fn policy_labels_that_are_malformed_or_contradict_each_other_are_for_a_person() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    for (labels, note) in [
        ("review-level:heavy", "`review-level:heavy` is malformed"),
        (
            "review-level:none,review-level:deep",
            "contradict each other",
        ),
        ("coverage-threshold-101", "malformed"),
        ("iteration-cap-green-loop-x", "malformed"),
        ("ralf:cycles=0", "malformed"),
        ("ralf:cycles=21", "malformed"),
        ("ralf:cycles=2,ralf:cycles=3", "contradict each other"),
    ] {
        let all = format!("implementation-ready,brainstormed,{labels}");
        bench.bd(&["update", SOURCE, "--set-labels", &all]);
        assert_eq!(bench.implement()["ending"], "needs_human", "{labels}");
        bench.asks("preflight", "open", note);
        bench.again("preflight");
    }
}

#[test]
fn docs_only_goes_through_its_own_stages() {
    let bench = Bench::new("diligent");
    bench.source("task", "formula-docs-only");
    bench.bd(&["update", SOURCE, "--acceptance", "[m] `test -f doc.md`"]);
    let told = bench.implement_all();
    assert_eq!(told["ending"], "molecule_done", "{told:#}");
    let workers: Vec<String> = bench.ran();
    let workers: Vec<&str> = workers
        .iter()
        .filter_map(|line| line.split(' ').nth(1))
        .collect();
    assert_eq!(
        workers,
        ["docs-edits-team", "general-purpose", "general-purpose"]
    );
    assert!(!is_human(&bench.bead(SOURCE)));
}

#[test]
fn z_36_a_flag_can_be_set_on_a_step_whose_dispatcher_is_gone() {
    let bench = diagnosed("diligent");
    let killed = bench
        .world
        .command(&["implement", SOURCE])
        .env("BEADS_RALPH_DIE_AT", "9");
    assert_eq!(killed.output(crate::world::LONG).code, None);
    assert_eq!(bench.step("red-tests")["status"], "in_progress");
    bench.bd(&["label", "add", SOURCE, "ralf:cycles=99"]);
    let told = bench.implement();
    assert_eq!(told["ending"], "needs_human", "{told:#}");
    bench.asks("red-tests", "open", "malformed");
    bench.bd(&["label", "remove", SOURCE, "ralf:cycles=99"]);
    bench.answer("mended", &[]);
    assert_eq!(bench.implement()["ending"], "complete");
}

#[test]
fn i_30_a_source_that_a_person_claimed_by_hand_is_flagged_all_the_same() {
    let bench = diagnosed("report failed 'escalations: [{reason: r, detail: the reason}]'");
    bench.bd(&["update", SOURCE, "--status", "open"]);
    bench.bd(&["update", SOURCE, "--claim"]);
    let told = bench.implement();
    assert_eq!(told["ending"], "needs_human", "{told:#}");
    bench.asks("red-tests", "closed", "the reason");
}
