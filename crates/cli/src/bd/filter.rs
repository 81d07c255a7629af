//! Which beads a list wants, by the flags that the lists share.

use std::cmp::Ordering;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Issue, Query, Record, StatusFilter, metadata_text};
use jiff::Timestamp;

use super::arguments::{Arguments, quoted};
use super::call::Opened;
use super::failure::Refusal;
use super::{input, times};

/// Types that are bookkeeping of other programs.
pub(super) const INFRA_TYPES: [&str; 3] = ["agent", "role", "message"];

/// What is wanted. The default wants everything.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// One of these, if there are any.
    pub(super) statuses: Vec<String>,
    pub(super) excluded_statuses: Vec<String>,
    pub(super) priority: Option<i64>,
    pub(super) priority_min: Option<i64>,
    pub(super) priority_max: Option<i64>,
    pub(super) assignee: Option<String>,
    pub(super) is_unassigned: bool,
    pub(super) issue_type: Option<String>,
    pub(super) excluded_types: Vec<String>,
    pub(super) labels: Vec<String>,
    pub(super) labels_any: Vec<String>,
    pub(super) excluded_labels: Vec<String>,
    pub(super) has_no_labels: bool,
    /// One of these, if there are any.
    pub(super) ids: Vec<String>,
    /// Fields with a text that must stand in them, in small letters.
    pub(super) contains: Vec<(&'static str, String)>,
    /// Moments that must be after, and before.
    pub(super) after: Vec<(&'static str, Timestamp)>,
    pub(super) before: Vec<(&'static str, Timestamp)>,
    pub(super) parent: Option<String>,
    pub(super) has_no_parent: bool,
    pub(super) has_no_description: bool,
    pub(super) hides_templates: bool,
    pub(super) hides_ephemeral: bool,
    pub(super) hides_pinned: bool,
    pub(super) metadata: Vec<(String, String)>,
    pub(super) metadata_key: Option<String>,
}

impl Filter {
    /// Reads the flags about texts, labels, ids, times and metadata that most lists have.
    pub(super) fn read_common(
        &mut self,
        arguments: &Arguments,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        self.labels = input::labels(arguments.list("label"));
        self.labels_any = input::labels(arguments.list("label-any"));
        self.excluded_labels = input::labels(arguments.list("exclude-label"));
        self.has_no_labels = arguments.is_on("no-labels");
        self.assignee = arguments.filled("assignee").map(str::to_owned);
        self.is_unassigned = arguments.is_on("no-assignee");
        self.has_no_description = arguments.is_on("empty-description");
        if let Some(ids) = arguments.filled("id") {
            self.ids = input::labels(ids.split(',').map(str::to_owned).collect());
        }
        for (flag, field) in [
            ("title", "title"),
            ("title-contains", "title"),
            ("desc-contains", "description"),
            ("notes-contains", "notes"),
        ] {
            if let Some(text) = arguments.filled(flag) {
                self.contains.push((field, text.to_lowercase()));
            }
        }
        for (flag, field) in [
            ("created-after", "created_at"),
            ("updated-after", "updated_at"),
            ("closed-after", "closed_at"),
        ] {
            if let Some(at) = moment(arguments, flag, now)? {
                self.after.push((field, at));
            }
        }
        for (flag, field) in [
            ("created-before", "created_at"),
            ("updated-before", "updated_at"),
            ("closed-before", "closed_at"),
        ] {
            if let Some(at) = moment(arguments, flag, now)? {
                self.before.push((field, at));
            }
        }
        Ok(())
    }

    /// Reads `--metadata-field` and `--has-metadata-key`.
    pub(super) fn read_metadata(&mut self, arguments: &Arguments) -> Result<(), Refusal> {
        for given in arguments.texts("metadata-field") {
            let Some((key, value)) = given.split_once('=').filter(|(key, _)| !key.is_empty())
            else {
                return Err(Refusal::json(format!(
                    "invalid --metadata-field: expected key=value, got {}",
                    quoted(given)
                )));
            };
            input::metadata_key(key)
                .map_err(|why| Refusal::json(format!("invalid --metadata-field key: {why}")))?;
            self.metadata.retain(|(own, _)| own != key);
            self.metadata.push((key.to_owned(), value.to_owned()));
        }
        if let Some(key) = arguments.filled("has-metadata-key") {
            input::metadata_key(key)
                .map_err(|why| Refusal::json(format!("invalid --has-metadata-key: {why}")))?;
            self.metadata_key = Some(key.to_owned());
        }
        Ok(())
    }

    /// Reads a flag with a priority.
    pub(super) fn read_priorities(&mut self, arguments: &Arguments) -> Result<(), Refusal> {
        let read = |flag: &str, before: &str| {
            let text = arguments.text(flag);
            let number = text.map(input::priority).transpose();
            number.map_err(|why| Refusal::plain(format!("{before}{why}")))
        };
        self.priority = read("priority", "")?;
        self.priority_min = read("priority-min", "parsing --priority-min: ")?;
        self.priority_max = read("priority-max", "parsing --priority-max: ")?;
        Ok(())
    }

    /// What a store can narrow down by itself.
    pub(super) fn query(&self) -> Query {
        Query {
            status: match self.statuses.as_slice() {
                [] if self.excluded_statuses.iter().any(|s| s == "closed")
                    && self.excluded_statuses.iter().any(|s| s == "pinned") =>
                {
                    StatusFilter::Unfinished
                }
                [] => StatusFilter::Any,
                statuses => StatusFilter::OneOf(statuses.to_vec()),
            },
            labels_all: self.labels.clone(),
            labels_any: self.labels_any.clone(),
            parent: (self.parent.as_deref()).and_then(|parent| BeadId::parse(parent).ok()),
            includes_hidden: true,
            includes_ephemeral: true,
            ..Query::default()
        }
    }

    /// The beads that are wanted, in the store's default order.
    pub(super) fn find(&self, opened: &Opened) -> Result<Vec<Record>, Refusal> {
        let mut records = opened.store.find(&self.query())?;
        records.retain(|record| self.matches(record));
        Ok(records)
    }

    /// Whether a bead is wanted.
    pub(super) fn matches(&self, record: &Record) -> bool {
        let issue = &record.issue;
        self.matches_words(issue)
            && self.matches_labels(issue)
            && self.matches_texts(issue)
            && self.matches_times(issue)
            && self.matches_place(issue)
            && self.matches_metadata(issue)
    }

    fn matches_words(&self, issue: &Issue) -> bool {
        let is_in = |list: &[String], word: &str| list.iter().any(|own| own == word);
        let (status, kind, priority) = (issue.status(), issue.issue_type(), issue.priority());
        (self.statuses.is_empty() || is_in(&self.statuses, status))
            && !is_in(&self.excluded_statuses, status)
            && self.priority.is_none_or(|wanted| wanted == priority)
            && self.priority_min.is_none_or(|least| priority >= least)
            && self.priority_max.is_none_or(|most| priority <= most)
            && (self.assignee.as_deref()).is_none_or(|wanted| issue.assignee() == Some(wanted))
            && (!self.is_unassigned || issue.assignee().is_none())
            && self
                .issue_type
                .as_deref()
                .is_none_or(|wanted| wanted == kind)
            && !is_in(&self.excluded_types, kind)
            && (self.ids.is_empty() || is_in(&self.ids, issue.id().as_str()))
            && !(self.hides_templates && issue.flag("is_template"))
            && !(self.hides_ephemeral && (issue.flag("ephemeral") || issue.flag("no_history")))
            && !(self.hides_pinned && issue.flag("pinned"))
    }

    fn matches_labels(&self, issue: &Issue) -> bool {
        let has = |label: &String| issue.has_label(label);
        self.labels.iter().all(has)
            && (self.labels_any.is_empty() || self.labels_any.iter().any(has))
            && !self.excluded_labels.iter().any(has)
            && !(self.has_no_labels && issue.labels().next().is_some())
    }

    fn matches_texts(&self, issue: &Issue) -> bool {
        let text = |field: &str| issue.text(field).unwrap_or_default();
        (self.contains.iter()).all(|(field, part)| text(field).to_lowercase().contains(part))
            && (!self.has_no_description || text("description").is_empty())
    }

    fn matches_times(&self, issue: &Issue) -> bool {
        let is_so = |field: &str, wanted: fn(&Timestamp, &Timestamp) -> bool, at: &Timestamp| {
            issue.time(field).is_some_and(|time| wanted(&time, at))
        };
        (self.after.iter()).all(|(field, at)| is_so(field, |time, at| time > at, at))
            && (self.before.iter()).all(|(field, at)| is_so(field, |time, at| time < at, at))
    }

    fn matches_place(&self, issue: &Issue) -> bool {
        let mut parents = issue.parents().peekable();
        let has_parent = parents.peek().is_some();
        if self.has_no_parent && has_parent {
            return false;
        }
        match &self.parent {
            None => true,
            Some(parent) if has_parent => parents.any(|own| own.as_str() == parent),
            Some(parent) => {
                let rest = issue.id().as_str().strip_prefix(parent.as_str());
                rest.is_some_and(|rest| rest.starts_with('.'))
            }
        }
    }

    fn matches_metadata(&self, issue: &Issue) -> bool {
        let value = |key: &str| issue.metadata().and_then(|metadata| metadata.get(key));
        let is_equal = |(key, wanted): &(String, String)| {
            value(key).is_some_and(|value| metadata_text(value) == *wanted)
        };
        self.metadata.iter().all(is_equal)
            && (self.metadata_key.as_deref()).is_none_or(|key| value(key).is_some())
    }
}

/// A moment that a flag names.
pub(super) fn moment(
    arguments: &Arguments,
    flag: &str,
    now: Timestamp,
) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = arguments.filled(flag) else {
        return Ok(None);
    };
    match times::parse(text, now) {
        Some(at) => Ok(Some(at)),
        None => Err(Refusal::plain(format!(
            "parsing --{flag}: cannot parse time expression: {} (examples: +6h, tomorrow, 2025-01-15)",
            quoted(text)
        ))),
    }
}

/// The orders that lists know.
pub(super) const SORTS: [&str; 9] = [
    "priority", "created", "updated", "closed", "status", "id", "title", "type", "assignee",
];

/// Sorts as `--sort` and `--reverse` say; without either by priority, then the newest.
pub(super) fn sort(records: &mut [Record], by: &str, is_reversed: bool) {
    let turn = |ordering: Ordering| {
        if is_reversed {
            ordering.reverse()
        } else {
            ordering
        }
    };
    let seconds = |issue: &Issue, key: &str| issue.time(key).map(Timestamp::as_second);
    let by_text = |a: &Issue, b: &Issue, key: &str| {
        let text = |issue: &Issue| issue.text(key).unwrap_or_default().to_owned();
        text(a).cmp(&text(b))
    };
    records.sort_by(|a, b| {
        let (a, b) = (&a.issue, &b.issue);
        let newest = |key: &str| seconds(b, key).cmp(&seconds(a, key));
        let first = match by {
            "created" => turn(newest("created_at")),
            "updated" => turn(newest("updated_at")),
            "closed" => turn(newest("closed_at")),
            "status" => turn(a.status().cmp(b.status())),
            "type" => turn(a.issue_type().cmp(b.issue_type())),
            "assignee" => turn(by_text(a, b, "assignee")),
            "title" => turn(a.title().to_lowercase().cmp(&b.title().to_lowercase())),
            "id" => turn(natural(a.id().as_str(), b.id().as_str())),
            _ => turn(a.priority().cmp(&b.priority())).then_with(|| newest("created_at")),
        };
        first.then_with(|| a.id().cmp(b.id()))
    });
}

/// Compares ids part by part, numbers as numbers.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let parts = |id: &str| -> Vec<String> {
        let parts = id.split(['.', '-']).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let (a, b) = (parts(a), parts(b));
    for (one, other) in a.iter().zip(&b) {
        let ordering = match (one.parse::<i64>(), other.parse::<i64>()) {
            (Ok(one), Ok(other)) => one.cmp(&other),
            _ => one.cmp(other),
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    a.len().cmp(&b.len())
}
