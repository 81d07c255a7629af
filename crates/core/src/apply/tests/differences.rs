//! What changes, and what is left alone (Z-10).

use serde_json::{Value, json};

use super::{Store, claim};
use crate::apply::{Changed, Detail, Difference, FieldChange, RefusalReason, Verdict};
use crate::bead::BeadId;
use crate::diag::{Diagnostic, Severity};
use crate::issue::{Dependency, Edit, Label};
use crate::plan::sprint;

const ONE: &str = "bd-1-1-a";
const TWO: &str = "bd-1-2-b";

fn two() -> String {
    sprint("1.1", "A") + &sprint("1.2", "B")
}

fn changed(store: &Store, text: &str) -> Changed {
    let found = store.compare(text);
    match &*found.differences {
        [Difference::Changed(changed)] => (**changed).clone(),
        other => panic!("{other:?}"),
    }
}

fn edge(target: &str, kind: &str) -> Edit {
    Edit::AddDependency(Dependency::new(BeadId::parse(target).unwrap(), kind).unwrap())
}

fn edges(store: &mut Store, id: &str) -> Vec<(String, String)> {
    let edges = store.record(id).issue.dependencies();
    let pairs = edges
        .iter()
        .map(|e| (e.target().to_string(), e.kind().to_owned()));
    pairs.collect()
}

fn labels(store: &mut Store, id: &str) -> Vec<String> {
    store.record(id).issue.labels().map(str::to_owned).collect()
}

#[test]
fn z_10_a_new_sprint_comes_with_its_edges_and_its_memory() {
    let found = Store::default().compare(&two());
    let [Difference::New { .. }, Difference::New { sprint, entry }] = &*found.differences else {
        panic!("{found:?}");
    };
    assert_eq!(sprint.as_str(), "1.2");
    let document = entry.issue.document();
    let edge = json!({"issue_id": TWO, "depends_on_id": ONE, "type": "blocks",
        "created_at": "2026-11-15T08:00:00Z", "created_by": "tester"});
    assert_eq!(document["dependencies"], json!([edge]));
    assert_eq!(
        document["metadata"]["plan_applied"],
        json!({"labels": ["phase-01", "sprint-1-2"], "dependencies": [ONE]})
    );
}

#[test]
fn z_10_applying_twice_changes_nothing() {
    let store = Store::of(&two());
    let found = store.compare(&two());
    assert!(found.differences.is_empty(), "{found:?}");
    assert_eq!(found.unchanged.len(), 2);
}

#[test]
fn z_10_changing_a_title_changes_the_title_and_not_the_id() {
    let mut store = Store::of(&sprint("1.1", "A"));
    let text = sprint("1.1", "Better");
    let changed = changed(&store, &text);
    assert_eq!((changed.id.as_str(), changed.version), (ONE, 1));
    let title = Detail::Field(FieldChange {
        field: "title".to_owned(),
        before: Some(json!("A")),
        after: Some(json!("Better")),
    });
    assert_eq!(changed.details[0], title);
    store.apply(&store.compare(&text));
    assert_eq!(store.document(ONE)["title"], "Better");
    assert_eq!(
        store.document(ONE)["metadata"]["plan_section"],
        "### Sprint 1.1: Better"
    );
}

#[test]
fn z_10_what_the_plan_no_longer_says_goes() {
    let with = sprint("1.1", "A") + "\n**Acceptance Criteria**:\n- x\n\n**Verifiers**:\n- `make`\n";
    let mut store = Store::of(&with);
    store.apply(&store.compare(&sprint("1.1", "A")));
    let metadata = &store.document(ONE)["metadata"];
    assert_eq!(
        (metadata.get("dod"), metadata.get("acceptance_criteria")),
        (None, None)
    );
    assert_eq!(store.compare(&sprint("1.1", "A")).unchanged.len(), 1);
}

#[test]
fn z_10_claimed_and_closed_beads_are_only_reported() {
    let text = sprint("1.1", "Better");
    for (status, because) in [
        ("in_progress", RefusalReason::Claimed),
        ("closed", RefusalReason::Closed),
    ] {
        let mut store = Store::of(&sprint("1.1", "A"));
        store.edit(ONE, &[Edit::Status(status.to_owned())]);
        assert_eq!(changed(&store, &text).verdict, Verdict::Refused(because));
        let before = store.clone();
        store.apply(&store.compare(&text));
        assert_eq!(store, before);
        assert!(store.compare(&sprint("1.1", "A")).differences.is_empty());
    }
    let mut store = Store::of(&sprint("1.1", "A"));
    store.record(ONE).claim = Some(claim());
    assert_eq!(
        changed(&store, &text).verdict,
        Verdict::Refused(RefusalReason::Claimed)
    );
    for status in ["blocked", "deferred", "open"] {
        let mut store = Store::of(&sprint("1.1", "A"));
        store.edit(ONE, &[Edit::Status(status.to_owned())]);
        assert_eq!(changed(&store, &text).verdict, Verdict::Safe, "{status}");
    }
}

#[test]
fn z_10_a_removed_sprint_is_reported_once_it_is_missing_from_the_whole_plan() {
    let mut store = Store::of(&two());
    let found = store.compare(&sprint("1.1", "A"));
    let [Difference::Removed(removed)] = &*found.differences else {
        panic!("{found:?}");
    };
    assert_eq!(
        (
            removed.id.as_str(),
            removed.sprint.as_str(),
            &*removed.status
        ),
        (TWO, "1.2", "open")
    );
    let filtered = store
        .try_compare(&sprint("1.1", "A"), "1.1", "plan.md")
        .unwrap()
        .unwrap();
    assert!(filtered.differences.is_empty());
    let other_plan = store
        .try_compare(&sprint("1.1", "X"), "", "else.md")
        .unwrap()
        .unwrap();
    assert!(matches!(&*other_plan.differences, [Difference::New { .. }]));
    store.edit(TWO, &[Edit::Close("done".to_owned())]);
    assert!(store.compare(&sprint("1.1", "A")).differences.is_empty());
}

#[test]
fn z_10_labels_that_people_gave_stay() {
    let with = |labels: &str| sprint("1.1", "A") + &format!("\n**Labels**: {labels}\n");
    let mut store = Store::of(&with("old, both"));
    let hand = Label::parse("hand").unwrap();
    store.edit(
        ONE,
        &[Edit::AddLabel(hand), Edit::RemoveLabel("both".to_owned())],
    );
    let text = with("both, new");
    let details = changed(&store, &text).details;
    let removed = Detail::LabelRemoved("old".to_owned());
    let added = ["both", "new"].map(|label| Detail::LabelAdded(label.to_owned()));
    assert_eq!(details, [vec![removed], added.to_vec()].concat());
    store.apply(&store.compare(&text));
    assert_eq!(
        labels(&mut store, ONE),
        ["phase-01", "sprint-1-1", "hand", "both", "new"]
    );
}

#[test]
fn z_10_a_label_that_both_gave_is_the_plans_from_then_on() {
    let mut store = Store::of(&sprint("1.1", "A"));
    store.edit(ONE, &[Edit::AddLabel(Label::parse("x").unwrap())]);
    let text = sprint("1.1", "A") + "\n**Labels**: x\n";
    assert_eq!(changed(&store, &text).details, [], "only the memory is new");
    store.apply(&store.compare(&text));
    store.apply(&store.compare(&sprint("1.1", "A")));
    assert_eq!(labels(&mut store, ONE), ["phase-01", "sprint-1-1"]);
}

#[test]
fn z_10_dependencies_that_people_made_stay() {
    let text = two() + &sprint("1.3", "C");
    let mut store = Store::of(&text);
    store.edit("bd-1-3-c", &[edge("x-1", "blocks"), edge("x-2", "related")]);
    let without = sprint("1.1", "A") + &sprint("1.3", "C");
    let found = store.compare(&without);
    let Difference::Changed(changed) = &found.differences[0] else {
        panic!("{found:?}");
    };
    let gone = Detail::DependencyRemoved {
        target: BeadId::parse(TWO).unwrap(),
        kind: "blocks".to_owned(),
    };
    let come = Detail::DependencyAdded(BeadId::parse(ONE).unwrap());
    assert_eq!(changed.details, [gone, come]);
    store.apply(&found);
    let expected = [("x-1", "blocks"), ("x-2", "related"), (ONE, "blocks")];
    let expected = expected.map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(edges(&mut store, "bd-1-3-c"), expected);
}

#[test]
fn z_10_the_plan_wins_over_an_edge_of_another_type() {
    let mut store = Store::of(&two());
    let other = [
        Edit::RemoveDependency(BeadId::parse(ONE).unwrap()),
        edge(ONE, "related"),
    ];
    store.edit(TWO, &other);
    let not_wanted = store.clone().compare(&sprint("1.2", "B"));
    assert!(
        matches!(&not_wanted.differences[0], Difference::Changed(c) if c.details.is_empty()),
        "an edge that somebody changed is theirs: {not_wanted:?}"
    );
    store.apply(&store.compare(&two()));
    assert_eq!(
        edges(&mut store, TWO),
        [(ONE.to_owned(), "blocks".to_owned())]
    );
}

#[test]
fn z_10_nothing_is_taken_from_a_bead_that_came_by_other_means() {
    let mut store = Store::of(&(two() + "\n**Labels**: x\n"));
    store.edit(
        TWO,
        &[
            Edit::UnsetMetadata("plan_applied".to_owned()),
            edge("x-1", "blocks"),
        ],
    );
    let text = sprint("1.1", "A") + &sprint("1.2", "B");
    store.apply(&store.compare(&text));
    assert!(labels(&mut store, TWO).contains(&"x".to_owned()));
    assert_eq!(edges(&mut store, TWO).len(), 2);
    assert!(store.compare(&text).differences.is_empty());
}

#[test]
fn z_10_the_bookkeeping_of_a_closed_bead_is_no_difference() {
    let mut store = Store::of(&sprint("1.1", "A"));
    let edits = [
        Edit::UnsetMetadata("plan_applied".to_owned()),
        Edit::Close("done".to_owned()),
    ];
    store.edit(ONE, &edits);
    assert!(store.compare(&sprint("1.1", "A")).differences.is_empty());
}

#[test]
fn z_10_what_a_run_or_a_person_wrote_is_no_difference() {
    let text = sprint("1.1", "A") + "\n**Verifiers**:\n- `make`\n";
    let mut store = Store::of(&text);
    store.alter(ONE, |bead| {
        bead["status"] = json!("blocked");
        bead["priority"] = json!(0);
        bead["assignee"] = json!("somebody");
        bead["external_ref"] = json!("https://example.org/1");
        bead["notes"] = json!("odd");
        bead["metadata"]["attempt_count"] = json!(2);
        bead["metadata"]["pr_number"] = json!(7);
        bead["metadata"]["base_commit"] = json!("abc");
        bead["metadata"]["dev_agents"][0]["agent_id"] = json!("s1");
        bead["metadata"]["qa_agents"][0]["agent_id"] = json!("s2");
        bead["metadata"]["scrum_master_agent"]["agent_id"] = json!("s3");
        bead["metadata"]["dod"]["evidence_required"] = json!(false);
        bead["metadata"]
            .as_object_mut()
            .unwrap()
            .shift_remove("branches_to_merge");
    });
    assert!(store.compare(&text).differences.is_empty());
    let more = text + "- `make more`\n";
    store.apply(&store.compare(&more));
    let metadata = store.document(ONE)["metadata"].clone();
    assert_eq!(metadata["dev_agents"][0]["agent_id"], "s1");
    assert_eq!(metadata["dod"]["evidence_required"], false);
    assert_eq!(
        metadata["dod"]["verifiers"].as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(store.document(ONE)["priority"], 0);
}

#[test]
fn e_10_a_bead_that_no_store_takes_stops_everything() {
    let text = two() + "\n**Labels**: ../x\n";
    let findings = Store::default()
        .try_compare(&text, "", "plan.md")
        .unwrap_err();
    let is_wrong = |finding: &&Diagnostic| finding.severity() == Severity::Error;
    let wrong = findings.iter().find(is_wrong).unwrap();
    assert!(wrong.message.contains("'../x'"), "{wrong:?}");
    let mut store = Store::of(&two());
    store.alter(ONE, |bead| {
        bead["notes"] = Value::from("x".repeat(8 * 1024 * 1024 - 4096));
    });
    let long = sprint("1.1", "A").replace("do it", &"long ".repeat(1000)) + &sprint("1.2", "B");
    let unfit = store
        .try_compare(&long, "", "plan.md")
        .unwrap()
        .unwrap_err();
    assert_eq!(unfit.len(), 1);
    assert_eq!(
        (unfit[0].id.as_str(), unfit[0].sprint.as_str()),
        (ONE, "1.1")
    );
    assert!(unfit[0].error.to_string().contains("8 MiB"), "{unfit:?}");
}

fn with_estimate(estimate: &str) -> String {
    sprint("1.1", "A") + estimate + &sprint("1.2", "B")
}

#[test]
fn z_41_the_estimate_is_in_the_bead_twice_and_follows_the_plan() {
    let mut store = Store::default();
    let apply = |store: &mut Store, estimate: &str| {
        let found = store.compare(&with_estimate(estimate));
        store.apply(&found);
        assert!(
            store
                .compare(&with_estimate(estimate))
                .differences
                .is_empty()
        );
        let document = store.document(ONE);
        let of = |value: &Value| value.get("estimated_minutes").cloned();
        (of(&document), of(&document["metadata"]))
    };
    let both = |minutes: u32| (Some(json!(minutes)), Some(json!(minutes)));
    assert_eq!(apply(&mut store, "\n**Estimate**: 1h\n"), both(60));
    assert_eq!(apply(&mut store, "\n**Estimate**: 90m\n"), both(90));
    assert_eq!(apply(&mut store, ""), (None, None));
}

#[test]
fn z_41_an_estimate_that_no_plan_gave_stays_and_the_plan_wins_over_it() {
    let mut store = Store::default();
    store.apply(&store.compare(&two()));
    store.alter(ONE, |document| document["estimated_minutes"] = json!(7));
    assert!(store.compare(&two()).differences.is_empty());
    let planned = with_estimate("\n**Estimate**: 5m\n");
    let found = changed(&store, &planned);
    let field = Detail::Field(FieldChange {
        field: "estimated_minutes".to_owned(),
        before: Some(json!(7)),
        after: Some(json!(5)),
    });
    assert!(found.details.contains(&field), "{found:?}");
}

#[test]
fn z_41_a_bead_without_an_estimate_that_is_done_does_not_refuse_one() {
    let mut store = Store::default();
    store.apply(&store.compare(&two()));
    store.edit(ONE, &[Edit::Close(String::new())]);
    let planned = with_estimate("\n**Estimate**: 5m\n");
    assert!(store.compare(&planned).differences.is_empty());
    // One that it has and that the plan changes is told of, as every other field is.
    store.alter(ONE, |document| {
        document["estimated_minutes"] = json!(7);
        document["metadata"]["estimated_minutes"] = json!(7);
    });
    let found = changed(&store, &planned);
    assert_eq!(found.verdict, Verdict::Refused(RefusalReason::Closed));
}

fn source(store: &mut Store, id: &str) -> Value {
    store.document(id)["metadata"]["source_map"].clone()
}

#[test]
fn z_45_a_sprint_that_only_moved_changes_nothing() {
    let mut store = Store::default();
    store.apply(&store.compare(&two()));
    let first = source(&mut store, ONE);
    assert_eq!(
        (&first["file"], &first["line"], &first["column"]),
        (&json!("plan.md"), &json!(1), &json!(1))
    );
    let moved = format!("# A plan\n\nWith words.\n\n{}", two());
    assert!(store.compare(&moved).differences.is_empty());
    // With its next change the bead says where it stands now.
    let changed = moved.replace("Sprint 1.1: A", "Sprint 1.1: New");
    store.apply(&store.compare(&changed));
    let second = source(&mut store, ONE);
    assert_eq!(second["line"], json!(5));
    assert_ne!(second["digest"], first["digest"]);
    assert!(store.compare(&changed).differences.is_empty());
}

#[test]
fn z_45_annotations_and_blank_lines_do_not_change_the_digest() {
    let mut store = Store::default();
    store.apply(&store.compare(&two()));
    let plan = two();
    let heading = plan.lines().next().unwrap();
    let annotated = plan.replace(heading, &format!("{heading}\n<!-- beads-ralph: {ONE} -->"));
    assert!(store.compare(&annotated).differences.is_empty());
    assert!(store.compare(&(annotated + "\n\n")).differences.is_empty());
}

#[test]
fn z_45_words_around_a_sprint_that_is_done_are_no_change_of_it() {
    let mut store = Store::default();
    store.apply(&store.compare(&two()));
    let plan = two();
    let heading = plan.lines().next().unwrap();
    let worded = plan.replace(heading, &format!("{heading}\n\nSome words.\n"));
    assert_eq!(changed(&store, &worded).verdict, Verdict::Safe);
    store.edit(ONE, &[Edit::Close(String::new())]);
    assert!(store.compare(&worded).differences.is_empty());
}
