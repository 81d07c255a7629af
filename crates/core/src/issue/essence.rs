//! What every keeper of issues keeps of a document, in one form.
//!
//! Two documents with the same essence say the same, though the one has a null where the other has nothing, labels and edges
//! stand in another order, a time has fractions of a second, or a number has another number of digits. The moment of the last
//! change is left out: each keeper has its own clock.

use serde_json::{Map, Value, json};

use super::model::Issue;
use crate::bead::Timestamp;

/// Fields that a keeper sets by its own clock.
const OWN_CLOCK: [&str; 3] = ["updated_at", "started_at", "closed_at"];

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

/// A document in the form in which it can be compared.
fn essence(issue: &Issue) -> Map<String, Value> {
    let mut essence = Map::new();
    for (key, value) in issue.document() {
        let value = match key.as_str() {
            key if OWN_CLOCK.contains(&key) => continue,
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
        ("status", json!("open")),
        ("issue_type", json!("task")),
        ("priority", json!(2)),
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
}
