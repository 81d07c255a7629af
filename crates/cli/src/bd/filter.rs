//! Which beads a list wants, by the flags that the lists share.

use std::cmp::Ordering;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Condition, Flag, Issue, Moment, Query, Record, StatusFilter};
use beads_ralph_core::vocabulary::Status;
use jiff::Timestamp;

use super::{Arguments, Opened, Refusal, input, list, list_of, quoted, string, switch, times};

/// Types that are bookkeeping of other programs.
pub(super) const INFRA_TYPES: [&str; 3] = ["agent", "role", "message"];

/// Flags about what is looked for.
pub(super) const MATCHING: &[super::Flag] = &[
    string("assignee", "Only those for somebody").short('a'),
    string("closed-after", "Only those closed after a moment"),
    string("closed-before", "Only those closed before a moment"),
    string("created-after", "Only those created after a moment"),
    string("created-before", "Only those created before a moment"),
    string("desc-contains", "Only those with a text in the description"),
    switch("empty-description", "Only those without a description"),
    list_of("label", "Only those with all of these labels").short('l'),
    list_of("label-any", "Only those with one of these labels"),
    switch("no-assignee", "Only those for nobody"),
    switch("no-labels", "Only those without labels"),
    string("notes-contains", "Only those with a text in the notes"),
    string("type", "Only those of a type").short('t'),
    string("updated-after", "Only those updated after a moment"),
    string("updated-before", "Only those updated before a moment"),
];

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
    /// A text that must stand in the title or the id, in small letters.
    pub(super) named: Option<String>,
    /// Moments that must be after, and before.
    pub(super) after: Vec<(Moment, Timestamp)>,
    pub(super) before: Vec<(Moment, Timestamp)>,
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
    /// A filter by the flags about labels, which most lists have.
    pub(super) fn labelled(arguments: &Arguments) -> Self {
        Self {
            labels: input::labels(arguments.list("label")),
            labels_any: input::labels(arguments.list("label-any")),
            excluded_labels: input::labels(arguments.list("exclude-label")),
            ..Self::default()
        }
    }

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
        for (flag, moment) in [
            ("created-after", Moment::Created),
            ("updated-after", Moment::Updated),
            ("closed-after", Moment::Closed),
        ] {
            if let Some(at) = self::moment(arguments, flag, now)? {
                self.after.push((moment, at));
            }
        }
        for (flag, moment) in [
            ("created-before", Moment::Created),
            ("updated-before", Moment::Updated),
            ("closed-before", Moment::Closed),
        ] {
            if let Some(at) = self::moment(arguments, flag, now)? {
                self.before.push((moment, at));
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

    /// What a store is asked.
    pub(super) fn query(&self) -> Query {
        let is_left_out = |status| self.excluded_statuses.iter().any(|own| *own == status);
        let status = match self.statuses.as_slice() {
            [] if is_left_out(Status::Closed) && is_left_out(Status::Pinned) => {
                StatusFilter::Unfinished
            }
            [] => StatusFilter::Any,
            statuses => StatusFilter::OneOf(statuses.to_vec()),
        };
        let parent = (self.parent.as_deref()).map(BeadId::parse);
        let mut conditions = self.conditions();
        if let Some(Err(_)) = parent {
            // Nothing is a part of what cannot be.
            conditions.push(Condition::IdIs(Vec::new()));
        }
        Query {
            status,
            labels_all: self.labels.clone(),
            labels_any: self.labels_any.clone(),
            labels_none: self.excluded_labels.clone(),
            types: self.issue_type.iter().cloned().collect(),
            assignee: self.assignee.clone(),
            is_unassigned: self.is_unassigned,
            priorities: self.priorities(),
            parent: parent.and_then(Result::ok),
            metadata: self.metadata.clone(),
            metadata_keys: self.metadata_key.iter().cloned().collect(),
            conditions,
            includes_hidden: true,
            includes_ephemeral: true,
            ..Query::default()
        }
    }

    fn priorities(&self) -> Option<(i64, i64)> {
        let least = self.priority.max(self.priority_min);
        let greatest = self.priority.unwrap_or(i64::MAX);
        let greatest = greatest.min(self.priority_max.unwrap_or(i64::MAX));
        let is_asked = least.is_some() || self.priority_max.is_some();
        is_asked.then(|| (least.unwrap_or(i64::MIN), greatest))
    }

    fn conditions(&self) -> Vec<Condition> {
        let mut conditions = Vec::new();
        if !self.excluded_statuses.is_empty() {
            conditions.push(Condition::StatusIsNot(self.excluded_statuses.clone()));
        }
        if !self.excluded_types.is_empty() {
            conditions.push(Condition::TypeIsNot(self.excluded_types.clone()));
        }
        if !self.ids.is_empty() {
            conditions.push(Condition::IdIs(self.ids.clone()));
        }
        let hidden: [(bool, &[Flag]); 3] = [
            (self.hides_templates, &[Flag::Template]),
            (self.hides_ephemeral, &[Flag::Ephemeral, Flag::NoHistory]),
            (self.hides_pinned, &[Flag::Pinned]),
        ];
        let hidden = hidden.into_iter().filter(|(is_hidden, _)| *is_hidden);
        let hidden: Vec<Flag> = hidden.flat_map(|(_, flags)| flags).copied().collect();
        if !hidden.is_empty() {
            conditions.push(Condition::Without(hidden));
        }
        let plain = [
            (self.has_no_labels, Condition::HasNoLabels),
            (self.has_no_parent, Condition::HasNoParent),
            (self.has_no_description, Condition::HasNoDescription),
        ];
        conditions.extend(plain.into_iter().filter(|it| it.0).map(|it| it.1));
        let contains = self.contains.iter();
        conditions.extend(contains.map(|(key, text)| Condition::Contains(key, text.clone())));
        conditions.extend(self.named.clone().map(Condition::IsNamed));
        let after = self.after.iter().copied();
        conditions.extend(after.map(|(moment, at)| Condition::After(moment, at)));
        let before = self.before.iter().copied();
        conditions.extend(before.map(|(moment, at)| Condition::Before(moment, at)));
        conditions
    }

    /// The beads that are wanted, in the store's default order.
    pub(super) fn find(&self, opened: &Opened) -> Result<Vec<Record>, Refusal> {
        Ok(opened.store.find(&self.query())?)
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

/// Statuses with commas between them, each of which there is.
pub(super) fn named_statuses(opened: &Opened, text: &str) -> Result<Vec<String>, Refusal> {
    let parts: Vec<String> = text.split(',').map(|part| part.trim().to_owned()).collect();
    for part in &parts {
        if !input::is_status(opened, part)? {
            let custom = opened.custom_statuses()?;
            return Err(list::invalid_status(part, parts.len() > 1, &custom));
        }
    }
    Ok(parts)
}

/// The statuses of beads that are over, or laid aside.
pub(super) fn finished_statuses(opened: &Opened) -> Result<Vec<String>, Refusal> {
    let mut statuses = vec![Status::Closed.into(), Status::Pinned.into()];
    let custom = opened.custom_statuses()?.into_iter();
    let over = custom.filter(|(_, category)| matches!(category.as_str(), "done" | "frozen"));
    statuses.extend(over.map(|(name, _)| name));
    Ok(statuses)
}
