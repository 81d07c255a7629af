//! `parent-child`: a parent that is held back holds back its children.

use beads_ralph_core::issue::{Edit, Waiting};
use beads_ralph_runtime::store::{Capability, Store};

use super::Clause;
use super::tools::{close, edge, edit, id, is_blocked, put_plain, put_with, ready, set_status};

pub(super) const CLAUSES: &[Clause] = &[
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
    Clause::new(
        "a dependency on a child has nothing to do with its parent",
        no_upwards,
    ),
];

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
