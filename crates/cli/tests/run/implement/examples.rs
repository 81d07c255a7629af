//! The worked examples of §9.16 that no other file has: 1, 2 and 7.

use super::{Bench, SOURCE, is_human, notes};

#[test]
fn i_3_example_1_of_9_16_a_bug_without_labels() {
    let bench = Bench::new("diligent");
    bench.bd(&[
        "create",
        "Sum is wrong",
        "-t",
        "bug",
        "--id",
        SOURCE,
        "--force",
    ]);
    let told = bench.world.data(&["implement", SOURCE, "--dry-run"]);
    assert!(
        told["decisions"]
            .to_string()
            .contains("the formula is fix-bug"),
        "{told:#}"
    );
    let told = bench.implement();
    let molecules = bench.molecules();
    assert_eq!(molecules.len(), 1);
    assert_eq!(molecules[0]["title"], "fix-bug");
    assert_eq!(told["stage"], "preflight");
    assert!(told["step"].as_str().unwrap().ends_with("-preflight"));
}

#[test]
fn i_7_example_2_of_9_16_two_formulas() {
    let bench = Bench::new("diligent");
    bench.source("bug", "formula-docs-only,formula-fix-bug");
    bench.run().exits(0);
    bench.asks_before_a_step("implement-bead: multiple formula-* labels detected (docs-only, fix-bug) — §4.2 collision; manual resolution required.");
    assert!(bench.molecules().is_empty());
}

#[test]
fn i_7_example_7_of_9_16_an_epic() {
    let bench = Bench::new("diligent");
    bench.source("epic", "");
    bench.run().exits(0);
    bench.asks_before_a_step("decomposition");
    assert!(bench.molecules().is_empty());
    bench.answer("it is a document", &[]);
    bench.bd(&["label", "add", SOURCE, "formula-docs-only"]);
    assert_eq!(bench.implement()["ending"], "complete");
    assert_eq!(bench.molecules()[0]["title"], "docs-only");
    let source = bench.bead(SOURCE);
    assert!(!is_human(&source) && notes(&source).contains("decomposition"));
}
