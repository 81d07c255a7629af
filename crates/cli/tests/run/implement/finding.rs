//! From a source to its molecule and its step (I-1…I-9, I-14, I-17).

use serde_json::Value;

use super::{Bench, SOURCE, has, is_human, labels, notes, rules};

#[test]
fn i_1_a_source_that_is_missing_closed_or_human_is_left_alone() {
    let bench = Bench::new("diligent");
    let missing = bench.run();
    assert!(missing.code.is_some_and(|code| code != 0), "{missing:#?}");
    bench.source("bug", "human");
    let before = bench.export();
    bench.run().exits(0).says("paused");
    assert_eq!(bench.implement()["ending"], "paused");
    assert_eq!(bench.export(), before, "nothing changed");
    bench.bd(&["label", "remove", SOURCE, "human"]);
    bench.bd(&["close", SOURCE]);
    let before = bench.export();
    assert_eq!(bench.implement()["ending"], "source_closed");
    bench.run().exits(0).says("closed");
    assert_eq!(bench.export(), before, "nothing changed");
    assert!(bench.ran().is_empty());
}

#[test]
fn i_2_i_3_a_molecule_is_poured_once_and_linked_by_its_label() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    assert_eq!(bench.implement()["stage"], "preflight");
    assert_eq!(bench.implement()["stage"], "diagnose");
    let molecules = bench.molecules();
    assert_eq!(molecules.len(), 1);
    assert_eq!(molecules[0]["issue_type"], "molecule");
    assert!(
        !labels(&bench.bead(SOURCE))
            .iter()
            .any(|it| it.starts_with("for-bead-"))
    );
    let parent = molecules[0]["dependencies"]
        .as_array()
        .into_iter()
        .flatten();
    assert!(
        parent
            .into_iter()
            .all(|edge| edge["depends_on_id"] != SOURCE)
    );
}

/// Another molecule for the source.
fn pour(bench: &Bench, formula: &str, var: &str) -> String {
    let args = [
        "mol",
        "pour",
        formula,
        "--var",
        var,
        "--var",
        "bead-id=proj-1",
        "--json",
    ];
    let poured: Value = serde_json::from_str(&bench.bd(&args)).unwrap();
    let root = poured["id"].as_str().unwrap().to_owned();
    bench.bd(&["label", "add", &root, "for-bead-proj-1"]);
    root
}

#[test]
fn i_4_a_formula_of_ours_supersedes_any_other_molecule() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    bench.world.write(
        ".beads/formulas/storm.formula.toml",
        "formula = \"storm\"\n[[steps]]\nid = \"think\"\ntitle = \"Think\"\n",
    );
    let other = pour(&bench, "storm", "x=y");
    let ours = pour(&bench, "fix-bug", "bug=Sum");
    let told = bench.implement();
    assert_eq!(told["molecule"], ours.as_str(), "{told:#}");
    assert_eq!(told["ending"], "complete", "{told:#}");
    assert!(
        told["decisions"].to_string().contains("supersedes"),
        "{told:#}"
    );
    assert_eq!(bench.bead(&other)["status"], "open");
}

#[test]
fn i_4_of_several_molecules_of_ours_a_person_chooses() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    let one = pour(&bench, "fix-bug", "bug=Sum");
    let other = pour(&bench, "implement-feature", "feature=Sum");
    assert_eq!(bench.implement()["ending"], "needs_human");
    bench.asks_before_a_step(&one);
    bench.asks_before_a_step(&other);
    bench.asks_before_a_step("fix-bug");
    assert!(bench.ran().is_empty());
    // One of them is closed: the other one is gone on with.
    bench.bd(&["close", &other, "--force"]);
    bench.answer("the bug", &[]);
    assert_eq!(bench.implement()["molecule"], one.as_str());
}

#[test]
fn i_5_a_step_that_is_closed_by_hand_is_not_done_and_a_complete_molecule_is_not_poured_again() {
    let bench = Bench::new("diligent");
    bench.source("feature", "");
    bench.bring_to("quality-sweep");
    assert!(bench.ran().is_empty(), "closed by hand");
    bench.bring_to("merge-or-handoff");
    let step = bench.step("merge-or-handoff");
    bench.bd(&["close", step["id"].as_str().unwrap(), "--force"]);
    let before = bench.export();
    let told = bench.implement();
    assert_eq!(told["ending"], "molecule_done", "{told:#}");
    assert_eq!(bench.export(), before);
    assert_eq!(bench.molecules().len(), 1);
}

#[test]
fn i_5_a_molecule_that_was_edited_by_hand_is_followed_as_it_is() {
    let bench = Bench::new("diligent");
    bench.source("feature", "");
    bench.bring_to("red-tests");
    // A step that stands in the way of the current one, and has no stage: first it is current, then it is done by hand.
    let red = bench.step("red-tests")["id"].as_str().unwrap().to_owned();
    bench.extra("bd-extra", "By hand", &red);
    let told = bench.implement();
    assert_eq!(told["step"], "bd-extra", "{told:#}");
    assert_eq!(told["ending"], "needs_human", "{told:#}");
    let extra = bench.bead("bd-extra");
    assert!(is_human(&extra) && extra["status"] == "open", "{extra:#}");
    bench.bd(&["close", "bd-extra", "--force"]);
    bench.answer("done by hand", &["--accept"]);
    let told = bench.implement();
    assert_eq!(
        (&told["stage"], &told["ending"]),
        (&"red-tests".into(), &"complete".into()),
        "{told:#}"
    );
}

#[test]
fn i_7_the_formula_is_chosen_by_label_or_type() {
    let bench = Bench::new("diligent");
    for (n, kind, label, expected) in [
        (1, "bug", "", Ok("fix-bug")),
        (2, "feature", "", Ok("implement-feature")),
        (3, "task", "", Ok("implement-feature")),
        (4, "chore", "", Ok("implement-feature")),
        (5, "bug", "formula-docs-only", Ok("docs-only")),
        (6, "epic", "", Err("decomposition")),
        (7, "epic", "formula-docs-only", Ok("docs-only")),
        (
            8,
            "bug",
            "formula-docs-only,formula-fix-bug",
            Err(
                "multiple formula-* labels detected (docs-only, fix-bug) — §4.2 collision; manual resolution required.",
            ),
        ),
        (9, "decision", "", Err("no formula is known")),
        (10, "milestone", "", Err("decomposition")),
    ] {
        let id = format!("case-{n}");
        bench.create(
            &id,
            kind,
            &format!("implementation-ready,brainstormed,{label}"),
        );
        let told = bench.world.data(&["implement", &id]);
        let bead = bench.bead(&id);
        match expected {
            Ok(formula) => {
                assert_eq!(told["ending"], "complete", "{told:#}");
                let root = bench.bead(told["molecule"].as_str().unwrap());
                assert_eq!(root["title"], formula, "{n}");
            }
            Err(note) => {
                assert_eq!(told["ending"], "needs_human", "{told:#}");
                assert!(is_human(&bead) && notes(&bead).contains(note), "{bead:#}");
                assert!(told["molecule"].is_null(), "{told:#}");
            }
        }
    }
}

#[test]
fn i_8_the_title_and_the_id_are_poured_into_the_steps() {
    let bench = Bench::new("diligent");
    for (id, kind, label) in [
        ("a-1", "bug", ""),
        ("a-2", "task", ""),
        ("a-3", "task", "formula-docs-only"),
    ] {
        bench.create(
            id,
            kind,
            &format!("implementation-ready,brainstormed,{label}"),
        );
        let told = bench.world.data(&["implement", id]);
        let root = told["molecule"].as_str().unwrap().to_owned();
        let mut steps = bench.beads();
        steps.retain(|it| it["id"].as_str().unwrap().starts_with(&format!("{root}-")));
        let text = format!("{steps:?}");
        assert!(text.contains("Sum is wrong") && text.contains(id), "{text}");
        assert!(!text.contains("{{"), "{text}");
    }
}

#[test]
fn i_9_a_formula_that_cannot_be_poured_leaves_nothing_behind() {
    let bench = Bench::new("diligent");
    bench.world.write(
        ".beads/formulas/broken.formula.toml",
        "formula = \"broken\"\n[[steps]]\nid = \"a\"\ntitle = \"A\"\nneeds = [\"b\"]\n",
    );
    bench.world.write(".beads/formulas/wants.formula.toml", "formula = \"wants\"\n[vars.more]\nrequired = true\n[[steps]]\nid = \"a\"\ntitle = \"A {{more}}\"\n");
    bench.source("bug", "formula-nowhere");
    for formula in ["nowhere", "broken", "wants"] {
        bench.bd(&[
            "update",
            SOURCE,
            "--set-labels",
            &format!("implementation-ready,brainstormed,formula-{formula}"),
        ]);
        let told = bench.implement();
        assert_eq!(told["ending"], "needs_human", "{formula}: {told:#}");
        assert!(rules(&told).contains(&"I-9"), "{told:#}");
        bench.asks_before_a_step(&format!("the formula {formula} cannot be poured"));
        assert_eq!(bench.beads().len(), 1, "{formula}: no half molecule");
    }
}

#[test]
fn i_14_a_mode_that_nobody_knows_or_two_of_them_are_for_a_person() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    bench.bring_to("diagnose");
    bench.bd(&["label", "add", SOURCE, "formula-docs-only"]);
    bench.bd(&["label", "add", SOURCE, "formula-fix-bug"]);
    let told = bench.implement();
    assert_eq!(told["ending"], "needs_human");
    bench.asks(
        "diagnose",
        "open",
        "multiple formula-* labels detected (docs-only, fix-bug)",
    );
    bench.answer("one of them", &[]);
    bench.bd(&["label", "remove", SOURCE, "formula-docs-only"]);
    bench.bd(&["label", "remove", SOURCE, "formula-fix-bug"]);
    bench.bd(&["label", "add", SOURCE, "formula-strange"]);
    assert_eq!(bench.implement()["ending"], "needs_human");
    bench.asks("diagnose", "open", "unknown formula `strange`");
    assert!(bench.ran().is_empty());
}

#[test]
fn i_17_a_stage_that_nobody_knows_is_for_a_person() {
    let bench = Bench::new("diligent");
    bench.source("bug", "formula-fix-bug");
    bench.world.write(
        ".beads/formulas/odd.formula.toml",
        "formula = \"odd\"\n[[steps]]\nid = \"dance\"\ntitle = \"Dance: on the table\"\n",
    );
    let root = pour(&bench, "odd", "x=y");
    let told = bench.implement();
    assert_eq!(told["ending"], "needs_human", "{told:#}");
    assert!(rules(&told).contains(&"I-17"), "{told:#}");
    let step = bench.bead(&format!("{root}-dance"));
    assert!(is_human(&step) && has(&bench.bead(SOURCE), "human"));
    assert!(notes(&step).contains("`dance`"), "{step:#}");
    assert_eq!(step["status"], "open");
}
