//! What a store holds (Z-21): any issue, ours or not, without loss.
//!
//! An [`Issue`] is its document. Only the fields that every store has are looked at; their sets of words
//! are open, and everything else is carried along as it came. Comments are not part of it: there can be
//! any number of them, and only a reader of one issue wants them.

use jiff::Timestamp;
use serde_json::Value;

use super::dependency::Dependency;
use super::json::{self, Document, MAX_DOCUMENT_DEPTH, check_size};
use super::name::{Label, check_id};
use super::readiness::Standing;
use crate::bead::reader::{Errors, Fields, Node, Path};
use crate::bead::{self, BeadId, FieldError, FieldErrorKind, Invalid, RalphBead, Rules, validate};
use crate::text::excerpt;
use crate::vocabulary::{EdgeType, IssueType, Status, field, metadata};

/// Fields that are texts where they are present; null counts as absent.
const TEXTS: [&str; 9] = [
    field::DESCRIPTION,
    "design",
    "acceptance_criteria",
    field::NOTES,
    field::ISSUE_TYPE,
    field::ASSIGNEE,
    "owner",
    "external_ref",
    field::CLOSE_REASON,
];

/// An issue of a store: open sets of types and statuses, any metadata, unknown keys kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Issue {
    id: BeadId,
    document: Document,
    /// The edges of the document, read once: everything that a store decides asks for them.
    dependencies: Vec<Dependency>,
}

impl Issue {
    /// Takes a document that has an id and a title and whose common fields, where present, have the usual
    /// types. Dependencies may be ids or records and become records; comments are set apart.
    pub fn from_document(document: Value) -> Result<(Self, Vec<Comment>), Vec<FieldError>> {
        let mut errors = Errors::default();
        let node = Node {
            value: &document,
            path: Path::Root,
        };
        if let Err(invalid) = check_size(&document, MAX_DOCUMENT_DEPTH) {
            errors.push(&Path::Root, invalid.kind, &invalid.message);
            return errors.finish(None);
        }
        let checked = check(node, &mut errors);
        let (id, dependencies) = errors.finish(checked)?;
        let Value::Object(mut document) = document else {
            unreachable!("what was checked is an object");
        };
        if let Some(slot @ Value::Array(_)) = document.get_mut(field::DEPENDENCIES) {
            *slot = records(&id, &dependencies);
        }
        let comments = split_comments(&mut document);
        let issue = Self {
            id,
            document,
            dependencies,
        };
        Ok((issue, comments))
    }

    /// Takes a document that holds no comments.
    pub fn without_comments(document: Value) -> Result<Self, Vec<FieldError>> {
        Self::from_document(document).map(|(issue, _)| issue)
    }

    /// The document: what was absent is absent, null is null.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The document itself.
    pub fn into_document(self) -> Document {
        self.document
    }

    /// Its name.
    pub fn id(&self) -> &BeadId {
        &self.id
    }

    /// What it is about.
    pub fn title(&self) -> &str {
        self.text(field::TITLE).unwrap_or_default()
    }

    /// Where it stands, in the store's own words.
    pub fn status(&self) -> &str {
        self.text(field::STATUS).unwrap_or(Status::Open.as_str())
    }

    /// Why the governor blocked it, as long as nobody else has changed its status (G-4).
    pub fn held_by_gates(&self) -> Option<&str> {
        let held = self.metadata()?.get(metadata::HELD_BY_GATES)?.as_str();
        held.filter(|_| self.status() == Status::Blocked)
    }

    /// What its status means to those that wait for it.
    pub fn standing(&self) -> Standing {
        Standing::of(self.status())
    }

    /// What it is, in the store's own words.
    pub fn issue_type(&self) -> &str {
        self.text(field::ISSUE_TYPE)
            .unwrap_or(IssueType::Task.as_str())
    }

    /// How urgent it is: 0 is most urgent.
    pub fn priority(&self) -> i64 {
        let priority = self.document.get(field::PRIORITY).and_then(Value::as_i64);
        priority.unwrap_or(2)
    }

    /// How many minutes it is thought to take: what it says itself, else what its plan said (Z-41).
    pub fn estimated_minutes(&self) -> Option<u64> {
        let own = self.document.get(field::ESTIMATED_MINUTES);
        let planned = self
            .metadata()
            .and_then(|map| map.get(field::ESTIMATED_MINUTES));
        let minutes = own.and_then(Value::as_u64);
        minutes.or_else(|| planned.and_then(Value::as_u64))
    }

    /// The role that it is for (Z-3), if any.
    pub fn assignee(&self) -> Option<&str> {
        self.text(field::ASSIGNEE)
            .filter(|assignee| !assignee.is_empty())
    }

    /// Its tags.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let labels = self.document.get(field::LABELS).and_then(Value::as_array);
        labels.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Whether it has a tag.
    pub fn has_label(&self, label: &str) -> bool {
        self.labels().any(|own| own == label)
    }

    /// What its makers added to it.
    pub fn metadata(&self) -> Option<&Document> {
        self.document
            .get(field::METADATA)
            .and_then(Value::as_object)
    }

    /// A text among what its makers added.
    pub fn metadata_text(&self, key: &str) -> Option<&str> {
        self.metadata()?.get(key)?.as_str()
    }

    /// What it depends on.
    pub fn dependencies(&self) -> &[Dependency] {
        &self.dependencies
    }

    /// The issues that it is a part of.
    pub fn parents(&self) -> impl Iterator<Item = &BeadId> {
        let edges = self.dependencies.iter();
        edges
            .filter(|edge| edge.kind() == EdgeType::ParentChild)
            .map(Dependency::target)
    }

    /// A moment of its document.
    pub fn time(&self, key: &str) -> Option<Timestamp> {
        let time = bead::Timestamp::parse(self.text(key)?).ok()?;
        Some(time.instant())
    }

    /// Whether a flag of its document is set.
    pub fn flag(&self, key: &str) -> bool {
        self.document.get(key) == Some(&Value::Bool(true))
    }

    /// A text of its document.
    pub fn text(&self, key: &str) -> Option<&str> {
        json::text(&self.document, key)
    }

    /// The document as the bead model has it: dependencies are the ids that block, comments are inside.
    pub fn to_bead_document(&self, comments: &[Comment]) -> Value {
        let mut document = self.document.clone();
        if document.contains_key(field::DEPENDENCIES) {
            let blocking = self.dependencies();
            let ids = blocking
                .iter()
                .filter(|edge| edge.kind() == EdgeType::Blocks)
                .map(|edge| Value::from(edge.target().as_str()));
            document.insert(field::DEPENDENCIES.to_owned(), ids.collect());
        }
        if !comments.is_empty() {
            let comments = comments.iter().map(Comment::to_value).collect();
            document.insert("comments".to_owned(), comments);
        }
        Value::Object(document)
    }

    /// Reads the issue as a bead of ours, which few issues of a store need be.
    pub fn to_ralph_bead(
        &self,
        comments: &[Comment],
        rules: &Rules,
    ) -> Result<RalphBead, Vec<FieldError>> {
        validate(&self.to_bead_document(comments), rules)
    }
}

fn records(id: &BeadId, dependencies: &[Dependency]) -> Value {
    dependencies.iter().map(|edge| edge.to_value(id)).collect()
}

/// Takes the comments out of a document and leaves an empty list where there was one.
fn split_comments(document: &mut Document) -> Vec<Comment> {
    let Some(Value::Array(comments)) = document.get_mut("comments") else {
        return Vec::new();
    };
    std::mem::take(comments)
        .into_iter()
        .filter_map(|comment| Comment::from_value(comment).ok())
        .collect()
}

fn check(node: Node<'_, '_>, errors: &mut Errors) -> Option<(BeadId, Vec<Dependency>)> {
    let fields = node.fields(errors)?;
    let id = fields.parsed(errors, "id", check_id);
    fields.required(errors, "title", |node, errors| {
        node.not_blank(errors, "title")
    });
    fields.optional(errors, "status", |node, errors| {
        node.parsed(errors, check_status)
    });
    for key in TEXTS {
        fields.optional(errors, key, |node, errors| node.string(errors));
    }
    for key in field::TIMES {
        fields.optional(errors, key, |node, errors| node.timestamp(errors));
    }
    fields.optional(errors, field::PRIORITY, |node, errors| {
        node.integer::<i64>(errors, field::PRIORITY, i128::from(i64::MIN))
    });
    fields.optional(errors, field::LABELS, |node, errors| {
        node.list(errors, |_, item, errors| item.parsed(errors, Label::parse))
    });
    fields.optional(errors, "comments", |node, errors| {
        node.list(errors, |_, item, errors| item.dict(errors))
    });
    fields.optional(errors, field::METADATA, |node, errors| node.dict(errors));
    check_closing(fields, errors);
    let dependencies = fields.optional(errors, field::DEPENDENCIES, |node, errors| {
        let edges = node.list(errors, |_, item, errors| {
            errors.take(&item.path, Dependency::from_value(item.value))
        })?;
        errors.take(&node.path, check_edges(id.as_ref(), &edges))?;
        Some(edges)
    })?;
    Some((id?, dependencies.unwrap_or_default()))
}

/// An issue is closed exactly when it says when (contracts §0.1).
fn check_closing(fields: Fields<'_, '_>, errors: &mut Errors) {
    let is_closed = json::is_closed(fields.map);
    let has_time = fields
        .map
        .get(field::CLOSED_AT)
        .is_some_and(|at| !at.is_null());
    if is_closed != has_time {
        let message = if is_closed {
            "a closed issue has a closed_at"
        } else {
            "only a closed issue has a closed_at"
        };
        errors.push(
            &Path::Key(fields.path, field::CLOSED_AT),
            FieldErrorKind::Value,
            message,
        );
    }
}

/// There is at most one edge to each other issue, and none to itself (contracts §0.1).
fn check_edges(id: Option<&BeadId>, edges: &[Dependency]) -> Result<(), Invalid> {
    if edges.iter().any(|edge| Some(edge.target()) == id) {
        return Err(Invalid::value("an issue cannot depend on itself"));
    }
    let mut targets: Vec<&BeadId> = edges.iter().map(Dependency::target).collect();
    targets.sort_unstable();
    match targets.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Invalid::value(format!(
            "there are two dependencies on '{}'",
            excerpt(pair[0].as_str())
        ))),
        None => Ok(()),
    }
}

/// A status is a short lower-case word.
pub(super) fn check_status(text: &str) -> Result<(), Invalid> {
    let is_word = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'));
    if is_word && text.len() <= 32 {
        return Ok(());
    }
    Err(Invalid::pattern(format!(
        "status must match pattern ^[a-z][a-z0-9_-]*$ and have at most 32 characters, got '{}'",
        excerpt(text)
    )))
}

/// A comment stands in a list, and the list in a document.
const MAX_DEPTH: usize = MAX_DOCUMENT_DEPTH - 2;

/// A comment: an object that loses nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Comment(Document);

impl Comment {
    /// A comment of somebody, as `bd` writes it.
    pub(super) fn new(issue: &BeadId, author: &str, text: &str, now: &bead::Timestamp) -> Self {
        let [issue, now] = [issue.as_str(), now.as_str()];
        let record = [
            ("issue_id", issue),
            ("author", author),
            ("text", text),
            ("created_at", now),
        ];
        let record = record.map(|(key, value)| (key.to_owned(), value.into()));
        Self(record.into_iter().collect())
    }

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

    /// Its text.
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
        json::text(&self.0, key)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn z_21_an_issue_loses_nothing() {
        let document = json!({
            "id": "gt-1", "title": "x", "status": "hooked", "issue_type": "molecule", "priority": 7,
            "labels": ["a"], "owner": null,
            "dependencies": [{ "issue_id": "gt-1", "depends_on_id": "gt-2", "type": "blocks", "odd": 1 }],
            "metadata": { "anything": [1.5, null], "nested": { "z": 1, "a": 2 } }, "unknown": {},
        });
        let (issue, comments) = Issue::from_document(document.clone()).unwrap();
        assert!(comments.is_empty());
        assert_eq!(
            Value::from(issue.document().clone()).to_string(),
            document.to_string()
        );
        assert_eq!((issue.status(), issue.issue_type()), ("hooked", "molecule"));
        assert_eq!(issue.labels().collect::<Vec<_>>(), ["a"]);
        assert_eq!(issue.priority(), 7);
        assert!(issue.metadata().unwrap().contains_key("nested"));
        assert!(issue.to_ralph_bead(&[], &Rules::default()).is_err());
    }

    #[test]
    fn z_21_an_issue_has_an_id_a_title_and_the_usual_types() {
        assert!(Issue::from_document(json!({ "id": "x", "title": "t" })).is_ok());
        for document in [
            json!([]),
            json!({}),
            json!({ "id": "", "title": "t" }),
            json!({ "id": "x" }),
            json!({ "id": "x", "title": " " }),
            json!({ "id": "../x", "title": "t" }),
            json!({ "id": "x", "title": "t", "labels": "a" }),
            json!({ "id": "x", "title": "t", "labels": ["a\u{7}"] }),
            json!({ "id": "x", "title": "t", "status": "Open" }),
            json!({ "id": "x", "title": "t", "created_at": "yesterday" }),
            json!({ "id": "x", "title": "t", "status": "closed" }),
            json!({ "id": "x", "title": "t", "closed_at": "2026-01-01T00:00:00Z" }),
            json!({ "id": "x", "title": "t", "dependencies": ["x"] }),
            json!({ "id": "x", "title": "t", "dependencies": ["y", "y"] }),
            json!({ "id": "x", "title": "t", "comments": ["y"] }),
            json!({ "id": "x", "title": "t", "metadata": [] }),
        ] {
            assert!(
                Issue::from_document(document.clone()).is_err(),
                "{document}"
            );
        }
    }

    #[test]
    fn a_document_is_not_too_big_and_not_too_deep() {
        let big = json!({ "id": "x", "title": "t", "metadata": { "a": "x".repeat(10_000_000) } });
        let errors = Issue::from_document(big).unwrap_err();
        assert!(
            errors[0].message.contains("larger than 8 MiB"),
            "{errors:?}"
        );
        let mut deep = json!(1);
        for _ in 0..MAX_DOCUMENT_DEPTH {
            deep = json!([deep]);
        }
        let deep = json!({ "id": "x", "title": "t", "metadata": { "a": deep } });
        let errors = Issue::from_document(deep).unwrap_err();
        assert!(errors[0].message.contains("100 deep"), "{errors:?}");
    }

    #[test]
    fn comments_are_set_apart_and_come_back() {
        let document =
            json!({ "id": "x", "title": "t", "comments": [{"text": "hi"}], "dependencies": ["y"] });
        let (issue, comments) = Issue::from_document(document.clone()).unwrap();
        assert_eq!(comments.len(), 1);
        assert_eq!(issue.to_bead_document(&comments), document);
    }
}
