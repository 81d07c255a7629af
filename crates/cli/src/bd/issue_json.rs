//! Beads in the real `bd`'s shapes: an issue, an issue with counts, an issue in detail; its order of fields, whole
//! seconds, and nothing where there is nothing. Fields that `bd` does not know follow those that it knows.

use beads_ralph_core::bead::{BeadId, Timestamp};
use beads_ralph_core::issue::{Comment, Dependency, Effect, Issue, Record};
use beads_ralph_core::vocabulary::EdgeType;
use beads_ralph_runtime::os::digest;
use jiff::SignedDuration;
use serde_json::{Map, Value, json};

use super::{holding, output};

/// How long a claim of the face lasts without a word, as the real `bd` has it.
pub(super) const LEASE: SignedDuration = SignedDuration::from_mins(5);

/// The time of something of which no time is known.
pub(super) const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// Who holds a bead whose assignee is a role; the real `bd` has no such key.
const HELD_BY: &str = "held_by";

/// An object with its fields in order.
pub(super) type Object = Map<String, Value>;

/// What a field of `bd`'s issue is.
#[derive(Clone, Copy)]
enum Field {
    /// A text, a number, a flag or a list that is left out when there is nothing in it.
    Plain,
    /// A moment.
    Time,
    /// Written by hand below.
    Special,
}

/// Every field of `bd`'s issue, in order.
const FIELDS: [(&str, Field); 52] = [
    ("id", Field::Special),
    ("title", Field::Special),
    ("description", Field::Plain),
    ("design", Field::Plain),
    ("acceptance_criteria", Field::Plain),
    ("notes", Field::Plain),
    ("spec_id", Field::Plain),
    ("status", Field::Special),
    ("priority", Field::Special),
    ("issue_type", Field::Special),
    ("assignee", Field::Plain),
    ("owner", Field::Plain),
    ("estimated_minutes", Field::Special),
    ("created_at", Field::Special),
    ("created_by", Field::Plain),
    ("updated_at", Field::Special),
    ("started_at", Field::Time),
    ("closed_at", Field::Time),
    ("close_reason", Field::Plain),
    ("closed_by_session", Field::Plain),
    ("lease_expires_at", Field::Special),
    ("heartbeat_at", Field::Special),
    ("lease_granted_node", Field::Special),
    ("due_at", Field::Time),
    ("defer_until", Field::Time),
    ("external_ref", Field::Plain),
    ("source_system", Field::Plain),
    ("metadata", Field::Special),
    ("compaction_level", Field::Plain),
    ("compacted_at", Field::Time),
    ("compacted_at_commit", Field::Plain),
    ("original_size", Field::Plain),
    ("labels", Field::Special),
    ("dependencies", Field::Special),
    ("comments", Field::Special),
    ("sender", Field::Plain),
    ("ephemeral", Field::Plain),
    ("no_history", Field::Plain),
    ("wisp_type", Field::Plain),
    ("storage_class", Field::Plain),
    ("pinned", Field::Plain),
    ("is_template", Field::Plain),
    ("bonded_from", Field::Plain),
    ("await_type", Field::Plain),
    ("await_id", Field::Plain),
    ("timeout", Field::Plain),
    ("waiters", Field::Plain),
    ("source_formula", Field::Plain),
    ("source_location", Field::Plain),
    ("mol_type", Field::Plain),
    ("work_type", Field::Plain),
    ("event_kind", Field::Plain),
];

/// Those that come last, and those that others compute and that mean nothing in a document.
const LAST: [&str; 3] = ["actor", "target", "payload"];
const COMPUTED: [&str; 9] = [
    "_type",
    "is_blocked",
    "claim_fence",
    "dependency_count",
    "dependent_count",
    "comment_count",
    "parent",
    "schema_version",
    HELD_BY,
];

/// What stands in an issue besides its own fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lists {
    /// Nothing.
    None,
    /// Its labels.
    Labels,
    /// Its labels and its edges.
    Edges,
}

/// An issue with its labels, as `create`, `update`, `close` and `reopen` answer.
pub(super) fn issue(record: &Record) -> Object {
    write(record, Lists::Labels)
}

/// An issue with its labels and its edges.
pub(super) fn with_edges(record: &Record) -> Object {
    write(record, Lists::Edges)
}

/// An issue with its labels, its edges and what `bd` counts about it, as `list` and `ready` answer.
pub(super) fn with_counts(record: &Record, n_dependents: usize) -> Object {
    let mut object = write(record, Lists::Edges);
    let edges = record.issue.dependencies();
    let n_blocking = edges.iter().filter(|edge| edge.kind() == EdgeType::Blocks);
    object.insert("dependency_count".to_owned(), n_blocking.count().into());
    object.insert("dependent_count".to_owned(), n_dependents.into());
    object.insert("comment_count".to_owned(), record.n_comments.into());
    if let Some(parent) = parent(&record.issue) {
        object.insert("parent".to_owned(), parent.as_str().into());
    }
    object
}

/// An issue with everything that travels with it, as `export` writes it.
pub(super) fn exported(record: &Record, comments: Vec<Value>, n_dependents: usize) -> Object {
    let mut counted = with_counts(record, n_dependents);
    counted.shift_remove("parent");
    counted.shift_remove(HELD_BY);
    if let Some(Value::Array(edges)) = counted.get_mut("dependencies") {
        let target = |edge: &Value| edge["depends_on_id"].as_str().map(str::to_owned);
        edges.sort_by_key(target);
    }
    let place = FIELDS.iter().position(|(key, _)| *key == "comments");
    let before = &FIELDS[..place.unwrap_or_default()];
    let (first, last): (Object, Object) = counted
        .into_iter()
        .partition(|(key, _)| before.iter().any(|(own, _)| own == key));
    let mut object = Object::new();
    object.insert("_type".to_owned(), "issue".into());
    object.extend(first);
    if !comments.is_empty() {
        object.insert("comments".to_owned(), comments.into());
    }
    object.extend(last);
    object
}

/// The texts that `--brief` leaves out.
pub(super) fn brief(mut object: Object) -> Object {
    for key in [
        "description",
        "design",
        "acceptance_criteria",
        "notes",
        "payload",
        "waiters",
    ] {
        object.shift_remove(key);
    }
    object
}

/// An issue that another depends on, or that depends on another, with the type of the edge between them.
pub(super) fn related(record: &Record, kind: &str) -> Object {
    let mut object = write(record, Lists::Labels);
    object.insert("dependency_type".to_owned(), kind.into());
    object
}

/// The same, reduced to what it is.
pub(super) fn related_shortly(record: &Record, kind: &str) -> Object {
    let issue = &record.issue;
    let value = json!({
        "id": issue.id().as_str(),
        "title": issue.title(),
        "status": issue.status(),
        "priority": issue.priority(),
        "issue_type": issue.issue_type(),
        "created_at": ZERO_TIME,
        "updated_at": ZERO_TIME,
        "dependency_type": kind,
    });
    let Value::Object(object) = value else {
        unreachable!("an object was just made");
    };
    object
}

/// What `show` knows beside the issue itself.
#[derive(Debug, Default)]
pub(super) struct Details {
    pub(super) dependencies: Vec<Value>,
    pub(super) dependents: Option<Vec<Value>>,
    pub(super) n_dependents: usize,
    pub(super) comments: Option<Vec<Value>>,
    /// Children of an epic and how many of them are closed.
    pub(super) children: Option<(usize, usize)>,
}

/// An issue in detail.
pub(super) fn details(record: &Record, details: Details) -> Object {
    let mut object = write(record, Lists::None);
    let labels = sorted_labels(&record.issue);
    let mut put = |key: &str, value: Value| {
        object.insert(key.to_owned(), value);
    };
    if !labels.is_empty() {
        put("labels", labels.into());
    }
    let n_dependencies = record.issue.dependencies().len();
    if !details.dependencies.is_empty() {
        put("dependencies", details.dependencies.into());
    }
    if let Some(dependents) = details.dependents.filter(|list| !list.is_empty()) {
        put("dependents", dependents.into());
    }
    let is_omitted = details.comments.is_none() && record.n_comments > 0;
    if let Some(comments) = details.comments.filter(|list| !list.is_empty()) {
        put("comments", comments.into());
    }
    if let Some(parent) = parent(&record.issue) {
        put("parent", parent.as_str().into());
    }
    put("dependent_count", details.n_dependents.into());
    put("dependency_count", n_dependencies.into());
    put("comment_count", record.n_comments.into());
    if is_omitted {
        put("comments_omitted", true.into());
    }
    if let Some((total, closed)) = details.children {
        put("epic_total_children", total.into());
        put("epic_closed_children", closed.into());
        put("epic_closeable", (total == closed).into());
    }
    put("revision", revision(record).into());
    object
}

/// A word that is another for every bead and every version of it, and tells nothing else.
fn revision(record: &Record) -> String {
    let named = format!("{}@{}", record.issue.id(), record.version);
    let bytes = digest::bytes(named.as_bytes());
    let head = bytes.first_chunk::<8>().copied().unwrap_or_default();
    i64::from_be_bytes(head).to_string()
}

/// A comment, as `bd` writes it.
pub(super) fn comment(issue: &BeadId, comment: &Comment, index: usize) -> Value {
    let value = comment.to_value();
    let id = match value.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(id) if !id.is_null() => id.to_string(),
        // Comments of ours have no id of their own; their place in the list never changes.
        _ => format!("{issue}-c{}", index + 1),
    };
    let time = comment.created_at().and_then(whole_seconds);
    json!({
        "id": id,
        "issue_id": issue.as_str(),
        "author": comment.author().unwrap_or_default(),
        "text": comment.text().unwrap_or_default(),
        "created_at": time.unwrap_or_else(|| ZERO_TIME.to_owned()),
    })
}

/// An edge, as `bd` writes it.
pub(super) fn edge(issue: &Issue, edge: &Dependency) -> Value {
    let text = |key: &str| edge.get(key).and_then(Value::as_str);
    let made = text("created_at").and_then(whole_seconds);
    let made = made.or_else(|| time_of(issue, "created_at"));
    let mut object = Map::new();
    object.insert("issue_id".to_owned(), issue.id().as_str().into());
    object.insert("depends_on_id".to_owned(), edge.target().as_str().into());
    object.insert("type".to_owned(), edge.kind().into());
    object.insert(
        "created_at".to_owned(),
        made.unwrap_or_else(|| ZERO_TIME.to_owned()).into(),
    );
    if let Some(by) = text("created_by").filter(|by| !by.is_empty()) {
        object.insert("created_by".to_owned(), by.into());
    }
    let metadata = match edge.get("metadata") {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    if !metadata.is_empty() {
        object.insert("metadata".to_owned(), metadata.into());
    }
    if let Some(thread) = text("thread_id").filter(|thread| !thread.is_empty()) {
        object.insert("thread_id".to_owned(), thread.into());
    }
    Value::Object(object)
}

/// The labels in order, as every answer but that of `create` has them.
pub(super) fn sorted_labels(issue: &Issue) -> Vec<String> {
    let mut labels: Vec<String> = issue.labels().map(str::to_owned).collect();
    labels.sort();
    labels
}

/// The issue that this one is a part of.
pub(super) fn parent(issue: &Issue) -> Option<&BeadId> {
    let mut edges = issue.dependencies().iter();
    edges
        .find(|edge| edge.effect() == Effect::Parent)
        .map(Dependency::target)
}

/// How long a holder counts as alive, as the real `bd` tells it.
#[derive(Debug)]
pub(super) struct Lease<'r> {
    pub(super) end: jiff::Timestamp,
    /// The last sign of life.
    pub(super) beat: Option<jiff::Timestamp>,
    /// The replica that granted it.
    pub(super) node: Option<&'r str>,
}

/// The lease of a bead: that of its claim, or the one that it was imported with.
pub(super) fn lease(record: &Record) -> Option<Lease<'_>> {
    let issue = &record.issue;
    let node = issue.text("lease_granted_node");
    let node = node.filter(|node| !node.is_empty());
    if let Some(claim) = &record.claim {
        let end = claim.lease_until;
        let beat = end.checked_sub(LEASE).unwrap_or(claim.claimed_at);
        return Some(Lease {
            end,
            beat: Some(beat.max(claim.claimed_at)),
            node,
        });
    }
    let is_held = issue.status() == "in_progress" && issue.assignee().is_some();
    Some(Lease {
        end: issue.time("lease_expires_at").filter(|_| is_held)?,
        beat: issue.time("heartbeat_at"),
        node,
    })
}

fn write(record: &Record, lists: Lists) -> Object {
    let issue = &record.issue;
    let document = issue.document();
    let mut object = Map::new();
    for (key, field) in FIELDS {
        let value = match field {
            Field::Plain => document.get(key).filter(|value| !is_empty(value)).cloned(),
            Field::Time => time_of(issue, key).map(Value::from),
            Field::Special => special(record, key, lists),
        };
        if let Some(value) = value {
            object.insert(key.to_owned(), value);
        }
        if key == "assignee"
            && let Some(holder) = holding::holder_of_role(record)
        {
            object.insert(HELD_BY.to_owned(), holder.into());
        }
    }
    let plain = |key: &str| document.get(key).filter(|value| !is_empty(value)).cloned();
    for key in LAST {
        if let Some(value) = plain(key) {
            object.insert(key.to_owned(), value);
        }
    }
    let is_known = |key: &str| {
        FIELDS.iter().any(|(known, _)| *known == key)
            || LAST.contains(&key)
            || COMPUTED.contains(&key)
    };
    for (key, value) in document {
        if !is_known(key) {
            object.insert(key.clone(), value.clone());
        }
    }
    object
}

fn special(record: &Record, key: &str, lists: Lists) -> Option<Value> {
    let issue = &record.issue;
    let time = |key| time_of(issue, key).unwrap_or_else(|| ZERO_TIME.to_owned());
    let moment = |at| Value::from(Timestamp::from_instant(at).as_str());
    match key {
        "id" => Some(issue.id().as_str().into()),
        "title" => Some(issue.title().into()),
        "status" => Some(issue.status().into()),
        "priority" => Some(issue.priority().into()),
        "issue_type" => Some(issue.issue_type().into()),
        "metadata" => (issue.document().get(key))
            .filter(|value| !is_empty(value))
            .map(|value| output::by_length(value.clone())),
        "estimated_minutes" => (issue.document().get(key))
            .filter(|value| value.is_number())
            .cloned(),
        "created_at" => Some(time("created_at").into()),
        "updated_at" => {
            let updated = time_of(issue, "updated_at");
            Some(updated.unwrap_or_else(|| time("created_at")).into())
        }
        "lease_expires_at" => lease(record).map(|lease| moment(lease.end)),
        "heartbeat_at" => lease(record).and_then(|lease| lease.beat).map(moment),
        "lease_granted_node" => lease(record).and_then(|lease| lease.node).map(Value::from),
        "labels" if lists != Lists::None => {
            let labels = sorted_labels(issue);
            (!labels.is_empty()).then(|| labels.into())
        }
        "dependencies" if lists == Lists::Edges => {
            let edges = issue.dependencies();
            let edges: Vec<Value> = edges.iter().map(|own| edge(issue, own)).collect();
            (!edges.is_empty()).then(|| edges.into())
        }
        _ => None,
    }
}

fn time_of(issue: &Issue, key: &str) -> Option<String> {
    let time = Timestamp::from_instant(issue.time(key)?);
    Some(time.as_str().to_owned())
}

fn whole_seconds(text: &str) -> Option<String> {
    let time = Timestamp::parse(text).ok()?;
    let time = Timestamp::from_instant(time.instant());
    Some(time.as_str().to_owned())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(true) => false,
    }
}
