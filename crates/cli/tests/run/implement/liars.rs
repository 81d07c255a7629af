//! Reports that git contradicts: what is not so is not complete, and a person is asked.

use super::{Bench, notes};

/// A worker lies at a stage.
#[track_caller]
fn lies(kind: &str, labels: &str, stage: &str, script: &str, reason: &str) {
    let bench = Bench::new("diligent");
    bench.source(kind, labels);
    if stage == "diagnose" {
        bench.implement();
    } else {
        bench.bring_to(stage);
    }
    bench.agent(script);
    let told = bench.implement();
    assert_eq!(
        (&told["stage"], &told["ending"]),
        (&stage.into(), &"needs_human".into()),
        "{script}: {told:#}"
    );
    assert_eq!(told["status"], "needs_human", "{told:#}");
    bench.asks(stage, "closed", reason);
}

#[test]
fn i_20_a_commit_that_does_not_exist_or_is_somewhere_else() {
    let nowhere = "report complete 'commits: [abc3456789012345678901234567890123456789]'";
    lies("feature", "", "quality-sweep", nowhere, "commits-not-found");
    let elsewhere = "c=$(git commit-tree -m x 'HEAD^{tree}'); report complete \"commits: [$c]\"";
    lies(
        "feature",
        "",
        "quality-sweep",
        elsewhere,
        "commits-not-found",
    );
}

#[test]
fn i_20_files_of_documents_that_were_not_changed() {
    let script = "echo text >doc.md; commit docs >/dev/null; report complete 'files_changed: [doc.md, other.md]'";
    lies(
        "task",
        "formula-docs-only",
        "apply-edits",
        script,
        "files-not-changed",
    );
}

#[test]
fn i_20_work_that_is_not_committed() {
    lies(
        "feature",
        "",
        "red-tests",
        "echo x >new.txt; report complete",
        "uncommitted-work",
    );
    lies(
        "feature",
        "",
        "green-loop",
        "echo x >>shared.txt; report complete",
        "uncommitted-work",
    );
}

#[test]
fn w_6_a_diagnosis_that_commits() {
    let script = "echo x >new.txt; commit x >/dev/null; report complete 'root_cause_note: it'";
    lies("bug", "", "diagnose", script, "diagnosis-changed-files");
}

#[test]
fn w_6_tests_written_first_that_pass() {
    let script = "report complete \"$(tests 0 1 0)\"";
    lies(
        "feature",
        "",
        "red-tests",
        script,
        "red-tests-passed-unexpectedly",
    );
    let script = "report complete \"$(tests 0 1 2)\"";
    lies(
        "feature",
        "",
        "green-loop",
        script,
        "test-counts-contradict",
    );
}

#[test]
fn i_20_a_worker_that_works_on_the_beads_itself_gets_nowhere() {
    let bench = Bench::new("diligent");
    bench.source("feature", "");
    bench.bring_to("red-tests");
    bench.agent("bd close \"$bead\" >>\"$base/said\" 2>&1; bd update proj-1 --notes gone >>\"$base/said\" 2>&1; diligent");
    assert_eq!(bench.implement()["ending"], "complete");
    assert!(!notes(&bench.bead("proj-1")).contains("gone"));
}
