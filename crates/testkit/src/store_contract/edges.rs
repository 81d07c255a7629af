//! Edges: one in each direction between two issues, found from both ends; and `parent-child`, which passes waiting on.

use beads_ralph_core::issue::{Blocker, Dependency, Edit, EditError, Waiting};
use beads_ralph_runtime::store::{Capability, Guard, Store, StoreError};
use serde_json::json;

use super::Clause;
use super::tools::{
    assert_is, close, edge, edit, field, get, id, is_blocked, put_plain, put_with, ready, refused,
    set_status, try_edit,
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
    Clause::needing(
        "blockers say what is being waited for, in the order of the edges",
        &[Capability::MissingTargets],
        blockers,
    ),
    Clause::new(
        "two issues can have an edge each, if one of them is a link",
        both_directions,
    ),
    Clause::new("an open parent holds nobody back", open_parent),
    Clause::new(
        "a parent that is held back holds back its children, over several levels",
        levels,
    ),
    Clause::new("a closed or pinned parent stops it", finished_parent),
    Clause::new(
        "a parent that becomes free frees its children at once",
        freed,
    ),
    Clause::new(
        "a child is held back by any of its parents",
        several_parents,
    ),
    Clause::needing(
        "a parent that does not exist holds nobody back, until it is there and held back",
        &[Capability::MissingTargets],
        missing_parent,
    ),
    Clause::new("a child that gets or loses a parent counts at once", moved),
    Clause::new(
        "a closed child in between does not shield its own children",
        closed_between,
    ),
    Clause::needing(
        "a dependency on a child has nothing to do with its parent",
        &[Capability::MissingTargets],
        no_upwards,
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

fn put_levels(store: &mut dyn Store) {
    put_plain(store, &["cause"]);
    put_with(store, "top", &[("cause", "blocks")]);
    put_with(store, "mid", &[("top", "parent-child")]);
    put_with(store, "low", &[("mid", "parent-child")]);
    put_with(store, "leaf", &[("low", "parent-child")]);
}

fn blocked_levels(store: &mut dyn Store) -> [bool; 4] {
    ["top", "mid", "low", "leaf"].map(|level| is_blocked(store, level))
}

fn open_parent(store: &mut dyn Store) {
    put_plain(store, &["top"]);
    put_with(store, "leaf", &[("top", "parent-child")]);
    for status in ["open", "blocked", "deferred", "hooked"] {
        set_status(store, "top", status);
        assert!(!is_blocked(store, "leaf"), "{status}");
    }
}

fn levels(store: &mut dyn Store) {
    put_levels(store);
    assert_eq!(blocked_levels(store), [true; 4]);
    let blockers = store.blockers(&id("leaf")).expect("it is there");
    assert_eq!(
        (blockers[0].id.as_str(), blockers[0].waiting),
        ("low", Waiting::ForParent)
    );
    assert_eq!(ready(store, 0), ["cause"]);
}

fn finished_parent(store: &mut dyn Store) {
    put_levels(store);
    for status in ["closed", "pinned"] {
        set_status(store, "mid", status);
        assert_eq!(
            blocked_levels(store),
            [true, false, false, false],
            "{status}"
        );
        edit(store, "mid", Edit::Reopen);
        assert_eq!(blocked_levels(store), [true; 4]);
    }
}

fn freed(store: &mut dyn Store) {
    put_levels(store);
    close(store, "cause");
    assert_eq!(blocked_levels(store), [false; 4]);
    edit(store, "cause", Edit::Reopen);
    assert_eq!(blocked_levels(store), [true; 4]);
    edit(store, "top", Edit::RemoveDependency(id("cause")));
    assert_eq!(blocked_levels(store), [false; 4]);
    edit(store, "low", edge("cause", "blocks"));
    assert_eq!(blocked_levels(store), [false, false, true, true]);
}

fn several_parents(store: &mut dyn Store) {
    put_plain(store, &["cause", "free"]);
    put_with(store, "held", &[("cause", "blocks")]);
    put_with(
        store,
        "leaf",
        &[("free", "parent-child"), ("held", "parent-child")],
    );
    assert!(is_blocked(store, "leaf"));
    edit(store, "leaf", Edit::RemoveDependency(id("held")));
    assert!(!is_blocked(store, "leaf"));
}

fn missing_parent(store: &mut dyn Store) {
    put_with(store, "leaf", &[("later", "parent-child")]);
    put_with(store, "below", &[("leaf", "parent-child")]);
    assert!(!is_blocked(store, "leaf"));
    put_with(store, "later", &[("gone", "blocks")]);
    assert!(is_blocked(store, "leaf") && is_blocked(store, "below"));
}

fn moved(store: &mut dyn Store) {
    put_plain(store, &["cause", "leaf"]);
    put_with(store, "held", &[("cause", "blocks")]);
    put_with(store, "below", &[("leaf", "parent-child")]);
    edit(store, "leaf", edge("held", "parent-child"));
    assert!(is_blocked(store, "leaf") && is_blocked(store, "below"));
    edit(store, "leaf", Edit::RemoveDependency(id("held")));
    assert!(!is_blocked(store, "leaf") && !is_blocked(store, "below"));
}

fn closed_between(store: &mut dyn Store) {
    put_levels(store);
    close(store, "mid");
    edit(store, "low", edge("cause", "blocks"));
    assert_eq!(blocked_levels(store), [true, false, true, true]);
    close(store, "cause");
    assert_eq!(blocked_levels(store), [false; 4]);
}

fn no_upwards(store: &mut dyn Store) {
    put_levels(store);
    close(store, "cause");
    edit(store, "leaf", edge("gone", "blocks"));
    assert_eq!(blocked_levels(store), [false, false, false, true]);
}
