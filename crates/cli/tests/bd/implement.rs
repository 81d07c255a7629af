//! `implement` and `drive` on the database of the real `bd`, with a script as agent.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;

use beads_ralph_runtime::os::files;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::world::World;

/// Every agent is the script, those that look at the work of others too.
const CONFIG: &str = "permissions: bypass
disk: {check_before_start: false}
gates: {test: sh t.sh}
worktrees: {source_branch: main}
implement: {reviewers: {codex: worker, gemini: worker, fresh_eyes: worker}, poll_interval: 1s}
agents:
  default: worker
  adapters:
    worker: {kind: command, executable: ../agent.sh}
";

/// Does what its stage asks for, and leaves a line in the log. Who diagnoses asks a person first, where a file wants it; who looks at work that was
/// mended once only finds something.
const AGENT: &str = r#"#!/bin/sh
base=$(dirname "$0")
source=$(basename "$PWD")
echo "$source $BEADS_RALPH_ROLE $BEADS_RALPH_AGENT $BEADS_RALPH_ATTEMPT" >>"$base/log"
report() {
    printf '%s\n' "status: $1" "evidence: $2" "escalations: $3" "discovered_work: $4" "commits: [$5]" >"$BEADS_RALPH_REPORT"
}
tests() { echo "{tests: {command: sh t.sh, exit_code: $1, skipped: false, passing: $((1 - $1)), failing: $1}}"; }
commit() { git add --all; git commit --quiet --message="$1"; git rev-parse HEAD; }
case "$BEADS_RALPH_ROLE:$BEADS_RALPH_AGENT" in
worker:bug-diagnoser)
    if rm "$base/ask" 2>/dev/null; then
        report needs_human '{}' '[{reason: unclear, detail: Which sum?}]' '[]' ''
    else
        report complete '{}' '[]' '[]' ''
        echo 'root_cause_note: the sum is off by one' >>"$BEADS_RALPH_REPORT"
    fi ;;
worker:tdd-red-team)
    echo 'exit 1' >t.sh
    report complete "$(tests 1)" '[]' '[{title: Look at dates, type: bug, priority: 1, detail: odd}]' "$(commit red)" ;;
worker:tdd-green-team)
    echo 'exit 0' >t.sh; echo "$BEADS_RALPH_ATTEMPT" >>n
    report complete "$(tests 0)" '[]' '[]' "$(commit green)" ;;
worker:docs-edits-team)
    echo 'read me' >README.md
    report complete '{}' '[]' '[]' "$(commit docs)" ;;
worker:simplifier) ;;
worker:*) report complete '{}' '[]' '[]' '' ;;
reviewer:*)
    if [ "$(wc -l <n)" -lt 2 ]; then
        echo '{"findings": [{"severity": "critical", "title": "bad", "detail": "d", "file": ""}], "summary": "no"}'
    else
        echo '{"findings": [], "summary": "yes"}'
    fi ;;
esac
"#;

fn ground() -> World {
    let world = World::new();
    install(&beside(&world, "agent.sh"), AGENT);
    world.write("beads-ralph.yaml", CONFIG);
    world.write("t.sh", "exit 0\n");
    world.ralph(&["init"]);
    world.git(&["add", "--all"]);
    world.git(&["commit", "--quiet", "--message=a sum"]);
    world
}

/// Writes a script that can be run.
fn install(path: &Utf8Path, script: &str) {
    files::write_atomic(path, script.as_bytes()).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

fn beside(world: &World, name: &str) -> Utf8PathBuf {
    world.root().parent().unwrap().join(name)
}

/// Makes a bead that is ready, with the real program.
#[track_caller]
fn create(world: &World, id: &str, kind: &str, labels: &str) {
    let labels = format!("--labels=implementation-ready,brainstormed{labels}");
    let (id, kind) = (format!("--id={id}"), format!("--type={kind}"));
    let words = ["create", "Sum is wrong", &id, &kind, &labels];
    world.bd(&[&words[..], &["--acceptance=[m] `sh t.sh`"]].concat());
}

/// What the real program says about a bead.
#[track_caller]
fn shown(world: &World, id: &str) -> Value {
    let printed: Value = serde_json::from_str(&world.bd(&["show", id, "--json"])).unwrap();
    printed[0].clone()
}

fn has_label(bead: &Value, label: &str) -> bool {
    let labels = bead["labels"].as_array();
    labels.is_some_and(|labels| labels.iter().any(|it| it == label))
}

/// The next stage, which is this one, and how it ended.
#[track_caller]
fn implement(world: &World, stage: &str, ending: &str) -> Value {
    let said: Value = serde_json::from_str(&world.ralph(&["implement", "tt-1", "--json"])).unwrap();
    let told = &said["data"];
    assert_eq!(told["stage"], stage, "{said:#}");
    assert_eq!(told["ending"], ending, "{said:#}");
    let step = shown(world, told["step"].as_str().unwrap());
    assert_eq!(step["status"], "closed", "{step:#}");
    let is_flagged = ending == "needs_human";
    assert_eq!(has_label(&step, "human"), is_flagged, "{step:#}");
    let source = shown(world, "tt-1");
    assert_eq!(has_label(&source, "human"), is_flagged, "{source:#}");
    step
}

/// The next stage is killed after so many decisions.
#[track_caller]
fn killed(world: &World, n_decisions: usize) {
    let program = env!("CARGO_BIN_EXE_beads-ralph");
    let mut command = world.command(program, &["implement", "tt-1"]);
    let killed = command.env("BEADS_RALPH_DIE_AT", n_decisions.to_string());
    let killed = killed.output().unwrap();
    let said = String::from_utf8_lossy(&killed.stderr);
    assert_eq!(killed.status.signal(), Some(9), "{said}");
}

/// How often somebody worked on what is in this place.
fn n_worked(world: &World, line: &str) -> usize {
    let log = fs::read_to_string(beside(world, "log")).unwrap();
    log.lines().filter(|it| it.ends_with(line)).count()
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_36_a_bug_goes_through_every_stage_on_the_real_bd_with_a_person_and_some_deaths() {
    let world = ground();
    create(&world, "tt-1", "bug", ",ralf:required");
    files::write_atomic(&beside(&world, "ask"), b"").unwrap();
    implement(&world, "preflight", "complete");
    assert_eq!(shown(&world, "tt-1")["status"], "in_progress");

    let asked = implement(&world, "diagnose", "needs_human");
    let notes = asked["notes"].as_str().unwrap();
    assert!(notes.contains("Which sum?"), "{asked:#}");
    world.ralph(&["human", "resolve", "tt-1", "--answer", "All of them."]);
    let step = implement(&world, "diagnose", "complete");
    assert!(has_label(&step, "worker-audit-bug-diagnoser"), "{step:#}");

    implement(&world, "red-tests", "complete");
    let dates = ["list", "--title-contains=Look at dates", "--json"];
    let found: Vec<Value> = serde_json::from_str(&world.bd(&dates)).unwrap();
    assert_eq!(found.len(), 1, "{found:#?}");
    let from = &found[0]["dependencies"][0];
    assert_eq!(
        [&from["depends_on_id"], &from["type"]],
        ["tt-1", "discovered-from"],
        "{found:#?}"
    );

    // When the step is claimed, when the first worker is done, and when somebody has looked at its work.
    for n_decisions in [8, 11, 13] {
        killed(&world, n_decisions);
    }
    let step = implement(&world, "green-loop", "complete");
    for n in ["1", "2"] {
        let label = format!("worker-audit-tdd-green-team-iter{n}");
        assert!(has_label(&step, &label), "{step:#}");
        let n_worked = n_worked(&world, &format!("worker tdd-green-team {n}"));
        assert_eq!(n_worked, 1, "cycle {n} is done once");
    }
    for stage in ["quality-sweep", "verify-ac", "create-pr", "review-cycle"] {
        implement(&world, stage, "complete");
    }
    implement(&world, "merge-or-handoff", "complete");
    let source = shown(&world, "tt-1");
    assert!(has_label(&source, "merge-ready"), "{source:#}");
    let branch = "fix/tt-1-sum-is-wrong";
    assert_eq!(world.git(&["show", &format!("{branch}:n")]), "1\n2\n");

    // Whoever closed the last step may have been cut off before its molecule was closed.
    world.bd(&["reopen", "bd-fix-bug-001"]);
    let told = world.ralph(&["implement", "tt-1", "--json"]);
    assert!(told.contains("molecule_done"), "{told}");
    assert_eq!(shown(&world, "bd-fix-bug-001")["status"], "closed");
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn i_40_three_beads_are_driven_as_far_as_they_go_on_the_real_bd() {
    let world = ground();
    create(&world, "tt-1", "bug", "");
    create(&world, "tt-2", "epic", "");
    create(&world, "tt-3", "task", ",formula-docs-only");
    files::write_atomic(&beside(&world, "ask"), b"").unwrap();
    let program = env!("CARGO_BIN_EXE_beads-ralph");
    let driven = world.run(program, &["drive", "--parallel=3"]);
    assert_eq!(driven.status.code(), Some(1), "two of them need a person");
    let [bug, epic, docs] = ["tt-1", "tt-2", "tt-3"].map(|id| shown(&world, id));
    for (asked, why) in [(&bug, "Which sum?"), (&epic, "epic")] {
        assert!(has_label(asked, "human"), "{asked:#}");
        assert!(asked["notes"].as_str().unwrap().contains(why), "{asked:#}");
        assert!(!has_label(asked, "merge-ready"), "{asked:#}");
    }
    assert_eq!(epic["status"], "open", "nothing is poured for it: {epic:#}");
    assert!(has_label(&docs, "merge-ready"), "{docs:#}");
    assert!(!has_label(&docs, "human"), "{docs:#}");
    let waiting = world.ralph(&["human", "list"]);
    for id in ["tt-1", "tt-2", "tt-3"] {
        assert!(waiting.contains(id), "{waiting}");
    }
}

/// The real program, which does nothing any more after it was asked for so many changes.
const CUT: &str = r#"#!/bin/sh
case "$1 $2" in
*--help) ;;
import* | update* | close* | reopen* | delete* | label* | dep* | comments*)
    echo "$1" >>"$0.changes"
    [ "$(wc -l <"$0.changes")" -le "$(cat "$0.most")" ] || exit 1 ;;
esac
exec REAL "$@"
"#;

/// Runs our program over a database that is cut off after so many changes; whether it did not need more.
#[track_caller]
fn cut_off(world: &World, n_changes: usize, words: &[&str]) -> bool {
    let folder = beside(world, "cut");
    let bd = folder.join("bd");
    if !bd.exists() {
        fs::create_dir(&folder).unwrap();
        let script = CUT.replace("REAL", crate::world::program().as_str());
        install(&bd, &script);
    }
    files::write_atomic(&folder.join("bd.changes"), b"").unwrap();
    files::write_atomic(&folder.join("bd.most"), n_changes.to_string().as_bytes()).unwrap();
    let mut command = world.command(env!("CARGO_BIN_EXE_beads-ralph"), words);
    let output = command
        .env("PATH", format!("{folder}:/usr/local/bin:/usr/bin:/bin"))
        .output()
        .unwrap();
    let changes = fs::read_to_string(folder.join("bd.changes")).unwrap();
    let is_whole = changes.lines().count() <= n_changes;
    assert_eq!(output.status.success(), is_whole, "{output:?}");
    is_whole
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn i_30_whenever_the_real_bd_is_cut_off_nobody_goes_past_a_step_that_needs_a_person() {
    let world = ground();
    create(&world, "tt-1", "bug", "");
    files::write_atomic(&beside(&world, "ask"), b"").unwrap();
    implement(&world, "preflight", "complete");
    let step = "bd-fix-bug-001-diagnose";
    let is_asked = |bead: &str| has_label(&shown(&world, bead), "human");
    let is_closed = || shown(&world, step)["status"] == "closed";
    let is_ended = |n: &usize| {
        let is_whole = cut_off(&world, *n, &["implement", "tt-1"]);
        assert!(is_asked("tt-1") || !is_closed(), "after {n} changes");
        is_whole
    };
    assert!((1..20).any(|n| is_ended(&n)));
    // The step was not closed before the cut, and so its report is looked at again.
    let resolve = ["human", "resolve", "tt-1", "--answer", "All of them."];
    world.ralph(&resolve);
    implement(&world, "diagnose", "needs_human");
    let is_answered = |n: &usize| {
        let is_whole = cut_off(&world, *n, &resolve);
        assert!(is_asked("tt-1") || !is_closed(), "after {n} changes");
        is_whole
    };
    assert!((1..20).any(|n| is_answered(&n)));
    assert!(!is_asked("tt-1") && !is_asked(step));
    implement(&world, "diagnose", "complete");
}
