//! Which bead is which sprint's (Z-10).

use serde_json::json;

use super::{Store, foreign};
use crate::apply::{BeadOwner, Difference, annotated_ids};
use crate::bead::BeadId;
use crate::plan::{parse, sprint};

fn annotated(id: &str, title: &str, bead: &str) -> String {
    let line = format!("\n<!-- beads-ralph: {bead} -->\n\n");
    sprint(id, title).replacen("\n\n", &line, 1)
}

fn known(store: &Store, text: &str, plan_file: &str) -> (Vec<(String, String)>, Vec<&'static str>) {
    let known = store.known(text, plan_file);
    let ids = known.ids.iter();
    (
        ids.map(|(sprint, id)| (sprint.to_string(), id.to_string()))
            .collect(),
        known.findings.iter().map(|f| f.code.as_str()).collect(),
    )
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = pairs
        .iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
    owned.collect()
}

#[test]
fn z_10_the_plan_and_the_number_decide_first() {
    let store = Store::of(&sprint("1.1", "Old"));
    let text = annotated("1.01", "New", "bd-1-1-other");
    let expected = (pairs(&[("1.01", "bd-1-1-old")]), vec!["ignored-bead-id"]);
    assert_eq!(known(&store, &text, "plan.md"), expected);
    let found = store.compare(&text);
    let [Difference::Changed(changed)] = &*found.differences else {
        panic!("{found:?}");
    };
    assert_eq!(changed.id.as_str(), "bd-1-1-old");
}

#[test]
fn z_10_a_renumbered_sprint_keeps_the_bead_that_its_annotation_names() {
    let mut store = Store::of(&sprint("1.1", "Old"));
    let text = annotated("1.2", "Old", "bd-1-1-old");
    assert_eq!(
        known(&store, &text, "plan.md"),
        (pairs(&[("1.2", "bd-1-1-old")]), vec![])
    );
    let found = store.compare(&text);
    assert!(
        matches!(&*found.differences, [Difference::Changed(_)]),
        "nothing is removed: {found:?}"
    );
    store.apply(&found);
    assert_eq!(store.document("bd-1-1-old")["metadata"]["sprint"], "1.2");
    assert_eq!(
        known(&store, &sprint("1.2", "Old"), "plan.md").0,
        pairs(&[("1.2", "bd-1-1-old")])
    );
}

#[test]
fn z_10_an_annotation_cannot_take_another_sprints_bead() {
    let store = Store::of(&sprint("1.1", "Old"));
    let text = sprint("1.1", "Old") + &annotated("1.2", "Copy", "bd-1-1-old");
    let expected = (pairs(&[("1.1", "bd-1-1-old")]), vec!["ignored-bead-id"]);
    assert_eq!(known(&store, &text, "plan.md"), expected);
    let twice = annotated("1.2", "A", "bd-1-1-old") + &annotated("1.3", "B", "bd-1-1-old");
    let findings = store.try_compare(&twice, "", "plan.md").unwrap_err();
    let codes: Vec<&str> = findings.iter().map(|f| f.code.as_str()).collect();
    assert!(codes.contains(&"DEPENDENCY.DUPLICATE_ID"), "{codes:?}");
}

#[test]
fn z_10_a_plan_that_was_moved_keeps_its_beads_and_a_copy_has_none() {
    let store = Store::of(&sprint("1.1", "Old"));
    let text = annotated("1.1", "Old", "bd-1-1-old");
    assert_eq!(
        known(&store, &text, "moved.md"),
        (pairs(&[("1.1", "bd-1-1-old")]), vec![])
    );
    let mut of_other = store.clone();
    of_other.alter("bd-1-1-old", |bead| {
        bead["metadata"]["plan_file"] = json!("other.md");
    });
    assert_eq!(
        known(&of_other, &text, "plan.md"),
        (vec![], vec!["ignored-bead-id"])
    );
    let found = of_other.compare(&text);
    assert!(
        matches!(&*found.differences, [Difference::Conflict { .. }]),
        "{found:?}"
    );
}

#[test]
fn z_10_an_annotation_without_a_bead_is_nothing() {
    let text = annotated("1.1", "Old", "bd-gone");
    assert_eq!(known(&Store::default(), &text, "plan.md"), (vec![], vec![]));
}

#[test]
fn z_10_an_annotation_may_name_an_issue_of_no_plan() {
    let mut store = Store::default();
    store.insert(foreign("gt-7"));
    let text = annotated("1.1", "Old", "gt-7");
    store.apply(&store.compare(&text));
    assert_eq!(
        store.compare(&text).unchanged,
        [BeadId::parse("gt-7").unwrap()]
    );
    let record = store.record("gt-7");
    let rules = crate::bead::Rules::default();
    let mut issue = record.issue.to_bead_document(&[]);
    for key in ["created_at", "updated_at"] {
        issue[key] = json!("2026-01-01T00:00:00Z");
    }
    issue["status"] = json!("open");
    assert!(crate::bead::validate(&issue, &rules).is_ok(), "{issue}");
}

#[test]
fn z_10_of_several_beads_the_annotated_or_an_unfinished_one_is_used() {
    let mut store = Store::of(&sprint("1.1", "Old"));
    let mut copy = store.document("bd-1-1-old");
    copy["id"] = json!("bd-2");
    store.insert(crate::issue::Entry::from_document(copy).unwrap());
    let text = sprint("1.1", "Old");
    assert_eq!(
        known(&store, &text, "plan.md"),
        (pairs(&[("1.1", "bd-1-1-old")]), vec!["several-beads"])
    );
    let found = store.compare(&text);
    assert!(
        found.differences.is_empty(),
        "the other one is left alone: {found:?}"
    );
    let named = annotated("1.1", "Old", "bd-2");
    assert_eq!(
        known(&store, &named, "plan.md").0,
        pairs(&[("1.1", "bd-2")])
    );
    store.edit(
        "bd-1-1-old",
        &[crate::issue::Edit::Close("done".to_owned())],
    );
    assert_eq!(known(&store, &text, "plan.md").0, pairs(&[("1.1", "bd-2")]));
}

#[test]
fn z_10_the_annotated_ids_are_those_in_place() {
    let text =
        annotated("1.1", "A", "bd-a") + &sprint("1.2", "B") + "\n<!-- beads-ralph: bd-b -->\n";
    let ids = annotated_ids(&parse(&text));
    assert_eq!(ids.iter().map(BeadId::as_str).collect::<Vec<_>>(), ["bd-a"]);
}

#[test]
fn e_12_an_id_that_something_else_has_is_a_conflict() {
    let mut store = Store::default();
    store.insert(foreign("bd-1-1-old"));
    let found = store.compare(&sprint("1.1", "Old"));
    let [Difference::Conflict { id, sprint, owner }] = &*found.differences else {
        panic!("{found:?}");
    };
    assert_eq!(
        (id.as_str(), sprint.as_str(), owner),
        ("bd-1-1-old", "1.1", &BeadOwner::NoPlan)
    );
}
