//! What one issue has to do with another (reference: the dependency types of `bd`).

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use serde::Deserialize;
use serde_json::Value;

use super::json::Document;
use crate::bead::{BeadId, Invalid};
use crate::text::{excerpt, is_unprintable};
use crate::vocabulary::{EdgeType, field};

/// The longest name of a dependency type.
const MAX_TYPE_CHARS: usize = 50;

/// An edge: the issue that carries it depends on another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    target: BeadId,
    kind: Box<str>,
    record: Document,
}

/// What an edge does to readiness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Holds back until the target is closed or pinned: `blocks`, `conditional-blocks`.
    Blocks,
    /// Holds back while children of the target are open: `waits-for`.
    WaitsForChildren,
    /// As above, but one closed child is enough: `waits-for` with the gate `any-children`.
    WaitsForAnyChild,
    /// Holds back only when the target itself is held back: `parent-child`.
    Parent,
    /// Nothing; it is a link.
    None,
}

impl Dependency {
    /// A new edge of a type.
    pub fn new(target: BeadId, kind: impl AsRef<str>) -> Result<Self, Invalid> {
        Ok(Self {
            target,
            kind: parse_kind(kind.as_ref())?,
            record: Document::new(),
        })
    }

    /// Adds a key to the edge's record, such as who made it and when.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.record.insert(key.to_owned(), value);
        self
    }

    /// Reads an edge as documents have it: an id, which blocks, or a record.
    pub fn from_value(value: &Value) -> Result<Self, Invalid> {
        match value {
            Value::String(target) => Self::new(BeadId::parse(target)?, EdgeType::Blocks),
            Value::Object(record) => Self::from_record(record),
            _ => Err(Invalid::value("a dependency is an id or an object")),
        }
    }

    fn from_record(record: &Document) -> Result<Self, Invalid> {
        let Some(target) = record.get("depends_on_id").and_then(Value::as_str) else {
            return Err(Invalid::value("a dependency has a text `depends_on_id`"));
        };
        let kind = match record.get("type") {
            None | Some(Value::Null) => EdgeType::Blocks.as_str(),
            Some(Value::String(kind)) => kind,
            Some(_) => return Err(Invalid::value("a dependency's `type` is a text")),
        };
        let mut rest = record.clone();
        for key in ["depends_on_id", "type", "issue_id"] {
            rest.shift_remove(key);
        }
        Ok(Self {
            target: BeadId::parse(target)?,
            kind: parse_kind(kind)?,
            record: rest,
        })
    }

    /// The edge's record, as `bd` writes it.
    pub fn to_value(&self, issue: &BeadId) -> Value {
        let mut record = Document::new();
        record.insert("issue_id".to_owned(), issue.as_str().into());
        record.insert("depends_on_id".to_owned(), self.target.as_str().into());
        record.insert("type".to_owned(), (*self.kind).into());
        record.extend(self.record.clone());
        Value::Object(record)
    }

    /// What is depended on.
    pub fn target(&self) -> &BeadId {
        &self.target
    }

    /// Its type, in the store's own words.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// A key of its record beside the ids and the type.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.record.get(key)
    }

    /// What it does to readiness. An id of another project cannot be looked up, and never holds back.
    pub fn effect(&self) -> Effect {
        match EdgeType::known(&self.kind) {
            _ if self.is_external() => Effect::None,
            Some(EdgeType::Blocks | EdgeType::ConditionalBlocks) => Effect::Blocks,
            Some(EdgeType::WaitsFor) if self.about().gate.as_deref() == Some("any-children") => {
                Effect::WaitsForAnyChild
            }
            Some(EdgeType::WaitsFor) => Effect::WaitsForChildren,
            Some(EdgeType::ParentChild) => Effect::Parent,
            _ => Effect::None,
        }
    }

    /// Whether the target is in another project: `external:project:capability`.
    pub fn is_external(&self) -> bool {
        self.target.as_str().starts_with("external:")
    }

    /// Whether an edge holds back until its target is closed: one that blocks, or a `waits-for` that stands for both.
    pub fn waits_for_target(&self) -> bool {
        match self.effect() {
            Effect::Blocks => true,
            Effect::WaitsForChildren | Effect::WaitsForAnyChild => self.about().also_blocks,
            Effect::Parent | Effect::None => false,
        }
    }

    /// The edge's metadata, which `bd` keeps as a text that holds JSON.
    fn about(&self) -> About {
        let about = match self.record.get(field::METADATA) {
            Some(Value::String(text)) => serde_json::from_str(text).ok(),
            Some(other) => About::deserialize(other).ok(),
            None => None,
        };
        about.unwrap_or_default()
    }
}

/// What the metadata of a `waits-for` edge says.
#[derive(Default, Deserialize)]
#[serde(default)]
struct About {
    gate: Option<String>,
    also_blocks: bool,
}

/// A cycle that goes through one of some nodes, from a node back to itself. Walks without recursion, and each node once.
pub fn find_cycle<K: Clone + Eq + Hash, E>(
    starts: impl IntoIterator<Item = K>,
    mut targets: impl FnMut(&K) -> Result<Vec<K>, E>,
) -> Result<Option<Vec<K>>, E> {
    let mut done: HashSet<K> = HashSet::new();
    for start in starts {
        if done.contains(&start) {
            continue;
        }
        let mut on_path: HashMap<K, usize> = HashMap::from([(start.clone(), 0)]);
        let first = targets(&start)?.into_iter();
        let mut path = vec![(start, first)];
        while let Some((_, left)) = path.last_mut() {
            let Some(target) = left.next() else {
                let (node, _) = path.pop().expect("the path was not empty");
                on_path.remove(&node);
                done.insert(node);
                continue;
            };
            if let Some(index) = on_path.get(&target) {
                let mut cycle: Vec<K> = path[*index..]
                    .iter()
                    .map(|(node, _)| node.clone())
                    .collect();
                cycle.push(target);
                return Ok(Some(cycle));
            }
            if !done.contains(&target) {
                on_path.insert(target.clone(), path.len());
                let next = targets(&target)?.into_iter();
                path.push((target, next));
            }
        }
    }
    Ok(None)
}

fn parse_kind(kind: &str) -> Result<Box<str>, Invalid> {
    let is_plain =
        !kind.is_empty() && !kind.chars().any(|c| is_unprintable(c) || c.is_whitespace());
    if is_plain && kind.chars().count() <= MAX_TYPE_CHARS {
        return Ok(kind.into());
    }
    Err(Invalid::pattern(format!(
        "a dependency's type has 1 to {MAX_TYPE_CHARS} characters and no spaces, got '{}'",
        excerpt(kind)
    )))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn z_21_an_edge_keeps_what_it_came_with() {
        let record = json!({"issue_id": "a", "depends_on_id": "b", "type": "waits-for",
            "created_at": "2026-01-01T00:00:00Z", "metadata": "{\"gate\":\"any-children\"}", "odd": [1]});
        let edge = Dependency::from_value(&record).unwrap();
        assert_eq!(edge.effect(), Effect::WaitsForAnyChild);
        assert_eq!(edge.to_value(&BeadId::parse("a").unwrap()), record);
    }

    #[test]
    fn every_type_has_the_effect_that_bd_gives_it() {
        for (kind, effect) in [
            ("blocks", Effect::Blocks),
            ("conditional-blocks", Effect::Blocks),
            ("waits-for", Effect::WaitsForChildren),
            ("parent-child", Effect::Parent),
            ("related", Effect::None),
            ("discovered-from", Effect::None),
            ("anything", Effect::None),
        ] {
            let edge = Dependency::new(BeadId::parse("b").unwrap(), kind).unwrap();
            assert_eq!(edge.effect(), effect, "{kind}");
        }
        let external = Dependency::from_value(&json!("external:other:login")).unwrap();
        assert_eq!(external.effect(), Effect::None);
    }

    #[test]
    fn a_wrong_edge_is_refused() {
        for value in [
            json!(1),
            json!(""),
            json!({}),
            json!({"depends_on_id": "b", "type": 1}),
            json!({"depends_on_id": "b", "type": "a b"}),
        ] {
            assert!(Dependency::from_value(&value).is_err(), "{value}");
        }
    }
}
