//! What a worker leaves, and what it is worth (I-18…I-23, W-1…W-6).

use super::{Bench, REVIEWERS, SOURCE, has, is_human, labels, notes};

/// A feature whose tests are about to be written.
fn red(script: &str, implement: &str) -> Bench {
    at("red-tests", script, implement)
}

fn at(stage: &str, script: &str, implement: &str) -> Bench {
    let bench = Bench::with(
        script,
        &format!("{REVIEWERS}{implement}"),
        "gates: {test: sh t.sh}\n",
    );
    bench.source("feature", "");
    bench.bring_to(stage);
    bench
}

/// The report of the red team, as it lies there.
fn written(bench: &Bench) -> String {
    let step = bench.step("red-tests");
    let id = step["id"].as_str().unwrap();
    let path = format!(".beads/worker-audit/{id}/tdd-red-team.yaml");
    bench.world.read(&path)
}

/// A worker whose report cannot be used: both beads wait for a person, and there is a report in its place.
#[track_caller]
fn synthetic(bench: &Bench, script: &str, reason: &str, detail: &str) {
    if bench.step("red-tests")["status"] == "closed" {
        bench.again("red-tests");
    }
    bench.agent(script);
    let told = bench.implement();
    assert_eq!(told["ending"], "needs_human", "{script}: {told:#}");
    assert_eq!(
        (&told["status"], &told["gate"]),
        (&"failed".into(), &"n/a".into()),
        "{told:#}"
    );
    bench.asks("red-tests", "closed", reason);
    let text = written(bench);
    assert!(
        text.contains("status: failed") && text.contains(reason),
        "{text}"
    );
    assert!(
        text.contains(detail),
        "{script}: {detail:?} is not in {text}"
    );
    assert!(
        text.contains("evidence: {}")
            && text.contains("discovered_work: []")
            && text.contains("commits: []"),
        "{text}"
    );
    assert!(
        has(&bench.step("red-tests"), "worker-audit-tdd-red-team"),
        "also after a crash"
    );
    assert!(
        !labels(&bench.bead(SOURCE))
            .iter()
            .any(|it| it.starts_with("worker-audit"))
    );
}

const CRASHED: &str = "Worker crashed";
const MALFORMED: &str = "Worker emitted malformed report";

#[test]
fn i_20_i_21_example_3_of_9_16_a_worker_that_exits_1() {
    let bench = red("diligent", "");
    synthetic(
        &bench,
        "echo 'no such luck' >&2; exit 1",
        CRASHED,
        "exit code 1",
    );
    synthetic(
        &bench,
        "echo 'no such luck' >&2; exit 1",
        CRASHED,
        "no such luck",
    );
    // A report of a worker that fails is not taken, however good it looks.
    synthetic(&bench, "report complete; exit 3", CRASHED, "exit code 3");
}

#[test]
fn i_20_a_worker_that_leaves_no_report() {
    let bench = red("diligent", "");
    synthetic(&bench, "true", CRASHED, "exit code 0");
    synthetic(
        &bench,
        "mkdir \"$BEADS_RALPH_REPORT\"",
        "Worker",
        "status: failed",
    );
}

#[test]
fn i_20_a_report_that_is_malformed() {
    let bench = red("diligent", "");
    for (text, detail) in [
        ("status: [", "status: ["),
        ("- a list", "not a mapping"),
        ("evidence: {}", "`status` is missing"),
        ("status: done", "`done`"),
        ("status: 3", "status"),
        ("", "mapping"),
        ("status: complete\\nstatus: failed", "status"),
    ] {
        synthetic(
            &bench,
            &format!("printf '%b\\n' '{text}' >\"$BEADS_RALPH_REPORT\""),
            MALFORMED,
            detail,
        );
    }
}

#[test]
fn i_20_a_report_that_is_a_bomb_or_no_text_or_a_link() {
    let bench = red("diligent", "");
    let bomb = r#"{ echo 'a: &a [x,x,x,x,x,x,x,x]'; last=a; for k in b c d e f g h i; do echo "$k: &$k [*$last,*$last,*$last,*$last,*$last,*$last,*$last,*$last]"; last=$k; done; echo 'status: complete'; } >"$BEADS_RALPH_REPORT""#;
    synthetic(&bench, bomb, MALFORMED, "status: failed");
    synthetic(
        &bench,
        "printf 'status: complete\\n\\377\\376' >\"$BEADS_RALPH_REPORT\"",
        MALFORMED,
        "base64",
    );
    synthetic(
        &bench,
        "head -c 104857600 /dev/zero >\"$BEADS_RALPH_REPORT\"",
        MALFORMED,
        "longer than",
    );
    let link = "echo 'status: complete' >\"$base/elsewhere\"; ln -s \"$base/elsewhere\" \"$BEADS_RALPH_REPORT\"";
    synthetic(&bench, link, MALFORMED, "status: failed");
    let fifo = "mkfifo \"$BEADS_RALPH_REPORT\"";
    synthetic(&bench, fifo, MALFORMED, "status: failed");
}

#[test]
fn i_20_a_report_of_an_earlier_run_is_not_taken() {
    let bench = red(
        "report failed 'escalations: [{reason: first, detail: x}]'",
        "",
    );
    assert_eq!(bench.implement()["ending"], "needs_human");
    bench.agent("true");
    bench.answer("try again", &[]);
    assert_eq!(bench.implement()["ending"], "needs_human");
    let text = written(&bench);
    assert!(text.contains(CRASHED) && !text.contains("first"), "{text}");
    assert_eq!(bench.ran().len(), 2);
}

#[test]
fn i_23_a_worker_that_takes_too_long_crashed_even_if_a_report_comes_after_all() {
    let late = ", worker_timeout: 1s";
    let bench = red("diligent", late);
    synthetic(&bench, "sleep 60", CRASHED, "status: failed");
    synthetic(
        &bench,
        "report complete; sleep 60",
        CRASHED,
        "status: failed",
    );
    let stubborn = "trap '' TERM INT HUP; (trap '' TERM INT HUP; sleep 3; report complete) & sleep 2; report complete";
    synthetic(&bench, stubborn, CRASHED, "status: failed");
    crate::world::wait_until("nobody is left", || bench.world.processes().is_empty());
    assert!(
        written(&bench).contains(CRASHED),
        "what comes late is not there"
    );
}

#[test]
fn i_22_the_label_of_a_worker_is_on_the_step_only_and_not_for_everybody() {
    let bench = red("diligent", "");
    bench.implement();
    assert!(has(&bench.step("red-tests"), "worker-audit-tdd-red-team"));
    bench.bring_to("quality-sweep");
    bench.implement();
    let sweep = bench.step("quality-sweep");
    assert!(
        !labels(&sweep)
            .iter()
            .any(|it| it.starts_with("worker-audit")),
        "{sweep:#}"
    );
    let bench = red("diligent", ", audited: [general-purpose]");
    bench.implement();
    assert!(!has(&bench.step("red-tests"), "worker-audit-tdd-red-team"));
    bench.bring_to("quality-sweep");
    bench.implement();
    assert!(has(
        &bench.step("quality-sweep"),
        "worker-audit-general-purpose"
    ));
}

#[test]
fn w_1_w_4_what_is_missing_or_too_much_is_a_warning_and_noted() {
    let script = "printf 'status: complete\\ngate_status: pass\\ncommits: [abc]\\ndiscovered_work: [{title: T, type: epic, priority: 9, parent_hint: x}]\\n' >\"$BEADS_RALPH_REPORT\"";
    let bench = at("quality-sweep", script, "");
    let told = bench.implement();
    assert_eq!(told["ending"], "complete", "{told:#}");
    let warnings = told["warnings"].to_string();
    for part in [
        "`evidence` is missing",
        "`escalations` is missing",
        "`parent_hint`",
        "`abc` is not a commit of 40 hexadecimal digits",
        "priority",
        "a bug, a task or a chore",
    ] {
        assert!(warnings.contains(part), "{part:?} is not in {warnings}");
    }
    let step = bench.step("quality-sweep");
    assert!(notes(&step).contains("problems in the report") && !is_human(&step));
    let found = bench.bead(told["discovered"][0].as_str().unwrap());
    assert_eq!(
        (&found["issue_type"], &found["priority"]),
        (&"task".into(), &2.into())
    );
}

#[test]
fn w_2_a_worker_that_needs_a_person_says_why_or_is_said_to_have_not() {
    let bench = red(
        "report needs_human 'escalations: [{reason: unclear, detail: which of the two sums}]'",
        "",
    );
    let told = bench.implement();
    assert_eq!(
        (&told["ending"], &told["status"]),
        (&"needs_human".into(), &"needs_human".into())
    );
    bench.asks("red-tests", "closed", "which of the two sums");
    let bench = red("report needs_human", "");
    bench.implement();
    bench.asks("red-tests", "closed", "worker gave no reason");
}

#[test]
fn w_3_w_5_the_gate_is_derived_and_decides_nothing() {
    let bench = at("quality-sweep", "diligent", "");
    let block = |exit: &str, skipped: &str| {
        format!("{{command: c, exit_code: {exit}, skipped: {skipped}}}")
    };
    let tests = |exit: u8, failing: u8| {
        format!("{{command: c, exit_code: {exit}, skipped: false, passing: 0, failing: {failing}}}")
    };
    for (evidence, gate) in [
        ("{}".to_owned(), "n/a"),
        (format!("{{tests: {}}}", tests(1, 3)), "fail"),
        (
            format!(
                "{{build: {}, lint: {}}}",
                block("0", "false"),
                block("null", "true")
            ),
            "partial",
        ),
        (
            format!(
                "{{tests: {}, lint: {}}}",
                tests(1, 1),
                block("null", "true")
            ),
            "fail",
        ),
        (format!("{{lint: {}}}", block("null", "false")), "fail"),
        (format!("{{lint: {}}}", block("0", "false")), "pass"),
    ] {
        bench.agent(&format!("report complete 'evidence: {evidence}'"));
        let told = bench.implement();
        assert_eq!(
            (&told["gate"], &told["ending"]),
            (&gate.into(), &"complete".into()),
            "{evidence}: {told:#}"
        );
        let step = bench.step("quality-sweep");
        assert!(!is_human(&step) && step["status"] == "closed");
        bench.again("quality-sweep");
    }
}

#[test]
fn i_28_example_4_of_9_16_tests_that_fail_are_what_was_wanted() {
    let bench = red(
        "echo 'exit 1' >t.sh; report complete \"$(tests 1 0 3)\" \"$(commit red)\"",
        "",
    );
    let told = bench.implement();
    let seen = (&told["gate"], &told["ending"]);
    assert_eq!(seen, (&"fail".into(), &"complete".into()), "{told:#}");
    let step = bench.step("red-tests");
    assert!(step["status"] == "closed" && !is_human(&step), "{step:#}");
    assert!(!is_human(&bench.bead(SOURCE)));
}

#[test]
fn w_6_example_5_of_9_16_a_diagnosis_without_a_note() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    bench.implement();
    for (script, status, note) in [
        (
            "report complete 'root_cause_note: \"  \"'",
            "failed",
            MALFORMED,
        ),
        ("report complete", "failed", "root_cause_note"),
        (
            "report needs_human 'escalations: [{reason: torn, detail: two causes}]'",
            "needs_human",
            "two causes",
        ),
        (
            "report failed 'escalations: [{reason: dark, detail: no cause}]'",
            "failed",
            "no cause",
        ),
    ] {
        bench.agent(script);
        let told = bench.implement();
        assert_eq!(
            (&told["stage"], &told["status"]),
            (&"diagnose".into(), &status.into()),
            "{told:#}"
        );
        bench.asks("diagnose", "closed", note);
        bench.again("diagnose");
    }
}

#[test]
fn i_19_a_worker_that_the_configuration_names_takes_the_stage() {
    let bench = Bench::with(
        "[ \"$agent\" = my-tester ] && report complete || diligent",
        &format!("{REVIEWERS}, workers: {{red-tests: my-tester, create-pr: my-pusher}}"),
        "gates: {test: sh t.sh}\n",
    );
    bench.source("feature", "");
    bench.bring_to("red-tests");
    let told = bench.implement();
    assert_eq!(
        (&told["worker"], &told["ending"]),
        (&"my-tester".into(), &"complete".into()),
        "{told:#}"
    );
    bench.bring_to("create-pr");
    let told = bench.implement();
    assert_eq!(
        (&told["shape"], &told["worker"]),
        (&"direct".into(), &"my-pusher".into()),
        "{told:#}"
    );
}

#[test]
fn i_18_without_the_label_a_stage_is_one_dispatch() {
    let bench = Bench::new("diligent");
    bench.source("feature", "");
    bench.bring_to("green-loop");
    let told = bench.implement();
    assert_eq!(told["shape"], "direct");
    let step = bench.step("green-loop");
    assert!(has(&step, "worker-audit-tdd-green-team"), "{step:#}");
    assert_eq!(bench.ran().len(), 1);
}

#[test]
fn i_41_the_session_of_a_stage_is_the_one_of_the_contract_and_another_one_the_second_time() {
    let bench = red("report failed", "");
    let first = bench.implement();
    assert_eq!(
        first["session"],
        beads_ralph_runtime::implement::session_id(SOURCE, "red-tests")
    );
    bench.answer("again", &[]);
    let second = bench.implement();
    assert_ne!(first["session"], second["session"]);
}
