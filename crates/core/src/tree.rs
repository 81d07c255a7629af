//! JSON, TOML and YAML as one kind of tree, whose every key and value knows its place in the text.
//!
//! Numbers are kept as they are written, and dates become texts. What a document means is for its readers.

mod json;
mod toml;
mod yaml;

use std::str::FromStr;

use serde_json::{Map, Number, Value};

use crate::text::{Span, Spanned};

pub use self::json::parse as parse_json;
pub use self::toml::parse as parse_toml;
pub use self::yaml::parse as parse_yaml;

/// The deepest nesting of JSON and TOML.
const MAX_DEPTH: usize = 64;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The bytes of the value.
    pub span: Span,
    /// The value.
    pub tree: Tree,
}

/// A key of a table with its value.
pub type Entry = (Spanned<String>, Node);

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A number as it is written, without what only people need.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A table: a JSON object, a YAML mapping.
    Table(Vec<Entry>),
}

impl Node {
    /// What it is called when something else was expected.
    pub fn kind(&self) -> &'static str {
        match self.tree {
            Tree::Null => "null",
            Tree::Bool(_) => "true or false",
            Tree::Number(_) => "a number",
            Tree::Text(_) => "a text",
            Tree::List(_) => "a list",
            Tree::Table(_) => "a table",
        }
    }

    /// The value of a key of a table.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let mut entries = self.as_table()?.iter();
        entries
            .find(|(own, _)| own.value == key)
            .map(|(_, node)| node)
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        self.tree == Tree::Null
    }

    /// The value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self.tree {
            Tree::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The value of a number that fits its type.
    pub fn number<T: FromStr>(&self) -> Option<T> {
        match &self.tree {
            Tree::Number(number) => number.parse().ok(),
            _ => None,
        }
    }

    /// The value of a text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.tree {
            Tree::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.tree {
            Tree::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a table.
    pub fn as_table(&self) -> Option<&[Entry]> {
        match &self.tree {
            Tree::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// A single value as a text.
    pub fn scalar(&self) -> Option<String> {
        match &self.tree {
            Tree::Text(text) | Tree::Number(text) => Some(text.clone()),
            Tree::Bool(value) => Some(value.to_string()),
            Tree::Null | Tree::List(_) | Tree::Table(_) => None,
        }
    }

    /// The value without places.
    pub fn to_value(&self) -> Value {
        match &self.tree {
            Tree::Null => Value::Null,
            Tree::Bool(value) => Value::Bool(*value),
            Tree::Number(number) => number
                .parse::<Number>()
                .map_or_else(|_| Value::String(number.clone()), Value::Number),
            Tree::Text(text) => Value::String(text.clone()),
            Tree::List(items) => items.iter().map(Self::to_value).collect(),
            Tree::Table(entries) => {
                let entries = entries.iter();
                let map: Map<String, Value> = entries
                    .map(|(key, node)| (key.value.clone(), node.to_value()))
                    .collect();
                Value::Object(map)
            }
        }
    }
}

/// Why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Where it stops being one.
    pub span: Span,
    /// What is wrong there.
    pub message: String,
}

impl Unreadable {
    fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
        }
    }

    fn too_deep(span: Span) -> Self {
        Self::new(
            span,
            format!("the file is nested more than {MAX_DEPTH} deep"),
        )
    }
}
