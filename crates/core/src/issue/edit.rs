//! Changing an issue: the edits that there are, and what they do to its document.

use serde_json::Value;
use thiserror::Error;

use super::dependency::Dependency;
use super::event::EventKind;
use super::json::{self, Document};
use super::model::Comment;
use super::model::{Issue, check_status};
use super::name::Label;
use crate::bead::{BeadId, FieldError, Invalid, Timestamp};
use crate::diag::ErrorCode;
use crate::text::excerpt;
use crate::vocabulary::{Status, field, metadata};

/// One thing to do to an issue.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Sets a field that is not kept by the store itself.
    Set(String, Value),
    /// Removes such a field.
    Unset(String),
    /// Changes the status. `closed` closes; to hold an issue, claim it.
    Status(String),
    /// Closes it, with the reason.
    Close(String),
    /// Opens it again, whatever its status.
    Reopen,
    /// Adds a line to its notes.
    AppendNotes(String),
    /// Sets top-level keys of its metadata and leaves the others.
    MergeMetadata(Document),
    /// Removes a top-level key of its metadata.
    UnsetMetadata(String),
    /// Adds a label, once.
    AddLabel(Label),
    /// Removes a label.
    RemoveLabel(String),
    /// Adds an edge.
    AddDependency(Dependency),
    /// Removes the edge to an issue.
    RemoveDependency(BeadId),
    /// Says something about it.
    Comment(Comment),
    /// Puts another document in its place, with the same id.
    Replace(Box<Issue>),
}

/// Why an edit cannot be done.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EditError {
    /// A field that the store keeps itself.
    #[error("`{}` cannot be set: {hint}", excerpt(.field))]
    Kept {
        /// The field.
        field: String,
        /// How it is changed.
        hint: &'static str,
    },
    /// The document would not be one that a store takes.
    #[error("{}", listed(.0))]
    Invalid(Vec<FieldError>),
    /// A word that is not one.
    #[error(transparent)]
    Word(#[from] Invalid),
    /// There is an edge of another type to the same issue.
    #[error("there is already a dependency on {} of type {}; remove it first", excerpt(.target.as_str()), excerpt(.kind))]
    OtherType {
        /// The target.
        target: BeadId,
        /// The type of the edge that is there.
        kind: String,
    },
    /// An edge to itself.
    #[error("an issue cannot depend on itself")]
    SelfDependency,
}

impl EditError {
    /// The code of contracts §4.2.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Kept { .. } | Self::OtherType { .. } => ErrorCode::ValidationConstraint,
            Self::Invalid(errors) => crate::bead::error_code(errors),
            Self::Word(_) => ErrorCode::ValidationInvalidPattern,
            Self::SelfDependency => ErrorCode::DependencySelfDep,
        }
    }
}

fn listed(errors: &[FieldError]) -> String {
    let errors: Vec<String> = errors.iter().map(FieldError::to_string).collect();
    errors.join("; ")
}

/// What some edits make of an issue.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The issue afterwards.
    pub issue: Issue,
    /// The comments that were added.
    pub comments: Vec<Comment>,
    /// What the history calls it.
    pub kind: EventKind,
}

/// Applies edits in order; all or none. Nothing comes back when they change nothing. The time of the change
/// never goes backwards, even when the clock does. A document that replaces another brings its own time, so that
/// a later state of it can still be told from an earlier one.
pub fn apply(issue: &Issue, edits: &[Edit], now: &Timestamp) -> Result<Option<Change>, EditError> {
    let mut document = issue.document().clone();
    let mut comments = Vec::new();
    for edit in edits {
        match edit {
            Edit::Comment(comment) => comments.push(comment.clone()),
            edit => apply_one(&mut document, issue.id(), edit, now)?,
        }
    }
    if document == *issue.document() && comments.is_empty() {
        return Ok(None);
    }
    let was = issue.time(field::UPDATED_AT);
    if !brings_time(edits, was) {
        let updated_at = match issue.document().get(field::UPDATED_AT) {
            Some(last) if was.is_some_and(|was| was > now.instant()) => last.clone(),
            _ => now.as_str().into(),
        };
        document.insert(field::UPDATED_AT.to_owned(), updated_at);
    }
    let (changed, _) = Issue::from_document(Value::Object(document)).map_err(EditError::Invalid)?;
    Ok(Some(Change {
        issue: changed,
        comments,
        kind: kind_of(edits),
    }))
}

/// Whether an edit puts a document in place whose own time is not before that of the issue.
fn brings_time(edits: &[Edit], was: Option<jiff::Timestamp>) -> bool {
    edits.iter().any(|edit| match edit {
        Edit::Replace(other) => {
            let time = other.time(field::UPDATED_AT);
            time.is_some_and(|time| was.is_none_or(|was| was <= time))
        }
        _ => false,
    })
}

/// A comment of somebody, as `bd` writes it.
pub fn new_comment(issue: &BeadId, author: &str, text: &str, now: &Timestamp) -> Comment {
    Comment::new(issue, author, text, now)
}

fn apply_one(
    document: &mut Document,
    id: &BeadId,
    edit: &Edit,
    now: &Timestamp,
) -> Result<(), EditError> {
    match edit {
        Edit::Set(field, value) => {
            check_settable(field)?;
            document.insert(field.clone(), value.clone());
        }
        Edit::Unset(field) => {
            check_settable(field)?;
            document.shift_remove(field);
        }
        Edit::Status(status) => {
            check_status(status)?;
            if status == Status::Closed {
                close(document, "Closed", now);
            } else {
                set_status(document, status);
            }
            if status == Status::InProgress {
                json::set_if_null(document, field::STARTED_AT, now.as_str());
            }
        }
        Edit::Close(reason) => close(document, reason, now),
        Edit::Reopen => set_status(document, Status::Open.as_str()),
        Edit::AppendNotes(text) => append_notes(document, text),
        Edit::MergeMetadata(map) if map.is_empty() => {}
        Edit::MergeMetadata(map) => json::table(document, field::METADATA).extend(map.clone()),
        Edit::UnsetMetadata(key) => json::remove_metadata(document, key),
        Edit::AddLabel(label) => {
            let labels = json::list(document, field::LABELS);
            if !labels.iter().any(|own| own == label.as_str()) {
                labels.push(label.as_str().into());
            }
        }
        Edit::RemoveLabel(label) => {
            json::remove_items(document, field::LABELS, |own| own == label.as_str());
        }
        Edit::AddDependency(edge) => add_dependency(document, id, edge)?,
        Edit::RemoveDependency(target) => {
            json::remove_items(document, field::DEPENDENCIES, |edge| {
                edge.get("depends_on_id").and_then(Value::as_str) == Some(target.as_str())
            });
        }
        Edit::Replace(other) => {
            document.clone_from(other.document());
            document.insert("id".to_owned(), id.as_str().into());
        }
        Edit::Comment(_) => {}
    }
    Ok(())
}

/// Fields with special rules are changed by special edits.
fn check_settable(field: &str) -> Result<(), EditError> {
    let hint = match field {
        "id" => "an issue keeps its id",
        "status" | "closed_at" | "close_reason" => "change the status, close or reopen it",
        "labels" => "add or remove labels",
        "dependencies" => "add or remove dependencies",
        "comments" => "add a comment",
        "metadata" => "merge into the metadata",
        "created_at" | "updated_at" | "started_at" => "the store keeps its times",
        _ => return Ok(()),
    };
    Err(EditError::Kept {
        field: field.to_owned(),
        hint,
    })
}

fn close(document: &mut Document, reason: &str, now: &Timestamp) {
    if json::is_closed(document) {
        return;
    }
    document.insert(field::STATUS.to_owned(), Status::Closed.into());
    decided(document);
    document.insert(field::CLOSED_AT.to_owned(), now.as_str().into());
    document.insert(field::CLOSE_REASON.to_owned(), reason.into());
}

fn set_status(document: &mut Document, status: &str) {
    // An issue that does not say where it stands is open, and need not begin to say so.
    if json::text(document, field::STATUS).unwrap_or(Status::Open.as_str()) != status {
        document.insert(field::STATUS.to_owned(), status.into());
        decided(document);
    }
    // Null is how beads say that they are not closed; what was absent stays absent.
    if let Some(time) = document.get_mut(field::CLOSED_AT) {
        *time = Value::Null;
    }
    document.shift_remove(field::CLOSE_REASON);
}

/// Whoever changes the status has decided, and the governor releases the issue no more.
fn decided(document: &mut Document) {
    json::remove_metadata(document, metadata::HELD_BY_GATES);
    json::forget_lease(document);
}

fn append_notes(document: &mut Document, text: &str) {
    let notes = match json::text(document, field::NOTES) {
        None | Some("") => text.to_owned(),
        Some(notes) => format!("{notes}\n{text}"),
    };
    document.insert(field::NOTES.to_owned(), notes.into());
}

fn add_dependency(
    document: &mut Document,
    id: &BeadId,
    edge: &Dependency,
) -> Result<(), EditError> {
    if edge.target() == id {
        return Err(EditError::SelfDependency);
    }
    let edges = json::list(document, field::DEPENDENCIES);
    for own in edges
        .iter()
        .filter_map(|own| Dependency::from_value(own).ok())
    {
        if own.target() == edge.target() {
            return if own.kind() == edge.kind() {
                Ok(())
            } else {
                Err(EditError::OtherType {
                    target: own.target().clone(),
                    kind: own.kind().to_owned(),
                })
            };
        }
    }
    edges.push(edge.to_value(id));
    Ok(())
}

/// Several edits of one kind are that kind; anything mixed is an update.
fn kind_of(edits: &[Edit]) -> EventKind {
    let mut kinds = edits.iter().map(|edit| match edit {
        Edit::Status(status) if status == Status::Closed => EventKind::Closed,
        Edit::Status(_) => EventKind::StatusChanged,
        Edit::Close(_) => EventKind::Closed,
        Edit::Reopen => EventKind::Reopened,
        Edit::AddLabel(_) => EventKind::LabelAdded,
        Edit::RemoveLabel(_) => EventKind::LabelRemoved,
        Edit::AddDependency(_) => EventKind::DependencyAdded,
        Edit::RemoveDependency(_) => EventKind::DependencyRemoved,
        Edit::Comment(_) => EventKind::Commented,
        Edit::Set(..)
        | Edit::Unset(_)
        | Edit::AppendNotes(_)
        | Edit::MergeMetadata(_)
        | Edit::UnsetMetadata(_)
        | Edit::Replace(_) => EventKind::Updated,
    });
    let first = kinds.next().unwrap_or(EventKind::Updated);
    if kinds.all(|kind| kind == first) {
        first
    } else {
        EventKind::Updated
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn issue(document: Value) -> Issue {
        Issue::without_comments(document).unwrap()
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn applied(document: Value, edits: &[Edit]) -> Document {
        let change = apply(&issue(document), edits, &at("2026-01-02T00:00:00Z"));
        change.unwrap().unwrap().issue.into_document()
    }

    #[test]
    fn g_4_a_status_that_changes_forgets_that_gates_held_it() {
        let held = |status: &str| json!({"id": "a", "title": "t", "status": status, "metadata": {metadata::HELD_BY_GATES: "red", "a": 1}});
        for edit in [
            Edit::Reopen,
            Edit::Status("in_progress".to_owned()),
            Edit::Status("closed".to_owned()),
            Edit::Close("done".to_owned()),
        ] {
            let after = applied(held("blocked"), std::slice::from_ref(&edit));
            assert_eq!(after["metadata"], json!({"a": 1}), "{edit:?}");
        }
        let same = [
            Edit::Status("blocked".to_owned()),
            Edit::AppendNotes("x".to_owned()),
        ];
        let after = applied(held("blocked"), &same);
        assert_eq!(after["metadata"][metadata::HELD_BY_GATES], "red");
    }

    #[test]
    fn closed_and_closed_at_go_together() {
        let open = json!({"id": "a", "title": "t", "status": "open"});
        let closed = applied(open, &[Edit::Close("done".to_owned())]);
        assert_eq!(closed["closed_at"], "2026-01-02T00:00:00Z");
        assert_eq!(closed["close_reason"], "done");
        let again = issue(Value::Object(closed.clone()));
        let change = apply(
            &again,
            &[Edit::Status("closed".to_owned())],
            &at("2026-02-01T00:00:00Z"),
        );
        assert_eq!(change, Ok(None), "closing twice changes nothing");
        let open = applied(Value::Object(closed), &[Edit::Reopen]);
        assert_eq!(
            (&open["status"], &open["closed_at"]),
            (&json!("open"), &Value::Null)
        );
    }

    #[test]
    fn metadata_merges_and_notes_grow() {
        let document = json!({"id": "a", "title": "t", "metadata": {"a": 1, "b": 2}});
        let map = json!({"b": 3, "c": null}).as_object().unwrap().clone();
        let after = applied(
            document,
            &[
                Edit::MergeMetadata(map),
                Edit::UnsetMetadata("a".to_owned()),
                Edit::AppendNotes("one".to_owned()),
                Edit::AppendNotes("two".to_owned()),
            ],
        );
        assert_eq!(after["metadata"], json!({"b": 3, "c": null}));
        assert_eq!(after["notes"], "one\ntwo");
    }

    #[test]
    fn the_time_of_a_change_never_goes_backwards() {
        let future = "2030-01-01T00:00:00Z";
        let document = json!({"id": "a", "title": "t", "updated_at": future});
        let after = applied(document, &[Edit::Set("title".to_owned(), json!("u"))]);
        assert_eq!(after["updated_at"], future);
    }

    #[test]
    fn a_document_that_replaces_another_brings_its_time() {
        let document = |title: &str, at: &str| json!({"id": "a", "title": title, "updated_at": at});
        let (early, late) = ("2025-01-01T00:00:00Z", "2025-01-02T00:00:00Z");
        let replace = |at: &str| Edit::Replace(Box::new(issue(document("u", at))));
        let after = applied(document("t", early), &[replace(late)]);
        assert_eq!(
            (&after["title"], &after["updated_at"]),
            (&json!("u"), &json!(late))
        );
        let after = applied(document("t", late), &[replace(early)]);
        assert_eq!(
            after["updated_at"], "2026-01-02T00:00:00Z",
            "never backwards"
        );
    }

    #[test]
    fn a_store_keeps_its_own_fields() {
        let issue = issue(json!({"id": "a", "title": "t"}));
        for field in ["id", "status", "labels", "metadata", "created_at"] {
            let edit = Edit::Set(field.to_owned(), json!("x"));
            let error = apply(&issue, &[edit], &at("2026-01-01T00:00:00Z")).unwrap_err();
            assert!(matches!(error, EditError::Kept { .. }), "{field}");
        }
        let edit = Edit::Set("priority".to_owned(), json!("high"));
        let error = apply(&issue, &[edit], &at("2026-01-01T00:00:00Z")).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ValidationBeadSchema);
    }

    #[test]
    fn there_is_one_edge_to_each_issue() {
        let document = json!({"id": "a", "title": "t", "dependencies": ["b"]});
        let edge =
            |kind| Edit::AddDependency(Dependency::new(BeadId::parse("b").unwrap(), kind).unwrap());
        let now = at("2026-01-01T00:00:00Z");
        assert_eq!(
            apply(&issue(document.clone()), &[edge("blocks")], &now),
            Ok(None)
        );
        let error = apply(&issue(document), &[edge("related")], &now).unwrap_err();
        assert!(matches!(error, EditError::OtherType { .. }));
    }
}
