//! Circles: what would wait for itself is refused, and everything is as it was.

use beads_ralph_core::issue::{Edit, Entry};
use beads_ralph_runtime::store::{Capability, Guard, Store, StoreError};
use serde_json::json;

use super::Clause;
use super::tools::{
    assert_is, by, close, document, edge, edit, everything, id, insertion, is_blocked, put_plain,
    put_with, record_of, refused, try_edit, try_put, update,
};

const ATOMIC: &[Capability] = &[Capability::AtomicBatches];
const WAITING: [&str; 3] = ["blocks", "conditional-blocks", "parent-child"];

pub(super) const CLAUSES: &[Clause] = &[
    Clause::new(
        "no circle of two, over blocks, conditional-blocks, parents or a mixture",
        of_two,
    ),
    Clause::needing("no circle of many", &[Capability::MissingTargets], of_many),
    Clause::needing(
        "no circle through an id that does not exist, once it comes",
        &[Capability::MissingTargets],
        through_missing,
    ),
    Clause::new(
        "a closed issue is part of a circle like any other",
        through_closed,
    ),
    Clause::new("no circle by replacing a document", by_replacing),
    Clause::new(
        "an edge that is removed makes room for its opposite",
        removed,
    ),
    Clause::new(
        "links, waits-for and other projects make no circle",
        harmless,
    ),
    Clause::needing(
        "an id that names another project makes no circle, also when an issue has it",
        &[Capability::AnyValue],
        foreign,
    ),
    Clause::new("many ways to one issue are no circle", diamond),
    Clause::needing(
        "no circle inside one batch of new issues",
        ATOMIC,
        inside_a_batch,
    ),
    Clause::needing(
        "no circle by a batch together with what is there",
        ATOMIC,
        across_batches,
    ),
    Clause::needing(
        "a circle that the same batch opens again is none",
        ATOMIC,
        opened_again,
    ),
    Clause::needing(
        "a long chain is followed to its end",
        &[Capability::AtomicBatches, Capability::MissingTargets],
        long_chain,
    ),
];

fn assert_circle(error: &StoreError, length: usize) {
    let StoreError::Cycle(circle) = error else {
        panic!("{error:?} is not a cycle");
    };
    assert_eq!(circle.first(), circle.last(), "it is closed");
    assert_eq!(circle.len(), length + 1);
}

fn of_two(store: &mut dyn Store) {
    put_plain(store, &["a", "b"]);
    for there in WAITING {
        edit(store, "b", edge("a", there));
        for back in WAITING {
            let error = refused(store, |store| {
                try_edit(store, "a", vec![edge("b", back)], Guard::default(), 10)
            });
            assert_circle(&error, 2);
        }
        edit(store, "b", Edit::RemoveDependency(id("a")));
    }
}

fn of_many(store: &mut dyn Store) {
    put_plain(store, &["n0"]);
    for n in 1..9 {
        let kind = WAITING[n % 3];
        put_with(
            store,
            &format!("n{n}"),
            &[(&format!("n{}", n - 1), kind), ("x", "related")],
        );
    }
    for back in ["n8", "n5", "n1"] {
        let error = refused(store, |store| {
            try_edit(
                store,
                "n0",
                vec![edge(back, "blocks")],
                Guard::default(),
                10,
            )
        });
        assert_is!(error, StoreError::Cycle(_));
    }
    edit(store, "n0", edge("n8", "related"));
}

fn through_missing(store: &mut dyn Store) {
    put_with(store, "a", &[("later", "blocks")]);
    put_with(store, "b", &[("a", "parent-child")]);
    for (target, length) in [("a", 2), ("b", 3)] {
        let error = refused(store, |store| {
            try_put(store, "later", json!({"dependencies": [target]}))
        });
        assert_circle(&error, length);
    }
    put_with(store, "later", &[("c", "blocks")]);
    let error = refused(store, |store| {
        try_put(store, "c", json!({"dependencies": ["b"]}))
    });
    assert_circle(&error, 4);
}

fn through_closed(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    put_with(store, "b", &[("a", "blocks")]);
    close(store, "b");
    let error = refused(store, |store| {
        try_edit(store, "a", vec![edge("b", "blocks")], Guard::default(), 10)
    });
    assert_circle(&error, 2);
}

fn by_replacing(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    put_with(store, "b", &[("a", "blocks")]);
    let other = document("a", json!({"dependencies": ["b"]}));
    let other = Entry::from_document(other).expect("this is an issue").issue;
    let error = refused(store, |store| {
        try_edit(
            store,
            "a",
            vec![Edit::Replace(Box::new(other))],
            Guard::default(),
            10,
        )
    });
    assert_circle(&error, 2);
}

fn removed(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    put_with(store, "b", &[("a", "blocks")]);
    edit(store, "b", Edit::RemoveDependency(id("a")));
    edit(store, "a", edge("b", "blocks"));
    assert!(is_blocked(store, "a") && !is_blocked(store, "b"));
}

fn harmless(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    put_with(store, "b", &[("a", "blocks"), ("external:x", "blocks")]);
    for kind in ["related", "waits-for", "discovered-from", "anything"] {
        edit(store, "a", edge("b", kind));
        edit(store, "a", Edit::RemoveDependency(id("b")));
    }
    assert_eq!(everything(store).len(), 2);
}

fn foreign(store: &mut dyn Store) {
    put_with(store, "a", &[("external:x", "blocks")]);
    put_with(store, "external:x", &[("a", "blocks")]);
    edit(store, "a", edge("external:x", "blocks"));
    assert!(!is_blocked(store, "a") && is_blocked(store, "external:x"));
}

fn diamond(store: &mut dyn Store) {
    put_plain(store, &["root"]);
    for side in ["left", "right"] {
        put_with(store, side, &[("root", "blocks")]);
    }
    put_with(
        store,
        "tip",
        &[
            ("left", "blocks"),
            ("right", "parent-child"),
            ("root", "blocks"),
        ],
    );
    assert!(is_blocked(store, "tip"));
}

fn inside_a_batch(store: &mut dyn Store) {
    put_plain(store, &["there"]);
    for kind in WAITING {
        let batch = vec![
            insertion("a", json!({"dependencies": [record_of("b", kind)]})),
            insertion("b", json!({"dependencies": [record_of("c", "blocks")]})),
            insertion("c", json!({"dependencies": [record_of("a", kind)]})),
        ];
        let error = refused(store, |store| store.write(&batch, by(0)));
        assert_circle(&error, 3);
    }
}

fn across_batches(store: &mut dyn Store) {
    put_plain(store, &["old"]);
    put_with(store, "mid", &[("old", "blocks")]);
    let batch = || {
        vec![
            insertion("new", json!({"dependencies": ["mid"]})),
            update(
                "old",
                vec![edge("new", "conditional-blocks")],
                Guard::default(),
            ),
        ]
    };
    let error = refused(store, |store| store.write(&batch(), by(0)));
    assert_circle(&error, 3);
    edit(store, "mid", Edit::RemoveDependency(id("old")));
    store.write(&batch(), by(0)).expect("the cycle is gone");
}

fn opened_again(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    put_with(store, "b", &[("a", "blocks")]);
    let batch = vec![
        update("a", vec![edge("b", "blocks")], Guard::default()),
        update("b", vec![Edit::RemoveDependency(id("a"))], Guard::default()),
    ];
    store
        .write(&batch, by(0))
        .expect("what counts is how it ends");
    assert!(is_blocked(store, "a") && !is_blocked(store, "b"));
}

fn long_chain(store: &mut dyn Store) {
    let link = |n: usize| {
        let next = format!("n{}", n + 1);
        insertion(
            &format!("n{n}"),
            json!({"dependencies": [record_of(&next, WAITING[n % 2])]}),
        )
    };
    store
        .write(&(0..299).map(link).collect::<Vec<_>>(), by(0))
        .expect("it is a chain");
    let error = refused(store, |store| {
        try_put(store, "n299", json!({"dependencies": ["n0"]}))
    });
    assert_circle(&error, 300);
}
