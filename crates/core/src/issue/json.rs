//! Documents as JSON: how large they may be, how parts of them are changed, and whether two of them say the same.
//!
//! Two documents are compared by their essence: one may have a null where the other has nothing, labels and edges in another order, a
//! time with fractions of a second, or a number with other digits. The time of the last change is left out: each keeper has its
//! own clock.

use serde_json::{Map, Value, json};

use super::model::Issue;
use crate::bead::{Invalid, Timestamp};
use crate::vocabulary::{IssueType, Status, field};

/// The document of an issue.
pub type Document = Map<String, Value>;

/// The most that a document may hold, counted in bytes of its texts and numbers.
pub const MAX_DOCUMENT_BYTES: usize = 8 * 1024 * 1024;

/// The deepest nesting of a document, which every JSON reader can follow.
pub const MAX_DOCUMENT_DEPTH: usize = 100;

/// A text of a document.
pub(super) fn text<'d>(document: &'d Document, key: &str) -> Option<&'d str> {
    document.get(key).and_then(Value::as_str)
}

/// Whether a document says that the issue is closed.
pub(super) fn is_closed(document: &Document) -> bool {
    text(document, field::STATUS).is_some_and(|status| status == Status::Closed)
}

/// The table under a key, made where there is none.
pub(super) fn table<'d>(document: &'d mut Document, key: &str) -> &'d mut Document {
    let slot = document.entry(key).or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    slot.as_object_mut().expect("it was just made an object")
}

/// The list under a key, made where there is none.
pub(super) fn list<'d>(document: &'d mut Document, key: &str) -> &'d mut Vec<Value> {
    let slot = document.entry(key).or_insert(Value::Null);
    if !slot.is_array() {
        *slot = Value::Array(Vec::new());
    }
    slot.as_array_mut().expect("it was just made a list")
}

/// Removes items of a list.
pub(super) fn remove_items(document: &mut Document, key: &str, is_wanted: impl Fn(&Value) -> bool) {
    if let Some(Value::Array(items)) = document.get_mut(key) {
        items.retain(|item| !is_wanted(item));
    }
}

/// Removes a key of the metadata.
pub(super) fn remove_metadata(document: &mut Document, key: &str) {
    if let Some(Value::Object(metadata)) = document.get_mut(field::METADATA) {
        metadata.shift_remove(key);
    }
}

/// Sets a value that is absent or null.
pub(super) fn set_if_null(document: &mut Document, key: &str, value: impl Into<Value>) {
    let slot = document.entry(key).or_insert(Value::Null);
    if slot.is_null() {
        *slot = value.into();
    }
}

/// Removes what a document says of a lease. A lease ends with the claim that it belongs to.
pub fn forget_lease(document: &mut Document) {
    for field in field::LEASE {
        document.shift_remove(field);
    }
}

/// Whether a value can be kept and read again: not too big, not too deep. Walks without recursion.
pub(super) fn check_size(document: &Value, max_depth: usize) -> Result<(), Invalid> {
    let mut size = 0usize;
    let mut open = vec![(document, 1usize)];
    while let Some((value, depth)) = open.pop() {
        if depth > max_depth {
            return Err(Invalid::value(format!(
                "the document is nested more than {max_depth} deep"
            )));
        }
        size += match value {
            Value::String(text) => text.len() + 3,
            Value::Number(number) => number.as_str().len() + 1,
            Value::Array(items) => {
                open.extend(items.iter().map(|item| (item, depth + 1)));
                2
            }
            Value::Object(map) => {
                open.extend(map.values().map(|item| (item, depth + 1)));
                map.keys().map(|key| key.len() + 4).sum()
            }
            Value::Null | Value::Bool(_) => 5,
        };
        if size > MAX_DOCUMENT_BYTES {
            return Err(Invalid::value(format!(
                "the document is larger than {} MiB",
                MAX_DOCUMENT_BYTES / 1024 / 1024
            )));
        }
    }
    Ok(())
}

/// Fields that a keeper sets by its own clock.
const OWN_CLOCK: [&str; 3] = [field::UPDATED_AT, field::STARTED_AT, field::CLOSED_AT];

/// What a keeper adds to a document that does not say it.
const ADDED: [&str; 4] = ["created_at", "created_by", "owner", "close_reason"];

/// Whether what is kept says the same as what was to be kept.
pub fn is_same_content(kept: &Issue, wanted: &Issue) -> bool {
    let (mut kept, wanted) = (essence(kept), essence(wanted));
    for key in ADDED {
        if !wanted.contains_key(key) {
            kept.shift_remove(key);
        }
    }
    kept == wanted
}

/// Whether what is kept has become what a change was to make of it. What somebody else changed besides does not matter.
pub fn has_become(kept: &Issue, before: &Issue, after: &Issue) -> bool {
    let [kept, before, after] = [kept, before, after].map(essence);
    let keys = before.keys().chain(after.keys());
    keys.into_iter().all(|key| {
        let [kept, before, after] = [&kept, &before, &after].map(|map| map.get(key));
        match key.as_str() {
            _ if before == after => true,
            "labels" | "dependencies" => has_items(kept, before, after),
            "metadata" => has_keys(kept, before, after),
            key if ADDED.contains(&key) => after.is_none() || kept == after,
            _ => kept == after,
        }
    })
}

/// Whether a list has what was added to it, and not what was taken from it.
fn has_items(kept: Option<&Value>, before: Option<&Value>, after: Option<&Value>) -> bool {
    let [kept, before, after] = [kept, before, after].map(|list| {
        list.and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice)
    });
    after
        .iter()
        .all(|item| before.contains(item) || kept.contains(item))
        && before
            .iter()
            .all(|item| after.contains(item) || !kept.contains(item))
}

/// Whether the keys that were changed have their new values.
fn has_keys(kept: Option<&Value>, before: Option<&Value>, after: Option<&Value>) -> bool {
    let empty = Map::new();
    let [kept, before, after] =
        [kept, before, after].map(|map| map.and_then(Value::as_object).unwrap_or(&empty));
    let mut keys = before.keys().chain(after.keys());
    keys.all(|key| before.get(key) == after.get(key) || kept.get(key) == after.get(key))
}

/// A document in the form in which it can be compared.
fn essence(issue: &Issue) -> Map<String, Value> {
    let mut essence = Map::new();
    for (key, value) in issue.document() {
        let value = match key.as_str() {
            key if OWN_CLOCK.contains(&key) || field::LEASE.contains(&key) => continue,
            "labels" => sorted(issue.labels().map(Value::from).collect()),
            "dependencies" => {
                let edges = issue.dependencies().iter();
                sorted(
                    edges
                        .map(|edge| json!([edge.target(), edge.kind()]))
                        .collect(),
                )
            }
            "created_at" | "due_at" | "defer_until" => whole_seconds(value),
            _ => plain(value),
        };
        if !is_nothing(&value) {
            essence.insert(key.clone(), value);
        }
    }
    // What is left out means the same as these.
    for (key, value) in [
        (field::STATUS, json!(Status::Open)),
        (field::ISSUE_TYPE, json!(IssueType::Task)),
        (field::PRIORITY, json!(2)),
    ] {
        essence.entry(key).or_insert(plain(&value));
    }
    essence
}

fn sorted(mut values: Vec<Value>) -> Value {
    values.sort_by_key(Value::to_string);
    values.dedup();
    Value::Array(values)
}

fn whole_seconds(value: &Value) -> Value {
    let time = value.as_str().and_then(|text| Timestamp::parse(text).ok());
    match time {
        Some(time) => time.instant().as_second().into(),
        None => value.clone(),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// Numbers as every reader of JSON has them.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(number) => json!(number),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), plain(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issue(document: Value) -> Issue {
        Issue::without_comments(document).unwrap()
    }

    #[test]
    fn z_25_what_a_keeper_changes_without_harm_is_the_same() {
        let wanted = issue(
            json!({"id": "a", "title": "t", "owner": null, "labels": ["b", "a", "b"], "priority": 2,
            "created_at": "2026-01-01T00:00:00.5Z", "updated_at": "2026-01-01T00:00:00Z",
            "dependencies": ["y", "x"], "metadata": {"n": 1.50, "z": null}}),
        );
        let kept = issue(
            json!({"id": "a", "title": "t", "labels": ["a", "b"], "status": "open", "created_by": "me",
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-02-02T00:00:00Z",
            "dependencies": ["x", {"depends_on_id": "y", "type": "blocks", "created_by": "me"}],
            "metadata": {"z": null, "n": 1.5}}),
        );
        assert!(is_same_content(&kept, &wanted));
        assert!(
            !is_same_content(&wanted, &kept),
            "who made it was to be kept"
        );
    }

    #[test]
    fn z_25_what_is_lost_is_not_the_same() {
        let whole = json!({"id": "a", "title": "t", "labels": ["b"], "dependencies": ["x"],
            "metadata": {"n": 1, "deep": {"z": null}}, "notes": "n"});
        for change in [
            json!({"labels": []}),
            json!({"dependencies": [{"depends_on_id": "x", "type": "related"}]}),
            json!({"metadata": {"n": 1, "deep": {}}}),
            json!({"notes": ""}),
            json!({"status": "blocked"}),
        ] {
            let mut other = whole.clone();
            let (Value::Object(map), Value::Object(change)) = (&mut other, change) else {
                panic!("both are objects");
            };
            map.extend(change);
            let other = issue(other);
            assert!(!is_same_content(&other, &issue(whole.clone())), "{other:?}");
        }
    }

    #[test]
    fn z_3_a_change_is_made_whatever_else_somebody_changes() {
        let before = issue(
            json!({"id": "a", "title": "t", "labels": ["x", "y"], "priority": 1, "metadata": {"n": 1, "m": 1}}),
        );
        let after = issue(
            json!({"id": "a", "title": "t", "labels": ["x", "z"], "priority": 1, "status": "blocked", "metadata": {"n": 2, "m": 1}}),
        );
        let kept = |labels: Value, status: &str, metadata: Value| {
            issue(
                json!({"id": "a", "title": "theirs", "labels": labels, "priority": 0, "status": status, "metadata": metadata}),
            )
        };
        let good = kept(json!(["q", "z"]), "blocked", json!({"n": 2, "theirs": 1}));
        assert!(has_become(&good, &before, &after));
        for (labels, status, metadata) in [
            (json!(["q"]), "blocked", json!({"n": 2})),
            (json!(["y", "z"]), "blocked", json!({"n": 2})),
            (json!(["z"]), "open", json!({"n": 2})),
            (json!(["z"]), "blocked", json!({"n": 1})),
        ] {
            let bad = kept(labels, status, metadata);
            assert!(!has_become(&bad, &before, &after), "{bad:?}");
        }
    }
}
