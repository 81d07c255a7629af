//! What `update` is asked to do, read from its flags, and what that means for one bead.

mod edits;

use beads_ralph_core::bead::Timestamp;
use beads_ralph_core::issue::{Label, Record};
use beads_ralph_core::vocabulary::Status;
use serde_json::Value;

use super::invalid_status;
use crate::bd::{Arguments, Opened, Output, Refusal, create, env_session, input, quoted, times};

/// Everything that was asked for.
#[derive(Debug, Default)]
pub(super) struct Changes {
    status: Option<String>,
    session: Option<String>,
    issue_type: Option<String>,
    /// Fields with their new values; null removes.
    fields: Vec<(&'static str, Value)>,
    append_notes: Option<String>,
    add_labels: Option<Vec<Label>>,
    remove_labels: Option<Vec<String>>,
    set_labels: Option<Vec<Label>>,
    parent: Option<String>,
    merge: Option<Value>,
    set_metadata: Vec<(String, String)>,
    unset_metadata: Vec<String>,
    /// A bead that was put off is no longer, unless a status was given.
    wakes: bool,
}

impl Changes {
    pub(super) fn read(
        opened: &Opened,
        arguments: &Arguments,
        output: Output,
    ) -> Result<Self, Refusal> {
        let mut changes = Self::default();
        changes.read_status(opened, arguments)?;
        changes.read_fields(arguments)?;
        changes.read_labels(arguments, output)?;
        changes.parent = arguments.text("parent").map(str::to_owned);
        changes.read_times(opened, arguments, output)?;
        changes.read_persistence(arguments)?;
        changes.read_metadata(arguments)?;
        Ok(changes)
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.has_fields()
            && self.add_labels.is_none()
            && self.remove_labels.is_none()
            && self.set_labels.is_none()
            && self.parent.is_none()
    }

    fn has_fields(&self) -> bool {
        self.status.is_some()
            || self.issue_type.is_some()
            || !self.fields.is_empty()
            || self.append_notes.is_some()
            || self.merge.is_some()
            || !self.set_metadata.is_empty()
            || !self.unset_metadata.is_empty()
    }

    pub(super) fn assignee(&self) -> Option<&str> {
        self.field("assignee")
    }

    pub(super) fn notes(&self) -> Option<&str> {
        self.field("notes")
    }

    fn field(&self, key: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let (_, value) = fields.find(|(own, _)| *own == key)?;
        value.as_str()
    }

    fn read_status(&mut self, opened: &Opened, arguments: &Arguments) -> Result<(), Refusal> {
        let Some(status) = arguments.text("status") else {
            return Ok(());
        };
        if !input::is_status(opened, status)? {
            return Err(invalid_status("status", status));
        }
        if status == Status::Closed {
            self.session = env_session(arguments);
        }
        self.status = Some(status.to_owned());
        Ok(())
    }

    fn read_fields(&mut self, arguments: &Arguments) -> Result<(), Refusal> {
        if let Some(given) = arguments.text("priority") {
            let priority = input::priority(given).map_err(Refusal::json)?;
            self.fields.push(("priority", priority.into()));
        }
        if let Some(title) = arguments.text("title").map(str::trim) {
            if title.is_empty() {
                return Err(Refusal::json("title cannot be empty"));
            }
            self.fields.push(("title", title.into()));
        }
        let mut text = |key, value: Option<String>| {
            self.fields.extend(value.map(|value| (key, value.into())));
        };
        text("assignee", arguments.text("assignee").map(str::to_owned));
        text("description", input::description(arguments)?);
        text("design", input::design(arguments)?);
        if arguments.has("notes") && arguments.has("append-notes") {
            return Err(Refusal::json(
                "cannot specify both --notes and --append-notes",
            ));
        }
        text("notes", arguments.text("notes").map(str::to_owned));
        let acceptance = arguments
            .text("acceptance")
            .or_else(|| arguments.text("acceptance-criteria"));
        text("acceptance_criteria", acceptance.map(str::to_owned));
        text(
            "external_ref",
            arguments.text("external-ref").map(str::to_owned),
        );
        text("spec_id", arguments.text("spec-id").map(str::to_owned));
        self.append_notes = arguments.text("append-notes").map(str::to_owned);
        if let Some(minutes) = arguments.number("estimate") {
            if minutes < 0 {
                return Err(Refusal::json(
                    "estimate must be a non-negative number of minutes",
                ));
            }
            self.fields.push(("estimated_minutes", minutes.into()));
        }
        self.issue_type = arguments.text("type").map(input::known_type);
        Ok(())
    }

    fn read_labels(&mut self, arguments: &Arguments, output: Output) -> Result<(), Refusal> {
        let read = |flag: &str| -> Result<Option<Vec<Label>>, Refusal> {
            if !arguments.has(flag) {
                return Ok(None);
            }
            let labels = input::labels(arguments.list(flag));
            if let Some(warning) = input::warn_of_spaces(&labels, output.is_quiet) {
                output.stderr(&warning);
            }
            input::checked_labels(&labels).map(Some)
        };
        self.add_labels = read("add-label")?;
        if arguments.has("remove-label") {
            self.remove_labels = Some(input::labels(arguments.list("remove-label")));
        }
        self.set_labels = read("set-labels")?;
        Ok(())
    }

    fn read_times(
        &mut self,
        opened: &Opened,
        arguments: &Arguments,
        output: Output,
    ) -> Result<(), Refusal> {
        let read = |flag: &str,
                    example: &str|
         -> Result<Option<Option<jiff::Timestamp>>, Refusal> {
            match arguments.text(flag) {
                None => Ok(None),
                Some("") => Ok(Some(None)),
                Some(given) => match times::parse(given, opened.by.now) {
                    Some(at) => Ok(Some(Some(at))),
                    None => Err(Refusal::json(format!(
                        "invalid --{flag} format {}. Examples: {example}, tomorrow, next monday, 2025-01-15",
                        quoted(given)
                    ))),
                },
            }
        };
        let value = |at: Option<jiff::Timestamp>| {
            at.map_or(Value::Null, |at| {
                Timestamp::from_instant(at).as_str().into()
            })
        };
        if let Some(due) = read("due", "+6h")? {
            self.fields.push(("due_at", value(due)));
        }
        let Some(defer) = read("defer", "+1h")? else {
            return Ok(());
        };
        self.fields.push(("defer_until", value(defer)));
        match defer {
            None => self.wakes = self.status.is_none(),
            Some(at) if at < opened.by.now => {
                if !output.is_json() {
                    output.stderr(&create::past(at));
                }
            }
            Some(_) if self.status.is_none() => self.status = Some(Status::Deferred.into()),
            Some(_) => {}
        }
        Ok(())
    }

    fn read_persistence(&mut self, arguments: &Arguments) -> Result<(), Refusal> {
        let (ephemeral, persistent) = (arguments.has("ephemeral"), arguments.has("persistent"));
        if ephemeral && persistent {
            return Err(Refusal::json(
                "cannot specify both --ephemeral and --persistent flags",
            ));
        }
        if ephemeral {
            self.fields.push(("ephemeral", true.into()));
        }
        if persistent {
            self.fields.push(("ephemeral", Value::Null));
        }
        Ok(())
    }

    fn read_metadata(&mut self, arguments: &Arguments) -> Result<(), Refusal> {
        self.merge = input::metadata(arguments).map_err(Refusal::json)?;
        let (set, unset) = (
            arguments.texts("set-metadata"),
            arguments.texts("unset-metadata"),
        );
        if (!set.is_empty() || !unset.is_empty()) && self.merge.is_some() {
            return Err(Refusal::json(
                "cannot combine --metadata with --set-metadata or --unset-metadata",
            ));
        }
        for given in set {
            let Some((key, value)) = given.split_once('=').filter(|(key, _)| !key.is_empty())
            else {
                return Err(Refusal::json(format!(
                    "invalid --set-metadata: expected key=value, got {}",
                    quoted(given)
                )));
            };
            self.set_metadata.push((key.to_owned(), value.to_owned()));
        }
        self.unset_metadata = unset.to_vec();
        Ok(())
    }

    /// Guards that make no sense here.
    pub(super) fn check_guards(
        &self,
        opened: &Opened,
        arguments: &Arguments,
    ) -> Result<(), Refusal> {
        if let Some(status) = arguments.text("if-status")
            && !input::is_status(opened, status)?
        {
            return Err(invalid_status("--if-status", status));
        }
        if !arguments.has("if-status") && !arguments.has("if-assignee") {
            return Ok(());
        }
        if arguments.is_on("claim") {
            return Err(Refusal::json(
                "cannot combine --if-assignee/--if-status with --claim (--claim is already an atomic compare-and-set)",
            ));
        }
        if self.has_fields() {
            return Ok(());
        }
        Err(Refusal::json(
            "--if-assignee/--if-status require at least one field update (e.g. -a, -s); label and parent edits are not covered by the guard",
        ))
    }

    /// Whether a bead is as the guards say. The error is a sentence.
    pub(super) fn check_expected(record: &Record, arguments: &Arguments) -> Result<(), String> {
        let assignee = record.issue.assignee().unwrap_or_default();
        if let Some(wanted) = arguments
            .text("if-assignee")
            .filter(|wanted| *wanted != assignee)
        {
            return Err(format!(
                "assignee mismatch: {} is held by {}, expected {}",
                record.issue.id(),
                quoted(assignee),
                quoted(wanted)
            ));
        }
        let status = record.issue.status();
        if let Some(wanted) = arguments
            .text("if-status")
            .filter(|wanted| *wanted != status)
        {
            return Err(format!(
                "status mismatch: {} has status {}, expected {}",
                record.issue.id(),
                quoted(status),
                quoted(wanted)
            ));
        }
        Ok(())
    }

    /// Whether the new title and the new type can be taken. The error is a sentence.
    pub(super) fn check_values(&self, opened: &Opened) -> Result<(), String> {
        if let Some(why) = self.field("title").and_then(input::wrong_title) {
            return Err(format!("validation failed: update title: {why}"));
        }
        let Some(kind) = &self.issue_type else {
            return Ok(());
        };
        match input::is_type(opened, kind) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("validation failed: invalid issue type {kind}")),
            Err(refusal) => Err(refusal.message().to_owned()),
        }
    }
}
