//! Sprints that share their shape, and so could be one formula (S1 FR-6, Z-47).
//!
//! Two sprints share their shape when they have the same agents and as many tasks, criteria and checks, and when each of these
//! begins with the same word. That alone is common, so it counts only where most of the words are common too, or where the sprints
//! say the same but for their own number, title, branch and worktree. Everything is grouped by keys: no two sprints are compared.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::text::Texts;
use super::{Path, common, document};
use crate::bead::RalphBead;
use crate::number::SprintId;

/// The fewest sprints that are worth a formula.
const FEWEST: usize = 3;

/// The fewest tasks and criteria by which sprints with other words can be told to share a shape.
const FEWEST_TEXTS: usize = 2;

/// The keys whose texts must be the same: who works, and with what.
const KEPT: [&str; 9] = [
    "agent",
    "agent_path",
    "dev_agent_path",
    "model",
    "dev_model",
    "adapter",
    "executable",
    "role",
    "issue_type",
];

/// Sprints that could be one formula.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alike {
    /// The sprints, in natural order.
    pub sprints: Vec<SprintId>,
    /// Whether they say the same but for their number, title, branch and worktree.
    pub is_exact: bool,
}

/// A sprint with its own values taken out.
struct Member {
    sprint: SprintId,
    pattern: Value,
}

/// Groups of sprints that could be one formula, each of at least three.
pub fn alike<'b>(beads: impl IntoIterator<Item = &'b RalphBead>) -> Vec<Alike> {
    let mut shapes: BTreeMap<String, Vec<Member>> = BTreeMap::new();
    for bead in beads {
        let mut texts = Texts::of(&[bead]);
        let document = document(bead);
        // With one bead everything is common, and what is its own becomes a variable.
        if let Ok(pattern) = common(&Path::default(), &[&document], &mut texts) {
            let mut sketch = pattern.clone();
            reduce(&mut sketch, false);
            let sprint = bead.metadata.sprint.clone();
            let members = shapes.entry(sketch.to_string()).or_default();
            members.push(Member { sprint, pattern });
        }
    }
    let mut groups: Vec<Alike> = shapes.into_values().flat_map(groups).collect();
    groups.sort();
    groups
}

/// What can be said about sprints of one shape.
fn groups(members: Vec<Member>) -> Vec<Alike> {
    if members.len() < FEWEST {
        return Vec::new();
    }
    let mut by_pattern: BTreeMap<String, Vec<SprintId>> = BTreeMap::new();
    for member in &members {
        let same = by_pattern.entry(member.pattern.to_string()).or_default();
        same.push(member.sprint.clone());
    }
    if by_pattern.len() > 1 && has_common_words(&members) {
        return vec![group(members.into_iter().map(|it| it.sprint), false)];
    }
    let exact = by_pattern.into_values();
    let exact = exact.filter(|sprints| sprints.len() >= FEWEST);
    exact.map(|sprints| group(sprints, true)).collect()
}

fn group(sprints: impl IntoIterator<Item = SprintId>, is_exact: bool) -> Alike {
    let mut sprints: Vec<SprintId> = sprints.into_iter().collect();
    sprints.sort();
    Alike { sprints, is_exact }
}

/// Leaves of a text its first word, and of a list its length.
fn reduce(value: &mut Value, is_kept: bool) {
    match value {
        Value::String(text) if !is_kept => {
            let word = text.split_whitespace().next().unwrap_or_default();
            *text = word.to_lowercase();
        }
        Value::Array(items) => {
            for item in items {
                reduce(item, is_kept);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                reduce(value, KEPT.contains(&key.as_str()));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether at least half of the words of every task and criterion, taken together, are in all of the sprints.
fn has_common_words(members: &[Member]) -> bool {
    let mut members = members.iter().map(|member| said(&member.pattern));
    let Some(first) = members.next() else {
        return false;
    };
    let mut common: Vec<HashSet<&str>> = first.iter().map(|text| words(text)).collect();
    let mut longest: Vec<usize> = common.iter().map(HashSet::len).collect();
    for texts in members {
        for (at, text) in texts.into_iter().enumerate() {
            let words = words(text);
            longest[at] = longest[at].max(words.len());
            common[at].retain(|word| words.contains(word));
        }
    }
    let n_common: usize = common.iter().map(HashSet::len).sum();
    common.len() >= FEWEST_TEXTS && 2 * n_common >= longest.iter().sum()
}

fn words(text: &str) -> HashSet<&str> {
    text.split_whitespace().collect()
}

/// The tasks and criteria of a sprint. Its checks do not count: they are often the same whatever the work is.
fn said(pattern: &Value) -> Vec<&str> {
    let lists = ["dev_prompts", "acceptance_criteria"];
    let lists = lists.iter().map(|key| &pattern["metadata"][*key]);
    let texts = lists.filter_map(Value::as_array).flatten();
    texts.filter_map(Value::as_str).collect()
}
