//! The fields that a plan owns, and those that it only fills in.

use serde_json::{Map, Value};

use super::shared_values::merged;
use super::{FieldChange, present};
use crate::apply::difference::ChangeDraft;
use crate::bead::SourceMap;
use crate::issue::{Edit, Issue};
use crate::vocabulary::{field, metadata};

/// Fields that are always as the plan says.
const OWNED: [&str; 3] = [field::TITLE, field::DESCRIPTION, field::ISSUE_TYPE];

/// Fields that every bead must have, and that belong to the store once it has them.
const FILLED: [&str; 2] = ["assignee", "priority"];

/// Keys of the metadata that are always as the plan says: what it does not say is not there.
const OWNED_METADATA: [&str; 20] = [
    "rig",
    "worktree_path",
    "branch",
    "source_branch",
    "phase",
    "sprint",
    "team_name",
    "plan_file",
    "plan_section",
    "plan_sprint_id",
    "branches_to_merge",
    "dev_agent_path",
    "dev_model",
    "dev_prompts",
    "qa_agents",
    "scrum_master_agent",
    "dev_agents",
    "max_retry_attempts",
    "acceptance_criteria",
    "dod",
];

/// Adds every field of an issue that differs from what the plan wants.
pub(in crate::apply) fn compare(wanted: &Issue, issue: &Issue, draft: &mut ChangeDraft) {
    let is_missing = |field: &&str| present(issue.document().get(*field)).is_none();
    for field in OWNED
        .into_iter()
        .chain(FILLED.into_iter().filter(is_missing))
    {
        let before = present(issue.document().get(field));
        let after = present(wanted.document().get(field));
        if let Some(value) = after.filter(|_| before != after) {
            draft.field(FieldChange::new(field, before, after));
            draft.edits.push(Edit::Set(field.to_owned(), value.clone()));
        }
    }
    compare_estimate(wanted, issue, draft);
    let none = Map::new();
    let wanted = wanted.metadata().unwrap_or(&none);
    compare_metadata(wanted, issue.metadata().unwrap_or(&none), draft);
}

/// The estimate stands twice (Z-41): in the bead, where people may change it, and in the metadata, where only plans write. So
/// the metadata remember what the plan said, and an estimate that no plan gave stays.
fn compare_estimate(wanted: &Issue, issue: &Issue, draft: &mut ChangeDraft) {
    let of = |map: Option<&Map<String, Value>>| {
        let value = map.and_then(|map| map.get(field::ESTIMATED_MINUTES));
        value.filter(|value| !value.is_null()).cloned()
    };
    let after = of(Some(wanted.document()));
    let (own, planned) = (of(Some(issue.document())), of(issue.metadata()));
    if after == own && after == planned {
        return;
    }
    let key = || field::ESTIMATED_MINUTES.to_owned();
    match &after {
        Some(minutes) => {
            if own != after {
                draft.edits.push(Edit::Set(key(), minutes.clone()));
            }
            let map = Map::from_iter([(key(), minutes.clone())]);
            draft.edits.push(Edit::MergeMetadata(map));
        }
        None if planned.is_some() => {
            if own == planned {
                draft.edits.push(Edit::Unset(key()));
            }
            draft.edits.push(Edit::UnsetMetadata(key()));
        }
        None => return,
    }
    if after == own {
        return;
    }
    // Beads of version 0.1.0 have no estimate; one that is begun or done does not miss it.
    if planned.is_some() || own.is_some() {
        draft.field(FieldChange::new(
            field::ESTIMATED_MINUTES,
            own.as_ref(),
            after.as_ref(),
        ));
    } else {
        draft.minor_field(FieldChange::new(
            field::ESTIMATED_MINUTES,
            None,
            after.as_ref(),
        ));
    }
}

/// Notes where in the plan the bead comes from (Z-45). A sprint that only moved is the same: its line is looked up in the plan
/// when somebody asks, so editing the top of a plan writes nothing to the beads below. It is noted anew when the sprint's text is
/// another, or when the bead is written anyway.
pub(in crate::apply) fn compare_source(wanted: &Issue, issue: &Issue, draft: &mut ChangeDraft) {
    let Some(after) = wanted.metadata().and_then(SourceMap::of) else {
        return;
    };
    let before = issue.metadata().and_then(SourceMap::of);
    let is_same_text = before
        .as_ref()
        .is_some_and(|before| before.is_same_text(&after));
    let is_noted = before.as_ref() == Some(&after) || (is_same_text && draft.edits.is_empty());
    let value = wanted
        .metadata()
        .and_then(|map| map.get(metadata::SOURCE_MAP));
    if let Some(value) = value.filter(|_| !is_noted) {
        let map = Map::from_iter([(metadata::SOURCE_MAP.to_owned(), value.clone())]);
        draft.edits.push(Edit::MergeMetadata(map));
    }
}

fn compare_metadata(
    wanted: &Map<String, Value>,
    own: &Map<String, Value>,
    draft: &mut ChangeDraft,
) {
    let mut changed = Map::new();
    for key in OWNED_METADATA {
        let before = present(own.get(key));
        let after = wanted.get(key).map(|value| merged(key, value, before));
        if before == present(after.as_ref()) {
            continue;
        }
        draft.field(FieldChange::new(
            &format!("metadata.{key}"),
            before,
            present(after.as_ref()),
        ));
        match after {
            Some(value) => drop(changed.insert(key.to_owned(), value)),
            None => draft.edits.push(Edit::UnsetMetadata(key.to_owned())),
        }
    }
    if !changed.is_empty() {
        draft.edits.push(Edit::MergeMetadata(changed));
    }
}
