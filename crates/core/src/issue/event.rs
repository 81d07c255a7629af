//! The history of an issue: what changed, and how to fold it back into the issue.
//!
//! A change is a set of [`Facts`]: one value for each top-level field and for each top-level key of the
//! metadata, under its JSON pointer. An event has the facts that were different before and those that are
//! different afterwards, so that a history is small, readable, and enough to rebuild the issue from.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Serialize, Serializer};
use serde_json::Value;
use thiserror::Error;

use super::claim::{Claim, Fence};
use super::json::Document;
use super::model::Comment;
use super::model::Issue;
use super::wire::Entry;
use crate::bead::{BeadId, FieldError, Timestamp};
use crate::vocabulary::{field, words};

/// Values under their JSON pointers.
pub type Facts = Document;

const METADATA: &str = "/metadata/";
const COMMENTS: &str = "/comments/";
// No field has such a pointer: a slash in a name is escaped, and no name is empty and has a part below it.
const CLAIM: &str = "//claim";
const FENCE: &str = "//fence";
const WHY: &str = "//why";
/// Before the pointer of a text that something was added to: the history of a text that grows does not tell it anew each time.
const APPENDED: &str = "//appended";
/// Shorter texts are repeated whole, which is easier to read.
const MIN_APPENDED: usize = 200;

/// One change of one issue.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its place in the history of the whole store; it rises, and only a repair leaves gaps.
    pub number: u64,
    /// The issue.
    pub issue: BeadId,
    /// The issue's version after the change; there are no gaps.
    pub version: u64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: String,
    /// What.
    pub kind: EventKind,
    /// What was different before.
    pub before: Facts,
    /// What is different now.
    pub after: Facts,
}

impl Event {
    /// The fence that the change gave out, if it did; the last one of an issue that was removed.
    pub fn fence(&self) -> Option<Fence> {
        let facts = match self.kind {
            EventKind::Deleted => &self.before,
            _ => &self.after,
        };
        facts.get(FENCE)?.as_u64().map(Fence)
    }
}

words! {
    /// What happened to an issue.
    EventKind {
        /// It came.
        Created = "created",
        /// Its fields changed.
        Updated = "updated",
        /// Its status changed.
        StatusChanged = "status_changed",
        /// It was closed.
        Closed = "closed",
        /// It was opened again.
        Reopened = "reopened",
        /// Somebody said something.
        Commented = "commented",
        /// A label came.
        LabelAdded = "label_added",
        /// A label went.
        LabelRemoved = "label_removed",
        /// An edge came.
        DependencyAdded = "dependency_added",
        /// An edge went.
        DependencyRemoved = "dependency_removed",
        /// Somebody holds it.
        Claimed = "claimed",
        /// Its holder gave it back.
        Released = "released",
        /// It was taken from a holder that is gone.
        Reclaimed = "reclaimed",
        /// It was put back after damage; what follows starts anew from here.
        Restored = "restored",
        /// It was removed. When its id comes again, its history goes on.
        Deleted = "deleted",
    }
}

/// Everything that a history tells about an issue at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Folded {
    /// The issue, its comments and its fence.
    pub entry: Entry,
    /// Who holds it.
    pub claim: Option<Claim>,
    /// Its version.
    pub version: u64,
}

/// Why a history does not tell what an issue is.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FoldError {
    /// There is nothing in it.
    #[error("the history is empty")]
    Empty,
    /// It tells that the issue was removed.
    #[error("the history ends with the removal of the issue")]
    Deleted,
    /// A change is missing.
    #[error("version {0} is missing from the history")]
    Gap(u64),
    /// What comes out is not an issue.
    #[error("the history does not describe an issue")]
    Invalid(Vec<FieldError>),
}

/// Facts that are borrowed from the issue that they are about, so that telling a change copies nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BorrowedFacts<'a>(Vec<(String, Cow<'a, Value>)>);

impl BorrowedFacts<'_> {
    /// The same facts on their own.
    pub fn into_facts(self) -> Facts {
        let facts = self.0.into_iter();
        facts
            .map(|(key, value)| (key, value.into_owned()))
            .collect()
    }

    /// Adds why something was done, which does not become part of the issue.
    #[must_use]
    pub fn because(mut self, why: Option<&str>) -> Self {
        let why = why.map(|why| (WHY.to_owned(), Cow::Owned(why.into())));
        self.0.extend(why);
        self
    }
}

impl Serialize for BorrowedFacts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

fn document_facts(issue: &Issue) -> Vec<(String, Cow<'_, Value>)> {
    let mut facts = Vec::with_capacity(issue.document().len() + 32);
    for (key, value) in issue.document() {
        match value {
            Value::Object(metadata) if key == field::METADATA && !metadata.is_empty() => {
                let told = metadata
                    .iter()
                    .map(|(key, value)| (pointer(METADATA, key), Cow::Borrowed(value)));
                facts.extend(told);
            }
            _ => facts.push((pointer("/", key), Cow::Borrowed(value))),
        }
    }
    facts
}

fn pointer(prefix: &str, key: &str) -> String {
    if key.contains(['~', '/']) {
        return format!("{prefix}{}", key.replace('~', "~0").replace('/', "~1"));
    }
    [prefix, key].concat()
}

fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// One side of a change: an issue, its fence and its claim.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The issue.
    pub issue: &'a Issue,
    /// Its fence.
    pub fence: Fence,
    /// Who holds it.
    pub claim: Option<&'a Claim>,
}

impl<'a> Side<'a> {
    fn facts(&self) -> Vec<(String, Cow<'a, Value>)> {
        let mut facts = document_facts(self.issue);
        if self.fence != Fence::default() {
            facts.push((FENCE.to_owned(), Cow::Owned(self.fence.0.into())));
        }
        if let Some(claim) = self.claim {
            let claim = serde_json::to_value(claim).expect("a claim can always be written");
            facts.push((CLAIM.to_owned(), Cow::Owned(claim)));
        }
        facts
    }
}

/// The facts that differ between two sides, and comments that came after the first `n_comments`.
pub fn difference<'a>(
    before: Option<Side<'a>>,
    after: Side<'a>,
    n_comments: usize,
    comments: &[Comment],
) -> (BorrowedFacts<'a>, BorrowedFacts<'a>) {
    let mut old = before.map(|side| side.facts()).unwrap_or_default();
    let mut new = after.facts();
    if !old.is_empty() {
        let then: HashMap<&str, &Value> =
            old.iter().map(|(key, value)| (&**key, &**value)).collect();
        let is_same = |(key, value): &(String, Cow<'a, Value>)| then.get(&**key) == Some(&&**value);
        let same: HashSet<String> = new
            .iter()
            .filter(|fact| is_same(fact))
            .map(|(key, _)| key.clone())
            .collect();
        let grown: HashSet<String> = new
            .iter_mut()
            .filter_map(|(key, value)| {
                let added = appended(then.get(&**key)?, value)?;
                let grown = std::mem::replace(key, format!("{APPENDED}{key}"));
                *value = Cow::Owned(added.into());
                Some(grown)
            })
            .collect();
        old.retain(|(key, _)| !same.contains(key) && !grown.contains(key));
        new.retain(|(key, _)| !same.contains(key));
    }
    for (index, comment) in comments.iter().enumerate() {
        let key = format!("{COMMENTS}{}", n_comments + index);
        new.push((key, Cow::Owned(comment.to_value())));
    }
    (BorrowedFacts(old), BorrowedFacts(new))
}

/// The facts of an issue that is removed.
pub fn removal(before: Side<'_>) -> BorrowedFacts<'_> {
    BorrowedFacts(before.facts())
}

/// What was added to the end of a long text.
fn appended(before: &Value, after: &Value) -> Option<String> {
    let (before, after) = (before.as_str()?, after.as_str()?);
    let added = after.strip_prefix(before)?;
    (before.len() >= MIN_APPENDED && !added.is_empty()).then(|| added.to_owned())
}

/// Rebuilds an issue from its whole history, oldest first. What came before it was last put back does not count.
pub fn fold(events: &[Event]) -> Result<Folded, FoldError> {
    if events.last().map(|event| event.kind) == Some(EventKind::Deleted) {
        return Err(FoldError::Deleted);
    }
    let is_start = |event: &Event| matches!(event.kind, EventKind::Created | EventKind::Restored);
    let start = events.iter().rposition(is_start).unwrap_or(0);
    let mut facts = Facts::new();
    let mut expected = None;
    for event in &events[start..] {
        if !is_start(event) && expected != Some(event.version) {
            return Err(FoldError::Gap(expected.unwrap_or(1)));
        }
        for key in event.before.keys() {
            facts.shift_remove(key);
        }
        for (key, value) in &event.after {
            take(&mut facts, key, value);
        }
        expected = Some(event.version + 1);
    }
    let Some(next) = expected else {
        return Err(FoldError::Empty);
    };
    rebuild(facts, next - 1)
}

fn take(facts: &mut Facts, key: &str, value: &Value) {
    match (key.strip_prefix(APPENDED), value) {
        (Some(pointer), Value::String(added)) => {
            if let Some(Value::String(text)) = facts.get_mut(pointer) {
                text.push_str(added);
            }
        }
        _ => drop(facts.insert(key.to_owned(), value.clone())),
    }
}

fn rebuild(facts: Facts, version: u64) -> Result<Folded, FoldError> {
    let mut document = Document::new();
    let mut metadata = Document::new();
    let mut comments: Vec<(usize, Value)> = Vec::new();
    let (mut claim, mut fence) = (None, Fence::default());
    for (key, value) in facts {
        if key == CLAIM {
            claim = serde_json::from_value(value).ok();
        } else if key == FENCE {
            fence = Fence(value.as_u64().unwrap_or_default());
        } else if key == WHY {
            // The reason of a change is not part of the issue.
        } else if let Some(number) = key.strip_prefix(COMMENTS) {
            comments.push((number.parse().unwrap_or(usize::MAX), value));
        } else if let Some(name) = key.strip_prefix(METADATA) {
            metadata.insert(unescaped(name), value);
        } else {
            document.insert(unescaped(key.trim_start_matches('/')), value);
        }
    }
    if !metadata.is_empty() {
        document.insert(field::METADATA.to_owned(), Value::Object(metadata));
    }
    comments.sort_by_key(|(number, _)| *number);
    let comments = comments
        .into_iter()
        .filter_map(|(_, comment)| Comment::from_value(comment).ok())
        .collect();
    let issue = Issue::without_comments(Value::Object(document)).map_err(FoldError::Invalid)?;
    Ok(Folded {
        entry: Entry {
            issue,
            comments,
            fence,
        },
        claim,
        version,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn issue(document: Value) -> Issue {
        Issue::without_comments(document).unwrap()
    }

    fn event(
        version: u64,
        kind: EventKind,
        (before, after): (BorrowedFacts<'_>, BorrowedFacts<'_>),
    ) -> Event {
        Event {
            number: version,
            issue: BeadId::parse("a").unwrap(),
            version,
            at: Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
            actor: "me".to_owned(),
            kind,
            before: before.into_facts(),
            after: after.into_facts(),
        }
    }

    fn side(issue: &Issue) -> Side<'_> {
        Side {
            issue,
            fence: Fence::default(),
            claim: None,
        }
    }

    #[test]
    fn a_history_tells_what_changed_and_no_more() {
        let one = issue(json!({"id": "a", "title": "t", "metadata": {"a/b": 1, "c": null}}));
        let two = issue(json!({"id": "a", "title": "u", "metadata": {"c": null, "d": {}}}));
        let (before, after) = difference(Some(side(&one)), side(&two), 0, &[]);
        assert_eq!(
            Value::Object(before.into_facts()),
            json!({"/title": "t", "/metadata/a~1b": 1})
        );
        assert_eq!(
            Value::Object(after.into_facts()),
            json!({"/title": "u", "/metadata/d": {}})
        );
    }

    #[test]
    fn a_whole_history_gives_the_issue_and_a_gap_is_seen() {
        let one = issue(json!({"id": "a", "title": "t", "metadata": {"a": 1}, "odd~/": [1]}));
        let two = issue(json!({"id": "a", "title": "u", "metadata": {}}));
        let comment = Comment::from_value(json!({"text": "hi"})).unwrap();
        let events = [
            event(1, EventKind::Created, difference(None, side(&one), 0, &[])),
            event(
                2,
                EventKind::Updated,
                difference(Some(side(&one)), side(&two), 0, &[]),
            ),
            event(
                3,
                EventKind::Commented,
                difference(
                    Some(side(&two)),
                    side(&two),
                    0,
                    std::slice::from_ref(&comment),
                ),
            ),
        ];
        assert_eq!(fold(&events[..1]).unwrap().entry.issue, one);
        let folded = fold(&events).unwrap();
        assert_eq!((&folded.entry.issue, folded.version), (&two, 3));
        assert_eq!(folded.entry.comments, [comment]);
        assert_eq!(
            fold(&[events[0].clone(), events[2].clone()]),
            Err(FoldError::Gap(2))
        );
        assert_eq!(fold(&events[1..]), Err(FoldError::Gap(1)));
        assert_eq!(fold(&[]), Err(FoldError::Empty));
    }

    #[test]
    fn z_21_a_field_may_have_the_name_of_what_the_store_keeps() {
        let odd = json!({"id": "a", "title": "t", "claim": 1, "fence": "x", "": {"claim": 2}, "version": 9,
            "metadata": {"": 1, "claim": 2}, "metadata/": 3, "comments/0": 4, "/claim": 5});
        let odd = issue(odd);
        let side = Side {
            fence: Fence(3),
            ..side(&odd)
        };
        let events = [event(1, EventKind::Created, difference(None, side, 0, &[]))];
        let folded = fold(&events).unwrap();
        assert_eq!(folded.entry.issue, odd);
        assert_eq!((folded.entry.fence, folded.claim), (Fence(3), None));
    }

    #[test]
    fn a_text_that_grows_is_not_told_anew_each_time() {
        let notes = "x".repeat(MIN_APPENDED);
        let one = issue(json!({"id": "a", "title": "t", "notes": notes}));
        let two = issue(json!({"id": "a", "title": "t", "notes": format!("{notes}\nmore")}));
        let (before, after) = difference(Some(side(&one)), side(&two), 0, &[]);
        assert_eq!(before, BorrowedFacts::default());
        let after_facts = Value::Object(after.clone().into_facts());
        assert_eq!(after_facts, json!({"//appended/notes": "\nmore"}));
        let events = [
            event(1, EventKind::Created, difference(None, side(&one), 0, &[])),
            event(2, EventKind::Updated, (before, after)),
        ];
        assert_eq!(fold(&events).unwrap().entry.issue, two);
    }
}
