//! YAML as a tree with places, within bounds: a report comes from a program that may be broken or hostile.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use crate::text::Position;

/// The deepest nesting of a report.
const MAX_DEPTH: usize = 32;

/// The most values of a report.
const MAX_NODES: usize = 20_000;

/// The most uses of anchors; nobody needs them here.
const MAX_ALIASES: usize = 100;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) place: Position,
    pub(super) tree: Tree,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    pub(super) fn kind(&self) -> &'static str {
        match self.tree {
            Tree::Null => "nothing",
            Tree::Bool(_) => "true or false",
            Tree::Integer(_) | Tree::Float(_) => "a number",
            Tree::Text(_) => "a text",
            Tree::List(_) => "a list",
            Tree::Map(_) => "a mapping",
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match &self.tree {
            Tree::Map(entries) => (entries.iter())
                .find(|(own, _)| own == key)
                .map(|(_, node)| node),
            _ => None,
        }
    }
}

/// Reads a text. The error says where it stops being YAML.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    let budget = serde_saphyr::budget! {
        max_depth: MAX_DEPTH,
        max_nodes: MAX_NODES,
        max_aliases: MAX_ALIASES,
        max_documents: 1,
    };
    let options = serde_saphyr::options! { budget: budget };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned: Spanned<Tree> = Spanned::deserialize(deserializer)?;
        Ok(Self {
            place: Position {
                line: number(spanned.referenced.line()),
                column: number(spanned.referenced.column()),
            },
            tree: spanned.value,
        })
    }
}

fn number(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(i64::try_from(value).map_or_else(|_| Tree::Text(value.to_string()), Tree::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Tree, E> {
        Ok(Tree::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut map: Vec<(String, Node)> = Vec::new();
        while let Some(key) = entries.next_key::<Tree>()? {
            let key = match key {
                Tree::Text(key) => key,
                Tree::Integer(key) => key.to_string(),
                Tree::Bool(key) => key.to_string(),
                Tree::Null | Tree::Float(_) | Tree::List(_) | Tree::Map(_) => {
                    return Err(serde::de::Error::custom("a key must be a text"));
                }
            };
            map.push((key, entries.next_value()?));
        }
        Ok(Tree::Map(map))
    }
}
