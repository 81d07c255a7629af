//! From beads to a formula (FR-6): what some sprints have in common becomes its text, and what differs its variables.
//!
//! A formula varies texts only. Sprints that differ in the number of their tasks, or in a number, are not one formula, and it is said
//! where they part. Pouring the formula with the values of a sprint gives its bead back, but for id, parent and root (Z-27).

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use serde_json::Value;

use crate::bead::{BeadShape, RalphBead};
use crate::formula::{Kind, Phase, Values};
use crate::issue::Document;
use crate::number::SprintId;
use crate::vocabulary::{field, metadata};

use self::json::{Path, common, offer_below, reduce, said};
use self::text::{Declarations, Texts};

mod json;
mod text;

#[cfg(test)]
mod tests;

/// The name of the only step.
const STEP: &str = "work";

/// The fields of a bead's document that a step has, with their names there.
const FIELDS: [(&str, &str); 6] = [
    ("title", "title"),
    ("description", "description"),
    ("issue_type", "type"),
    ("labels", "labels"),
    ("assignee", "assignee"),
    ("metadata", "metadata"),
];

/// A formula, and the values that give each of its sprints back.
#[derive(Debug, Clone, PartialEq)]
pub struct Distilled {
    /// The formula's document.
    pub formula: Value,
    /// The values of each sprint.
    pub values: BTreeMap<SprintId, Values>,
}

/// The file of a formula.
#[derive(Serialize)]
struct FormulaDocument<'a> {
    formula: &'a str,
    description: String,
    version: u8,
    #[serde(rename = "type")]
    kind: &'static str,
    phase: &'static str,
    vars: Declarations,
    steps: [Document; 1],
}

/// Where two sprints part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("sprint {other} is not like sprint {first}: {path} {how}")]
pub struct Unlike {
    /// The first sprint.
    pub first: SprintId,
    /// The one that is different.
    pub other: SprintId,
    /// Where.
    pub path: String,
    /// In which way.
    pub how: &'static str,
}

/// Makes a formula of some beads, of which there is at least one.
pub fn distill(name: &str, beads: &[&RalphBead]) -> Result<Distilled, Box<Unlike>> {
    let documents: Vec<Value> = beads.iter().map(|bead| document(bead)).collect();
    let mut texts = Texts::of(beads);
    let path = Path::default();
    let common = common(&path, &documents.iter().collect::<Vec<_>>(), &mut texts)
        .map_err(|(path, at, how)| unlike(beads, path, at, how))?;
    let mut step = Document::new();
    step.insert("id".to_owned(), STEP.into());
    for (field, name) in FIELDS
        .into_iter()
        .chain([(field::PRIORITY, field::PRIORITY)])
    {
        if let Some(value) = common.get(field) {
            step.insert(name.to_owned(), value.clone());
        }
    }
    let (variables, values) = texts.used(&serde_json::to_string(&step).unwrap_or_default());
    let sprints: Vec<&str> = beads
        .iter()
        .map(|bead| bead.metadata.sprint.as_str())
        .collect();
    let formula = FormulaDocument {
        formula: name,
        description: format!("Made from sprints {}", sprints.join(", ")),
        version: 1,
        kind: Kind::Workflow.as_str(),
        phase: Phase::Liquid.as_str(),
        vars: variables,
        steps: [step],
    };
    let numbers = beads.iter().map(|bead| bead.metadata.sprint.clone());
    Ok(Distilled {
        formula: serde_json::to_value(formula).expect("plain values are JSON"),
        values: numbers.zip(values).collect(),
    })
}

/// What a bead says that a step can say.
fn document(bead: &RalphBead) -> Value {
    let mut document = bead.to_document(BeadShape::Both);
    if let Value::Object(map) = &mut document {
        map.retain(|key, _| key == "priority" || FIELDS.iter().any(|(field, _)| field == key));
        // Where a sprint stands and how long it takes is for each of them to say, and makes none unlike another.
        if let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata
                .retain(|key, _| key != metadata::SOURCE_MAP && key != field::ESTIMATED_MINUTES);
        }
    }
    document
}

fn unlike(beads: &[&RalphBead], path: String, at: usize, how: &'static str) -> Box<Unlike> {
    let sprint = |at: usize| beads[at].metadata.sprint.clone();
    Box::new(Unlike {
        first: sprint(0),
        other: sprint(at),
        path,
        how,
    })
}

/// Every text that a sprint can offer to a formula that was made from its like: by the names that [`distill`] gives.
pub fn offered(bead: &RalphBead, values: &mut Values) {
    for (name, value) in text::standard(bead) {
        values.offer(name, &value);
    }
    offer_below(&Path::default(), &document(bead), values);
}

/// The fewest sprints that are worth a formula.
const FEWEST: usize = 3;

/// The fewest tasks and criteria by which sprints with other words can be told to share a shape.
const FEWEST_TEXTS: usize = 2;

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

/// Whether at least half of the words of every task and criterion, taken together, are in every one of the sprints.
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
