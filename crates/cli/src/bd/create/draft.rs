//! What the flags of `create` say about the bead itself.

use beads_ralph_core::bead::Timestamp;
use serde_json::{Map, Value};

use super::super::arguments::{Arguments, quoted};
use super::super::call::Opened;
use super::super::failure::Refusal;
use super::super::{input, times};

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
            && at < opened.now
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
        let is_put_off = defer.is_some_and(|at| at > opened.now);
        let first = if is_put_off { "deferred" } else { "open" };
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
        let kind = input::new_type(arguments.text("type").unwrap_or("task"));
        Ok(Self {
            description,
            design,
            priority,
            kind,
            status: status.unwrap_or_else(|| first.to_owned()),
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
    ) -> Map<String, Value> {
        let mut document = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                document.insert(key.to_owned(), value);
            }
        };
        let filled = |text: &Option<String>| {
            let text = text.as_deref().filter(|text| !text.is_empty());
            text.map(Value::from)
        };
        let time = |at: Option<jiff::Timestamp>| {
            at.map(|at| Value::from(Timestamp::from_instant(at).as_str()))
        };
        put("id", Some(id.into()));
        put("title", Some(title.into()));
        put("description", filled(&self.description));
        put("design", filled(&self.design));
        for (key, text) in &self.texts {
            put(key, Some(text.as_str().into()));
        }
        put("status", Some(self.status.as_str().into()));
        put("priority", Some(self.priority.into()));
        put("issue_type", Some(self.kind.as_str().into()));
        put("owner", opened.owner().map(Value::from));
        put("estimated_minutes", self.estimate.map(Value::from));
        put("created_at", Some(opened.time().into()));
        put("created_by", Some(opened.actor().into()));
        put("updated_at", Some(opened.time().into()));
        if self.status == "closed" {
            put("closed_at", Some(opened.time().into()));
        }
        put("due_at", time(self.due));
        put("defer_until", time(self.defer));
        put("metadata", self.metadata.clone());
        let labels = (!labels.is_empty()).then(|| labels.to_vec().into());
        put("labels", labels);
        put("ephemeral", self.is_ephemeral.then(|| true.into()));
        document
    }
}

/// What is said of a date in the past.
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
    match times::parse(given, opened.now) {
        Some(at) => Ok(Some(at)),
        None => Err(Refusal::plain(format!(
            "invalid --{flag} format {}. Examples: {example}, tomorrow, next monday, 2025-01-15",
            quoted(given)
        ))),
    }
}
