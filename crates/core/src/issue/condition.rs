//! Conditions that a query can add to its common ones, and what issues can be counted by.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::model::Issue;

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
    use serde_json::{Value, json};

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
