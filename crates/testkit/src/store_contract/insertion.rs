//! New issues.

use beads_ralph_core::bead::Timestamp;
use beads_ralph_core::issue::{EventKind, Fence, Query, StatusFilter};
use beads_ralph_runtime::store::{Capability, Store, StoreError, Write};
use serde_json::{Value, json};

use super::Clause;
use super::tools::{
    assert_is, at, by, claim, comment, document, entry, everything, found, get, id, insertion,
    is_blocked, put, put_plain, refused, try_claim, try_put,
};

pub(super) const CLAUSES: &[Clause] = &[
    Clause::needing(
        "an issue starts at version 1, free and unheld",
        &[Capability::Versions],
        first_version,
    ),
    Clause::needing(
        "an issue that comes is one event `created` with who and when",
        &[Capability::History],
        created_event,
    ),
    Clause::new("an id is taken once, by an issue of any status", taken_once),
    Clause::needing(
        "closed and pinned issues can come as such",
        &[Capability::MissingTargets],
        finished,
    ),
    Clause::needing(
        "comments come with their issue, in their order",
        &[Capability::ExactDocuments],
        with_comments,
    ),
    Clause::new(
        "the fence of an issue that moved is not given again",
        fence_carried_in,
    ),
    Clause::new(
        "an issue in progress can come without a holder",
        in_progress,
    ),
    Clause::new("an empty store answers with nothing", empty_store),
];

fn first_version(store: &mut dyn Store) {
    let more = json!({"status": "open", "priority": 1, "labels": ["a"]});
    assert_eq!(try_put(store, "a", more.clone()).expect("it is new"), 1);
    let record = get(store, "a");
    assert_eq!((record.version, record.fence), (1, Fence::default()));
    assert_eq!((record.is_blocked, record.n_comments), (false, 0));
    assert_eq!(record.claim, None);
    assert_eq!(
        Value::Object(record.issue.into_document()),
        document("a", more)
    );
}

fn created_event(store: &mut dyn Store) {
    store
        .write(&[insertion("a", json!({}))], by(5))
        .expect("it is new");
    let events = store.events(None, 0, 10).expect("there is a history");
    assert_eq!(events.len(), 1);
    let event = &events[0];
    assert_eq!((event.number, event.version), (1, 1));
    assert_eq!((event.issue.as_str(), event.actor.as_str()), ("a", "ann"));
    assert_eq!(
        (event.kind, &event.at),
        (EventKind::Created, &Timestamp::from_instant(at(5)))
    );
    assert!(event.before.is_empty(), "there was nothing before");
    assert_eq!(event.after["/title"], "Title of a");
}

fn taken_once(store: &mut dyn Store) {
    put(store, "a", json!({}));
    put(
        store,
        "b",
        json!({"status": "closed", "closed_at": "2025-01-01T00:00:00Z"}),
    );
    for taken in ["a", "b"] {
        let error = refused(store, |store| try_put(store, taken, json!({"priority": 0})));
        assert_is!(error, StoreError::Exists(id) if id.as_str() == taken);
    }
    put(store, "A", json!({}));
    assert_eq!(everything(store).len(), 3, "ids differ by their case");
}

fn finished(store: &mut dyn Store) {
    let closed_at = "2025-06-01T12:00:00+02:00";
    put(
        store,
        "done",
        json!({"status": "closed", "closed_at": closed_at, "dependencies": ["nowhere"]}),
    );
    put(
        store,
        "kept",
        json!({"status": "pinned", "dependencies": ["nowhere"]}),
    );
    let record = get(store, "done");
    assert_eq!((record.issue.status(), record.version), ("closed", 1));
    assert_eq!(record.issue.text("closed_at"), Some(closed_at));
    assert!(!is_blocked(store, "done") && !is_blocked(store, "kept"));
    for finished in ["done", "kept"] {
        let error = refused(store, |store| try_claim(store, finished, "r", 0));
        assert_is!(error, StoreError::NotClaimable { .. });
    }
}

fn with_comments(store: &mut dyn Store) {
    let said = [comment("one"), comment("two"), comment("one")];
    let mut entry = entry("a", json!({}));
    entry.comments = said.to_vec();
    store
        .write(&[Write::Insert(Box::new(entry))], by(0))
        .expect("it is new");
    assert_eq!(get(store, "a").n_comments, 3);
    assert_eq!(store.comments(&id("a")).expect("it is there"), said);
    assert_eq!(get(store, "a").version, 1);
}

fn fence_carried_in(store: &mut dyn Store) {
    let mut entry = entry("a", json!({}));
    entry.fence = Fence(7);
    store
        .write(&[Write::Insert(Box::new(entry))], by(0))
        .expect("it is new");
    assert_eq!(get(store, "a").fence, Fence(7));
    assert_eq!(get(store, "a").claim, None);
    assert_eq!(claim(store, "a", 1), Fence(8));
}

fn in_progress(store: &mut dyn Store) {
    put(store, "a", json!({"status": "in_progress"}));
    assert_eq!(get(store, "a").claim, None);
    let error = refused(store, |store| try_claim(store, "a", "r", 0));
    assert_is!(&error, StoreError::InProgress(_));
    assert!(error.is_already_claimed());
}

fn empty_store(store: &mut dyn Store) {
    let all = Query {
        status: StatusFilter::Any,
        ..Query::default()
    };
    assert_eq!(found(store, &all), Vec::<String>::new());
    assert_eq!(store.get(&[id("a")]).expect("a store answers"), []);
    assert_eq!(store.ids_with_prefix("", 9).expect("a store answers"), []);
    assert_eq!(store.dependents(&id("a")).expect("a store answers"), []);
    assert_is!(store.comments(&id("a")), Err(StoreError::NotFound(_)));
    assert_is!(store.blockers(&id("a")), Err(StoreError::NotFound(_)));
    put_plain(store, &["a", "b"]);
    let got = store
        .get(&[id("b"), id("x"), id("a"), id("b")])
        .expect("a store answers");
    let ids: Vec<&str> = got
        .iter()
        .map(|record| record.issue.id().as_str())
        .collect();
    assert_eq!(
        ids,
        ["b", "a", "b"],
        "in the order in which they were asked for"
    );
}
