//! Every edit, deletion among them, and what it does to the stored document.

use beads_ralph_core::issue::{Edit, EditError, Entry, EventKind, Fence};
use beads_ralph_core::vocabulary::EdgeType;
use beads_ralph_runtime::store::{Capability, Guard, Store, StoreError, Write};
use serde_json::{Value, json};

use super::Clause;
use super::tools::{
    assert_is, by, claim, close, comment, document, edge, edit, everything, field, force, get, id,
    insertion, is_blocked, label, put, put_plain, put_with, refused, set_status, time, try_edit,
};

pub(super) const CLAUSES: &[Clause] = &[
    Clause::needing(
        "Set and Unset change a field and nothing else",
        &[Capability::Versions],
        set_and_unset,
    ),
    Clause::needing(
        "Status closes and opens, so that closed ⇔ closed_at",
        &[Capability::Times],
        statuses,
    ),
    Clause::needing(
        "Close keeps its first time and reason; Reopen clears them",
        &[Capability::Times],
        close_and_reopen,
    ),
    Clause::new("AppendNotes adds a line", notes),
    Clause::needing(
        "MergeMetadata sets top-level keys; UnsetMetadata removes one",
        &[Capability::ExactDocuments],
        metadata,
    ),
    Clause::needing(
        "a label is there once, and labels keep their order",
        &[Capability::ExactDocuments],
        labels,
    ),
    Clause::needing(
        "a comment is appended",
        &[Capability::ExactDocuments],
        comments,
    ),
    Clause::needing(
        "Replace puts another document under the same id",
        &[Capability::MissingTargets],
        replace,
    ),
    Clause::needing(
        "several edits of one change are one version",
        &[Capability::Versions],
        several_edits,
    ),
    Clause::needing(
        "a change that changes nothing leaves version, time and history",
        &[Capability::MissingTargets],
        unchanged,
    ),
    Clause::needing(
        "removing what is absent changes nothing",
        &[Capability::Versions],
        unchanged_absent,
    ),
    Clause::needing(
        "an edit that cannot be done is refused, and so are those with it",
        &[Capability::MissingTargets],
        refusals,
    ),
    Clause::new(
        "a change of an issue that does not exist is refused",
        not_found,
    ),
    Clause::needing(
        "the history names each kind of change",
        &[
            Capability::History,
            Capability::Guards,
            Capability::MissingTargets,
        ],
        kinds,
    ),
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

fn set(key: &str, value: Value) -> Edit {
    Edit::Set(key.to_owned(), value)
}

fn set_and_unset(store: &mut dyn Store) {
    put(store, "a", json!({"description": "old"}));
    assert_eq!(edit(store, "a", set("description", json!("new"))), 2);
    assert_eq!(edit(store, "a", set("priority", json!(0))), 3);
    assert_eq!(edit(store, "a", Edit::Unset("description".to_owned())), 4);
    let expected = document("a", json!({"priority": 0, "updated_at": time(10)}));
    assert_eq!(
        Value::Object(get(store, "a").issue.into_document()),
        expected
    );
}

fn statuses(store: &mut dyn Store) {
    put(store, "a", json!({"status": "open"}));
    for status in ["blocked", "deferred", "hooked", "pinned", "qa-2", "open"] {
        set_status(store, "a", status);
        assert_eq!(field(store, "a", "status"), status);
        assert_eq!(field(store, "a", "closed_at"), Value::Null);
    }
    set_status(store, "a", "closed");
    assert_eq!(field(store, "a", "closed_at"), json!(time(10)));
    set_status(store, "a", "blocked");
    assert_eq!(field(store, "a", "closed_at"), Value::Null);
    force(store, "a", Edit::Status("in_progress".to_owned()));
    assert_eq!(
        get(store, "a").claim,
        None,
        "a claim is the way to hold an issue"
    );
}

fn close_and_reopen(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    close(store, "a");
    let again = vec![Edit::Close("again".to_owned())];
    try_edit(store, "a", again, Guard::default(), 99).expect("closing twice is no mistake");
    assert_eq!(field(store, "a", "close_reason"), "done");
    assert_eq!(field(store, "a", "closed_at"), json!(time(10)));
    assert_eq!(get(store, "a").version, 2);
    assert_eq!(edit(store, "a", Edit::Reopen), 3);
    assert_eq!(get(store, "a").issue.status(), "open");
    assert_eq!(field(store, "a", "closed_at"), Value::Null);
    assert_eq!(field(store, "a", "close_reason"), Value::Null);
}

fn notes(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    edit(store, "a", Edit::AppendNotes("one".to_owned()));
    edit(store, "a", Edit::AppendNotes("two\nthree".to_owned()));
    assert_eq!(field(store, "a", "notes"), "one\ntwo\nthree");
}

fn metadata(store: &mut dyn Store) {
    put(
        store,
        "a",
        json!({"metadata": {"keep": 1, "set": {"old": 1}, "go": 2}}),
    );
    let more = json!({"set": {"new": 1}, "null": null});
    let more = more.as_object().cloned().unwrap_or_default();
    edit(store, "a", Edit::MergeMetadata(more));
    edit(store, "a", Edit::UnsetMetadata("go".to_owned()));
    let expected = json!({"keep": 1, "set": {"new": 1}, "null": null});
    assert_eq!(field(store, "a", "metadata"), expected);
    edit(store, "a", Edit::UnsetMetadata("keep".to_owned()));
    edit(store, "a", Edit::UnsetMetadata("set".to_owned()));
    edit(store, "a", Edit::UnsetMetadata("null".to_owned()));
    assert_eq!(
        field(store, "a", "metadata"),
        json!({}),
        "empty is not absent"
    );
}

fn labels(store: &mut dyn Store) {
    put(store, "a", json!({"labels": ["z"]}));
    for text in ["m", "a", "z", "m"] {
        edit(store, "a", label(text));
    }
    assert_eq!(field(store, "a", "labels"), json!(["z", "m", "a"]));
    edit(store, "a", Edit::RemoveLabel("m".to_owned()));
    edit(store, "a", Edit::RemoveLabel("never there".to_owned()));
    assert_eq!(field(store, "a", "labels"), json!(["z", "a"]));
    assert_eq!(
        get(store, "a").version,
        4,
        "adding what is present changes nothing"
    );
}

fn comments(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    for text in ["one", "two", "two"] {
        edit(store, "a", Edit::Comment(comment(text)));
    }
    let said = store.comments(&id("a")).expect("it is there");
    assert_eq!(said, [comment("one"), comment("two"), comment("two")]);
    assert_eq!(
        (get(store, "a").n_comments, get(store, "a").version),
        (3, 4)
    );
}

fn replace(store: &mut dyn Store) {
    put(store, "a", json!({"labels": ["x"], "dependencies": ["b"]}));
    let other = Entry::from_document(document(
        "other",
        json!({"title": "New", "dependencies": ["c"], "metadata": {"k": 1}}),
    ));
    let other = other.expect("this is an issue").issue;
    edit(store, "a", Edit::Replace(Box::new(other)));
    let record = get(store, "a");
    assert_eq!(
        (record.issue.id().as_str(), record.issue.title()),
        ("a", "New")
    );
    assert!(!record.issue.has_label("x"));
    let expected = json!([{"issue_id": "a", "depends_on_id": "c", "type": "blocks"}]);
    assert_eq!(field(store, "a", "dependencies"), expected);
    assert_eq!(store.dependents(&id("b")).expect("a store answers"), []);
    assert_eq!(
        store.dependents(&id("c")).expect("a store answers").len(),
        1
    );
    assert_eq!(store.get(&[id("other")]).expect("a store answers"), []);
}

fn several_edits(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let edits = vec![
        label("x"),
        set("priority", json!(1)),
        Edit::Comment(comment("hi")),
        Edit::RemoveLabel("x".to_owned()),
        Edit::Close("done".to_owned()),
    ];
    let version = try_edit(store, "a", edits, Guard::default(), 10);
    assert_eq!(version.expect("nothing forbids it"), 2);
    assert_eq!(field(store, "a", "labels"), json!([]));
    assert_eq!(get(store, "a").issue.status(), "closed");
}

fn unchanged(store: &mut dyn Store) {
    put(
        store,
        "a",
        json!({"status": "open", "priority": 2, "labels": ["x"], "metadata": {"k": 1}, "dependencies": ["b"]}),
    );
    let same = json!({"k": 1}).as_object().cloned().unwrap_or_default();
    let own = get(store, "a").issue;
    for nothing in [
        set("priority", json!(2)),
        Edit::Unset("owner".to_owned()),
        Edit::Status("open".to_owned()),
        Edit::Reopen,
        Edit::MergeMetadata(same),
        Edit::UnsetMetadata("other".to_owned()),
        label("x"),
        Edit::RemoveLabel("y".to_owned()),
        edge("b", "blocks"),
        Edit::RemoveDependency(id("c")),
        Edit::Replace(Box::new(own)),
    ] {
        let before = super::tools::state(store);
        assert_eq!(edit(store, "a", nothing.clone()), 1, "{nothing:?}");
        assert_eq!(super::tools::state(store), before, "{nothing:?}");
    }
    let version = try_edit(store, "a", Vec::new(), Guard::default(), 10);
    assert_eq!(version.expect("no edits are no change"), 1);
}

fn unchanged_absent(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    put(
        store,
        "null",
        json!({"status": null, "metadata": null, "labels": null}),
    );
    for issue in ["a", "null"] {
        for nothing in [
            Edit::Status("open".to_owned()),
            Edit::Reopen,
            Edit::MergeMetadata(serde_json::Map::new()),
            Edit::UnsetMetadata("k".to_owned()),
            Edit::RemoveLabel("x".to_owned()),
            Edit::RemoveDependency(id("b")),
        ] {
            assert_eq!(
                edit(store, issue, nothing.clone()),
                1,
                "{issue}: {nothing:?}"
            );
        }
    }
}

fn refusals(store: &mut dyn Store) {
    put(store, "a", json!({"dependencies": ["b"]}));
    let wrong = [
        set("status", json!("closed")),
        set("id", json!("b")),
        set("labels", json!([])),
        set("title", json!(" ")),
        set("priority", json!("high")),
        set("defer_until", json!("tomorrow")),
        Edit::Unset("title".to_owned()),
        Edit::Unset("metadata".to_owned()),
        Edit::Status("In Progress".to_owned()),
        edge("a", "blocks"),
        edge("b", "related"),
    ];
    for wrong in wrong {
        let error = refused(store, |store| {
            let edits = vec![label("x"), wrong.clone(), label("y")];
            try_edit(store, "a", edits, Guard::default(), 10)
        });
        assert_is!(error, StoreError::Edit { .. });
    }
    let error = refused(store, |store| {
        try_edit(store, "a", vec![edge("a", "related")], Guard::default(), 10)
    });
    assert_is!(
        error,
        StoreError::Edit {
            error: EditError::SelfDependency,
            ..
        }
    );
}

fn not_found(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let error = refused(store, |store| {
        try_edit(store, "b", vec![label("x")], Guard::default(), 10)
    });
    assert_is!(error, StoreError::NotFound(id) if id.as_str() == "b");
}

fn kinds(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let mut expected = vec![EventKind::Created];
    for (change, kind) in [
        (set("priority", json!(1)), EventKind::Updated),
        (Edit::Status("blocked".to_owned()), EventKind::StatusChanged),
        (Edit::Status("closed".to_owned()), EventKind::Closed),
        (Edit::Reopen, EventKind::Reopened),
        (Edit::Close("x".to_owned()), EventKind::Closed),
        (Edit::Status("open".to_owned()), EventKind::StatusChanged),
        (Edit::Comment(comment("x")), EventKind::Commented),
        (label("x"), EventKind::LabelAdded),
        (Edit::RemoveLabel("x".to_owned()), EventKind::LabelRemoved),
        (edge("b", EdgeType::Blocks), EventKind::DependencyAdded),
        (
            Edit::RemoveDependency(id("b")),
            EventKind::DependencyRemoved,
        ),
        (Edit::AppendNotes("x".to_owned()), EventKind::Updated),
    ] {
        edit(store, "a", change);
        expected.push(kind);
    }
    let fence = claim(store, "a", 20);
    let guard = Guard::fenced(fence);
    let both = vec![label("y"), Edit::Comment(comment("y"))];
    try_edit(store, "a", both, guard, 20).expect("the holder may");
    expected.extend([EventKind::Claimed, EventKind::Updated]);
    let events = store
        .events(Some(&id("a")), 0, 99)
        .expect("there is a history");
    let kinds: Vec<EventKind> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, expected);
}

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
