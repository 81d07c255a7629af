//! Which issues are wanted, in which order, and what they can be counted by.
//!
//! A store may find candidates however it likes; what it returns must match here, so that a damaged
//! index can hide an issue but never show a wrong one.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use super::Record;
use super::model::Issue;
use super::readiness::{Standing, is_hidden};
use crate::bead::BeadId;

/// A question to a store. The default asks for everything that is not done.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Statuses.
    pub status: StatusFilter,
    /// Labels that it must have, all of them.
    pub labels_all: Vec<String>,
    /// Labels of which it must have one, if there are any.
    pub labels_any: Vec<String>,
    /// Labels that it must not have.
    pub labels_none: Vec<String>,
    /// Types, one of which it must have, if there are any.
    pub types: Vec<String>,
    /// The role that it must be for.
    pub assignee: Option<String>,
    /// The name under which somebody must hold it.
    pub holder: Option<String>,
    /// Whether somebody must hold it.
    pub is_held: bool,
    /// Whether it must be for nobody in particular.
    pub is_unassigned: bool,
    /// The least and the greatest priority number.
    pub priorities: Option<(i64, i64)>,
    /// The issue that it must be a direct part of.
    pub parent: Option<BeadId>,
    /// Metadata keys with the text of their values.
    pub metadata: Vec<(String, String)>,
    /// Metadata keys that it must have.
    pub metadata_keys: Vec<String>,
    /// Words that must stand in its id, title, description or notes, whatever their case.
    pub text: Option<String>,
    /// Only what can be started at this moment.
    pub ready_at: Option<Timestamp>,
    /// Only what is held back by its dependencies, or only what is not.
    pub is_blocked: Option<bool>,
    /// What else must be true.
    pub conditions: Vec<Condition>,
    /// Templates and bookkeeping too.
    pub includes_hidden: bool,
    /// Short-lived issues too, among those that can be started, until they are over (F-10).
    pub includes_ephemeral: bool,
    /// What is put off too, among those that can be started.
    pub includes_deferred: bool,
    /// The order.
    pub order: Order,
    /// The most that are wanted.
    pub limit: Option<usize>,
}

/// Which statuses are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StatusFilter {
    /// Everything that is neither closed nor pinned.
    #[default]
    Unfinished,
    /// Any status.
    Any,
    /// One of these.
    OneOf(Vec<String>),
}

/// The order of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// The most urgent first; among those the newest, then by id.
    #[default]
    Priority,
    /// The most urgent first; among those the oldest, then by id: how `bd` lists what can be started.
    PriorityOldest,
    /// The most urgent first; among those the newest by whole seconds, then by id: how `bd` lists.
    PrioritySeconds,
    /// What was touched the longest time ago first; among those as by [`Order::Priority`].
    Stalest,
    /// The oldest first.
    Oldest,
    /// The latest change first.
    Updated,
    /// By id.
    Id,
}

impl Order {
    /// Compares two issues.
    pub fn compare(self, a: &Issue, b: &Issue) -> Ordering {
        let by_id = || a.id().cmp(b.id());
        // A store need not keep a time finer than this to sort by it.
        let micros = |issue: &Issue, key| issue.time(key).unwrap_or_default().as_microsecond();
        let created = |issue: &Issue| micros(issue, "created_at");
        let updated = |issue: &Issue| micros(issue, "updated_at");
        match self {
            Self::Priority => (a.priority().cmp(&b.priority()))
                .then_with(|| created(b).cmp(&created(a)))
                .then_with(by_id),
            Self::PriorityOldest => (a.priority().cmp(&b.priority()))
                .then_with(|| created(a).cmp(&created(b)))
                .then_with(by_id),
            Self::PrioritySeconds => {
                let second = |issue: &Issue| issue.time("created_at").map(Timestamp::as_second);
                (a.priority().cmp(&b.priority()))
                    .then_with(|| second(b).cmp(&second(a)))
                    .then_with(by_id)
            }
            Self::Stalest => {
                let touched = |issue: &Issue| {
                    Moment::Touched
                        .of(issue)
                        .unwrap_or_default()
                        .as_microsecond()
                };
                (touched(a).cmp(&touched(b))).then_with(|| Self::Priority.compare(a, b))
            }
            Self::Oldest => created(a).cmp(&created(b)).then_with(by_id),
            Self::Updated => updated(b).cmp(&updated(a)).then_with(by_id),
            Self::Id => by_id(),
        }
    }
}

impl Query {
    /// Whether a record is wanted. Whether it can be started is decided by
    /// [`is_ready`](super::is_ready), which needs its parents.
    pub fn matches(&self, record: &Record) -> bool {
        let issue = &record.issue;
        self.matches_status(issue)
            && self.matches_labels(issue)
            && (self.types.is_empty() || self.types.iter().any(|t| t == issue.issue_type()))
            && self
                .assignee
                .as_deref()
                .is_none_or(|a| issue.assignee() == Some(a))
            && (!self.is_unassigned || issue.assignee().is_none())
            && self.matches_holder(record)
            && (!self.is_held || record.claim.is_some())
            && self
                .priorities
                .is_none_or(|(low, high)| (low..=high).contains(&issue.priority()))
            && self
                .parent
                .as_ref()
                .is_none_or(|parent| is_child(issue, parent))
            && self.matches_metadata(issue)
            && self
                .text
                .as_deref()
                .is_none_or(|text| contains(issue, text))
            && self
                .is_blocked
                .is_none_or(|blocked| record.is_blocked == blocked)
            && self.matches_hidden(issue)
            && (self.conditions.iter()).all(|condition| condition.holds(issue))
    }

    fn matches_holder(&self, record: &Record) -> bool {
        let holder = record.claim.as_ref().map(|claim| claim.holder.run.as_str());
        self.holder
            .as_deref()
            .is_none_or(|wanted| holder == Some(wanted))
    }

    fn matches_status(&self, issue: &Issue) -> bool {
        match &self.status {
            StatusFilter::Unfinished => issue.standing() == Standing::Pending,
            StatusFilter::Any => true,
            StatusFilter::OneOf(statuses) => statuses.iter().any(|s| s == issue.status()),
        }
    }

    fn matches_labels(&self, issue: &Issue) -> bool {
        let has = |label: &String| issue.has_label(label);
        self.labels_all.iter().all(has)
            && (self.labels_any.is_empty() || self.labels_any.iter().any(has))
            && !self.labels_none.iter().any(has)
    }

    fn matches_metadata(&self, issue: &Issue) -> bool {
        let get = |key: &String| issue.metadata().and_then(|metadata| metadata.get(key));
        self.metadata_keys.iter().all(|key| get(key).is_some())
            && self.metadata.iter().all(|(key, wanted)| match get(key) {
                Some(value) => metadata_text(value) == *wanted,
                None => false,
            })
    }

    /// Bookkeeping is left out unless its type is named, or the issue is asked for by its place.
    fn matches_hidden(&self, issue: &Issue) -> bool {
        self.includes_hidden
            || self.ready_at.is_some()
            || !is_hidden(issue)
            || self.types.iter().any(|t| t == issue.issue_type())
    }
}

/// A metadata value as people write it: a text without its quotes.
pub fn metadata_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        value => Cow::Owned(value.to_string()),
    }
}

/// A child has an edge to its parent, or a name below it and no parent at all.
fn is_child(issue: &Issue, parent: &BeadId) -> bool {
    let mut parents = issue.parents().peekable();
    if parents.peek().is_some() {
        return parents.any(|own| own == parent);
    }
    let rest = issue.id().as_str().strip_prefix(parent.as_str());
    rest.is_some_and(|rest| rest.starts_with('.'))
}

fn contains(issue: &Issue, words: &str) -> bool {
    let texts = [
        issue.id().as_str(),
        issue.title(),
        issue.text("description").unwrap_or_default(),
        issue.text("notes").unwrap_or_default(),
    ];
    let text = texts.join("\n").to_lowercase();
    words
        .to_lowercase()
        .split_whitespace()
        .all(|word| text.contains(word))
}

/// A mark that a document can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// It is a template.
    Template,
    /// It is short-lived.
    Ephemeral,
    /// Its history is not kept, which `bd` treats as short-lived.
    NoHistory,
    /// It is pinned.
    Pinned,
}

impl Flag {
    /// Every flag.
    pub const ALL: [Self; 4] = [
        Self::Template,
        Self::Ephemeral,
        Self::NoHistory,
        Self::Pinned,
    ];

    /// Its key in a document.
    pub fn key(self) -> &'static str {
        match self {
            Self::Template => "is_template",
            Self::Ephemeral => "ephemeral",
            Self::NoHistory => "no_history",
            Self::Pinned => "pinned",
        }
    }
}

/// A moment of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// When it came.
    Created,
    /// When it was changed last.
    Updated,
    /// When it was closed.
    Closed,
    /// Until when it is put off.
    Deferred,
    /// When it was changed last, or else when it came.
    Touched,
}

impl Moment {
    /// The moment of an issue.
    pub fn of(self, issue: &Issue) -> Option<Timestamp> {
        match self {
            Self::Created => issue.time("created_at"),
            Self::Updated => issue.time("updated_at"),
            Self::Closed => issue.time("closed_at"),
            Self::Deferred => issue.time("defer_until"),
            Self::Touched => issue
                .time("updated_at")
                .or_else(|| issue.time("created_at")),
        }
    }
}

/// One more thing that must be true of an issue.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// It has none of these statuses.
    StatusIsNot(Vec<String>),
    /// It has none of these types.
    TypeIsNot(Vec<String>),
    /// It has one of these ids.
    IdIs(Vec<String>),
    /// It has one of these flags.
    With(Vec<Flag>),
    /// It has none of these flags.
    Without(Vec<Flag>),
    /// It has no labels.
    HasNoLabels,
    /// It is not a part of anything, by an edge.
    HasNoParent,
    /// It has no description.
    HasNoDescription,
    /// A text stands in a field, whatever the case. The text is in small letters.
    Contains(&'static str, String),
    /// A text stands in its title or in its id, whatever the case. The text is in small letters.
    IsNamed(String),
    /// One of these lists in its metadata has something in it.
    HasSome(Vec<&'static str>),
    /// A moment is after another.
    After(Moment, Timestamp),
    /// A moment is before another.
    Before(Moment, Timestamp),
}

impl Condition {
    /// Whether it is true of an issue.
    pub fn holds(&self, issue: &Issue) -> bool {
        let is_in = |list: &[String], word: &str| list.iter().any(|own| own == word);
        match self {
            Self::StatusIsNot(statuses) => !is_in(statuses, issue.status()),
            Self::TypeIsNot(types) => !is_in(types, issue.issue_type()),
            Self::IdIs(ids) => is_in(ids, issue.id().as_str()),
            Self::With(flags) => flags.iter().any(|flag| issue.flag(flag.key())),
            Self::Without(flags) => !flags.iter().any(|flag| issue.flag(flag.key())),
            Self::HasNoLabels => issue.labels().next().is_none(),
            Self::HasNoParent => issue.parents().next().is_none(),
            Self::HasNoDescription => issue.text("description").is_none_or(str::is_empty),
            Self::Contains(field, text) => {
                let own = issue.text(field).unwrap_or_default();
                own.to_lowercase().contains(text)
            }
            Self::IsNamed(text) => {
                issue.title().to_lowercase().contains(text)
                    || issue.id().as_str().to_lowercase().contains(text)
            }
            Self::HasSome(keys) => {
                let list = |key: &&str| issue.metadata()?.get(*key)?.as_array();
                let mut lists = keys.iter().filter_map(list);
                lists.any(|list| !list.is_empty())
            }
            Self::After(moment, at) => moment.of(issue).is_some_and(|own| own > *at),
            Self::Before(moment, at) => moment.of(issue).is_some_and(|own| own < *at),
        }
    }
}

/// What issues can be counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// Their statuses.
    Status,
    /// The numbers of their priorities.
    Priority,
    /// Their types.
    Type,
    /// For whom they are; nothing for nobody.
    Assignee,
    /// Each of their labels; nothing for those without any.
    Label,
}

impl Grouping {
    /// Every grouping.
    pub const ALL: [Self; 5] = [
        Self::Status,
        Self::Priority,
        Self::Type,
        Self::Assignee,
        Self::Label,
    ];

    /// The groups of an issue, each once.
    pub fn groups(self, issue: &Issue) -> BTreeSet<String> {
        let one = |group: &str| BTreeSet::from([group.to_owned()]);
        match self {
            Self::Status => one(issue.status()),
            Self::Priority => one(&issue.priority().to_string()),
            Self::Type => one(issue.issue_type()),
            Self::Assignee => one(issue.assignee().unwrap_or_default()),
            Self::Label => {
                let labels: BTreeSet<String> = issue.labels().map(str::to_owned).collect();
                if labels.is_empty() { one("") } else { labels }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn issue(more: Value) -> Issue {
        let mut document = json!({"id": "bd-1", "title": "Fix the Login"});
        let more: serde_json::Map<String, Value> = serde_json::from_value(more).unwrap();
        document.as_object_mut().unwrap().extend(more);
        Issue::without_comments(document).unwrap()
    }

    #[test]
    fn what_is_touched_last_was_changed_or_else_came() {
        let came = "2026-01-01T00:00:00Z";
        let later = "2026-01-02T00:00:00Z";
        let only_came = issue(json!({"created_at": came}));
        let changed = issue(json!({"created_at": came, "updated_at": later}));
        assert_eq!(Moment::Touched.of(&only_came), came.parse().ok());
        assert_eq!(Moment::Touched.of(&changed), later.parse().ok());
        assert_eq!(Moment::Touched.of(&issue(json!({}))), None);
        let at = came.parse().unwrap();
        assert!(Condition::After(Moment::Updated, at).holds(&changed));
        assert!(
            !Condition::After(Moment::Updated, at).holds(&only_came),
            "a moment that is not known is neither after nor before"
        );
        assert!(!Condition::Before(Moment::Updated, at).holds(&only_came));
    }

    #[test]
    fn a_name_is_the_title_or_the_id() {
        let named = |text: &str| Condition::IsNamed(text.to_owned()).holds(&issue(json!({})));
        assert!(named("login") && named("bd-1") && named("x the".trim_start_matches("x ")));
        assert!(!named("bd-1 fix"));
    }

    #[test]
    fn an_issue_is_once_in_each_of_its_groups() {
        let labelled = issue(json!({"labels": ["b", "a", "b"]}));
        let groups: Vec<String> = Grouping::Label.groups(&labelled).into_iter().collect();
        assert_eq!(groups, ["a", "b"]);
        let plain = issue(json!({}));
        for grouping in [Grouping::Label, Grouping::Assignee] {
            assert_eq!(grouping.groups(&plain), BTreeSet::from([String::new()]));
        }
    }
}
