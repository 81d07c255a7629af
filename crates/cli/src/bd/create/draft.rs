//! What the flags of `create` say about the bead itself.

use beads_ralph_core::bead::Timestamp;
use beads_ralph_core::vocabulary::{IssueType, Status};
use serde_json::Value;

use crate::bd::document_json::NewBead;
use crate::bd::{Arguments, Opened, Refusal, input, quoted, times};

/// Everything that the flags say about the bead itself.
pub(super) struct Draft {
    pub(super) description: Option<String>,
    design: Option<String>,
    priority: i64,
    pub(super) kind: String,
    status: String,
    pub(super) labels: Vec<String>,
    due: Option<jiff::Timestamp>,
    defer: Option<jiff::Timestamp>,
    metadata: Option<Value>,
    estimate: Option<i64>,
    /// Texts that are taken as they are.
    texts: Vec<(&'static str, String)>,
    is_ephemeral: bool,
    pub(super) warning: Option<String>,
}

impl Draft {
    pub(super) fn read(
        opened: &Opened,
        arguments: &Arguments,
        is_quiet: bool,
    ) -> Result<Self, Refusal> {
        let plain = |error: String| Refusal::plain(error);
        let description =
            input::description(arguments).map_err(|refusal| plain(refusal.message().to_owned()))?;
        let design = input::design(arguments)?;
        let priority = input::priority(arguments.text("priority").unwrap_or("2")).map_err(plain)?;
        let status = arguments.filled("status").map(str::to_owned);
        if let Some(status) = &status
            && !input::is_status(opened, status)?
        {
            return Err(super::super::update::invalid_status("status", status));
        }
        let mut labels = arguments.list("labels");
        labels.extend(arguments.list("label"));
        let labels = input::labels(labels);
        input::checked_labels(&labels)?;
        let mut warning = input::warn_of_spaces(&labels, is_quiet);
        let due = moment(opened, arguments, "due", "+6h")?;
        let defer = moment(opened, arguments, "defer", "+1h")?;
        if let Some(at) = defer
            && at < opened.by.now
            && !is_quiet
            && !arguments.is_on("silent")
        {
            warning = Some(warning.unwrap_or_default() + &past(at));
        }
        let metadata = input::metadata(arguments).map_err(plain)?;
        let estimate = arguments.number("estimate");
        if estimate.is_some_and(|minutes| minutes < 0) {
            return Err(plain(
                "estimate must be a non-negative number of minutes".to_owned(),
            ));
        }
        let is_put_off = defer.is_some_and(|at| at > opened.by.now);
        let first = if is_put_off {
            Status::Deferred
        } else {
            Status::Open
        };
        let texts = [
            ("acceptance_criteria", "acceptance"),
            ("notes", "notes"),
            ("spec_id", "spec-id"),
            ("assignee", "assignee"),
            ("external_ref", "external-ref"),
        ];
        let texts = texts
            .into_iter()
            .filter_map(|(key, flag)| Some((key, arguments.filled(flag)?.to_owned())));
        let kind = input::new_type(arguments.text("type").unwrap_or(IssueType::Task.as_str()));
        Ok(Self {
            description,
            design,
            priority,
            kind,
            status: status.unwrap_or_else(|| first.into()),
            labels,
            due,
            defer,
            metadata,
            estimate,
            texts: texts.collect(),
            is_ephemeral: arguments.is_on("ephemeral"),
            warning,
        })
    }

    pub(super) fn document(
        &self,
        opened: &Opened,
        id: &str,
        title: &str,
        labels: &[String],
    ) -> NewBead {
        let time = |at: jiff::Timestamp| Timestamp::from_instant(at).as_str().to_owned();
        let is_closed = self.status == Status::Closed;
        let mut document = NewBead::new(opened, id, title)
            .with("description", self.description.as_deref())
            .with("design", self.design.as_deref())
            .set("status", self.status.as_str())
            .set("priority", self.priority)
            .set("issue_type", self.kind.as_str())
            .with("estimated_minutes", self.estimate)
            .with("closed_at", is_closed.then(|| opened.time()))
            .with("due_at", self.due.map(time))
            .with("defer_until", self.defer.map(time))
            .with("labels", labels)
            .with("ephemeral", self.is_ephemeral);
        for (key, text) in &self.texts {
            document = document.set(key, text.as_str());
        }
        if let Some(metadata) = &self.metadata {
            document = document.set("metadata", metadata.clone());
        }
        document
    }
}

/// The warning about a date in the past.
pub(in crate::bd) fn past(at: jiff::Timestamp) -> String {
    let shown = jiff::tz::Offset::UTC
        .to_datetime(at)
        .strftime("%Y-%m-%d %H:%M");
    format!(
        "! Defer date \"{shown}\" is in the past. Issue will appear in bd ready immediately.\n  Did you mean a future date? Use --defer=+1h or --defer=tomorrow\n"
    )
}

fn moment(
    opened: &Opened,
    arguments: &Arguments,
    flag: &str,
    example: &str,
) -> Result<Option<jiff::Timestamp>, Refusal> {
    let Some(given) = arguments.filled(flag) else {
        return Ok(None);
    };
    match times::parse(given, opened.by.now) {
        Some(at) => Ok(Some(at)),
        None => Err(Refusal::plain(format!(
            "invalid --{flag} format {}. Examples: {example}, tomorrow, next monday, 2025-01-15",
            quoted(given)
        ))),
    }
}
