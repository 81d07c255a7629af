//! Molecules in a store beside those that a plan makes.

use std::collections::HashMap;

use serde_json::Map;

use super::FieldChange;
use crate::apply::difference::{Changed, Detail, Difference, Verdict};
use crate::bead::{BeadId, SourceMap};
use crate::compile::ROOT_KEYS;
use crate::issue::{Edit, Entry, Issue, Record};
use crate::number::SprintId;
use crate::vocabulary::{IssueType, metadata};

/// How molecules in the store differ from what the plan and their formulas make now: missing parts, and the records in their roots.
pub fn molecule_differences(rest: Vec<(SprintId, Issue)>, records: &[Record]) -> Vec<Difference> {
    let records: HashMap<&BeadId, &Record> = (records.iter())
        .map(|record| (record.issue.id(), record))
        .collect();
    let mut differences = Vec::new();
    for (sprint, issue) in rest {
        match records.get(issue.id()) {
            None => differences.push(Difference::New {
                sprint,
                entry: Box::new(Entry::new(issue)),
            }),
            Some(record) if issue.issue_type() == IssueType::Molecule => {
                differences.extend(changed_root(&sprint, &issue, record));
            }
            Some(_) => {}
        }
    }
    differences
}

fn changed_root(sprint: &SprintId, wanted: &Issue, record: &Record) -> Option<Difference> {
    let mut edits = Map::new();
    let mut details = Vec::new();
    for key in ROOT_KEYS {
        let value = |issue: &Issue| issue.metadata().and_then(|map| map.get(key)).cloned();
        let (before, after) = (value(&record.issue), value(wanted));
        if let Some(after) = after.filter(|after| before.as_ref() != Some(after)) {
            let field = format!("metadata.{key}");
            details.push(Detail::Field(FieldChange::new(
                &field,
                before.as_ref(),
                Some(&after),
            )));
            edits.insert(key.to_owned(), after);
        }
    }
    let place = |issue: &Issue| issue.metadata().and_then(SourceMap::of);
    if let (Some(after), before) = (place(wanted), place(&record.issue)) {
        let is_same = before.is_some_and(|before| before.is_same_text(&after));
        let value = wanted
            .metadata()
            .and_then(|map| map.get(metadata::SOURCE_MAP));
        let value = value.filter(|_| !is_same || !edits.is_empty());
        edits.extend(value.map(|value| (metadata::SOURCE_MAP.to_owned(), value.clone())));
    }
    if edits.is_empty() {
        return None;
    }
    Some(Difference::Changed(Box::new(Changed {
        id: record.issue.id().clone(),
        sprint: sprint.clone(),
        details,
        edits: vec![Edit::MergeMetadata(edits)],
        version: record.version,
        verdict: Verdict::Safe,
    })))
}
