//! Batches: all or nothing, and a whole graph at once.

use beads_ralph_core::issue::{Edit, Waiting};
use beads_ralph_runtime::store::{Capability, Guard, Store, StoreError, Write};
use serde_json::json;

use super::Clause;
use super::tools::{
    assert_is, by, edge, everything, get, id, insertion, is_blocked, label, put, put_plain, ready,
    record_of, refused, update,
};

const ATOMIC: &[Capability] = &[Capability::AtomicBatches];

pub(super) const CLAUSES: &[Clause] = &[
    Clause::new("an empty batch changes nothing", empty_batch),
    Clause::needing(
        "a batch is whole: when its last change is refused, nothing happened",
        ATOMIC,
        last_is_bad,
    ),
    Clause::needing(
        "an id is taken once, also inside one batch",
        ATOMIC,
        twice_in_one_batch,
    ),
    Clause::needing(
        "a graph can come at once, with edges to what comes later",
        ATOMIC,
        whole_graph,
    ),
    Clause::needing(
        "an edge to an id that does not exist is kept, and holds back",
        &[Capability::AtomicBatches, Capability::MissingTargets],
        missing_targets,
    ),
    Clause::needing(
        "each change of a batch sees those before it",
        &[
            Capability::Versions,
            Capability::AtomicBatches,
            Capability::Guards,
        ],
        later_sees_earlier,
    ),
    Clause::needing(
        "what a batch closes frees what it inserts",
        ATOMIC,
        closing_inside,
    ),
    Clause::needing(
        "the answer has a version for each change, in order",
        &[Capability::AtomicBatches, Capability::Versions],
        versions_in_order,
    ),
];

fn empty_batch(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let versions = store.write(&Vec::new(), by(9)).expect("nothing to do");
    assert!(versions.is_empty());
    assert_eq!(get(store, "a").version, 1);
}

fn many() -> Vec<Write> {
    (0..60)
        .map(|n| insertion(&format!("n-{n}"), json!({"dependencies": ["a"]})))
        .collect()
}

fn last_is_bad(store: &mut dyn Store) {
    put_plain(store, &["a", "b"]);
    let wrong_version = Guard {
        version: Some(9),
        ..Guard::default()
    };
    let last = [
        insertion("a", json!({})),
        update("nowhere", vec![label("x")], Guard::default()),
        update("b", vec![label("x")], wrong_version),
        update(
            "b",
            vec![Edit::Set("priority".to_owned(), json!("high"))],
            Guard::default(),
        ),
        update("a", vec![edge("n-3", "blocks")], Guard::default()),
    ];
    for last in last {
        let mut batch = many();
        batch.push(update("a", vec![label("seen")], Guard::default()));
        batch.push(last);
        refused(store, |store| store.write(&batch, by(1)));
    }
    assert_eq!(everything(store).len(), 2);
    store
        .write(&many(), by(1))
        .expect("without the last one it is good");
    assert_eq!(everything(store).len(), 62);
}

fn twice_in_one_batch(store: &mut dyn Store) {
    let batch = vec![
        insertion("a", json!({})),
        insertion("b", json!({})),
        insertion("a", json!({})),
    ];
    let error = refused(store, |store| store.write(&batch, by(0)));
    assert_is!(error, StoreError::Exists(id) if id.as_str() == "a");
    assert_eq!(everything(store), []);
}

fn whole_graph(store: &mut dyn Store) {
    let batch = vec![
        insertion("roof", json!({"dependencies": ["walls"]})),
        insertion(
            "part",
            json!({"dependencies": [record_of("roof", "parent-child")]}),
        ),
        insertion("walls", json!({"dependencies": ["floor"]})),
        insertion(
            "watch",
            json!({"dependencies": [record_of("roof", "waits-for")]}),
        ),
        insertion("floor", json!({})),
    ];
    assert_eq!(store.write(&batch, by(0)).expect("it is a graph"), [1; 5]);
    let blocked: Vec<bool> = (everything(store).iter())
        .map(|record| record.is_blocked)
        .collect();
    assert_eq!(
        blocked,
        [false, true, true, true, true],
        "floor part roof walls watch"
    );
    assert_eq!(ready(store, 0), ["floor"]);
}

fn missing_targets(store: &mut dyn Store) {
    let batch = vec![
        insertion("a", json!({"dependencies": ["later"]})),
        insertion("b", json!({})),
    ];
    store
        .write(&batch, by(0))
        .expect("the target need not exist");
    let blockers = store.blockers(&id("a")).expect("it is there");
    assert_eq!(
        (blockers[0].id.as_str(), blockers[0].waiting),
        ("later", Waiting::Missing)
    );
    put(
        store,
        "later",
        json!({"status": "closed", "closed_at": "2026-01-01T00:00:00Z"}),
    );
    assert!(!is_blocked(store, "a"), "now it is there, and closed");
}

fn later_sees_earlier(store: &mut dyn Store) {
    let after_first = Guard {
        version: Some(1),
        status: Some("open".to_owned()),
        ..Guard::default()
    };
    let batch = vec![
        insertion("a", json!({})),
        update("a", vec![label("x")], after_first.clone()),
        update("a", vec![label("x")], Guard::default()),
    ];
    assert_eq!(
        store.write(&batch, by(0)).expect("the guard holds"),
        [1, 2, 2]
    );
    let batch = vec![
        insertion("b", json!({})),
        update("b", vec![label("x")], Guard::default()),
        update("b", vec![label("y")], after_first),
    ];
    let error = refused(store, |store| store.write(&batch, by(0)));
    assert_is!(error, StoreError::Guard { .. });
}

fn closing_inside(store: &mut dyn Store) {
    put_plain(store, &["old"]);
    let batch = vec![
        insertion("new", json!({"dependencies": ["old", "fresh"]})),
        insertion("fresh", json!({})),
        update(
            "old",
            vec![Edit::Close("done".to_owned())],
            Guard::default(),
        ),
        update(
            "fresh",
            vec![Edit::Close("done".to_owned())],
            Guard::default(),
        ),
        update("fresh", vec![Edit::Reopen], Guard::default()),
        update(
            "new",
            vec![Edit::RemoveDependency(id("fresh"))],
            Guard::default(),
        ),
    ];
    store.write(&batch, by(0)).expect("nothing forbids it");
    assert!(!is_blocked(store, "new"));
    assert_eq!(ready(store, 0), ["fresh", "new"]);
}

fn versions_in_order(store: &mut dyn Store) {
    put_plain(store, &["a", "b"]);
    let batch = vec![
        update("b", vec![label("1")], Guard::default()),
        update("a", vec![label("1")], Guard::default()),
        update("b", vec![label("2")], Guard::default()),
        insertion("c", json!({})),
    ];
    assert_eq!(
        store.write(&batch, by(1)).expect("nothing forbids it"),
        [2, 2, 3, 1]
    );
}
