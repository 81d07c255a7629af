//! Molecules: when the last step closes, the root closes in the same step (F-14).

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{ALL_STEPS_COMPLETE, Edit, EventKind};
use beads_ralph_runtime::store::{Capability, Guard, Store, StoreError, Write};
use serde_json::{Value, json};

use super::Clause;
use super::tools::{
    assert_is, by, claim, close, edit, field, get, id, insertion, put, put_plain, put_with, ready,
    record_of, refused, set_status, try_claim, try_edit, update,
};

pub(super) const CLAUSES: &[Clause] = &[
    Clause::new(
        "f_14 when its last step closes, a molecule's root closes",
        last_step,
    ),
    Clause::needing(
        "f_14 whatever closes the last step closes the root",
        &[Capability::Guards],
        ways,
    ),
    Clause::new(
        "f_14 children of steps and gates count, and no step closes by itself",
        descendants,
    ),
    Clause::new(
        "f_14 a molecule within another closes, and may complete it",
        attached,
    ),
    Clause::new(
        "f_14 an ordinary parent stays open when its children are closed",
        ordinary_parents,
    ),
    Clause::needing(
        "f_14 a root that somebody holds is left to its holder",
        &[Capability::Guards],
        held_root,
    ),
    Clause::new(
        "f_14 deleting the last open step closes nothing, and neither does a step that comes closed",
        no_close,
    ),
    Clause::needing(
        "f_14 a batch is looked at as a whole",
        &[Capability::AtomicBatches],
        whole_batch,
    ),
    Clause::needing(
        "f_14 of two holders that close their steps the last one completes the molecule",
        &[Capability::Guards],
        two_closers,
    ),
    Clause::new(
        "f_14 closing the last step again completes what was left open",
        again,
    ),
    Clause::needing(
        "f_14 a change that is refused completes nothing",
        &[Capability::AtomicBatches],
        refused_change,
    ),
    Clause::new("f_14 what waits for the root can go on at once", freed),
    Clause::needing(
        "f_14 the close of the root is a separate version and event",
        &[
            Capability::AtomicBatches,
            Capability::Versions,
            Capability::History,
        ],
        told,
    ),
];

/// A root, and steps `<root>-a`, `<root>-b`, … that need each other in this order.
fn put_molecule(store: &mut dyn Store, root: &str, steps: &[&str]) {
    put(store, root, json!({"issue_type": "molecule"}));
    let mut last: Option<String> = None;
    for step in steps {
        let own = format!("{root}-{step}");
        let mut edges = vec![(root, "parent-child")];
        edges.extend(last.as_deref().map(|last| (last, "blocks")));
        put_with(store, &own, &edges);
        last = Some(own);
    }
}

fn status(store: &dyn Store, id: &str) -> String {
    get(store, id).issue.status().to_owned()
}

fn last_step(store: &mut dyn Store) {
    put_molecule(store, "m", &["a", "b"]);
    close(store, "m-a");
    assert_eq!(status(store, "m"), "open");
    close(store, "m-b");
    assert_eq!(status(store, "m"), "closed");
    assert_eq!(field(store, "m", "close_reason"), ALL_STEPS_COMPLETE);
    assert!(field(store, "m", "closed_at").is_string());
    edit(store, "m-b", Edit::Reopen);
    assert_eq!(status(store, "m"), "closed", "a root is reopened by people");
}

fn ways(store: &mut dyn Store) {
    for root in ["k", "l", "m"] {
        put_molecule(store, root, &["a"]);
    }
    set_status(store, "k-a", "closed");
    assert_eq!(status(store, "k"), "closed", "by its status");
    let fence = claim(store, "l-a", 0);
    let edits = vec![Edit::Close("done".to_owned())];
    let done = try_edit(store, "l-a", edits, Guard::fenced(fence), 10);
    done.expect("its holder may close it");
    assert_eq!(status(store, "l"), "closed", "by its holder");
    claim(store, "m-a", 0);
    let edits = vec![Edit::Close("done".to_owned())];
    let done = try_edit(store, "m-a", edits, Guard::forced(), 10);
    done.expect("force closes it");
    assert_eq!(status(store, "m"), "closed", "by force");
}

fn descendants(store: &mut dyn Store) {
    put_molecule(store, "m", &["a"]);
    put_with(store, "m-b", &[("m-a", "parent-child")]);
    let edges = [record_of("m", "parent-child")];
    put(
        store,
        "m-gate-a",
        json!({"issue_type": "gate", "dependencies": edges}),
    );
    close(store, "m-b");
    assert_eq!(status(store, "m-a"), "open", "no step closes by itself");
    close(store, "m-a");
    assert_eq!(status(store, "m"), "open", "the gate is open");
    close(store, "m-gate-a");
    assert_eq!(status(store, "m"), "closed");
    put_molecule(store, "n", &["a"]);
    put_with(store, "n-b", &[("n-a", "parent-child")]);
    close(store, "n-a");
    assert_eq!(status(store, "n"), "open", "the child is open");
    close(store, "n-b");
    assert_eq!(status(store, "n"), "closed");
}

fn attached(store: &mut dyn Store) {
    put_molecule(store, "top", &["a"]);
    let edges = [record_of("top", "parent-child")];
    put(
        store,
        "sub",
        json!({"issue_type": "molecule", "dependencies": edges}),
    );
    put_with(store, "sub-a", &[("sub", "parent-child")]);
    close(store, "top-a");
    assert_eq!(status(store, "top"), "open");
    close(store, "sub-a");
    assert_eq!(status(store, "sub"), "closed");
    assert_eq!(status(store, "top"), "closed");
}

fn ordinary_parents(store: &mut dyn Store) {
    for kind in ["epic", "task", "feature"] {
        put(store, kind, json!({"issue_type": kind}));
        let child = format!("{kind}-a");
        put_with(store, &child, &[(kind, "parent-child")]);
        close(store, &child);
        assert_eq!(status(store, kind), "open");
    }
}

fn held_root(store: &mut dyn Store) {
    put_molecule(store, "m", &["a"]);
    let fence = claim(store, "m", 0);
    close(store, "m-a");
    assert_eq!(status(store, "m"), "in_progress");
    assert!(get(store, "m").claim.is_some());
    let edits = vec![Edit::Close("all done".to_owned())];
    let done = try_edit(store, "m", edits, Guard::fenced(fence), 10);
    done.expect("its holder may close it");
    assert_eq!(field(store, "m", "close_reason"), "all done");
}

fn no_close(store: &mut dyn Store) {
    put_molecule(store, "m", &["a", "b"]);
    close(store, "m-a");
    let delete = Write::Delete {
        id: id("m-b"),
        guard: Guard::default(),
    };
    store.write(&[delete], by(10)).expect("it can be deleted");
    assert_eq!(status(store, "m"), "open");
    put(store, "n", json!({"issue_type": "molecule"}));
    let more = json!({
        "status": "closed", "closed_at": "2025-12-31T00:00:00Z",
        "dependencies": [record_of("n", "parent-child")],
    });
    put(store, "n-a", more);
    assert_eq!(status(store, "n"), "open");
}

fn closing(id: &str) -> Write {
    update(id, vec![Edit::Close("done".to_owned())], Guard::default())
}

fn child(id: &str, parent: &str) -> Write {
    let edges: Vec<Value> = vec![record_of(parent, "parent-child")];
    insertion(id, json!({ "dependencies": edges }))
}

fn whole_batch(store: &mut dyn Store) {
    put_molecule(store, "m", &["a", "b"]);
    let all = [closing("m-b"), closing("m-a")];
    store.write(&all, by(10)).expect("both can be closed");
    assert_eq!(status(store, "m"), "closed");
    put_molecule(store, "n", &["a"]);
    let more = [closing("n-a"), child("n-b", "n")];
    store.write(&more, by(10)).expect("one more step can come");
    assert_eq!(status(store, "n"), "open", "one more step came with it");
    close(store, "n-b");
    assert_eq!(status(store, "n"), "closed");
    put_molecule(store, "o", &["a"]);
    let root = update(
        "o",
        vec![Edit::Close("given up".to_owned())],
        Guard::default(),
    );
    let both = [closing("o-a"), root];
    store.write(&both, by(10)).expect("both can be closed");
    assert_eq!(field(store, "o", "close_reason"), "given up");
}

fn two_closers(store: &mut dyn Store) {
    put(store, "m", json!({"issue_type": "molecule"}));
    for step in ["m-a", "m-b"] {
        put_with(store, step, &[("m", "parent-child")]);
    }
    let fences = ["m-a", "m-b"].map(|step| {
        let record = try_claim(store, step, step, 0);
        record.expect("an open step can be claimed").fence
    });
    let finish = |store: &mut dyn Store, step: &str, fence| {
        let edits = vec![Edit::Close(step.to_owned())];
        try_edit(store, step, edits, Guard::fenced(fence), 10)
    };
    finish(store, "m-a", fences[0]).expect("the first may close its step");
    assert_eq!(status(store, "m"), "open");
    finish(store, "m-b", fences[1]).expect("the second may close its step");
    let closed = get(store, "m");
    assert_eq!(closed.issue.status(), "closed");
    finish(store, "m-a", fences[0]).expect("who did not hear the answer may ask again");
    assert_eq!(get(store, "m"), closed);
}

fn again(store: &mut dyn Store) {
    put_molecule(store, "m", &["a"]);
    close(store, "m-a");
    edit(store, "m", Edit::Reopen);
    assert_eq!(status(store, "m"), "open");
    let step = get(store, "m-a");
    close(store, "m-a");
    assert_eq!(status(store, "m"), "closed");
    assert_eq!(get(store, "m-a"), step, "the step itself is as it was");
}

fn refused_change(store: &mut dyn Store) {
    put_molecule(store, "m", &["a"]);
    put_plain(store, &["other"]);
    let error = refused(store, |store| {
        store.write(&[closing("m-a"), closing("nowhere")], by(10))
    });
    assert_is!(error, StoreError::NotFound(_));
    assert_eq!(status(store, "m"), "open");
}

fn freed(store: &mut dyn Store) {
    put_molecule(store, "m", &["a"]);
    put_with(store, "next", &[("m", "blocks")]);
    assert_eq!(ready(store, 0), ["m-a"]);
    close(store, "m-a");
    assert_eq!(ready(store, 20), ["next"]);
}

fn told(store: &mut dyn Store) {
    put_molecule(store, "m", &["a"]);
    let batch = [
        update(
            "m",
            vec![Edit::AppendNotes("x".to_owned())],
            Guard::default(),
        ),
        closing("m-a"),
    ];
    let versions = store.write(&batch, by(10)).expect("both can be changed");
    assert_eq!(versions, [3, 2]);
    assert_eq!(get(store, "m").version, 3);
    let events = store.events(None, 2, usize::MAX).expect("a history");
    let told: Vec<(&BeadId, EventKind)> = (events.iter())
        .map(|event| (&event.issue, event.kind))
        .collect();
    let (root, step) = (id("m"), id("m-a"));
    assert_eq!(
        told,
        [
            (&root, EventKind::Updated),
            (&step, EventKind::Closed),
            (&root, EventKind::Closed)
        ]
    );
    assert!(events.iter().all(|event| event.actor == "ann"));
}
