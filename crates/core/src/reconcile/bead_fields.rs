//! The fields that a plan owns, and those that it only fills in.

use serde_json::{Map, Value};

use super::difference::Draft;
use super::items::merged;
use super::present;
use crate::issue::{Edit, Issue};

/// Fields that are always as the plan says.
const OWNED: [&str; 3] = ["title", "description", "issue_type"];

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

/// Notes every field of an issue that is not as it is wanted.
pub(super) fn compare(wanted: &Issue, issue: &Issue, draft: &mut Draft) {
    let is_missing = |field: &&str| present(issue.document().get(*field)).is_none();
    for field in OWNED
        .into_iter()
        .chain(FILLED.into_iter().filter(is_missing))
    {
        let before = present(issue.document().get(field));
        let after = present(wanted.document().get(field));
        if let Some(value) = after.filter(|_| before != after) {
            draft.field(field, before, after);
            draft.edits.push(Edit::Set(field.to_owned(), value.clone()));
        }
    }
    let none = Map::new();
    let wanted = wanted.metadata().unwrap_or(&none);
    compare_metadata(wanted, issue.metadata().unwrap_or(&none), draft);
}

fn compare_metadata(wanted: &Map<String, Value>, own: &Map<String, Value>, draft: &mut Draft) {
    let mut changed = Map::new();
    for key in OWNED_METADATA {
        let before = present(own.get(key));
        let after = wanted.get(key).map(|value| merged(key, value, before));
        if before == present(after.as_ref()) {
            continue;
        }
        draft.field(&format!("metadata.{key}"), before, present(after.as_ref()));
        match after {
            Some(value) => drop(changed.insert(key.to_owned(), value)),
            None => draft.edits.push(Edit::UnsetMetadata(key.to_owned())),
        }
    }
    if !changed.is_empty() {
        draft.edits.push(Edit::MergeMetadata(changed));
    }
}
