//! What waits for what: edges that block, edges that are links, and edges to nowhere.

use beads_ralph_core::issue::{Blocker, Edit, Waiting};
use beads_ralph_runtime::store::{Capability, Store};
use serde_json::json;

use super::Clause;
use super::tools::{
    close, edge, edit, get, id, is_blocked, put, put_plain, put_with, ready, set_status,
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
    Clause::new(
        "blocks and conditional-blocks hold back until closed or pinned",
        until_finished,
    ),
    Clause::new("a target that is opened again holds back again", reopened),
    Clause::new("all blocking edges must be satisfied", all_of_them),
    Clause::new(
        "a link of any of the fifteen types holds nothing back",
        links,
    ),
    Clause::new("a type that nobody knows holds nothing back", unknown_types),
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
