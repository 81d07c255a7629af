//! The documents of beads as stores hold them, beside those that a plan makes: which keys the plan owns, which it shares with a run
//! or with people, and which unknown keys stay (B-1).

pub(super) mod fields;
mod last_applied;
mod molecules;
mod shared_values;

pub(super) use last_applied::LastApplied;
pub use molecules::molecule_differences;

use serde::Serialize;
use serde_json::Value;

use super::ApplyContext;
use crate::bead::{FieldError, RalphBead};
use crate::compile::MoleculePart;
use crate::issue::{Dependency, Entry};
use crate::text::contrast;
use crate::vocabulary::EdgeType;

/// A field with another value in the plan than in the store; keys of the metadata are written `metadata.<key>`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldChange {
    /// The field.
    pub field: String,
    /// What the store has.
    pub before: Option<Value>,
    /// What the plan says.
    pub after: Option<Value>,
}

/// A change as people read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownChange {
    /// The field, down to the one place in it that differs.
    pub field: String,
    /// What the store has there, cut to the part that differs.
    pub before: String,
    /// What the plan says there, cut likewise.
    pub after: String,
}

impl FieldChange {
    pub(super) fn new(field: &str, before: Option<&Value>, after: Option<&Value>) -> Self {
        Self {
            field: field.to_owned(),
            before: before.cloned(),
            after: after.cloned(),
        }
    }

    /// The one place where the values differ, so that two long values do not look the same.
    pub fn shown(&self) -> ShownChange {
        let mut field = self.field.clone();
        let (mut before, mut after) = (self.before.as_ref(), self.after.as_ref());
        while let Some((name, old, new)) = only_difference(before, after) {
            field.push_str(&name);
            (before, after) = (old, new);
        }
        let (shown_before, shown_after) = contrast(&text(before), &text(after));
        ShownChange {
            field,
            before: quoted(before, shown_before),
            after: quoted(after, shown_after),
        }
    }
}

fn text(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

fn quoted(value: Option<&Value>, shown: String) -> String {
    match value {
        Some(Value::String(_)) => format!("\"{shown}\""),
        _ => shown,
    }
}

/// The only member of two objects, or of two lists of one length, that differs.
fn only_difference<'v>(
    before: Option<&'v Value>,
    after: Option<&'v Value>,
) -> Option<(String, Option<&'v Value>, Option<&'v Value>)> {
    let mut different: Vec<(String, Option<&Value>, Option<&Value>)> = match (before?, after?) {
        (Value::Object(old), Value::Object(new)) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            (old.keys().chain(added))
                .map(|key| (format!(".{key}"), old.get(key), new.get(key)))
                .collect()
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            let pairs = old.iter().zip(new).enumerate();
            pairs
                .map(|(at, (old, new))| (format!("[{at}]"), Some(old), Some(new)))
                .collect()
        }
        _ => return None,
    };
    different.retain(|(_, old, new)| old != new);
    let only = different.pop()?;
    different.is_empty().then_some(only)
}

/// The entry of a bead: its document with dependencies that say when and by whom they were made, and with
/// what the plan says now, for the next time.
pub(super) fn entry(
    bead: &RalphBead,
    last_applied: &LastApplied,
    context: &ApplyContext<'_>,
) -> Result<Entry, Vec<FieldError>> {
    let mut document = bead.to_document(context.shape);
    let edges = bead.dependencies.iter().map(|target| {
        Dependency::new(target.clone(), EdgeType::Blocks)
            .expect("`blocks` is a type")
            .with("created_at", context.settings.now.as_str().into())
            .with("created_by", context.actor.into())
            .to_value(&bead.id)
    });
    let edges: Vec<Value> = edges.collect();
    document["dependencies"] = edges.into();
    document["metadata"][LastApplied::KEY] = last_applied.to_value();
    if let Some(part) = context.parts.get(&bead.id) {
        add_part(&mut document, bead, part, context);
    }
    Entry::from_document(document)
}

/// What a bead has besides as a part of a molecule. What the sprint says comes before what the formula says.
fn add_part(
    document: &mut Value,
    bead: &RalphBead,
    part: &MoleculePart,
    context: &ApplyContext<'_>,
) {
    let parent = Dependency::new(part.parent.clone(), EdgeType::ParentChild)
        .expect("`parent-child` is a type")
        .with("created_at", context.settings.now.as_str().into())
        .with("created_by", context.actor.into());
    if let Some(edges) = document["dependencies"].as_array_mut() {
        let more = std::iter::once(&parent).chain(&part.edges);
        edges.extend(more.map(|edge| edge.to_value(&bead.id)));
    }
    if let Some(metadata) = document["metadata"].as_object_mut() {
        for (key, value) in &part.metadata {
            metadata.entry(key).or_insert_with(|| value.clone());
        }
    }
    if !part.notes.is_empty() {
        document["notes"] = part.notes.as_str().into();
    }
}

/// A value that is there; null counts as absent.
fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}
