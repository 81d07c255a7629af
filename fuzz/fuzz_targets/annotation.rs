//! Any text with its derived bead ids written in: writing them again changes nothing, and without the
//! annotation lines every byte is what it was (contracts §5).

#![no_main]

use std::collections::BTreeMap;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::number::SprintId;
use beads_ralph_core::plan::{self, Filter, Plan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = &*String::from_utf8_lossy(bytes);
    let plan = plan::parse(text);
    let ids = derived_ids(&plan);
    let all = Filter::default();
    let Ok(annotated) = plan::annotate(text, &plan, &all, &ids) else {
        return;
    };
    assert_eq!(annotated.n_changed == 0, annotated.text == text);
    check_same_sprints(&plan, &annotated.text, &ids);
    let again = plan::annotate(&annotated.text, &plan::parse(&annotated.text), &all, &ids)
        .expect("an annotated plan can be annotated");
    assert_eq!(again.n_changed, 0, "{:?}", annotated.text);
    assert_eq!(again.text, annotated.text);
    check_other_bytes(text, &annotated.text);
});

fn derived_ids(plan: &Plan) -> BTreeMap<SprintId, BeadId> {
    plan.unique()
        .map(|sprint| {
            let id = &sprint.id.value;
            (id.clone(), BeadId::derive(id, &sprint.title.value))
        })
        .collect()
}

fn check_same_sprints(plan: &Plan, annotated: &str, ids: &BTreeMap<SprintId, BeadId>) {
    let after = plan::parse(annotated);
    assert_eq!(plan.sprints.len(), after.sprints.len());
    for (sprint, same) in plan.sprints.iter().zip(&after.sprints) {
        assert_eq!(sprint.id.value.as_str(), same.id.value.as_str());
        assert_eq!(sprint.title.value, same.title.value);
        assert_eq!(sprint.body().tasks.len(), same.body().tasks.len());
        let expected = format!("<!-- beads-ralph: {} -->", ids[&same.id.value]);
        let line = same.annotations.first().map(|a| a.line.slice(annotated));
        assert!(same.is_duplicate || line == Some(expected.as_str()));
    }
}

fn check_other_bytes(text: &str, annotated: &str) {
    let (before, after) = (without_annotations(text), without_annotations(annotated));
    // A heading that ends the text without a line end gets one before its annotation.
    let added = after.strip_prefix(&before);
    let is_new_line_end = matches!(added, Some("\n" | "\r\n")) && !annotated.ends_with('\n');
    assert!(before == after || is_new_line_end, "{before:?}\n{after:?}");
}

fn without_annotations(text: &str) -> String {
    text.split_inclusive('\n')
        .filter(|line| !line.trim_start().starts_with("<!-- beads-ralph:"))
        .collect()
}
