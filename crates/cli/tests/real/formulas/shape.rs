//! The beads of a molecule in one shape for both programs: by the names of their steps, without what any two stores do differently.
//!
//! Ids, times and people are left out, and so is what ours adds to every bead on purpose: the label and the metadata with the name of
//! the step, and the formula's name and the order of its steps at the root.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::fixture::Difference;
use beads_ralph_core::vocabulary::{label, metadata};

/// The name of the root among the steps.
const ROOT: &str = "(root)";

/// The fields that are compared as they are.
const FIELDS: [&str; 11] = [
    "title",
    "issue_type",
    "priority",
    "status",
    "description",
    "notes",
    "assignee",
    "ephemeral",
    "await_type",
    "await_id",
    "timeout",
];

/// Each step with its fields.
pub(super) struct Shape(BTreeMap<String, BTreeMap<String, Value>>);

/// The names of a molecule's beads by their ids.
type Names = BTreeMap<String, String>;

impl Shape {
    /// What the real program answered and exports.
    pub(super) fn of_real(answer: &Value, beads: &[Value]) -> Self {
        let ids: BTreeMap<&str, &str> = (answer["id_mapping"].as_object().unwrap().iter())
            .map(|(key, id)| (id.as_str().unwrap(), key.as_str()))
            .collect();
        let parts = beads.iter().filter(|bead| ids.contains_key(id(bead)));
        let parts: Vec<&Value> = parts.collect();
        let mut names = Names::new();
        for bead in &parts {
            let key = ids[id(bead)];
            // A key is the parent's key, a dot, and the name.
            let name = match parent(bead).and_then(|parent| ids.get(parent)) {
                Some(above) => key[above.len()..].trim_start_matches('.'),
                None => ROOT,
            };
            names.insert(id(bead).to_owned(), name.to_owned());
        }
        assert_eq!(names.len(), ids.len(), "every bead is exported");
        Self::of(&parts, &names)
    }

    /// What our program answered and exports.
    pub(super) fn of_ours(answer: &Value, beads: &[Value]) -> Self {
        let data = &answer["data"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut names: Names = (data["steps"].as_array().unwrap().iter())
            .map(|step| (text(&step["id"]), text(&step["step"])))
            .collect();
        names.insert(text(&data["id"]), ROOT.to_owned());
        let parts = beads.iter().filter(|bead| names.contains_key(id(bead)));
        let parts: Vec<&Value> = parts.collect();
        assert_eq!(names.len(), parts.len(), "every bead is exported");
        Self::of(&parts, &names)
    }

    fn of(parts: &[&Value], names: &Names) -> Self {
        let mut steps = BTreeMap::new();
        for bead in parts {
            let name = names[id(bead)].clone();
            let mut fields: BTreeMap<String, Value> = (FIELDS.iter())
                .map(|&field| (field.to_owned(), bead[field].clone()))
                .collect();
            fields.insert("labels".to_owned(), labels(bead, &name));
            fields.insert("metadata".to_owned(), metadata(bead, &name));
            fields.insert("edges".to_owned(), edges(bead, names));
            let added = steps.insert(name, fields);
            assert!(added.is_none(), "two beads of one name: {bead:#}");
        }
        Self(steps)
    }
}

fn id(bead: &Value) -> &str {
    bead["id"].as_str().unwrap()
}

fn dependencies(bead: &Value) -> impl Iterator<Item = &Value> {
    bead["dependencies"].as_array().into_iter().flatten()
}

fn parent(bead: &Value) -> Option<&str> {
    let parent = dependencies(bead).find(|edge| edge["type"] == "parent-child");
    parent.and_then(|edge| edge["depends_on_id"].as_str())
}

fn labels(bead: &Value, name: &str) -> Value {
    let own = format!("{}{name}", label::STAGE_PREFIX);
    let labels = bead["labels"].as_array().into_iter().flatten();
    let mut labels: Vec<&str> = labels
        .filter_map(Value::as_str)
        .filter(|label| *label != own)
        .collect();
    labels.sort_unstable();
    json!(labels)
}

fn metadata(bead: &Value, name: &str) -> Value {
    let mut metadata: Map<String, Value> =
        (bead["metadata"].as_object()).cloned().unwrap_or_default();
    if name == ROOT {
        metadata.remove("formula");
        metadata.remove("steps");
    } else if metadata
        .get(metadata::STAGE)
        .is_some_and(|stage| stage == name)
    {
        metadata.remove(metadata::STAGE);
    }
    Value::Object(metadata)
}

/// What a bead depends on, by name: the type of the edge, and what it carries.
fn edges(bead: &Value, names: &Names) -> Value {
    let mut edges: Vec<String> = dependencies(bead)
        .map(|edge| {
            let target = edge["depends_on_id"].as_str().unwrap();
            let target = names.get(target).map_or(target, String::as_str);
            let kind = edge["type"].as_str().unwrap();
            // The metadata of an edge is a text with JSON in it.
            let carried = edge["metadata"].as_str().unwrap_or_default();
            let carried: Value = serde_json::from_str(carried).unwrap_or_default();
            match carried.as_object().filter(|carried| !carried.is_empty()) {
                Some(carried) => format!("{kind} {target} {}", json!(carried)),
                None => format!("{kind} {target}"),
            }
        })
        .collect();
    edges.sort_unstable();
    json!(edges)
}

/// Everything that is not the same.
pub(super) fn differences(theirs: &Shape, ours: &Shape) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut add = |step: &str, field: &str, real: &Value, ours: &Value| {
        if real != ours {
            found.push(Difference {
                step: step.to_owned(),
                field: field.to_owned(),
                real: real.clone(),
                ours: ours.clone(),
                why: String::new(),
            });
        }
    };
    for (name, fields) in &theirs.0 {
        match ours.0.get(name) {
            None => add(name, "there", &json!(true), &json!(false)),
            Some(own) => {
                for (field, value) in fields {
                    add(name, field, value, &own[field]);
                }
            }
        }
    }
    for name in ours.0.keys().filter(|name| !theirs.0.contains_key(*name)) {
        add(name, "there", &json!(false), &json!(true));
    }
    found
}
