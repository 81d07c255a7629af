//! Documents of beads that the face makes or changes as a whole.

use beads_ralph_core::issue::{Edit, Entry, Issue};
use beads_ralph_core::vocabulary::{IssueType, Status};
use beads_ralph_runtime::store::Write;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Opened, go_json};

/// The document of a new bead.
pub(super) struct NewBead(Map<String, Value>);

impl NewBead {
    /// A bead with what every new one has.
    pub(super) fn new(opened: &Opened, id: &str, title: &str) -> Self {
        Self(Map::new())
            .set("id", id)
            .set("title", title)
            .set("status", Status::Open)
            .set("priority", 2)
            .set("issue_type", IssueType::Task)
            .with("owner", opened.owner())
            .set("created_at", opened.time())
            .set("created_by", opened.actor())
            .set("updated_at", opened.time())
    }

    #[must_use]
    pub(super) fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// Sets a key, unless the value says nothing.
    #[must_use]
    pub(super) fn with(self, key: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        let is_nothing = match &value {
            Value::Null | Value::Bool(false) => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Bool(true) | Value::Number(_) | Value::Object(_) => false,
        };
        if is_nothing {
            return self;
        }
        self.set(key, value)
    }

    pub(super) fn document(&self) -> &Map<String, Value> {
        &self.0
    }

    pub(super) fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn priority(&self) -> i64 {
        let priority = self.0.get("priority").and_then(Value::as_i64);
        priority.unwrap_or_default()
    }

    /// The bead as it is put into a store. The error is a sentence.
    pub(super) fn insertion(self) -> Result<Write, String> {
        let issue = issue(self.0)?;
        Ok(Write::Insert(Box::new(Entry::new(issue))))
    }
}

/// The bead of a document. The error is a sentence.
pub(super) fn issue(document: impl Serialize) -> Result<Issue, String> {
    let issue = Issue::without_comments(go_json::value(document));
    issue.map_err(|errors| sentence(&errors))
}

/// What is wrong with a document.
pub(super) fn sentence(errors: &[impl ToString]) -> String {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    errors.join("; ")
}

/// Puts a document in the place of a bead's. The error is a sentence.
pub(super) fn replacement(document: Map<String, Value>) -> Result<Edit, String> {
    Ok(Edit::Replace(Box::new(issue(document)?)))
}
