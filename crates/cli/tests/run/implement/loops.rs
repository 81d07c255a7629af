//! `ralf-implement` (R-1…, I-28): workers and reviewers in turns.

use serde_json::Value;

use super::{Bench, REVIEWERS, has, labels, notes, rules};

/// A feature at its green loop, with the labels; workers and reviewers do what the script says.
fn green(script: &str, more: &str) -> Bench {
    green_with(script, more, REVIEWERS, "gates: {test: sh t.sh}\n")
}

fn green_with(script: &str, more: &str, implement: &str, config: &str) -> Bench {
    let bench = Bench::with("diligent", implement, config);
    bench.source("feature", &format!("ralf:required,{more}"));
    bench.bring_to("green-loop");
    bench.agent(script);
    bench
}

fn note<'s>(step: &'s Value, prefix: &str) -> &'s str {
    let line = notes(step).lines().rfind(|line| line.starts_with(prefix));
    line.unwrap_or_else(|| panic!("{prefix} is not in {step:#}"))
}

/// A reviewer that is content only with some cycles.
fn rejects(cycles: &str, severity: &str) -> String {
    format!(
        "case \"$role:$agent:$attempt\" in reviewer:fresh-eyes-reviewer:{cycles}) finds {severity} ;; *) diligent ;; esac"
    )
}

#[test]
fn r_1_without_criteria_or_commands_no_cycle_begins() {
    let bench = green_with("diligent", "", REVIEWERS, "");
    let told = bench.implement();
    assert!(rules(&told).contains(&"R-1"), "{told:#}");
    bench.asks("green-loop", "open", "no quality commands");
    let bench = green("diligent", "");
    bench.bd(&["update", "proj-1", "--acceptance", ""]);
    bench.implement();
    bench.asks("green-loop", "open", "no acceptance criteria");
    assert!(bench.ran().is_empty());
}

#[test]
fn r_2_r_6_r_11_example_6_of_9_16_two_cycles_the_first_of_which_is_rejected() {
    let bench = green(&rejects("1", "critical"), "ralf:cycles=2");
    let told = bench.implement();
    assert_eq!(
        (&told["shape"], &told["ending"]),
        (&"ralf-implement".into(), &"complete".into()),
        "{told:#}"
    );
    let step = bench.step("green-loop");
    let id = step["id"].as_str().unwrap();
    for n in [1, 2] {
        let name = format!("tdd-green-team-iter{n}");
        assert!(has(&step, &format!("worker-audit-{name}")), "{step:#}");
        assert!(
            bench
                .world
                .root
                .join(format!(".beads/worker-audit/{id}/{name}.yaml"))
                .is_file()
        );
    }
    let audit = labels(&step)
        .iter()
        .filter(|it| it.starts_with("worker-audit"))
        .count();
    assert_eq!(audit, 2, "reviewers leave none");
    assert_eq!(
        note(&step, "IMPLEMENTATION-REPORT:"),
        "IMPLEMENTATION-REPORT: score=PASS; cycles=2/2; severity=blocking:0,critical:0,major:0,minor:0; summary=nothing is open that must be fixed"
    );
    assert_eq!(
        note(&step, "FOREIGN-EYES:"),
        "FOREIGN-EYES: cycle-1=codex:COMPLETED; cycle-2=gemini:COMPLETED; degraded=0"
    );
    let markers: Vec<&str> = notes(&step)
        .lines()
        .filter(|it| it.starts_with("RALF-IT-ITER:"))
        .collect();
    assert_eq!(markers, ["RALF-IT-ITER:1/2", "RALF-IT-ITER:2/2"]);
    let aggregate = &told["aggregate"];
    assert_eq!(
        (&aggregate["score"], &aggregate["cycles"]),
        (&"PASS".into(), &"2/2".into())
    );
    for key in [
        "rationale",
        "severity_counts",
        "foreign_eyes",
        "per_cycle",
        "remaining",
    ] {
        assert!(!aggregate[key].is_null(), "{key}");
    }
}

#[test]
fn r_3_a_second_worker_is_told_nothing_of_the_first() {
    let bench = green(&rejects("1", "critical"), "");
    bench.implement();
    let step = bench.step("green-loop");
    let id = step["id"].as_str().unwrap();
    let prompt = |n: u32| {
        let text = bench.world.read(&format!(
            ".beads/worker-audit/{id}/tdd-green-team-iter{n}.run/prompt.md"
        ));
        text.replace(&format!("-iter{n}"), "-iter")
    };
    assert_eq!(prompt(1), prompt(2), "the same but for the report's path");
    assert!(!prompt(2).contains("it is critical") && !prompt(2).to_lowercase().contains("cycle"));
}

#[test]
fn r_4_a_foreign_reviewer_who_is_not_there_is_replaced_and_the_cycle_counts() {
    // Neither codex nor gemini is on this path.
    let bench = green_with(
        &rejects("1", "critical"),
        "",
        "poll_interval: 1s",
        "gates: {test: sh t.sh}\n",
    );
    let told = bench.implement();
    assert_eq!(told["ending"], "complete", "{told:#}");
    let step = bench.step("green-loop");
    assert_eq!(
        note(&step, "FOREIGN-EYES:"),
        "FOREIGN-EYES: cycle-1=codex:UNAVAILABLE>gemini:UNAVAILABLE>fresh-eyes:COMPLETED; cycle-2=gemini:UNAVAILABLE>fresh-eyes:COMPLETED; degraded=2"
    );
    assert!(
        has(&bench.bead("proj-1"), "foreign-eyes-degraded:2/2"),
        "R-12"
    );
    assert!(!has(&bench.bead("proj-1"), "human"));
}

#[test]
fn r_4_what_a_reviewer_says_that_is_no_review_is_not_taken() {
    let limit = format!("{REVIEWERS}, reviewer_timeout: 1s");
    let bench = green_with("diligent", "", &limit, "gates: {test: sh t.sh}\n");
    for (said, status) in [
        ("echo 'it looks good to me'", "UNUSABLE_OUTPUT"),
        (
            "echo '{\"findings\": [{\"severity\": \"terrible\"}]}'",
            "UNUSABLE_OUTPUT",
        ),
        ("true", "NO_OUTPUT"),
        ("exit 1", "NO_OUTPUT"),
        ("sleep 60", "TIMED_OUT"),
        (
            "echo x >sneaky.txt; commit x >/dev/null; clean",
            "UNUSABLE_OUTPUT",
        ),
        ("echo x >>shared.txt; clean", "UNUSABLE_OUTPUT"),
    ] {
        // The first reviewer is asked once; the second one finds nothing.
        let script = format!(
            "if [ \"$role:$agent\" = reviewer:fresh-eyes-reviewer ] && ! [ -f \"$base/asked\" ]; then touch \"$base/asked\"; {said}; else diligent; fi"
        );
        bench.agent(&script);
        let told = bench.implement();
        assert_eq!(told["ending"], "complete", "{said}: {told:#}");
        let step = bench.step("green-loop");
        let expected = format!("FOREIGN-EYES: cycle-1=codex:{status}>gemini:COMPLETED; degraded=0");
        assert_eq!(note(&step, "FOREIGN-EYES:"), expected, "{said}");
        let tree = bench.worktree();
        assert!(!std::path::Path::new(&tree).join("sneaky.txt").exists());
        assert_eq!(
            bench.world.git(&["-C", &tree, "status", "--porcelain"]),
            "",
            "{said}"
        );
        std::fs::remove_file(bench.world.base.join("asked")).unwrap();
        bench.again("green-loop");
    }
}

#[test]
fn r_4_when_nobody_can_review_the_work_is_kept_and_it_can_be_tried_again() {
    let bench = green(
        "if [ \"$role\" = reviewer ]; then exit 1; else diligent; fi",
        "",
    );
    let failed = bench.run();
    assert!(failed.code.is_some_and(|code| code != 0), "{failed:#?}");
    let step = bench.step("green-loop");
    assert_eq!(step["status"], "open", "{step:#}");
    bench.agent("diligent");
    let told = bench.implement();
    assert_eq!(told["ending"], "complete", "{told:#}");
    let workers = bench
        .ran()
        .iter()
        .filter(|it| it.starts_with("worker tdd-green-team"))
        .count();
    assert_eq!(workers, 1, "the report that was there is used");
}

/// What becomes of a loop: its score or nothing, its cycles, and how the step ends.
#[track_caller]
fn plays(script: &str, labels: &str, score: &str, cycles: &str, ending: &str) -> Bench {
    let bench = green(script, labels);
    let told = bench.implement();
    assert_eq!(told["ending"], ending, "{script}: {told:#}");
    let aggregate = &told["aggregate"];
    assert_eq!(
        (&aggregate["score"], &aggregate["cycles"]),
        (&score.into(), &cycles.into()),
        "{script}: {told:#}"
    );
    assert_eq!(bench.step("green-loop")["status"], "closed");
    assert_eq!(has(&bench.bead("proj-1"), "human"), ending == "needs_human");
    bench
}

#[test]
fn i_28_r_6_r_9_the_examples_of_the_contract() {
    // Gates fail, pass with something critical, pass and clean.
    let script = "case \"$role:$agent:$attempt\" in worker:tdd-green-team:1) echo 'exit 1' >t.sh; report complete \"$(tests 1 0 1)\" \"$(commit try)\" ;; reviewer:fresh-eyes-reviewer:2) finds critical ;; *) diligent ;; esac";
    plays(script, "", "PASS", "3/3", "complete");
    let bench = plays(
        &rejects("*", "critical"),
        "ralf:cycles=2",
        "FAIL",
        "2/2",
        "needs_human",
    );
    bench.asks("green-loop", "closed", "it is critical");
    let bench = plays(
        &rejects("*", "major"),
        "ralf:cycles=1",
        "PASS_WITH_RESERVATIONS",
        "1/1",
        "needs_human",
    );
    bench.asks("green-loop", "closed", "1 open major");
}

#[test]
fn r_6_a_worker_that_needs_a_person_ends_the_loop() {
    let script = "if [ \"$agent\" = tdd-green-team ]; then report needs_human 'escalations: [{reason: torn, detail: which sum}]' 'discovered_work: [{title: On the way, type: bug, priority: 2}]'; else diligent; fi";
    let bench = green(script, "");
    let told = bench.implement();
    assert_eq!(
        (&told["ending"], &told["status"]),
        (&"needs_human".into(), &"needs_human".into())
    );
    bench.asks("green-loop", "closed", "which sum");
    assert_eq!(bench.ran().len(), 1, "no review");
    assert_eq!(told["discovered"].as_array().unwrap().len(), 1);
}

#[test]
fn r_6_workers_that_fail_or_whose_gates_are_not_whole_use_up_the_cycles() {
    plays(
        "if [ \"$agent\" = tdd-green-team ]; then exit 1; else diligent; fi",
        "ralf:cycles=2",
        "FAIL",
        "2/2",
        "needs_human",
    );
    let partial = "if [ \"$agent\" = tdd-green-team ]; then echo $attempt >n; commit n >/dev/null; report complete 'evidence: {lint: {command: c, exit_code: null, skipped: true}}'; else diligent; fi";
    plays(partial, "ralf:cycles=2", "FAIL", "2/2", "needs_human");
}

#[test]
fn r_6_a_major_finding_is_worth_another_cycle() {
    plays(&rejects("1", "major"), "", "PASS", "2/3", "complete");
    plays(&rejects("*", "minor"), "", "PASS", "1/3", "complete");
}

#[test]
fn r_7_evidence_that_lacks_a_key_is_a_malformed_report() {
    let script = "case \"$agent:$attempt\" in tdd-green-team:1) report complete 'evidence: {tests: {command: c, exit_code: 0}}' ;; *) diligent ;; esac";
    let bench = plays(script, "", "PASS", "2/3", "complete");
    let step = bench.step("green-loop");
    let id = step["id"].as_str().unwrap();
    let report = bench.world.read(&format!(
        ".beads/worker-audit/{id}/tdd-green-team-iter1.yaml"
    ));
    assert!(
        report.contains("status: failed") && report.contains("skipped"),
        "{report}"
    );
}

#[test]
fn r_8_the_quality_review_may_reject_a_candidate() {
    let script =
        "case \"$agent:$attempt\" in quality-reviewer:1) finds blocking ;; *) diligent ;; esac";
    plays(script, "", "PASS", "2/3", "complete");
}

#[test]
fn r_8_a_simplification_that_breaks_a_test_is_taken_back() {
    let script = "case \"$agent:$attempt\" in simplifier:1) echo 'exit 1' >t.sh; commit simpler >/dev/null ;; *) diligent ;; esac";
    let bench = plays(script, "", "PASS", "2/3", "complete");
    let tree = bench.worktree();
    assert_eq!(
        std::fs::read_to_string(format!("{tree}/t.sh")).unwrap(),
        "exit 0\n"
    );
    let log = bench.world.git(&["-C", &tree, "log", "--format=%s"]);
    assert!(!log.contains("simpler"), "{log}");
    // One that holds stays.
    let script = "case \"$agent:$attempt\" in simplifier:1) echo plain >plain.txt; commit simpler >/dev/null ;; *) diligent ;; esac";
    let bench = plays(script, "", "PASS", "1/3", "complete");
    let log = bench
        .world
        .git(&["-C", &bench.worktree(), "log", "--format=%s"]);
    assert!(log.contains("simpler"), "{log}");
}

#[test]
fn policy_review_level_light_leaves_the_second_look_and_the_simplification_out() {
    let bench = green("diligent", "");
    for (level, expected) in [("light", 0), ("none", 0), ("standard", 2), ("deep", 2)] {
        let all = format!("implementation-ready,brainstormed,ralf:required,review-level:{level}");
        bench.bd(&["update", "proj-1", "--set-labels", &all]);
        assert_eq!(bench.implement()["ending"], "complete");
        let ran = bench.ran();
        let extra = ran
            .iter()
            .filter(|it| it.contains("quality-reviewer") || it.contains("simplifier"))
            .count();
        assert_eq!(extra, expected, "{level}: {ran:?}");
        bench.again("green-loop");
    }
}

#[test]
fn r_11_a_loop_goes_on_after_the_last_marker() {
    let bench = green("diligent", "");
    let step = bench.step("green-loop");
    bench.bd(&[
        "update",
        step["id"].as_str().unwrap(),
        "--notes",
        "RALF-IT-ITER:2/3",
    ]);
    let told = bench.implement();
    assert_eq!(told["aggregate"]["cycles"], "3/3", "{told:#}");
    assert_eq!(bench.ran()[0].split(' ').nth(2), Some("3"));
}

#[test]
fn i_26_work_that_is_found_in_a_cycle_is_filed_once() {
    let script = "case \"$role:$agent:$attempt\" in worker:tdd-green-team:*) echo 'exit 0' >t.sh; echo $attempt >n; report complete \"$(tests 0 1 0)\" \"$(commit green)\" 'discovered_work: [{title: On the way, type: bug, priority: 2}, {title: Cycle '$attempt', type: chore, priority: 2}]' ;; reviewer:fresh-eyes-reviewer:1) finds critical ;; *) diligent ;; esac";
    let bench = green(script, "");
    let told = bench.implement();
    assert_eq!(told["ending"], "complete", "{told:#}");
    let mut titles: Vec<Value> = bench
        .beads()
        .into_iter()
        .map(|it| it["title"].clone())
        .collect();
    titles.retain(|it| it == "On the way" || it.as_str().unwrap().starts_with("Cycle "));
    assert_eq!(titles.len(), 3, "{titles:?}");
    assert_eq!(told["discovered"].as_array().unwrap().len(), 3, "{told:#}");
}
