//! After a person was asked: the answer has the step done again or gone past (Z-36), and what programs read of it all.

use super::{Bench, SOURCE, has, is_human, notes, rules};

const RED_FAILS: &str = "if [ \"$agent\" = tdd-red-team ]; then report failed 'escalations: [{reason: r, detail: no test can be written}]'; else diligent; fi";

#[test]
fn z_36_an_answer_has_the_step_done_again_and_the_work_goes_on_to_its_end() {
    let bench = Bench::new(RED_FAILS);
    bench.source("bug", "");
    let told = bench.implement_all();
    assert_eq!(
        (&told["stage"], &told["ending"]),
        (&"red-tests".into(), &"needs_human".into())
    );
    let listed = bench.world.run(&["human", "list"]).exits(0);
    assert!(listed.stdout.contains(SOURCE), "{listed:#?}");
    bench.answer("use the clock", &[]);
    assert_eq!(bench.step("red-tests")["status"], "open");
    bench.agent("diligent");
    let told = bench.implement_all();
    assert_eq!(told["ending"], "molecule_done", "{told:#}");
    let reds = bench
        .ran()
        .iter()
        .filter(|it| it.contains("tdd-red-team"))
        .count();
    assert_eq!(reds, 2);
    let source = bench.bead(SOURCE);
    assert!(
        !is_human(&source) && notes(&source).contains("human: use the clock"),
        "{source:#}"
    );
}

#[test]
fn z_36_an_answer_that_accepts_goes_past_the_step() {
    let bench = Bench::new(RED_FAILS);
    bench.source("bug", "");
    bench.implement_all();
    bench.answer("there is nothing to test", &["--accept"]);
    let step = bench.step("red-tests");
    assert!(step["status"] == "closed" && !is_human(&step), "{step:#}");
    let told = bench.implement();
    assert_eq!(told["stage"], "green-loop", "{told:#}");
    assert_eq!(bench.implement_all()["ending"], "molecule_done");
}

#[test]
fn z_36_after_an_answer_the_cycles_begin_anew() {
    let bench = Bench::new(
        "case \"$role:$agent\" in reviewer:fresh-eyes-reviewer) finds critical ;; *) diligent ;; esac",
    );
    bench.source("feature", "ralf:required,ralf:cycles=2");
    bench.bring_to("green-loop");
    let told = bench.implement();
    assert_eq!(
        (&told["ending"], &told["aggregate"]["score"]),
        (&"needs_human".into(), &"FAIL".into())
    );
    bench.answer("look again", &[]);
    bench.agent("diligent");
    let told = bench.implement();
    assert_eq!(
        (&told["ending"], &told["aggregate"]["cycles"]),
        (&"complete".into(), &"1/2".into()),
        "{told:#}"
    );
    let greens = bench
        .ran()
        .iter()
        .filter(|it| it.contains("tdd-green-team"))
        .count();
    assert_eq!(greens, 3, "no report from before is used");
}

#[test]
fn i_6_what_programs_read_has_every_key() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    let told = bench.implement();
    let keys: Vec<&str> = told
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut expected = vec![
        "source",
        "ending",
        "message",
        "molecule",
        "step",
        "stage",
        "mode",
        "shape",
        "worker",
        "session",
        "report",
        "status",
        "gate",
        "discovered",
        "aggregate",
        "warnings",
        "decisions",
    ];
    assert_eq!(
        {
            let mut keys = keys;
            keys.sort_unstable();
            keys
        },
        {
            expected.sort_unstable();
            expected
        }
    );
    let told = bench.implement();
    for key in [
        "source", "message", "molecule", "step", "stage", "mode", "shape", "worker", "session",
        "report", "status", "gate",
    ] {
        assert!(told[key].is_string(), "{key}: {told:#}");
    }
    assert!(std::path::Path::new(told["report"].as_str().unwrap()).is_file());
}

#[test]
fn i_6_a_dry_run_changes_nothing_and_explains_itself() {
    let bench = Bench::new("diligent");
    bench.source("bug", "ralf:required");
    for stage in ["preflight", "diagnose", "red-tests", "green-loop"] {
        if stage != "preflight" {
            bench.bring_to(stage);
        }
        let before = (bench.export(), bench.ran().len());
        let told = bench.world.data(&["implement", SOURCE, "--dry-run"]);
        assert_eq!(told["ending"], "dry_run", "{told:#}");
        let first = if stage == "preflight" { "I-7" } else { "I-4" };
        assert!(rules(&told).contains(&first), "{told:#}");
        let said = bench
            .world
            .run(&["implement", SOURCE, "--dry-run"])
            .exits(0);
        let decisions = told["decisions"].as_array().unwrap().iter();
        for decision in decisions.map(|it| it["text"].as_str().unwrap()) {
            assert!(said.stdout.contains(decision), "{decision}: {said:#?}");
        }
        assert!(
            !said.stdout.contains(first),
            "rules are for programs: {said:#?}"
        );
        assert_eq!((bench.export(), bench.ran().len()), before);
    }
    // Also where a person would be asked.
    bench.bd(&["label", "add", SOURCE, "ralf:cycles=99"]);
    let before = bench.export();
    bench
        .world
        .run(&["implement", SOURCE, "--dry-run"])
        .exits(0);
    assert_eq!(bench.export(), before);
    assert!(!has(&bench.bead(SOURCE), "human"));
}

#[test]
fn z_36_a_bead_is_sent_back_to_an_earlier_stage_with_the_answer() {
    let bench = Bench::new("diligent");
    bench.source("feature", "");
    bench.bd(&["update", SOURCE, "--acceptance", "[m] `test -f proof.txt`"]);
    let told = bench.implement_all();
    assert_eq!(
        (&told["stage"], &told["ending"]),
        (&"verify-ac".into(), &"needs_human".into())
    );
    let wrong = bench
        .world
        .run(&["human", "resolve", SOURCE, "--redo", "grün"])
        .exits(1);
    assert!(
        wrong.stderr.contains("green-loop"),
        "the stages are named: {}",
        wrong.stderr
    );
    bench.answer("write proof.txt", &["--redo", "green-loop"]);
    for (stage, status) in [
        ("red-tests", "closed"),
        ("green-loop", "open"),
        ("quality-sweep", "open"),
        ("verify-ac", "open"),
    ] {
        let step = bench.step(stage);
        assert!(step["status"] == status && !is_human(&step), "{step:#}");
    }
    bench.agent("if [ \"$agent\" = tdd-green-team ]; then echo it >proof.txt; fi; diligent");
    assert_eq!(bench.implement()["stage"], "green-loop");
    let id = bench.step("green-loop")["id"].as_str().unwrap().to_owned();
    let prompt = format!(".beads/worker-audit/{id}/tdd-green-team.run/prompt.md");
    assert!(bench.world.read(&prompt).contains("write proof.txt"));
    assert_eq!(bench.implement_all()["ending"], "molecule_done");
    bench.answer("rename it first", &["--redo", "green-loop"]);
    let source = bench.bead(SOURCE);
    assert!(
        !has(&source, "merge-ready"),
        "what is not wanted as it is goes back: {source:#}"
    );
    assert_eq!(bench.implement()["stage"], "green-loop");
}

#[test]
fn z_36_accepting_the_last_stage_leaves_the_work_to_a_person() {
    let bench = Bench::new("diligent");
    bench.source("feature", "");
    bench.bring_to("merge-or-handoff");
    let told = bench.implement();
    assert_eq!(
        told["ending"], "needs_human",
        "there is no branch: {told:#}"
    );
    bench.answer("it is fine", &["--accept"]);
    assert!(has(&bench.bead(SOURCE), "merge-ready"));
    let listed = bench.world.run(&["human", "list"]).exits(0);
    assert!(listed.stdout.contains("merge"), "{listed:#?}");
}

#[test]
fn steps_of_molecules_and_beads_that_wait_are_not_implemented() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    bench.implement();
    let step = bench.step("diagnose")["id"].as_str().unwrap().to_owned();
    let refused = bench.world.run(&["implement", &step]).exits(1);
    assert!(
        refused.stderr.contains(&format!("implement {SOURCE}")),
        "{}",
        refused.stderr
    );
    assert_eq!(bench.molecules().len(), 1);
}
