//! YAML with places, within bounds: it may come from a program that is broken or hostile.

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned as Located;

use super::{Node, Tree};
use crate::text::{Span, Spanned};

const MAX_DEPTH: usize = 32;
const MAX_NODES: usize = 20_000;

/// The most uses of anchors.
const MAX_ALIASES: usize = 100;

/// Reads a text. The error says where it stops being YAML.
pub fn parse(text: &str) -> Result<Node, String> {
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
        let located: Located<Tree> = Located::deserialize(deserializer)?;
        let span = located.referenced.span();
        let offset = |n: Option<u64>| usize::try_from(n.unwrap_or_default()).unwrap_or(usize::MAX);
        let start = offset(span.byte_offset());
        Ok(Self {
            span: Span::new(start, start.saturating_add(offset(span.byte_len()))),
            tree: located.value,
        })
    }
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
        Ok(Tree::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        // Digits beyond every number that is counted here are the text of a name, such as a commit.
        let text = value.to_string();
        Ok(match i64::try_from(value) {
            Ok(_) => Tree::Number(text),
            Err(_) => Tree::Text(text),
        })
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Number(format!("{value:?}")))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut table = Vec::new();
        while let Some(key) = entries.next_key::<Node>()? {
            let is_float = key.number::<f64>().is_some() && key.number::<i64>().is_none();
            let name = key.scalar().filter(|_| !is_float);
            let name = name.ok_or_else(|| A::Error::custom("a key must be a text"))?;
            table.push((Spanned::new(name, key.span), entries.next_value()?));
        }
        Ok(Tree::Table(table))
    }
}
