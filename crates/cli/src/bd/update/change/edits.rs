//! What the changes mean for one bead.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Edit, Record};
use beads_ralph_core::vocabulary::{EdgeType, Status};
use serde_json::{Map, Value};

use super::Changes;
use crate::bd::{Arguments, Opened, close, dep, input};

impl Changes {
    /// What is to be done to one bead.
    pub(in crate::bd::update) fn edits(
        &self,
        opened: &Opened,
        record: &Record,
        arguments: &Arguments,
    ) -> Result<Vec<Edit>, String> {
        let mut edits = Vec::new();
        for (key, value) in &self.fields {
            let is_nothing = value.is_null() || value.as_str() == Some("");
            edits.push(if is_nothing {
                Edit::Unset((*key).to_owned())
            } else {
                Edit::Set((*key).to_owned(), value.clone())
            });
        }
        if let Some(kind) = &self.issue_type {
            edits.push(Edit::Set("issue_type".to_owned(), kind.as_str().into()));
        }
        edits.extend(self.append_notes.clone().map(Edit::AppendNotes));
        self.label_edits(record, &mut edits);
        self.metadata_edits(record, &mut edits)?;
        self.parent_edits(opened, record, &mut edits)?;
        self.status_edits(opened, record, arguments, &mut edits)?;
        Ok(edits)
    }

    fn label_edits(&self, record: &Record, edits: &mut Vec<Edit>) {
        if let Some(labels) = &self.set_labels {
            let is_kept = |own: &str| labels.iter().any(|label| label.as_str() == own);
            let gone = record.issue.labels().filter(|own| !is_kept(own));
            edits.extend(gone.map(|own| Edit::RemoveLabel(own.to_owned())));
            edits.extend(labels.iter().cloned().map(Edit::AddLabel));
        }
        let added = self.add_labels.iter().flatten();
        edits.extend(added.cloned().map(Edit::AddLabel));
        let removed = self.remove_labels.iter().flatten();
        edits.extend(removed.cloned().map(Edit::RemoveLabel));
    }

    fn metadata_edits(&self, record: &Record, edits: &mut Vec<Edit>) -> Result<(), String> {
        let set = self.set_metadata.iter().map(|(key, _)| key);
        for key in set.chain(&self.unset_metadata) {
            input::metadata_key(key).map_err(|why| format!("validation failed: {why}"))?;
        }
        match &self.merge {
            None => {}
            Some(Value::Object(map)) => edits.push(Edit::MergeMetadata(map.clone())),
            Some(Value::Null) if record.issue.metadata().is_none() => {}
            Some(other) => {
                let kind = match other {
                    Value::Array(_) => "array",
                    Value::String(_) => "string",
                    Value::Number(_) => "number",
                    _ => "bool",
                };
                return Err(format!(
                    "validation failed: metadata merge: new metadata is not a JSON object: json: cannot unmarshal {kind} into Go value of type map[string]json.RawMessage"
                ));
            }
        }
        for (key, value) in &self.set_metadata {
            let map = Map::from_iter([(key.clone(), scalar(value))]);
            edits.push(Edit::MergeMetadata(map));
        }
        edits.extend(self.unset_metadata.iter().cloned().map(Edit::UnsetMetadata));
        Ok(())
    }

    fn parent_edits(
        &self,
        opened: &Opened,
        record: &Record,
        edits: &mut Vec<Edit>,
    ) -> Result<(), String> {
        let Some(parent) = &self.parent else {
            return Ok(());
        };
        let old = record.issue.parents().cloned();
        edits.extend(old.map(Edit::RemoveDependency));
        if parent.is_empty() {
            return Ok(());
        }
        let id = BeadId::parse(parent).map_err(|error| error.to_string())?;
        if id == *record.issue.id() {
            return Err(format!(
                "cannot add self-dependency: {id} cannot depend on itself"
            ));
        }
        let found = opened.record(&id).map_err(|error| error.to_string())?;
        if found.is_none() {
            return Err(format!("issue {parent} not found"));
        }
        let edge = dep::edge(opened, &id, EdgeType::ParentChild.as_str())?;
        edits.push(Edit::AddDependency(edge));
        Ok(())
    }

    fn status_edits(
        &self,
        opened: &Opened,
        record: &Record,
        arguments: &Arguments,
        edits: &mut Vec<Edit>,
    ) -> Result<(), String> {
        let issue = &record.issue;
        let status = match &self.status {
            Some(status) => status.as_str(),
            None if self.wakes && issue.status() == Status::Deferred => Status::Open.as_str(),
            None => return Ok(()),
        };
        if status != Status::Closed {
            edits.push(Edit::Status(status.to_owned()));
            edits.push(Edit::Unset("closed_by_session".to_owned()));
            return Ok(());
        }
        if issue.status() != Status::Closed {
            close::check(opened, record, arguments.is_on("force"))?;
        }
        edits.push(Edit::Close(String::new()));
        if let Some(session) = &self.session {
            edits.push(Edit::Set(
                "closed_by_session".to_owned(),
                session.as_str().into(),
            ));
        }
        Ok(())
    }
}

/// A value of `--set-metadata`: null, a truth value, a number, and any other text as it is.
fn scalar(text: &str) -> Value {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    match text {
        "null" | "true" | "false" => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        _ if is_number => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        _ => text.into(),
    }
}
