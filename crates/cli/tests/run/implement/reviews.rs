//! `ralf-review`, and strangers who cannot look.

use super::{Bench, REVIEWERS, has, notes};

fn reviewed(script: &str, labels: &str, implement: &str) -> Bench {
    let bench = Bench::with("diligent", implement, "gates: {test: sh t.sh}\n");
    bench.source("feature", &format!("ralf:required,{labels}"));
    bench.bring_to("review-cycle");
    bench.agent(script);
    bench
}

/// Findings by cycle: what each reviewer finds.
fn finds(first: &str, later: &str) -> String {
    format!("if [ \"$attempt\" = 1 ]; then {first}; else {later}; fi")
}

const TWO_MAJORS: &str = "echo '{\"findings\": [{\"severity\": \"major\", \"title\": \"a\"}, {\"severity\": \"major\", \"title\": \"b\"}]}'";

#[test]
fn r_10_reviews_go_on_until_nothing_is_found_or_the_cap_is_reached() {
    let bench = reviewed("diligent", "", REVIEWERS);
    for (script, labels, score, cycles, action, ending) in [
        (
            finds("clean", "clean"),
            "",
            "PASS",
            "1/2",
            "accept",
            "complete",
        ),
        (
            finds("finds minor", "clean"),
            "",
            "PASS",
            "1/2",
            "accept",
            "complete",
        ),
        (
            finds("finds critical", "clean"),
            "",
            "PASS",
            "2/2",
            "accept",
            "complete",
        ),
        (
            finds("finds critical", "finds critical"),
            "",
            "FAIL",
            "2/2",
            "",
            "needs_human",
        ),
        (
            finds(TWO_MAJORS, "finds major"),
            "",
            "PASS_WITH_RESERVATIONS",
            "2/2",
            "",
            "needs_human",
        ),
        (
            finds("finds major", TWO_MAJORS),
            "",
            "FAIL",
            "2/2",
            "",
            "needs_human",
        ),
        (
            finds("finds major", "clean"),
            "ralf:cycles=1",
            "PASS_WITH_RESERVATIONS",
            "1/1",
            "",
            "needs_human",
        ),
        (
            finds(TWO_MAJORS, "clean"),
            "ralf:cycles=1",
            "FAIL",
            "1/1",
            "",
            "needs_human",
        ),
    ] {
        let all = format!("implementation-ready,brainstormed,ralf:required,{labels}");
        bench.bd(&[
            "update",
            "proj-1",
            "--set-labels",
            all.trim_end_matches(','),
        ]);
        bench.agent(&script);
        let told = bench.implement();
        assert_eq!(
            (&told["shape"], &told["ending"]),
            (&"ralf-review".into(), &ending.into()),
            "{script}: {told:#}"
        );
        let aggregate = &told["aggregate"];
        assert_eq!(
            (&aggregate["score"], &aggregate["cycles"]),
            (&score.into(), &cycles.into()),
            "{script}: {told:#}"
        );
        let said = aggregate["action"].as_str().unwrap();
        assert!(
            ["accept", "revise", "continue", "defer"].contains(&said),
            "{said}"
        );
        assert!(action.is_empty() || said == action, "{script}: {said}");
        let step = bench.step("review-cycle");
        assert_eq!(step["status"], "closed");
        assert!(
            notes(&step).contains(&format!("score={score}; cycles={cycles}")),
            "{step:#}"
        );
        bench.again("review-cycle");
    }
}

#[test]
fn r_10_a_reviewer_changes_nothing() {
    let script = "echo x >sneaky.txt; commit x >/dev/null; clean";
    let bench = reviewed(script, "", REVIEWERS);
    let before = bench
        .world
        .git(&["-C", &bench.worktree(), "rev-parse", "HEAD"]);
    let ended = bench.run();
    assert!(
        ended.code.is_some_and(|code| code != 0),
        "nobody could review: {ended:#?}"
    );
    assert_eq!(
        bench
            .world
            .git(&["-C", &bench.worktree(), "rev-parse", "HEAD"]),
        before
    );
    assert_eq!(bench.step("review-cycle")["status"], "open");
}

#[test]
fn r_12_strangers_who_cannot_look_twice_are_noted_and_only_where_it_is_asked_for_a_person_is() {
    let script = finds("finds critical", "clean");
    let bench = reviewed(&script, "", "poll_interval: 1s");
    assert_eq!(bench.implement()["ending"], "complete");
    let source = bench.bead("proj-1");
    assert!(
        has(&source, "foreign-eyes-degraded:2/2") && !has(&source, "human"),
        "{source:#}"
    );
    // Once is not worth a word.
    let bench = reviewed("clean", "", "poll_interval: 1s");
    bench.implement();
    assert!(!has(&bench.bead("proj-1"), "foreign-eyes-degraded:1/1"));
    let bench = reviewed(&script, "", "foreign_eyes: {required: true}");
    let told = bench.implement();
    assert_eq!(told["ending"], "needs_human", "{told:#}");
    let source = bench.bead("proj-1");
    assert!(
        has(&source, "human") && has(&source, "foreign-eyes-degraded:2/2"),
        "{source:#}"
    );
    let step = bench.step("review-cycle");
    assert!(notes(&step).contains("FOREIGN-EYES:"), "{step:#}");
    assert!(
        notes(&step).contains("an independent review is required"),
        "{step:#}"
    );
    bench.answer("that is fine", &["--accept"]);
    assert_eq!(bench.implement()["stage"], "merge-or-handoff");
}
