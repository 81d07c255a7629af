//! Edges: one in each direction between two issues, and found from both ends.

use beads_ralph_core::issue::{Blocker, Dependency, Edit, EditError, Waiting};
use beads_ralph_runtime::store::{Capability, Guard, Store, StoreError};
use serde_json::json;

use super::Clause;
use super::tools::{
    assert_is, close, edge, edit, field, get, id, put_plain, put_with, refused, try_edit,
};

pub(super) const CLAUSES: &[Clause] = &[
    Clause::needing(
        "there is at most one edge between two issues in one direction",
        &[Capability::Versions],
        one_edge,
    ),
    Clause::needing(
        "an edge keeps who made it, when, and what else it came with",
        &[Capability::MissingTargets],
        record,
    ),
    Clause::needing(
        "dependents are in order of their ids, with the type of their edge",
        &[Capability::MissingTargets],
        dependents,
    ),
    Clause::new(
        "blockers say what is being waited for, in the order of the edges",
        blockers,
    ),
    Clause::new(
        "two issues can have an edge each, if one of them is a link",
        both_directions,
    ),
];

fn one_edge(store: &mut dyn Store) {
    put_plain(store, &["a", "b"]);
    assert_eq!(edit(store, "a", edge("b", "blocks")), 2);
    assert_eq!(
        edit(store, "a", edge("b", "blocks")),
        2,
        "it is there already"
    );
    for other in ["conditional-blocks", "related", "parent-child"] {
        let error = refused(store, |store| {
            try_edit(store, "a", vec![edge("b", other)], Guard::default(), 10)
        });
        assert_is!(error, StoreError::Edit { error: EditError::OtherType { kind, .. }, .. }
            if kind == "blocks");
    }
    assert_eq!(get(store, "a").issue.dependencies().len(), 1);
    let change = vec![Edit::RemoveDependency(id("b")), edge("b", "related")];
    try_edit(store, "a", change, Guard::default(), 10).expect("it was removed first");
    assert_eq!(get(store, "a").issue.dependencies()[0].kind(), "related");
}

fn record(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let edge = Dependency::new(id("b"), "blocks").expect("a type is a word");
    let edge = edge
        .with("created_by", json!("ann"))
        .with("metadata", json!("{\"x\": 1.50}"));
    edit(store, "a", Edit::AddDependency(edge));
    let expected = json!([{"issue_id": "a", "depends_on_id": "b", "type": "blocks",
        "created_by": "ann", "metadata": "{\"x\": 1.50}"}]);
    assert_eq!(
        field(store, "a", "dependencies").to_string(),
        expected.to_string()
    );
}

fn dependents(store: &mut dyn Store) {
    for (issue, kind) in [
        ("z", "related"),
        ("B", "blocks"),
        ("a.1", "parent-child"),
        ("a", "odd"),
    ] {
        put_with(store, issue, &[("t", kind), ("other", "blocks")]);
    }
    let owned = |pairs: &[(&str, &str)]| {
        let pairs = pairs
            .iter()
            .map(|(issue, kind)| (id(issue), (*kind).to_owned()));
        pairs.collect::<Vec<_>>()
    };
    let all = [
        ("B", "blocks"),
        ("a", "odd"),
        ("a.1", "parent-child"),
        ("z", "related"),
    ];
    assert_eq!(
        store.dependents(&id("t")).expect("a store answers"),
        owned(&all)
    );
    put_plain(store, &["t"]);
    close(store, "t");
    edit(store, "a", Edit::RemoveDependency(id("t")));
    let rest = [("B", "blocks"), ("a.1", "parent-child"), ("z", "related")];
    assert_eq!(
        store.dependents(&id("t")).expect("a store answers"),
        owned(&rest)
    );
    let blocking = store.dependents(&id("t")).expect("a store answers");
    let blocking = blocking.iter().filter(|(_, kind)| kind == "blocks").count();
    assert_eq!(
        store
            .count_blocked_by(&[id("nobody"), id("t")])
            .expect("a store answers"),
        [0, blocking]
    );
    assert_eq!(
        store.dependents(&id("nobody")).expect("a store answers"),
        []
    );
}

fn blockers(store: &mut dyn Store) {
    put_plain(store, &["open", "spawner", "done"]);
    close(store, "done");
    put_with(store, "child", &[("spawner", "parent-child")]);
    put_with(store, "parent", &[("open", "blocks")]);
    put_with(
        store,
        "a",
        &[
            ("spawner", "waits-for"),
            ("gone", "conditional-blocks"),
            ("done", "blocks"),
            ("parent", "parent-child"),
            ("child", "related"),
            ("open", "blocks"),
        ],
    );
    let expected = [
        ("spawner", Waiting::ForChildren),
        ("gone", Waiting::Missing),
        ("parent", Waiting::ForParent),
        ("open", Waiting::ForIt),
    ]
    .map(|(blocker, waiting)| Blocker {
        id: id(blocker),
        waiting,
    });
    assert_eq!(store.blockers(&id("a")).expect("it is there"), expected);
}

fn both_directions(store: &mut dyn Store) {
    put_plain(store, &["a", "b"]);
    edit(store, "a", edge("b", "relates-to"));
    edit(store, "b", edge("a", "relates-to"));
    edit(store, "b", Edit::RemoveDependency(id("a")));
    edit(store, "b", edge("a", "blocks"));
    assert_eq!(
        store.dependents(&id("a")).expect("a store answers").len(),
        1
    );
    assert_eq!(
        store.dependents(&id("b")).expect("a store answers").len(),
        1
    );
    assert!(get(store, "b").is_blocked && !get(store, "a").is_blocked);
}
