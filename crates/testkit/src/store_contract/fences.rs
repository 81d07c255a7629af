//! Fences: a holder of the past can change nothing (Z-2).

use beads_ralph_core::issue::{Abandoned, Edit, Entry, Fence};
use beads_ralph_runtime::store::{Capability, Guard, Store, StoreError};
use serde_json::json;

use super::Clause;
use super::tools::{
    assert_is, at, by, claim, comment, document, edge, edit, force, get, id, label, put_plain,
    refused, try_edit,
};

const GUARDS: &[Capability] = &[Capability::Guards];

pub(super) const CLAUSES: &[Clause] = &[
    Clause::needing(
        "z_2 with its fence the holder may change anything",
        GUARDS,
        holder_may,
    ),
    Clause::needing(
        "z_2 after a release the fence is stale for every kind of change",
        GUARDS,
        after_release,
    ),
    Clause::needing(
        "z_2 after a reclaim the fence is stale for every kind of change",
        GUARDS,
        after_reclaim,
    ),
    Clause::needing(
        "z_2 after closing the fence is stale for every kind of change",
        GUARDS,
        after_close,
    ),
    Clause::needing(
        "z_2 the next holder's claim makes the last fence stale",
        GUARDS,
        after_next_claim,
    ),
    Clause::new(
        "without a fence nobody changes the status of what is held",
        unfenced_status,
    ),
    Clause::needing(
        "without a fence anybody may remark upon what is held, and not change it",
        &[Capability::Versions],
        unfenced_rest,
    ),
    Clause::new(
        "a forced change of the status ends the claim",
        forced_status,
    ),
    Clause::needing(
        "closing, reopening and any other status end the claim",
        GUARDS,
        statuses_end_it,
    ),
];

fn anything() -> Vec<Edit> {
    let other = Entry::from_document(document(
        "a",
        json!({"title": "New", "status": "in_progress"}),
    ));
    let map = json!({"k": 1}).as_object().cloned().unwrap_or_default();
    vec![
        Edit::Set("priority".to_owned(), json!(0)),
        Edit::Unset("priority".to_owned()),
        Edit::AppendNotes("x".to_owned()),
        Edit::MergeMetadata(map),
        Edit::UnsetMetadata("k".to_owned()),
        label("x"),
        Edit::RemoveLabel("x".to_owned()),
        edge("b", "blocks"),
        Edit::RemoveDependency(id("b")),
        Edit::Comment(comment("x")),
        Edit::Replace(Box::new(other.expect("this is an issue").issue)),
        Edit::Status("blocked".to_owned()),
        Edit::Close("x".to_owned()),
        Edit::Reopen,
    ]
}

fn holder_may(store: &mut dyn Store) {
    for (index, change) in anything().into_iter().enumerate() {
        let own = if matches!(change, Edit::Replace(_)) {
            "a".to_owned()
        } else {
            format!("a{index}")
        };
        put_plain(store, &[&own]);
        let guard = Guard::fenced(claim(store, &own, 0));
        try_edit(store, &own, vec![change], guard, 10).expect("the holder may");
    }
}

/// With that fence nothing can be done any more; without it somebody else is not in the way.
fn assert_stale(store: &mut dyn Store, fence: Fence) {
    let is_closed = get(store, "a").issue.status() == "closed";
    for change in anything() {
        if is_closed && matches!(change, Edit::Close(_)) {
            continue;
        }
        let words = format!("{change:?}");
        let error = refused(store, |store| {
            try_edit(store, "a", vec![change], Guard::fenced(fence), 20)
        });
        assert!(
            matches!(error, StoreError::Stale { .. }),
            "{words}: {error:?}"
        );
    }
    let error = refused(store, |store| store.heartbeat(&id("a"), fence, at(999)));
    assert_is!(error, StoreError::Stale { .. });
    let error = refused(store, |store| store.release(&id("a"), fence, by(20)));
    assert_is!(error, StoreError::Stale { .. });
    let error = refused(store, |store| {
        store.reclaim(&id("a"), fence, Abandoned::LeaseOver, by(20))
    });
    assert_is!(error, StoreError::Stale { .. });
}

fn after_release(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let fence = claim(store, "a", 0);
    store.release(&id("a"), fence, by(1)).expect("it is held");
    assert_stale(store, fence);
}

fn after_reclaim(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let fence = claim(store, "a", 0);
    store
        .reclaim(&id("a"), fence, Abandoned::ProcessDead, by(1))
        .expect("it is held");
    assert_stale(store, fence);
}

fn after_close(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let fence = claim(store, "a", 0);
    let done = vec![Edit::Close("done".to_owned())];
    try_edit(store, "a", done, Guard::fenced(fence), 1).expect("the holder may");
    assert_stale(store, fence);
    let version = get(store, "a").version;
    let again = vec![Edit::Close("again".to_owned())];
    let answer = try_edit(store, "a", again.clone(), Guard::fenced(fence), 2);
    assert_is!(answer, Ok(same) if *same == version);
    let error = refused(store, |store| {
        try_edit(store, "a", again, Guard::fenced(Fence(fence.0 + 1)), 2)
    });
    assert_is!(error, StoreError::Stale { .. });
    edit(store, "a", Edit::Reopen);
    assert_stale(store, fence);
}

fn after_next_claim(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let last = claim(store, "a", 0);
    store.release(&id("a"), last, by(1)).expect("it is held");
    let now = claim(store, "a", 2);
    assert_stale(store, last);
    assert_stale(store, Fence(now.0 + 1));
    try_edit(store, "a", vec![label("x")], Guard::fenced(now), 3).expect("the holder may");
}

fn status_changes() -> [Edit; 5] {
    [
        Edit::Close("x".to_owned()),
        Edit::Reopen,
        Edit::Status("open".to_owned()),
        Edit::Status("pinned".to_owned()),
        Edit::Replace(Box::new(
            Entry::from_document(document("a", json!({"status": "blocked"})))
                .expect("this is an issue")
                .issue,
        )),
    ]
}

fn unfenced_status(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    claim(store, "a", 0);
    for change in status_changes() {
        let error = refused(store, |store| {
            try_edit(store, "a", vec![label("x"), change], Guard::default(), 999)
        });
        assert_is!(error, StoreError::Held { holder, .. } if holder.run == "run-1");
    }
}

fn unfenced_rest(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    claim(store, "a", 0);
    let claim = get(store, "a").claim;
    edit(store, "a", Edit::Comment(comment("look")));
    edit(store, "a", label("human"));
    edit(store, "a", Edit::AppendNotes("look".to_owned()));
    edit(store, "a", Edit::Status("in_progress".to_owned()));
    let map = json!({"k": 1}).as_object().cloned().unwrap_or_default();
    for change in [
        Edit::Set("priority".to_owned(), json!(0)),
        Edit::MergeMetadata(map),
        edge("b", "blocks"),
    ] {
        let error = refused(store, |store| {
            try_edit(store, "a", vec![change], Guard::default(), 10)
        });
        assert_is!(error, StoreError::Held { .. });
    }
    assert_eq!(
        get(store, "a").claim,
        claim,
        "the holder holds it as before"
    );
    assert_eq!(get(store, "a").version, 5);
}

fn forced_status(store: &mut dyn Store) {
    for (index, change) in status_changes().into_iter().enumerate() {
        let own = if matches!(change, Edit::Replace(_)) {
            "a".to_owned()
        } else {
            format!("a{index}")
        };
        put_plain(store, &[&own]);
        let fence = claim(store, &own, 0);
        force(store, &own, label("x"));
        assert!(
            get(store, &own).claim.is_some(),
            "the status was left alone"
        );
        force(store, &own, change);
        assert_eq!(get(store, &own).claim, None);
        assert_eq!(get(store, &own).fence, fence);
        let error = refused(store, |store| store.heartbeat(&id(&own), fence, at(999)));
        assert_is!(error, StoreError::Stale { .. });
    }
}

fn statuses_end_it(store: &mut dyn Store) {
    for status in ["closed", "open", "blocked", "deferred", "pinned", "qa"] {
        put_plain(store, &[status]);
        let guard = Guard::fenced(claim(store, status, 0));
        let change = vec![Edit::Status(status.to_owned())];
        try_edit(store, status, change, guard, 10).expect("the holder may");
        assert_eq!(get(store, status).claim, None, "{status}");
    }
}
