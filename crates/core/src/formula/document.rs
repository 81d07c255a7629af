//! A formula file as a tree whose every key and value knows its place, the same for TOML and JSON.
//!
//! Only what a formula can hold is here: numbers are kept as they are written, and dates become texts.

mod json;
mod toml;

use serde_json::{Map, Number, Value};

use crate::text::{Span, Spanned};

/// The deepest nesting of a file.
pub(super) const MAX_DEPTH: usize = 64;

/// In which language a formula is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `.formula.json`.
    Json,
    /// `.formula.toml`.
    Toml,
}

impl Format {
    /// Both, in the order in which they are looked for (F-1).
    pub const ALL: [Self; 2] = [Self::Json, Self::Toml];

    /// The name of the formula that a file of this name holds, and its language.
    pub fn of_file(name: &str) -> Option<(&str, Self)> {
        Self::ALL.into_iter().find_map(|format| {
            let formula = name.strip_suffix(format.ending())?;
            Some((formula, format))
        })
    }

    /// How the names of its files end.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Json => ".formula.json",
            Self::Toml => ".formula.toml",
        }
    }
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) span: Span,
    pub(super) tree: Tree,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    /// A number as it is written, without what only people need.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Table(Vec<(Spanned<String>, Node)>),
}

impl Node {
    /// What it is called when something else was expected.
    pub(super) fn kind(&self) -> &'static str {
        match self.tree {
            Tree::Null => "null",
            Tree::Bool(_) => "true or false",
            Tree::Number(_) => "a number",
            Tree::Text(_) => "a text",
            Tree::List(_) => "a list",
            Tree::Table(_) => "a table",
        }
    }

    /// The value without places.
    pub(super) fn to_value(&self) -> Value {
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

/// Why a text is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) span: Span,
    pub(super) message: String,
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

/// Reads a text.
pub(super) fn parse(text: &str, format: Format) -> Result<Node, Unreadable> {
    match format {
        Format::Json => json::parse(text),
        Format::Toml => toml::parse(text),
    }
}
