//! Issues as the lines of `bd`'s JSONL, and what their metadata carries for stores without room for it.
//!
//! A claim is a separate record (Z-3), and so is the fence, which outlives every claim. Where only metadata can hold them, they are
//! one text under one key, because numbers of that JSON pass through floating point. The reason of a close is there too, because
//! `bd` takes it only from a command that can do nothing else.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::claim::{Claim, Fence, MAX_FENCE};
use super::dependency::Effect;
use super::json;
use super::model::{Comment, Issue};
use crate::bead::{FieldError, FieldErrorKind};
use crate::vocabulary::{EdgeType, field, metadata};

/// An issue with its comments and the fence of its latest claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The issue.
    pub issue: Issue,
    /// Its comments, oldest first.
    pub comments: Vec<Comment>,
    /// The fence, which must not fall when an issue moves (Z-2).
    pub fence: Fence,
}

/// One line of an export.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// An issue.
    Issue(Box<Entry>),
    /// A note of `bd` that belongs to no issue.
    Memory {
        /// Its name.
        key: String,
        /// What it says.
        value: String,
    },
    /// A header, an empty line or the trace of a deleted issue: nothing to keep.
    Nothing,
}

/// Keys that an export computes and that an import leaves aside.
const COMPUTED: [&str; 5] = [
    "_type",
    "dependency_count",
    "dependent_count",
    "comment_count",
    "parent",
];

impl Entry {
    /// A new issue, with nothing said about it yet.
    pub fn new(issue: Issue) -> Self {
        Self {
            issue,
            comments: Vec::new(),
            fence: Fence::default(),
        }
    }

    /// Reads a whole document.
    pub fn from_document(document: Value) -> Result<Self, Vec<FieldError>> {
        let (issue, comments) = Issue::from_document(document)?;
        Ok(Self {
            issue,
            comments,
            fence: Fence::default(),
        })
    }

    /// The line of `bd`'s JSONL. `n_dependents` is how many issues block on this one.
    pub fn to_line(&self, n_dependents: usize) -> Value {
        let mut line = Map::new();
        line.insert("_type".to_owned(), "issue".into());
        line.extend(self.issue.document().clone());
        if !self.comments.is_empty() {
            let comments = self.comments.iter().map(Comment::to_value).collect();
            line.insert("comments".to_owned(), comments);
        }
        if self.fence != Fence::default() {
            line.insert("claim_fence".to_owned(), self.fence.0.into());
        }
        line.extend(counts(&self.issue, n_dependents, self.comments.len()));
        Value::Object(line)
    }
}

/// What `bd` counts about an issue, and the issue that it is a part of.
pub fn counts(issue: &Issue, n_dependents: usize, n_comments: usize) -> Map<String, Value> {
    let edges = issue.dependencies();
    let n_blocking = edges.iter().filter(|edge| edge.kind() == EdgeType::Blocks);
    let mut counts = Map::new();
    counts.insert("dependency_count".to_owned(), n_blocking.count().into());
    counts.insert("dependent_count".to_owned(), n_dependents.into());
    counts.insert("comment_count".to_owned(), n_comments.into());
    if let Some(edge) = edges.iter().find(|edge| edge.effect() == Effect::Parent) {
        counts.insert("parent".to_owned(), edge.target().as_str().into());
    }
    counts
}

/// Reads a line of `bd`'s JSONL. An issue that is closed without saying when was closed at its last change.
pub fn read_line(line: &str) -> Result<Line, Vec<FieldError>> {
    if line.trim().is_empty() {
        return Ok(Line::Nothing);
    }
    let value: Value = serde_json::from_str(line).map_err(|error| {
        // A line is one line, so its number within itself says nothing.
        refused(
            "document",
            FieldErrorKind::JsonInvalid,
            error.to_string().replace(" at line 1 column", ", column"),
        )
    })?;
    let Value::Object(mut map) = value else {
        return Err(refused(
            "document",
            FieldErrorKind::ModelType,
            "Input should be a valid object".to_owned(),
        ));
    };
    if map.contains_key("_schema") || map.get("status").and_then(Value::as_str) == Some("tombstone")
    {
        return Ok(Line::Nothing);
    }
    match map.get("_type").and_then(Value::as_str) {
        None | Some("issue") => read_issue(map),
        Some("memory") => {
            let mut text = |key: &str| match map.remove(key) {
                Some(Value::String(text)) => Ok(text),
                _ => Err(refused(
                    key,
                    FieldErrorKind::StringType,
                    "Input should be a valid string".to_owned(),
                )),
            };
            Ok(Line::Memory {
                key: text("key")?,
                value: text("value")?,
            })
        }
        Some(other) => {
            let message = format!("no line is of type '{}'", crate::text::excerpt(other));
            Err(refused("_type", FieldErrorKind::Value, message))
        }
    }
}

fn read_issue(mut map: Map<String, Value>) -> Result<Line, Vec<FieldError>> {
    for key in COMPUTED {
        map.shift_remove(key);
    }
    let fence = match map.get("claim_fence").map(Value::as_u64) {
        Some(Some(fence)) if fence > MAX_FENCE.0 => {
            let message = format!("a fence is at most {MAX_FENCE}");
            return Err(refused("claim_fence", FieldErrorKind::Value, message));
        }
        Some(Some(fence)) => {
            map.shift_remove("claim_fence");
            Fence(fence)
        }
        _ => Fence::default(),
    };
    let kept = OwnMetadata::take(&mut map).unwrap_or_default();
    let fence = fence.max(kept.fence.min(MAX_FENCE));
    if json::is_closed(&map) && map.get("closed_at").is_none_or(Value::is_null) {
        let last = ["updated_at", "created_at"];
        let at = last
            .iter()
            .find_map(|key| map.get(*key).filter(|at| at.is_string()));
        let at = at.cloned().unwrap_or_else(|| json!("1970-01-01T00:00:00Z"));
        map.insert("closed_at".to_owned(), at);
    }
    let (issue, comments) = Issue::from_document(Value::Object(map))?;
    Ok(Line::Issue(Box::new(Entry {
        issue,
        comments,
        fence,
    })))
}

fn refused(path: &str, kind: FieldErrorKind, message: String) -> Vec<FieldError> {
    vec![FieldError {
        path: path.to_owned(),
        message,
        kind,
    }]
}

/// What is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnMetadata {
    /// The fence of the latest claim.
    pub fence: Fence,
    /// The claim, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// Why it was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_reason: Option<String>,
}

impl OwnMetadata {
    /// Takes it out of a document, which gets what belongs to it. Anything else under that key stays as it is.
    pub fn take(document: &mut Map<String, Value>) -> Option<Self> {
        let metadata = document.get_mut("metadata")?.as_object_mut()?;
        let kept: Self =
            serde_json::from_str(metadata.get(metadata::BEADS_RALPH)?.as_str()?).ok()?;
        metadata.shift_remove(metadata::BEADS_RALPH);
        if metadata.is_empty() {
            document.shift_remove("metadata");
        }
        if let Some(reason) = kept.close_reason.as_deref()
            && json::is_closed(document)
        {
            json::set_if_null(document, field::CLOSE_REASON, reason);
        }
        Some(kept)
    }

    /// The text that is kept.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a record of plain values is JSON")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_comes_back_as_it_was() {
        let line = json!({"_type": "issue", "id": "bd-a3f", "title": "T", "status": "closed", "priority": 1,
            "closed_at": "2026-06-02T08:00:00Z", "labels": ["a", "b"], "odd": {"x": 1.50},
            "dependencies": [{"issue_id": "bd-a3f", "depends_on_id": "bd-b2c", "type": "blocks", "metadata": "{}"}],
            "comments": [{"id": "6f", "issue_id": "bd-a3f", "author": "bob", "text": "hi"}],
            "claim_fence": 4, "dependency_count": 1, "dependent_count": 0, "comment_count": 1});
        let Line::Issue(entry) = read_line(&line.to_string()).unwrap() else {
            panic!("an issue was written");
        };
        assert_eq!(entry.fence, Fence(4));
        assert_eq!(entry.to_line(0), line);
    }

    #[test]
    fn other_lines_are_told_apart() {
        assert_eq!(read_line(" \n"), Ok(Line::Nothing));
        assert_eq!(read_line("{\"_schema\": 1}"), Ok(Line::Nothing));
        let memory = Line::Memory {
            key: "k".to_owned(),
            value: "v".to_owned(),
        };
        assert_eq!(
            read_line("{\"_type\":\"memory\",\"key\":\"k\",\"value\":\"v\"}"),
            Ok(memory)
        );
        for line in [
            "[]",
            "{",
            "{\"_type\":\"odd\"}",
            "{\"_type\":\"memory\"}",
            "{\"id\":\"a\"}",
        ] {
            assert!(read_line(line).is_err(), "{line}");
        }
    }

    #[test]
    fn z_2_a_fence_that_could_not_rise_is_refused() {
        let line = |fence: u64| json!({"id": "a", "title": "t", "claim_fence": fence}).to_string();
        assert!(read_line(&line(MAX_FENCE.0)).is_ok());
        let errors = read_line(&line(u64::MAX)).unwrap_err();
        assert_eq!(errors[0].path, "claim_fence");
    }

    #[test]
    fn a_closed_line_without_a_time_was_closed_at_its_last_change() {
        let line = "{\"id\":\"a\",\"title\":\"t\",\"status\":\"closed\",\"updated_at\":\"2026-01-01T00:00:00Z\"}";
        let Ok(Line::Issue(entry)) = read_line(line) else {
            panic!("an issue was written");
        };
        assert_eq!(entry.issue.text("closed_at"), Some("2026-01-01T00:00:00Z"));
    }

    #[test]
    fn z_3_what_is_kept_comes_out_whole_and_what_is_not_ours_stays() {
        let kept = OwnMetadata {
            fence: Fence(u64::MAX),
            claim: None,
            close_reason: Some("done".to_owned()),
        };
        let mut document = json!({"status": "closed", "metadata": {metadata::BEADS_RALPH: kept.to_text(), "a": 1}});
        let document = document.as_object_mut().unwrap();
        assert_eq!(OwnMetadata::take(document), Some(kept));
        assert_eq!(document["close_reason"], "done");
        assert_eq!(document["metadata"], json!({"a": 1}));
        for theirs in [json!({"mine": 1}), json!("text"), json!(7)] {
            let mut document = json!({"metadata": {metadata::BEADS_RALPH: theirs}});
            let before = document.clone();
            assert_eq!(OwnMetadata::take(document.as_object_mut().unwrap()), None);
            assert_eq!(document, before);
        }
    }
}
