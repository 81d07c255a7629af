//! What clauses are written with: short ways to put, change and look at issues.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    Comment, Dependency, Edit, Entry, Event, Fence, Holder, Label, Order, Query, Record,
    StatusFilter,
};
use beads_ralph_runtime::store::{Guard, NewClaim, Stamp, Store, StoreError, Write};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// A moment so many seconds after the start of every clause.
pub(super) fn at(seconds: i64) -> Timestamp {
    let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("this is a moment");
    start + SignedDuration::from_secs(seconds)
}

/// A moment as documents have it.
pub(super) fn time(seconds: i64) -> String {
    at(seconds).to_string()
}

pub(super) fn by(seconds: i64) -> Stamp<'static> {
    Stamp {
        actor: "ann",
        at: at(seconds),
    }
}

pub(super) fn id(text: &str) -> BeadId {
    BeadId::parse(text).expect("an id is not empty")
}

/// A document with an id, a title and more.
pub(super) fn document(id: &str, more: Value) -> Value {
    let mut document = json!({"id": id, "title": format!("Title of {id}")});
    if let (Value::Object(document), Value::Object(more)) = (&mut document, more) {
        document.extend(more);
    }
    document
}

pub(super) fn entry(id: &str, more: Value) -> Entry {
    Entry::from_document(document(id, more)).expect("the document is one that a store takes")
}

pub(super) fn insertion(id: &str, more: Value) -> Write {
    Write::Insert(Box::new(entry(id, more)))
}

pub(super) fn try_put(store: &mut dyn Store, id: &str, more: Value) -> Result<u64, StoreError> {
    let versions = store.write(&[insertion(id, more)], by(0))?;
    Ok(versions[0])
}

pub(super) fn put(store: &mut dyn Store, id: &str, more: Value) {
    try_put(store, id, more).expect("an issue can be put");
}

/// Puts issues with nothing but a title, one after the other.
pub(super) fn put_plain(store: &mut dyn Store, ids: &[&str]) {
    for id in ids {
        put(store, id, json!({}));
    }
}

/// A dependency as documents have it.
pub(super) fn record_of(target: &str, kind: &str) -> Value {
    json!({"depends_on_id": target, "type": kind})
}

/// Puts an issue that depends on others.
pub(super) fn put_with(store: &mut dyn Store, id: &str, edges: &[(&str, &str)]) {
    let edges: Value = edges
        .iter()
        .map(|(target, kind)| record_of(target, kind))
        .collect();
    put(store, id, json!({ "dependencies": edges }));
}

pub(super) fn update(id: &str, edits: Vec<Edit>, guard: Guard) -> Write {
    Write::Update {
        id: self::id(id),
        edits,
        guard,
    }
}

/// Changes an issue at a moment, if its guard holds.
pub(super) fn try_edit(
    store: &mut dyn Store,
    id: &str,
    edits: Vec<Edit>,
    guard: Guard,
    seconds: i64,
) -> Result<u64, StoreError> {
    let versions = store.write(&[update(id, edits, guard)], by(seconds))?;
    Ok(versions[0])
}

/// Changes an issue ten seconds after the start.
pub(super) fn edit(store: &mut dyn Store, id: &str, edit: Edit) -> u64 {
    try_edit(store, id, vec![edit], Guard::default(), 10).expect("an issue can be changed")
}

/// Changes an issue whoever holds it.
pub(super) fn force(store: &mut dyn Store, id: &str, edit: Edit) -> u64 {
    let guard = Guard {
        is_forced: true,
        ..Guard::default()
    };
    try_edit(store, id, vec![edit], guard, 10).expect("a forced change happens")
}

pub(super) fn close(store: &mut dyn Store, id: &str) {
    edit(store, id, Edit::Close("done".to_owned()));
}

pub(super) fn set_status(store: &mut dyn Store, id: &str, status: &str) {
    edit(store, id, Edit::Status(status.to_owned()));
}

pub(super) fn edge(target: &str, kind: impl AsRef<str>) -> Edit {
    Edit::AddDependency(Dependency::new(id(target), kind).expect("a type is a word"))
}

pub(super) fn label(text: &str) -> Edit {
    Edit::AddLabel(Label::parse(text).expect("this is a label"))
}

pub(super) fn comment(text: &str) -> Comment {
    Comment::from_value(json!({"author": "bob", "text": text})).expect("an object is a comment")
}

pub(super) fn get(store: &dyn Store, id: &str) -> Record {
    let mut found = store.get(&[self::id(id)]).expect("a store answers");
    assert_eq!(found.len(), 1, "there is one {id}");
    found.remove(0)
}

pub(super) fn field(store: &dyn Store, id: &str, key: &str) -> Value {
    let record = get(store, id);
    record
        .issue
        .document()
        .get(key)
        .cloned()
        .unwrap_or_default()
}

pub(super) fn is_blocked(store: &dyn Store, id: &str) -> bool {
    get(store, id).is_blocked
}

/// All that a store holds, in order of ids.
pub(super) fn everything(store: &dyn Store) -> Vec<Record> {
    let query = Query {
        status: StatusFilter::Any,
        includes_hidden: true,
        order: Order::Id,
        ..Query::default()
    };
    store.find(&query).expect("a store answers")
}

pub(super) fn found(store: &dyn Store, query: &Query) -> Vec<String> {
    let records = store.find(query).expect("a store answers");
    let ids = records.iter().map(|record| record.issue.id().to_string());
    ids.collect()
}

/// The question for what can be started at a moment.
pub(super) fn ready_at(seconds: i64) -> Query {
    Query {
        ready_at: Some(at(seconds)),
        order: Order::Id,
        ..Query::default()
    }
}

pub(super) fn ready(store: &dyn Store, seconds: i64) -> Vec<String> {
    found(store, &ready_at(seconds))
}

pub(super) fn holder(run: &str) -> Holder {
    Holder {
        run: run.to_owned(),
        host: "here".to_owned(),
        process: None,
    }
}

/// Claims for a run, from a moment on and for a minute.
pub(super) fn try_claim(
    store: &mut dyn Store,
    id: &str,
    run: &str,
    seconds: i64,
) -> Result<Record, StoreError> {
    let holder = holder(run);
    let claim = NewClaim {
        holder: &holder,
        lease_until: at(seconds + 60),
        is_forced: false,
        instead_of: None,
    };
    store.claim(&self::id(id), &claim, by(seconds))
}

/// Claims, and gives the fence.
pub(super) fn claim(store: &mut dyn Store, id: &str, seconds: i64) -> Fence {
    let record = try_claim(store, id, "run-1", seconds).expect("an open issue can be claimed");
    record.fence
}

/// Everything that can be asked of a store, to see whether something changed.
#[derive(Debug, PartialEq)]
pub(super) struct State {
    records: Vec<Record>,
    comments: Vec<Vec<Comment>>,
    events: Option<Vec<Event>>,
}

pub(super) fn state(store: &dyn Store) -> State {
    let records = everything(store);
    let comments = records
        .iter()
        .map(|record| store.comments(record.issue.id()));
    State {
        comments: comments
            .collect::<Result<_, _>>()
            .expect("every issue has comments"),
        records,
        events: store.events(None, 0, usize::MAX).ok(),
    }
}

/// Does what must be refused; everything is as it was before.
pub(super) fn refused<T>(
    store: &mut dyn Store,
    attempt: impl FnOnce(&mut dyn Store) -> Result<T, StoreError>,
) -> StoreError {
    let before = state(store);
    let Err(error) = attempt(store) else {
        panic!("it was not refused");
    };
    assert_eq!(state(store), before, "after {error}");
    error
}

/// Says that an error is of a kind.
macro_rules! assert_is {
    ($error:expr, $pattern:pat $(if $guard:expr)?) => {{
        let error = $error;
        assert!(
            matches!(&error, $pattern $(if $guard)?),
            "{error:?} is not {}",
            stringify!($pattern)
        );
    }};
}
pub(super) use assert_is;
