//! Beads in the shapes of the real `bd`: an issue, an issue with counts, an issue in detail. Its order of keys, whole seconds,
//! and no key without a value. Keys that `bd` does not know follow those that it knows.

use beads_ralph_core::bead::{BeadId, Timestamp};
use beads_ralph_core::issue::{Comment, Dependency, Effect, Issue, Record, counts as entry_counts};
use beads_ralph_core::vocabulary::Status;
use beads_ralph_runtime::os::digest;
use jiff::SignedDuration;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Opened, Refusal, claims, go_json};

/// How long a claim of the face lasts without a word, as the real `bd` has it.
pub(super) const LEASE: SignedDuration = SignedDuration::from_mins(5);

/// The time of something of which no time is known.
pub(super) const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// Who holds a bead whose assignee is a role; the real `bd` has no such key.
const HELD_BY: &str = "held_by";

/// Every key of `bd`'s issue, in order.
#[rustfmt::skip]
const KEYS: [&str; 56] = [
    "id", "title", "description", "design", "acceptance_criteria", "notes", "spec_id", "status", "priority", "issue_type",
    "assignee", HELD_BY, "owner", "estimated_minutes", "created_at", "created_by", "updated_at", "started_at", "closed_at",
    "close_reason", "closed_by_session", "lease_expires_at", "heartbeat_at", "lease_granted_node", "due_at", "defer_until",
    "external_ref", "source_system", "metadata", "compaction_level", "compacted_at", "compacted_at_commit", "original_size",
    "labels", "dependencies", "comments", "sender", "ephemeral", "no_history", "wisp_type", "storage_class", "pinned",
    "is_template", "bonded_from", "await_type", "await_id", "timeout", "waiters", "source_formula", "source_location",
    "mol_type", "work_type", "event_kind", "actor", "target", "payload",
];

/// Keys that are computed and mean nothing in a document.
#[rustfmt::skip]
const COMPUTED: [&str; 8] = [
    "_type", "is_blocked", "claim_fence", "dependency_count", "dependent_count", "comment_count", "parent", "schema_version",
];

/// A bead as an object, with its keys in order.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub(super) struct IssueJson(Map<String, Value>);

impl IssueJson {
    /// Adds a key at the end, or changes it where it is.
    #[must_use]
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    #[must_use]
    pub(super) fn without(mut self, keys: &[&str]) -> Self {
        self.0.retain(|key, _| !keys.contains(&key.as_str()));
        self
    }
}

/// What stands in an issue besides its own fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lists {
    None,
    Labels,
    Edges,
}

/// An issue with its labels, as `create`, `update`, `close` and `reopen` answer.
pub(super) fn issue(record: &Record) -> IssueJson {
    write(record, Lists::Labels)
}

pub(super) fn issues(records: &[Record]) -> Vec<IssueJson> {
    records.iter().map(issue).collect()
}

/// An issue with its labels and its edges.
pub(super) fn with_edges(record: &Record) -> IssueJson {
    write(record, Lists::Edges)
}

/// An issue with its labels, its edges and what `bd` counts about it.
fn counted(record: &Record, n_dependents: usize) -> IssueJson {
    let mut issue = write(record, Lists::Edges);
    let counts = entry_counts(&record.issue, n_dependents, record.n_comments);
    issue.0.extend(counts);
    issue
}

/// Issues with their labels, their edges and what `bd` counts about them, as `list`, `ready` and `query` answer.
pub(super) fn with_counts(opened: &Opened, records: &[Record]) -> Result<Vec<IssueJson>, Refusal> {
    let ids: Vec<BeadId> = (records.iter())
        .map(|record| record.issue.id().clone())
        .collect();
    let counts = opened.store.count_blocked_by(&ids)?;
    let counted = |(record, n_dependents)| counted(record, n_dependents);
    Ok(records.iter().zip(counts).map(counted).collect())
}

/// An issue with everything that travels with it, as `export` writes it.
pub(super) fn exported(
    record: &Record,
    comments: Vec<CommentJson>,
    n_dependents: usize,
) -> Map<String, Value> {
    let mut counted = counted(record, n_dependents)
        .without(&["parent", HELD_BY])
        .0;
    if let Some(Value::Array(edges)) = counted.get_mut("dependencies") {
        let target = |edge: &Value| edge["depends_on_id"].as_str().map(str::to_owned);
        edges.sort_by_key(target);
    }
    let before = KEYS.iter().take_while(|key| **key != "comments");
    let before: Vec<&str> = before.copied().collect();
    let (first, last): (Map<String, Value>, Map<String, Value>) =
        (counted.into_iter()).partition(|(key, _)| before.contains(&key.as_str()));
    let mut object = Map::new();
    object.insert("_type".to_owned(), "issue".into());
    object.extend(first);
    if !comments.is_empty() {
        object.insert("comments".to_owned(), go_json::value(comments));
    }
    object.extend(last);
    object
}

/// An issue without its long texts, for `--brief`.
pub(super) fn brief(issue: IssueJson) -> IssueJson {
    issue.without(&[
        "description",
        "design",
        "acceptance_criteria",
        "notes",
        "payload",
        "waiters",
    ])
}

/// An issue that another depends on, or that depends on another, with the type of the edge between them.
pub(super) fn related(record: &Record, kind: &str) -> IssueJson {
    issue(record).with("dependency_type", kind)
}

/// The same, without anything that is long.
pub(super) fn related_shortly(record: &Record, kind: &str) -> IssueJson {
    let mut issue = write(record, Lists::None);
    let heads = ["id", "title", "status", "priority", "issue_type"];
    issue.0.retain(|key, _| heads.contains(&key.as_str()));
    issue
        .with("created_at", ZERO_TIME)
        .with("updated_at", ZERO_TIME)
        .with("dependency_type", kind)
}

pub(super) fn wisp(record: &Record) -> IssueJson {
    let issue = issue(record).0;
    let keys = [
        "id",
        "title",
        "status",
        "priority",
        "issue_type",
        "created_at",
        "updated_at",
        "labels",
    ];
    let kept = keys.into_iter().filter_map(|key| {
        let name = if key == "issue_type" { "type" } else { key };
        Some((name.to_owned(), issue.get(key)?.clone()))
    });
    IssueJson(kept.collect())
}

/// What `show` knows beside the issue itself.
#[derive(Debug, Default)]
pub(super) struct Details {
    pub(super) dependencies: Vec<IssueJson>,
    pub(super) dependents: Option<Vec<IssueJson>>,
    pub(super) n_dependents: usize,
    pub(super) comments: Option<Vec<CommentJson>>,
    /// Children of an epic and how many of them are closed.
    pub(super) children: Option<(usize, usize)>,
}

pub(super) fn details(record: &Record, details: Details) -> IssueJson {
    let mut issue = write(record, Lists::None);
    let labels = sorted_labels(&record.issue);
    let n_dependencies = record.issue.dependencies().len();
    let is_omitted = details.comments.is_none() && record.n_comments > 0;
    let mut put = |key: &str, value: Value| {
        if !is_empty(&value) {
            issue.0.insert(key.to_owned(), value);
        }
    };
    put("labels", labels.into());
    put("dependencies", go_json::value(details.dependencies));
    put("dependents", go_json::value(details.dependents));
    put("comments", go_json::value(details.comments));
    put("parent", parent(&record.issue).map(BeadId::as_str).into());
    let mut issue = issue
        .with("dependent_count", details.n_dependents)
        .with("dependency_count", n_dependencies)
        .with("comment_count", record.n_comments);
    if is_omitted {
        issue = issue.with("comments_omitted", true);
    }
    if let Some((total, closed)) = details.children {
        issue = issue
            .with("epic_total_children", total)
            .with("epic_closed_children", closed)
            .with("epic_closeable", total == closed);
    }
    issue.with("revision", revision(record))
}

/// A word that is another for every bead and every version of it, and tells nothing else.
fn revision(record: &Record) -> String {
    let named = format!("{}@{}", record.issue.id(), record.version);
    let bytes = digest::bytes(named.as_bytes());
    let head = bytes.first_chunk::<8>().copied().unwrap_or_default();
    i64::from_be_bytes(head).to_string()
}

#[derive(Debug, Serialize)]
pub(super) struct CommentJson {
    id: String,
    issue_id: String,
    author: String,
    text: String,
    created_at: String,
}

/// A comment by its place among those of its bead.
pub(super) fn comment(issue: &BeadId, comment: &Comment, index: usize) -> CommentJson {
    let value = comment.to_value();
    let id = match value.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(id) if !id.is_null() => id.to_string(),
        // Comments of ours have no id; their place in the list never changes.
        _ => format!("{issue}-c{}", index + 1),
    };
    let time = comment.created_at().and_then(whole_seconds);
    CommentJson {
        id,
        issue_id: issue.to_string(),
        author: comment.author().unwrap_or_default().to_owned(),
        text: comment.text().unwrap_or_default().to_owned(),
        created_at: time.unwrap_or_else(|| ZERO_TIME.to_owned()),
    }
}

pub(super) fn comments(opened: &Opened, id: &BeadId) -> Result<Vec<CommentJson>, Refusal> {
    let comments = opened.store.comments(id)?;
    let comments = comments.iter().enumerate();
    Ok(comments
        .map(|(index, own)| comment(id, own, index))
        .collect())
}

#[derive(Debug, Serialize)]
pub(super) struct EdgeJson {
    issue_id: String,
    depends_on_id: String,
    r#type: String,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_by: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    metadata: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
}

pub(super) fn edge(issue: &Issue, edge: &Dependency) -> EdgeJson {
    let text = |key: &str| edge.get(key).and_then(Value::as_str);
    let filled = |key: &str| text(key).filter(|text| !text.is_empty()).map(str::to_owned);
    let made = text("created_at").and_then(whole_seconds);
    let made = made.or_else(|| time_of(issue, "created_at"));
    EdgeJson {
        issue_id: issue.id().to_string(),
        depends_on_id: edge.target().to_string(),
        r#type: edge.kind().to_owned(),
        created_at: made.unwrap_or_else(|| ZERO_TIME.to_owned()),
        created_by: filled("created_by"),
        metadata: match edge.get("metadata") {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        },
        thread_id: filled("thread_id"),
    }
}

/// How many minutes the work takes.
pub(super) fn estimate(issue: &Issue) -> Option<i64> {
    issue.document().get("estimated_minutes")?.as_i64()
}

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
    pub(super) beat: Option<jiff::Timestamp>,
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
    let is_held = issue.status() == Status::InProgress && issue.assignee().is_some();
    Some(Lease {
        end: issue.time("lease_expires_at").filter(|_| is_held)?,
        beat: issue.time("heartbeat_at"),
        node,
    })
}

fn write(record: &Record, lists: Lists) -> IssueJson {
    let document = record.issue.document();
    let mut object = Map::new();
    for key in KEYS {
        let value = value_of(record, key, lists);
        object.extend(value.map(|value| (key.to_owned(), value)));
    }
    let is_known = |key: &str| KEYS.contains(&key) || COMPUTED.contains(&key);
    let others = document.iter().filter(|(key, _)| !is_known(key));
    object.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    IssueJson(object)
}

/// What stands under a key of `bd`'s issue.
fn value_of(record: &Record, key: &str, lists: Lists) -> Option<Value> {
    let issue = &record.issue;
    let plain = || issue.document().get(key).filter(|value| !is_empty(value));
    let time = |key| time_of(issue, key).unwrap_or_else(|| ZERO_TIME.to_owned());
    let moment = |at| Value::from(Timestamp::from_instant(at).as_str());
    match key {
        "id" => Some(issue.id().as_str().into()),
        "title" => Some(issue.title().into()),
        "status" => Some(issue.status().into()),
        "priority" => Some(issue.priority().into()),
        "issue_type" => Some(issue.issue_type().into()),
        HELD_BY => claims::holder_of_role(record).map(Value::from),
        "metadata" => plain().map(|value| go_json::by_length(value.clone())),
        "estimated_minutes" => (issue.document().get(key))
            .filter(|value| value.is_number())
            .cloned(),
        "created_at" => Some(time("created_at").into()),
        "updated_at" => {
            let updated = time_of(issue, "updated_at");
            Some(updated.unwrap_or_else(|| time("created_at")).into())
        }
        "started_at" | "closed_at" | "due_at" | "defer_until" | "compacted_at" => {
            time_of(issue, key).map(Value::from)
        }
        "lease_expires_at" => lease(record).map(|lease| moment(lease.end)),
        "heartbeat_at" => lease(record).and_then(|lease| lease.beat).map(moment),
        "lease_granted_node" => lease(record).and_then(|lease| lease.node).map(Value::from),
        "labels" if lists != Lists::None => {
            Some(sorted_labels(issue).into()).filter(|labels| !is_empty(labels))
        }
        "dependencies" if lists == Lists::Edges => {
            let edges = issue.dependencies().iter().map(|own| edge(issue, own));
            Some(go_json::value(edges.collect::<Vec<_>>())).filter(|edges| !is_empty(edges))
        }
        "labels" | "dependencies" | "comments" => None,
        _ => plain().cloned(),
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
