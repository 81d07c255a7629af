//! What was said about an issue.

use serde_json::{Map, Value};

use super::model::{MAX_DOCUMENT_DEPTH, check_size};
use crate::bead::Invalid;

/// A comment stands in a list, and the list in a document.
const MAX_DEPTH: usize = MAX_DOCUMENT_DEPTH - 2;

/// A comment: an object that loses nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Comment(Map<String, Value>);

impl Comment {
    /// Reads a comment; any object is one that fits into the document of an issue.
    pub fn from_value(value: Value) -> Result<Self, Invalid> {
        check_size(&value, MAX_DEPTH)?;
        match value {
            Value::Object(record) => Ok(Self(record)),
            _ => Err(Invalid::value("a comment is an object")),
        }
    }

    /// The object.
    pub fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// Who said it.
    pub fn author(&self) -> Option<&str> {
        self.text_of("author")
    }

    /// What was said.
    pub fn text(&self) -> Option<&str> {
        self.text_of("text")
    }

    /// When it was said.
    pub fn created_at(&self) -> Option<&str> {
        self.text_of("created_at")
    }

    /// Whether two records are the same comment: `bd` compares author, time and text.
    pub fn is_same(&self, other: &Self) -> bool {
        self == other
            || (self.text().is_some()
                && self.author() == other.author()
                && self.created_at() == other.created_at()
                && self.text() == other.text())
    }

    fn text_of(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }
}
