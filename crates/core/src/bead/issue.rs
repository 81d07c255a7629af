//! What a store holds (Z-21): any issue, ours or not, without loss.
//!
//! An [`Issue`] is its document. Only the few fields that every store has are looked at; their sets
//! of words are open, and everything else is carried along as it came.

use serde_json::{Map, Value};

use super::field::FieldError;
use super::reader::{Errors, Fields, Node, Path};
use super::{BeadId, RalphBead, Rules, validate};

/// An issue of a store: open sets of types and statuses, any metadata, unknown keys kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Issue {
    id: BeadId,
    document: Value,
}

impl Issue {
    /// Takes a document that has an id and whose common fields, where present, have the usual types.
    pub fn from_document(document: Value) -> Result<Self, Vec<FieldError>> {
        let mut errors = Errors::default();
        let node = Node {
            value: &document,
            path: Path::Root,
        };
        let id = check(node, &mut errors);
        let id = errors.finish(id)?;
        Ok(Self { id, document })
    }

    /// The document, equal to the one that was taken: what was absent is absent, null is null.
    pub fn to_document(&self) -> Value {
        self.document.clone()
    }

    /// The document itself.
    pub fn into_document(self) -> Value {
        self.document
    }

    /// Its name.
    pub fn id(&self) -> &BeadId {
        &self.id
    }

    /// What it is about.
    pub fn title(&self) -> Option<&str> {
        self.text("title")
    }

    /// Where it stands, in the store's own words.
    pub fn status(&self) -> Option<&str> {
        self.text("status")
    }

    /// What it is, in the store's own words.
    pub fn issue_type(&self) -> Option<&str> {
        self.text("issue_type")
    }

    /// How urgent it is.
    pub fn priority(&self) -> Option<i64> {
        self.document.get("priority").and_then(Value::as_i64)
    }

    /// Its tags.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let labels = self.document.get("labels").and_then(Value::as_array);
        labels.into_iter().flatten().filter_map(Value::as_str)
    }

    /// What its makers added to it.
    pub fn metadata(&self) -> Option<&Map<String, Value>> {
        self.document.get("metadata").and_then(Value::as_object)
    }

    /// Reads the issue as a bead of ours, which few issues of a store need be.
    pub fn to_ralph_bead(&self, rules: &Rules) -> Result<RalphBead, Vec<FieldError>> {
        validate(&self.document, rules)
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.document.get(key).and_then(Value::as_str)
    }
}

fn check(node: Node<'_, '_>, errors: &mut Errors) -> Option<BeadId> {
    let map = node.fields(errors)?;
    let fields = Fields {
        map,
        path: &node.path,
    };
    let id = fields.parsed(errors, "id", BeadId::parse);
    for key in ["title", "description", "status", "issue_type"] {
        fields.optional(errors, key, |node, errors| node.string(errors));
    }
    fields.optional(errors, "priority", |node, errors| {
        node.integer::<i64>(errors, "priority", i128::from(i64::MIN))
    });
    fields.optional(errors, "labels", |node, errors| node.strings(errors));
    fields.optional(errors, "metadata", |node, errors| node.dict(errors));
    id
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn z_21_an_issue_loses_nothing() {
        let document = json!({
            "id": "gt-1", "title": "x", "status": "hooked", "issue_type": "molecule", "priority": 7,
            "labels": ["a"], "owner": null, "dependencies": [{ "depends_on_id": "gt-2", "type": "blocks" }],
            "metadata": { "anything": [1.5, null], "nested": { "z": 1, "a": 2 } }, "unknown": {},
        });
        let issue = Issue::from_document(document.clone()).unwrap();
        assert_eq!(issue.to_document().to_string(), document.to_string());
        assert_eq!(
            (issue.status(), issue.issue_type()),
            (Some("hooked"), Some("molecule"))
        );
        assert_eq!(issue.labels().collect::<Vec<_>>(), ["a"]);
        assert_eq!(issue.priority(), Some(7));
        assert!(
            issue
                .metadata()
                .is_some_and(|metadata| metadata.contains_key("nested"))
        );
        assert!(issue.to_ralph_bead(&Rules::default()).is_err());
    }

    #[test]
    fn z_21_an_issue_has_an_id_and_the_usual_types() {
        assert!(Issue::from_document(json!({ "id": "x" })).is_ok());
        for document in [
            json!([]),
            json!({}),
            json!({ "id": "" }),
            json!({ "id": "x", "labels": "a" }),
        ] {
            assert!(
                Issue::from_document(document.clone()).is_err(),
                "{document}"
            );
        }
    }
}
