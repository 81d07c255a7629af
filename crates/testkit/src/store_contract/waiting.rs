//! `waits-for`: waiting for the children of an issue.

use beads_ralph_core::issue::{Dependency, Edit, Entry};
use beads_ralph_runtime::store::{Capability, Store};
use serde_json::{Value, json};

use super::Clause;
use super::tools::{
    close, document, edge, edit, id, is_blocked, put, put_plain, put_with, set_status,
};

pub(super) const CLAUSES: &[Clause] = &[
    Clause::new(
        "waits-for holds back while a child of the spawner is open",
        all_children,
    ),
    Clause::needing(
        "waits-for a spawner without children holds nothing back",
        &[Capability::AnyValue],
        no_children,
    ),
    Clause::new(
        "the gate any-children: one closed child is enough",
        any_children,
    ),
    Clause::needing(
        "the gate may be a text that holds JSON, or an object",
        &[Capability::AnyValue],
        gate_spellings,
    ),
    Clause::needing(
        "a gate that nobody knows waits for all children",
        &[Capability::AnyValue],
        odd_gates,
    ),
    Clause::new("a child that comes later holds back again", child_comes),
    Clause::new(
        "a child that leaves its parent is not waited for",
        child_leaves,
    ),
    Clause::new(
        "a child that is opened again is waited for again",
        child_reopens,
    ),
    Clause::new("a child by name alone is not waited for", child_by_name),
    Clause::new(
        "the spawner's own status does not matter to those that wait for its children",
        spawner_closed,
    ),
    Clause::new("a gate that changes counts at once", gate_changes),
    Clause::new(
        "waits-for that also blocks holds back until the spawner is closed and its children are",
        also_blocks,
    ),
];

const ANY: &str = "{\"gate\":\"any-children\"}";

fn put_waiting(store: &mut dyn Store, waiting: &str, metadata: &Value) {
    let edge = json!({"depends_on_id": "spawner", "type": "waits-for", "metadata": metadata});
    put(store, waiting, json!({"dependencies": [edge]}));
}

fn put_children(store: &mut dyn Store, children: &[&str]) {
    for child in children {
        put_with(store, child, &[("spawner", "parent-child")]);
    }
}

fn all_children(store: &mut dyn Store) {
    put_plain(store, &["spawner"]);
    put_children(store, &["c1", "c2", "c3"]);
    put_with(store, "w", &[("spawner", "waits-for")]);
    close(store, "c2");
    set_status(store, "c1", "pinned");
    assert!(is_blocked(store, "w"), "c3 is open");
    set_status(store, "c3", "deferred");
    assert!(is_blocked(store, "w"), "c3 is not done");
    close(store, "c3");
    assert!(!is_blocked(store, "w"));
}

fn no_children(store: &mut dyn Store) {
    put_plain(store, &["spawner"]);
    put_waiting(store, "all", &json!({}));
    put_waiting(store, "any", &json!(ANY));
    assert!(!is_blocked(store, "all") && !is_blocked(store, "any"));
}

fn also_blocks(store: &mut dyn Store) {
    put_plain(store, &["spawner"]);
    let metadata = "{\"gate\":\"all-children\",\"also_blocks\":true}";
    put_waiting(store, "w", &json!(metadata));
    assert!(is_blocked(store, "w"), "the spawner is open");
    put_children(store, &["c1"]);
    close(store, "spawner");
    assert!(is_blocked(store, "w"), "its child is open");
    close(store, "c1");
    assert!(!is_blocked(store, "w"));
}

fn any_children(store: &mut dyn Store) {
    put_plain(store, &["spawner"]);
    put_children(store, &["c1", "c2"]);
    put_waiting(store, "w", &json!(ANY));
    assert!(is_blocked(store, "w"));
    set_status(store, "c1", "pinned");
    assert!(is_blocked(store, "w"), "pinned is not closed");
    close(store, "c2");
    assert!(!is_blocked(store, "w"));
    set_status(store, "c1", "open");
    assert!(!is_blocked(store, "w"), "one is closed");
    edit(store, "c2", Edit::Reopen);
    assert!(is_blocked(store, "w"));
}

fn gate_spellings(store: &mut dyn Store) {
    put_plain(store, &["spawner"]);
    put_children(store, &["c1", "c2"]);
    close(store, "c1");
    put_waiting(store, "text", &json!(ANY));
    put_waiting(store, "object", &json!({"gate": "any-children", "more": 1}));
    put_waiting(store, "all-text", &json!("{\"gate\":\"all-children\"}"));
    put_waiting(store, "all-object", &json!({"gate": "all-children"}));
    assert!(!is_blocked(store, "text") && !is_blocked(store, "object"));
    assert!(is_blocked(store, "all-text") && is_blocked(store, "all-object"));
}

fn odd_gates(store: &mut dyn Store) {
    put_plain(store, &["spawner"]);
    put_children(store, &["c1", "c2"]);
    close(store, "c1");
    let odd = [
        json!(null),
        json!(""),
        json!("{"),
        json!("any-children"),
        json!({"gate": 1}),
        json!([]),
    ];
    for (index, metadata) in odd.iter().enumerate() {
        let waiting = format!("w{index}");
        put_waiting(store, &waiting, metadata);
        assert!(is_blocked(store, &waiting), "{metadata}");
    }
}

fn child_comes(store: &mut dyn Store) {
    put_plain(store, &["spawner", "late"]);
    put_with(store, "w", &[("spawner", "waits-for")]);
    put_children(store, &["c1"]);
    assert!(is_blocked(store, "w"), "it came with its edge");
    close(store, "c1");
    assert!(!is_blocked(store, "w"));
    edit(store, "late", edge("spawner", "parent-child"));
    assert!(is_blocked(store, "w"), "its edge came later");
    close(store, "late");
    assert!(!is_blocked(store, "w"));
}

fn child_leaves(store: &mut dyn Store) {
    put_plain(store, &["spawner", "other"]);
    put_children(store, &["c1", "c2"]);
    put_with(store, "w", &[("spawner", "waits-for")]);
    edit(store, "c1", Edit::RemoveDependency(id("spawner")));
    assert!(is_blocked(store, "w"), "c2 is left");
    let moved = document(
        "c2",
        json!({"dependencies": [{"depends_on_id": "other", "type": "parent-child"}]}),
    );
    let moved = Entry::from_document(moved).expect("this is an issue");
    edit(store, "c2", Edit::Replace(Box::new(moved.issue)));
    assert!(!is_blocked(store, "w"), "nobody is left");
}

fn child_reopens(store: &mut dyn Store) {
    put_plain(store, &["spawner"]);
    put_children(store, &["c1"]);
    put_with(store, "w", &[("spawner", "waits-for")]);
    put_with(store, "part", &[("w", "parent-child")]);
    for _ in 0..2 {
        assert!(is_blocked(store, "w") && is_blocked(store, "part"));
        close(store, "c1");
        assert!(!is_blocked(store, "w") && !is_blocked(store, "part"));
        edit(store, "c1", Edit::Reopen);
    }
}

fn child_by_name(store: &mut dyn Store) {
    put_plain(store, &["spawner", "spawner.1"]);
    put_with(store, "w", &[("spawner", "waits-for")]);
    assert!(!is_blocked(store, "w"));
}

fn spawner_closed(store: &mut dyn Store) {
    put_plain(store, &["spawner"]);
    put_children(store, &["c1"]);
    put_with(store, "w", &[("spawner", "waits-for")]);
    close(store, "spawner");
    assert!(is_blocked(store, "w"), "its child is open");
    close(store, "c1");
    edit(store, "spawner", Edit::Reopen);
    assert!(!is_blocked(store, "w"), "only its children are waited for");
}

fn gate_changes(store: &mut dyn Store) {
    put_plain(store, &["spawner"]);
    put_children(store, &["c1", "c2"]);
    close(store, "c1");
    put_with(store, "w", &[("spawner", "waits-for")]);
    assert!(is_blocked(store, "w"));
    edit(store, "w", Edit::RemoveDependency(id("spawner")));
    let any = Dependency::new(id("spawner"), "waits-for").expect("a type is a word");
    edit(
        store,
        "w",
        Edit::AddDependency(any.with("metadata", json!(ANY))),
    );
    assert!(!is_blocked(store, "w"));
}
