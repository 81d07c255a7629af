//! Batches: all or nothing, and only while what the writer saw is still true.

use beads_ralph_core::issue::{Edit, Fence, Waiting};
use beads_ralph_runtime::store::{Capability, Guard, Store, StoreError, Write};
use serde_json::json;

use super::Clause;
use super::tools::{
    assert_is, by, claim, close, edge, everything, get, id, insertion, is_blocked, label, put,
    put_plain, ready, record_of, refused, set_status, try_edit, update,
};

const ATOMIC: &[Capability] = &[Capability::AtomicBatches];

pub(super) const CLAUSES: &[Clause] = &[
    Clause::needing(
        "an empty batch changes nothing",
        &[Capability::Versions],
        empty_batch,
    ),
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
        &[Capability::AtomicBatches, Capability::Versions],
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
    Clause::new(
        "a guard on the status: a change happens only in that status",
        on_status,
    ),
    Clause::needing(
        "a guard on the version: a change happens only to that version",
        &[Capability::Guards, Capability::Versions],
        on_version,
    ),
    Clause::needing(
        "a guard on the fence: nobody holds it, so no fence is right",
        GUARDS,
        on_fence,
    ),
    Clause::needing(
        "a guard on being free: nothing that an issue waits for is open",
        GUARDS,
        on_being_free,
    ),
    Clause::needing(
        "all parts of a guard must hold",
        &[Capability::Guards, Capability::Versions],
        all_parts,
    ),
    Clause::needing(
        "a guard is checked also when the edit would change nothing",
        &[Capability::Guards, Capability::Versions],
        even_unchanged,
    ),
    Clause::new(
        "whoever sets an issue to work takes it with a claim",
        starting_needs_a_claim,
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

const GUARDS: &[Capability] = &[Capability::Guards];

fn on_status(store: &mut dyn Store) {
    put(store, "a", json!({"status": "blocked"}));
    put_plain(store, &["b"]);
    let guard = |status: &str| Guard {
        status: Some(status.to_owned()),
        ..Guard::default()
    };
    for (id, status) in [("a", "blocked"), ("b", "open")] {
        for wrong in ["closed", "in_progress", "Open", ""] {
            let error = refused(store, |store| {
                try_edit(store, id, vec![label("x")], guard(wrong), 10)
            });
            assert_is!(error, StoreError::Guard { .. });
        }
        try_edit(store, id, vec![label("x")], guard(status), 10).expect("that is its status");
    }
}

fn on_being_free(store: &mut dyn Store) {
    put_plain(store, &["b"]);
    put(store, "a", json!({"dependencies": ["b"]}));
    let free = Guard {
        is_free: true,
        ..Guard::default()
    };
    let done = || vec![Edit::Close("done".to_owned())];
    let error = refused(store, |store| {
        try_edit(store, "a", done(), free.clone(), 10)
    });
    assert_is!(error, StoreError::Guard { .. });
    close(store, "b");
    try_edit(store, "a", done(), free, 10).expect("it waits for nothing");
}

fn version(version: u64) -> Guard {
    Guard {
        version: Some(version),
        ..Guard::default()
    }
}

fn on_version(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    for wrong in [0, 2, u64::MAX] {
        let error = refused(store, |store| {
            try_edit(store, "a", vec![label("x")], version(wrong), 10)
        });
        assert_is!(error, StoreError::Guard { .. });
    }
    let answer = try_edit(store, "a", vec![label("x")], version(1), 10);
    assert_eq!(answer.expect("that is its version"), 2);
    let error = refused(store, |store| {
        try_edit(store, "a", vec![label("y")], version(1), 10)
    });
    assert_is!(error, StoreError::Guard { .. });
}

fn on_fence(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    for fence in [0, 1, u64::MAX] {
        let error = refused(store, |store| {
            try_edit(
                store,
                "a",
                vec![label("x")],
                Guard::fenced(Fence(fence)),
                10,
            )
        });
        assert_is!(error, StoreError::Stale { given, .. } if *given == Fence(fence));
    }
}

fn all_parts(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let fence = claim(store, "a", 0);
    let right = Guard {
        status: Some("in_progress".to_owned()),
        version: Some(2),
        fence: Some(fence),
        is_forced: false,
        is_free: false,
    };
    let wrong = [
        Guard {
            status: Some("open".to_owned()),
            ..right.clone()
        },
        Guard {
            version: Some(1),
            ..right.clone()
        },
        Guard {
            fence: Some(Fence(fence.0 + 1)),
            ..right.clone()
        },
        Guard {
            fence: Some(Fence::default()),
            is_forced: true,
            ..right.clone()
        },
    ];
    for wrong in wrong {
        refused(store, |store| {
            try_edit(store, "a", vec![label("x")], wrong, 10)
        });
    }
    try_edit(store, "a", vec![label("x")], right, 10).expect("all of it is true");
}

fn even_unchanged(store: &mut dyn Store) {
    put(store, "a", json!({"labels": ["x"]}));
    let error = refused(store, |store| {
        try_edit(store, "a", vec![label("x")], version(7), 10)
    });
    assert_is!(error, StoreError::Guard { .. });
    assert_eq!(
        try_edit(store, "a", vec![label("x")], version(1), 10).expect("it is 1"),
        1
    );
}

fn starting_needs_a_claim(store: &mut dyn Store) {
    put_plain(store, &["a", "b"]);
    close(store, "b");
    for id in ["a", "b"] {
        let start = vec![Edit::Status("in_progress".to_owned())];
        let error = refused(store, |store| {
            try_edit(store, id, start, Guard::default(), 10)
        });
        assert_is!(error, StoreError::Guard { .. });
    }
    let forced = Guard {
        is_forced: true,
        ..Guard::default()
    };
    let start = vec![Edit::Status("in_progress".to_owned())];
    try_edit(store, "a", start, forced, 10).expect("it was forced");
    assert_eq!(
        (get(store, "a").claim, get(store, "a").fence),
        (None, Fence::default())
    );
    set_status(store, "a", "in_progress");
    set_status(store, "a", "open");
}
