//! What waits for what: edges that block, links, edges to missing issues, and `waits-for`.

use beads_ralph_core::issue::{Blocker, Dependency, Edit, Entry, Waiting};
use beads_ralph_runtime::store::{Capability, Store};
use serde_json::{Value, json};

use super::Clause;
use super::tools::{
    close, document, edge, edit, get, id, is_blocked, put, put_plain, put_with, ready, set_status,
};

/// The types that have no part in readiness.
const LINKS: [&str; 15] = [
    "related",
    "relates-to",
    "discovered-from",
    "replies-to",
    "duplicates",
    "supersedes",
    "authored-by",
    "assigned-to",
    "approved-by",
    "attests",
    "tracks",
    "until",
    "caused-by",
    "validates",
    "delegated-from",
];

const BLOCKING: [&str; 2] = ["blocks", "conditional-blocks"];

pub(super) const CLAUSES: &[Clause] = &[
    Clause::needing(
        "blocks and conditional-blocks hold back until closed or pinned",
        &[Capability::Versions],
        until_finished,
    ),
    Clause::new("a target that is opened again holds back again", reopened),
    Clause::new("all blocking edges must be satisfied", all_of_them),
    Clause::new(
        "a link of any of the fifteen types holds nothing back",
        links,
    ),
    Clause::needing(
        "an unknown type holds nothing back",
        &[Capability::AnyValue],
        unknown_types,
    ),
    Clause::needing(
        "an id that does not exist holds back, until it comes and is closed",
        &[Capability::MissingTargets],
        missing,
    ),
    Clause::new("an id of another project never holds back", external),
    Clause::new(
        "what is closed or pinned is not held back by anything",
        finished_is_free,
    ),
    Clause::new(
        "a dependency that is added or removed counts at once",
        added_and_removed,
    ),
    Clause::new("only what is open can be started", only_open),
    Clause::new(
        "being held back is passed on through a chain only by what is pending",
        chain,
    ),
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
        "an unknown gate waits for all children",
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

fn until_finished(store: &mut dyn Store) {
    for kind in BLOCKING {
        let (target, waiting) = (&format!("{kind}-target"), &format!("{kind}-waiting"));
        put_plain(store, &[target]);
        put_with(store, waiting, &[(target, kind)]);
        for status in ["open", "blocked", "deferred", "hooked", "qa"] {
            set_status(store, target, status);
            assert!(is_blocked(store, waiting), "{kind} on {status}");
        }
        super::tools::force(store, target, Edit::Status("in_progress".to_owned()));
        assert!(is_blocked(store, waiting), "{kind} on in_progress");
        for status in ["closed", "pinned"] {
            set_status(store, target, status);
            assert!(!is_blocked(store, waiting), "{kind} on {status}");
        }
        assert_eq!(get(store, waiting).version, 1, "it was not changed itself");
    }
}

fn reopened(store: &mut dyn Store) {
    put_plain(store, &["b"]);
    put_with(store, "a", &[("b", "blocks")]);
    for _ in 0..3 {
        close(store, "b");
        assert_eq!(ready(store, 0), ["a"]);
        edit(store, "b", Edit::Reopen);
        assert_eq!(ready(store, 0), ["b"]);
    }
}

fn all_of_them(store: &mut dyn Store) {
    put_plain(store, &["x", "y", "z"]);
    put_with(
        store,
        "a",
        &[
            ("x", "blocks"),
            ("y", "conditional-blocks"),
            ("z", "blocks"),
        ],
    );
    for target in ["y", "x", "z"] {
        assert!(is_blocked(store, "a"), "before {target}");
        close(store, target);
    }
    assert!(!is_blocked(store, "a"));
}

fn links(store: &mut dyn Store) {
    put_plain(store, &["b"]);
    put_with(store, "held", &[("b", "blocks")]);
    for kind in LINKS {
        let linked = format!("a-{kind}");
        put_with(
            store,
            &linked,
            &[("b", kind), ("held", kind), ("nowhere", kind)],
        );
        assert!(!is_blocked(store, &linked), "{kind}");
        assert_eq!(
            store.blockers(&id(&linked)).expect("it is there"),
            [],
            "{kind}"
        );
    }
    assert_eq!(ready(store, 0).len(), LINKS.len() + 1);
}

fn unknown_types(store: &mut dyn Store) {
    let long = "x".repeat(50);
    for (index, kind) in ["anything", "Blocks", "blocks:", "parent", "été", &long]
        .iter()
        .enumerate()
    {
        let linked = format!("a{index}");
        put_with(store, &linked, &[("nowhere", kind)]);
        assert!(!is_blocked(store, &linked), "{kind}");
    }
}

fn missing(store: &mut dyn Store) {
    for kind in ["blocks", "conditional-blocks", "waits-for"] {
        let (target, waiting) = (&format!("{kind}-target"), &format!("{kind}-waiting"));
        put_with(store, waiting, &[(target, kind)]);
        let expected = Blocker {
            id: id(target),
            waiting: Waiting::Missing,
        };
        assert_eq!(
            store.blockers(&id(waiting)).expect("it is there"),
            [expected]
        );
        assert!(is_blocked(store, waiting), "{kind}");
        put_plain(store, &[target]);
        // Whatever waits for children waits for nothing where there are none.
        assert_eq!(is_blocked(store, waiting), kind != "waits-for", "{kind}");
        close(store, target);
        assert!(!is_blocked(store, waiting), "{kind}");
    }
}

fn external(store: &mut dyn Store) {
    for kind in ["blocks", "conditional-blocks", "waits-for", "parent-child"] {
        put_with(store, kind, &[("external:other:login", kind)]);
        assert!(!is_blocked(store, kind), "{kind}");
    }
    assert_eq!(
        store
            .dependents(&id("external:other:login"))
            .expect("a store answers")
            .len(),
        4
    );
}

fn finished_is_free(store: &mut dyn Store) {
    put_plain(store, &["b"]);
    put_with(store, "a", &[("b", "blocks")]);
    assert!(is_blocked(store, "a"));
    for status in ["closed", "pinned"] {
        set_status(store, "a", status);
        assert!(!is_blocked(store, "a"), "{status}");
        assert_eq!(store.blockers(&id("a")).expect("it is there"), []);
    }
    edit(store, "a", Edit::Reopen);
    assert!(is_blocked(store, "a"));
}

fn added_and_removed(store: &mut dyn Store) {
    put_plain(store, &["a", "b", "c"]);
    for kind in BLOCKING {
        edit(store, "a", edge("b", kind));
        assert!(is_blocked(store, "a"), "{kind}");
        edit(store, "a", edge("c", "related"));
        edit(store, "a", Edit::RemoveDependency(id("b")));
        assert!(!is_blocked(store, "a"), "{kind}");
    }
}

fn only_open(store: &mut dyn Store) {
    for status in [
        "open",
        "blocked",
        "deferred",
        "in_progress",
        "hooked",
        "pinned",
        "qa",
    ] {
        put(store, status, json!({"status": status}));
    }
    put_plain(store, &["plain"]);
    assert_eq!(ready(store, 0), ["open", "plain"]);
}

fn chain(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    put_with(store, "b", &[("a", "blocks")]);
    put_with(store, "c", &[("b", "blocks")]);
    close(store, "b");
    assert!(!is_blocked(store, "c"), "b is done, whatever a is");
    edit(store, "b", Edit::Reopen);
    close(store, "a");
    assert!(!is_blocked(store, "b") && is_blocked(store, "c"));
}

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
