//! Issues that are deleted.

use beads_ralph_core::issue::{Edit, EventKind, Fence};
use beads_ralph_runtime::store::{Capability, Guard, Store, StoreError, Write};
use serde_json::json;

use super::Clause;
use super::tools::{
    by, claim, comment, edit, everything, get, id, insertion, is_blocked, put, put_plain, put_with,
};

pub(super) const CLAUSES: &[Clause] = &[
    Clause::new("an issue that is deleted is gone", gone),
    Clause::new("what is not there cannot be deleted", not_there),
    Clause::needing(
        "edges to a deleted issue go with it",
        &[Capability::Versions],
        edges_go,
    ),
    Clause::new("nobody waits for what was deleted", nobody_waits),
    Clause::new(
        "who waits for children does not wait for a deleted one",
        children_go,
    ),
    Clause::needing(
        "an issue that is held is deleted by its holder, or by force",
        &[Capability::Guards],
        held,
    ),
    Clause::needing(
        "the history of a deleted issue stays, and goes on when its id comes again",
        &[Capability::History, Capability::DeletedIds],
        comes_again,
    ),
    Clause::needing(
        "the fence of a deleted issue is not given again",
        &[Capability::DeletedIds],
        fence_stays,
    ),
    Clause::needing(
        "a batch that fails deletes nothing",
        &[Capability::AtomicBatches, Capability::Versions],
        whole,
    ),
    Clause::needing(
        "an id can be deleted and given again in one batch",
        &[Capability::AtomicBatches, Capability::DeletedIds],
        replaced,
    ),
];

fn deletion(text: &str, guard: Guard) -> Write {
    Write::Delete {
        id: id(text),
        guard,
    }
}

fn delete(store: &mut dyn Store, text: &str) -> u64 {
    let deleted = store.write(&[deletion(text, Guard::default())], by(20));
    deleted.expect("an issue can be deleted")[0]
}

fn gone(store: &mut dyn Store) {
    put(store, "a", json!({"labels": ["x"]}));
    edit(store, "a", Edit::Comment(comment("hello")));
    delete(store, "a");
    assert_eq!(store.get(&[id("a")]).expect("a store answers"), []);
    assert_eq!(everything(store), []);
    let ids = store.ids_with_prefix("", 10).expect("a store answers");
    assert!(ids.is_empty(), "{ids:?}");
    assert!(store.comments(&id("a")).is_err(), "its comments are gone");
}

fn not_there(store: &mut dyn Store) {
    let refused = store.write(&[deletion("a", Guard::default())], by(1));
    assert!(matches!(refused, Err(StoreError::NotFound(missing)) if missing == id("a")));
}

fn edges_go(store: &mut dyn Store) {
    put_plain(store, &["a", "b"]);
    put_with(store, "c", &[("a", "related"), ("b", "blocks")]);
    delete(store, "a");
    let record = get(store, "c");
    let targets: Vec<&str> = (record.issue.dependencies().iter())
        .map(|edge| edge.target().as_str())
        .collect();
    assert_eq!(targets, ["b"]);
    assert_eq!(record.version, 2, "losing an edge is a change");
}

fn nobody_waits(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    put_with(store, "b", &[("a", "blocks")]);
    put_with(store, "c", &[("b", "parent-child")]);
    assert!(is_blocked(store, "b") && is_blocked(store, "c"));
    delete(store, "a");
    assert!(!is_blocked(store, "b") && !is_blocked(store, "c"));
}

fn children_go(store: &mut dyn Store) {
    put_plain(store, &["p"]);
    put_with(store, "k", &[("p", "parent-child")]);
    put_with(store, "w", &[("p", "waits-for")]);
    assert!(is_blocked(store, "w"));
    delete(store, "k");
    assert!(!is_blocked(store, "w"));
}

fn held(store: &mut dyn Store) {
    put_plain(store, &["a", "b"]);
    let fence = claim(store, "a", 1);
    claim(store, "b", 1);
    let refused = store.write(&[deletion("a", Guard::default())], by(20));
    assert!(matches!(refused, Err(StoreError::Held { .. })));
    let stale = Guard::fenced(Fence(fence.0 + 1));
    let refused = store.write(&[deletion("a", stale)], by(20));
    assert!(matches!(refused, Err(StoreError::Stale { .. })));
    for (one, guard) in [("a", Guard::fenced(fence)), ("b", Guard::forced())] {
        let deleted = store.write(&[deletion(one, guard)], by(20));
        deleted.expect("these may");
    }
    assert_eq!(everything(store), []);
}

fn comes_again(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    assert_eq!(delete(store, "a"), 2);
    let versions = store.write(&[insertion("a", json!({}))], by(30));
    assert_eq!(versions.expect("the id is free"), [3]);
    let events = store.events(Some(&id("a")), 0, 10);
    let events = events.expect("there is a history");
    let told: Vec<(u64, EventKind)> = events.iter().map(|e| (e.version, e.kind)).collect();
    let (created, deleted) = (EventKind::Created, EventKind::Deleted);
    assert_eq!(told, [(1, created), (2, deleted), (3, created)]);
}

fn fence_stays(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let first = claim(store, "a", 1);
    let guard = Guard::forced();
    store
        .write(&[deletion("a", guard)], by(20))
        .expect("whoever may");
    put_plain(store, &["a"]);
    assert!(claim(store, "a", 40) > first, "fences only rise (Z-2)");
}

fn whole(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    put_with(store, "b", &[("a", "blocks")]);
    let batch = [
        deletion("a", Guard::default()),
        deletion("missing", Guard::default()),
    ];
    store.write(&batch, by(20)).expect_err("one is missing");
    assert_eq!((get(store, "a").version, get(store, "b").version), (1, 1));
    assert!(is_blocked(store, "b"));
}

fn replaced(store: &mut dyn Store) {
    put(store, "a", json!({"labels": ["old"]}));
    edit(store, "a", Edit::Comment(comment("hello")));
    let batch = [
        deletion("a", Guard::default()),
        insertion("a", json!({"labels": ["new"]})),
    ];
    store.write(&batch, by(20)).expect("the id is free again");
    let record = get(store, "a");
    assert_eq!(record.issue.labels().collect::<Vec<_>>(), ["new"]);
    assert_eq!((record.version, record.n_comments), (4, 0));
}
