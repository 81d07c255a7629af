//! Molecules in all their states.

use serde_json::json;

use super::*;
use crate::issue::Fence;

fn record(mut document: Value, is_blocked: bool) -> Record {
    if document["status"] == "closed" {
        document["closed_at"] = json!("2026-01-01T00:00:00Z");
    }
    document["title"] = json!("t");
    Record {
        issue: Issue::without_comments(document).unwrap(),
        version: 1,
        fence: Fence::default(),
        is_blocked,
        claim: None,
        n_comments: 0,
    }
}

fn root(steps: &[&str]) -> Record {
    let metadata = json!({"formula": "work", "steps": steps});
    record(
        json!({"id": "m", "issue_type": "molecule", "metadata": metadata}),
        false,
    )
}

fn step(name: &str, status: &str, is_blocked: bool) -> Record {
    let edges = json!([{"depends_on_id": "m", "type": "parent-child"}]);
    let document = json!({
        "id": format!("m-{name}"), "status": status, "dependencies": edges, "metadata": {"stage": name},
    });
    record(document, is_blocked)
}

fn part(id: &str, kind: &str, status: &str, parent: &str) -> Record {
    let edges = json!([{"depends_on_id": parent, "type": "parent-child"}]);
    record(
        json!({"id": id, "issue_type": kind, "status": status, "dependencies": edges}),
        false,
    )
}

fn roles<'a>(steps: impl IntoIterator<Item = &'a Step>) -> Vec<&'a str> {
    steps.into_iter().map(Step::role).collect()
}

#[test]
fn f_13_steps_are_in_the_order_of_the_formula_and_the_rest_by_id() {
    let below = vec![
        step("build", "open", true),
        step("zz-later", "open", false),
        step("plan", "open", false),
        step("also-later", "open", false),
        part("m-gate-build", "gate", "open", "m"),
    ];
    let molecule = Molecule::new(root(&["plan", "build", "gone"]), below);
    assert_eq!(
        roles(molecule.steps()),
        ["plan", "gate-build", "build", "also-later", "zz-later"]
    );
    assert_eq!(molecule.formula(), Some("work"));
}

#[test]
fn f_13_current_is_what_is_in_progress_else_what_can_be_started() {
    let molecule = |statuses: [(&str, bool); 3]| {
        let names = ["c", "a", "b"];
        let below = names.iter().zip(statuses);
        let below = below.map(|(name, (status, is_blocked))| step(name, status, is_blocked));
        Molecule::new(root(&names), below.collect())
    };
    for (statuses, current) in [
        (
            [("open", false), ("open", true), ("open", true)],
            &["c"][..],
        ),
        (
            [("open", false), ("open", false), ("open", true)],
            &["c", "a"],
        ),
        (
            [("closed", false), ("in_progress", false), ("open", false)],
            &["a"],
        ),
        (
            [
                ("in_progress", false),
                ("in_progress", false),
                ("open", true),
            ],
            &["c", "a"],
        ),
        (
            [("closed", false), ("closed", false), ("closed", false)],
            &[],
        ),
        (
            [("closed", false), ("blocked", false), ("deferred", false)],
            &[],
        ),
    ] {
        assert_eq!(roles(molecule(statuses).current()), current, "{statuses:?}");
    }
}

#[test]
fn f_13_gates_are_not_worked_on_and_a_parent_waits_for_its_parts() {
    let below = |inner: &str| {
        vec![
            part("m-gate-a", "gate", "open", "m"),
            step("a", "open", false),
            part("m-inner", "task", inner, "m-a"),
        ]
    };
    let molecule = Molecule::new(root(&["a", "inner"]), below("open"));
    assert_eq!(roles(molecule.current()), ["inner"]);
    assert_eq!(molecule.steps()[1].place(), StepState::Pending);
    let molecule = Molecule::new(root(&["a", "inner"]), below("closed"));
    assert_eq!(roles(molecule.current()), ["a"]);
}

#[test]
fn steps_of_an_attached_molecule_come_after_and_keep_their_names() {
    let mut attached = part("n-a", "task", "open", "n");
    let document = json!({
        "id": "n-a", "title": "t", "metadata": {"stage": "a"},
        "dependencies": attached.issue.document()["dependencies"],
    });
    attached.issue = Issue::without_comments(document).unwrap();
    let below = vec![
        attached,
        part("n", "molecule", "open", "m"),
        step("b", "open", false),
        step("a", "open", false),
    ];
    let molecule = Molecule::new(root(&["b", "a"]), below);
    let ids: Vec<&str> = molecule.steps().iter().map(|s| s.id().as_str()).collect();
    assert_eq!(ids, ["m-b", "m-a", "n", "n-a"]);
    assert_eq!(roles(molecule.steps()), ["b", "a", "n", "a"]);
}

#[test]
fn the_figures_count_everything_below_the_root() {
    let below = vec![
        step("a", "closed", false),
        step("b", "in_progress", false),
        step("c", "open", true),
        part("m-gate-c", "gate", "open", "m"),
    ];
    let molecule = Molecule::new(root(&["a", "b", "c"]), below);
    let progress = molecule.progress();
    assert_eq!(
        progress,
        MoleculeProgress {
            total: 4,
            done: 1,
            current: 1,
            ready: 1
        }
    );
    assert_eq!(progress.percent(), 25);
    assert_eq!(molecule.unfinished().count(), 4);
    assert_eq!(molecule.all().last().unwrap().issue.id().as_str(), "m");
    assert_eq!(Molecule::new(root(&[]), Vec::new()).progress().percent(), 0);
}
