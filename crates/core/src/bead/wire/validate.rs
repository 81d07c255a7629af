//! The strict validator (contracts §3.7): a document in, a [`RalphBead`] or every error out.

use serde_json::Value;

use super::metadata::metadata;
use super::reader::{Errors, Fields, Node, Path, ROOT};
use crate::bead::error::{FieldError, FieldErrorKind, Invalid};
use crate::bead::{ASSIGNEE, BeadId, IssueType, Priority, RalphBead, Status};
use crate::vocabulary::field;

/// What a repository may configure about validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// The only rig that is accepted (B-25).
    pub rig: String,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            rig: "beads-ralph".to_owned(),
        }
    }
}

/// Validates a bead's document strictly and reads it, whichever its generation.
pub fn validate(document: &Value, rules: &Rules) -> Result<RalphBead, Vec<FieldError>> {
    let mut errors = Errors::default();
    let node = Node {
        value: document,
        path: Path::Root,
    };
    let read = bead(node, rules, &mut errors);
    errors.finish(read)
}

fn bead(node: Node<'_, '_>, rules: &Rules, errors: &mut Errors) -> Option<RalphBead> {
    let fields = node.fields(errors)?;
    let id = fields.parsed(errors, "id", BeadId::parse);
    let title = fields.required(errors, "title", |node, errors| {
        node.not_blank(errors, "title")
    });
    let description = fields.text(errors, "description");
    let status = fields.parsed(errors, "status", Status::parse);
    let priority = fields.required(errors, "priority", priority);
    let issue_type = fields.parsed(errors, "issue_type", IssueType::parse);
    let assignee = fields.parsed(errors, "assignee", assignee);
    let owner = fields.optional_text(errors, "owner");
    let dependencies = fields.or(errors, "dependencies", Vec::new(), |node, errors| {
        node.list(errors, |_, item, errors| item.parsed(errors, BeadId::parse))
    });
    let labels = fields.or(errors, "labels", Vec::new(), |node, errors| {
        node.strings(errors)
    });
    let comments = fields.or(errors, "comments", Vec::new(), |node, errors| {
        node.list(errors, |_, item, errors| item.dict(errors).cloned())
    });
    let text = title.as_deref().unwrap_or_default();
    let metadata = fields.required(errors, "metadata", |node, errors| {
        metadata(node, rules, text, errors)
    });
    let external_ref = fields.optional_text(errors, "external_ref");
    let estimated_minutes = estimated_minutes(fields, errors);
    let created_at = fields.required(errors, "created_at", |node, errors| node.timestamp(errors));
    let updated_at = fields.required(errors, "updated_at", |node, errors| node.timestamp(errors));
    let closed_at = fields.optional(errors, "closed_at", |node, errors| node.timestamp(errors));
    assignee?;
    Some(RalphBead {
        id: id?,
        title: title?,
        description: description?,
        status: status?,
        priority: priority?,
        issue_type: issue_type?,
        owner: owner?,
        dependencies: dependencies?,
        labels: labels?,
        comments: comments?,
        metadata: metadata?,
        external_ref: external_ref?,
        estimated_minutes: estimated_minutes?,
        created_at: created_at?,
        updated_at: updated_at?,
        closed_at: closed_at?,
    })
}

/// The estimate of the bead itself, else of its metadata (Z-41).
#[expect(
    clippy::option_option,
    reason = "the outer one says whether it could be read"
)]
fn estimated_minutes(fields: Fields<'_, '_>, errors: &mut Errors) -> Option<Option<u32>> {
    let own = fields.optional(errors, field::ESTIMATED_MINUTES, minutes)?;
    let in_metadata = fields.map.get("metadata").and_then(Value::as_object);
    let Some(map) = in_metadata else {
        return Some(own);
    };
    let path = fields.path.key("metadata");
    let metadata = Fields { map, path: &path };
    let planned = metadata.optional(errors, field::ESTIMATED_MINUTES, minutes)?;
    Some(own.or(planned))
}

fn minutes(node: Node<'_, '_>, errors: &mut Errors) -> Option<u32> {
    node.integer(errors, field::ESTIMATED_MINUTES, 0)
}

fn priority(node: Node<'_, '_>, errors: &mut Errors) -> Option<Priority> {
    let number: i128 = node.integer(errors, "priority", i128::MIN)?;
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    errors.take(&node.path, Priority::new(number))
}

fn assignee(text: &str) -> Result<(), Invalid> {
    if text == ASSIGNEE {
        Ok(())
    } else {
        Err(Invalid::pattern(format!("assignee must be '{ASSIGNEE}'")))
    }
}

/// Reads the bytes of a bead's file: UTF-8 JSON with an object on top. A byte order mark is skipped.
pub fn parse_document(bytes: &[u8]) -> Result<Value, FieldError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let refuse = |kind, message: String| FieldError {
        path: ROOT.to_owned(),
        message,
        kind,
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let (line, column) = place(&bytes[..error.valid_up_to()]);
        let message = format!("Invalid JSON: not UTF-8 at line {line} column {column}");
        refuse(FieldErrorKind::JsonInvalid, message)
    })?;
    // The parser's own message ends with the line and the column, and it refuses deep nesting.
    let document: Value = serde_json::from_str(text).map_err(|error| {
        refuse(
            FieldErrorKind::JsonInvalid,
            format!("Invalid JSON: {error}"),
        )
    })?;
    if document.is_object() {
        Ok(document)
    } else {
        let message = "Input should be a valid object".to_owned();
        Err(refuse(FieldErrorKind::ModelType, message))
    }
}

fn place(before: &[u8]) -> (usize, usize) {
    let lines = before.split(|byte| *byte == b'\n');
    lines.fold((0, 0), |(line, _), text| (line + 1, text.len() + 1))
}
