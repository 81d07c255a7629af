//! While an issue is held: heartbeats, and how holding ends.

use beads_ralph_core::issue::{Abandoned, EventKind, Fence};
use beads_ralph_runtime::store::{Capability, Store, StoreError};
use serde_json::json;

use super::Clause;
use super::tools::{
    assert_is, at, by, claim, edit, get, id, label, put_plain, ready, refused, state, time,
    try_claim,
};

const HISTORY: &[Capability] = &[Capability::History];

pub(super) const CLAUSES: &[Clause] = &[
    Clause::new(
        "a heartbeat moves the end of the lease, and never to an earlier time",
        heartbeat,
    ),
    Clause::needing(
        "a heartbeat is no change: neither version nor history",
        &[Capability::Versions],
        heartbeat_is_no_change,
    ),
    Clause::new("only the holder's fence beats", foreign_heartbeat),
    Clause::needing(
        "a release makes an issue open again, for the next claimer",
        &[Capability::Versions],
        release,
    ),
    Clause::needing(
        "a reclaim makes an issue open again, whatever its lease",
        &[Capability::Versions],
        reclaim,
    ),
    Clause::new(
        "a reclaim leaves a newer claim alone",
        reclaim_of_an_older_claim,
    ),
    Clause::new(
        "what nobody holds cannot be released, reclaimed or kept alive",
        nobody_holds,
    ),
    Clause::needing(
        "releasing and reclaiming are events of their own",
        HISTORY,
        events,
    ),
];

fn heartbeat(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let fence = claim(store, "a", 0);
    for (asked, given) in [(100, 100), (50, 100), (100, 100), (101, 101), (-5, 101)] {
        let claim = store
            .heartbeat(&id("a"), fence, at(asked))
            .expect("it is held");
        assert_eq!(claim.lease_until, at(given));
        assert_eq!(get(store, "a").claim, Some(claim));
    }
}

fn heartbeat_is_no_change(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let fence = claim(store, "a", 0);
    let before = state(store);
    store.heartbeat(&id("a"), fence, at(1)).expect("it is held");
    assert_eq!(state(store), before);
    store
        .heartbeat(&id("a"), fence, at(500))
        .expect("it is held");
    assert_eq!(get(store, "a").version, 2);
    assert_eq!(
        get(store, "a").issue.text("updated_at"),
        Some(time(0).as_str())
    );
    edit(store, "a", label("x"));
    let claim = get(store, "a").claim.expect("it is held");
    assert_eq!(
        claim.lease_until,
        at(500),
        "a change leaves the lease alone"
    );
    assert_eq!((claim.claimed_at, claim.fence), (at(0), fence));
}

fn foreign_heartbeat(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let fence = claim(store, "a", 0);
    for wrong in [Fence(0), Fence(fence.0 + 1)] {
        let error = refused(store, |store| store.heartbeat(&id("a"), wrong, at(999)));
        assert_is!(error, StoreError::Stale { given, .. } if *given == wrong);
    }
    let error = refused(store, |store| {
        store.heartbeat(&id("nowhere"), fence, at(999))
    });
    assert_is!(error, StoreError::NotFound(_));
}

fn release(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let fence = claim(store, "a", 0);
    assert_eq!(ready(store, 1), Vec::<String>::new());
    let record = store.release(&id("a"), fence, by(7)).expect("it is held");
    assert_eq!(record, get(store, "a"), "the answer is what is kept");
    assert_eq!((record.issue.status(), record.claim), ("open", None));
    assert_eq!((record.version, record.fence), (3, fence));
    assert_eq!(record.issue.text("updated_at"), Some(time(7).as_str()));
    assert_eq!(ready(store, 8), ["a"]);
    let record = try_claim(store, "a", "second", 8).expect("it is open");
    assert_eq!(
        record.claim.map(|claim| claim.holder.run),
        Some("second".to_owned())
    );
}

fn reclaim(store: &mut dyn Store) {
    for (issue, why) in [("a", Abandoned::ProcessDead), ("b", Abandoned::LeaseOver)] {
        put_plain(store, &[issue]);
        let fence = claim(store, issue, 0);
        let record = store
            .reclaim(&id(issue), fence, why, by(7))
            .expect("it is held");
        assert_eq!(record, get(store, issue), "the answer is what is kept");
        assert_eq!((record.issue.status(), record.claim), ("open", None));
        assert_eq!((record.version, record.fence), (3, fence));
    }
}

fn reclaim_of_an_older_claim(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let old = claim(store, "a", 0);
    store.release(&id("a"), old, by(1)).expect("it is held");
    claim(store, "a", 2);
    for wrong in [old, Fence(0), Fence(9)] {
        let error = refused(store, |store| {
            store.reclaim(&id("a"), wrong, Abandoned::LeaseOver, by(99))
        });
        assert_is!(error, StoreError::Stale { .. });
    }
}

fn nobody_holds(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    super::tools::put(store, "b", json!({"status": "in_progress"}));
    for issue in ["a", "b"] {
        for fence in [Fence(0), Fence(1)] {
            let error = refused(store, |store| store.release(&id(issue), fence, by(1)));
            assert_is!(error, StoreError::Stale { .. });
            let error = refused(store, |store| {
                store.reclaim(&id(issue), fence, Abandoned::LeaseOver, by(1))
            });
            assert_is!(error, StoreError::Stale { .. });
            let error = refused(store, |store| store.heartbeat(&id(issue), fence, at(1)));
            assert_is!(error, StoreError::Stale { .. });
        }
    }
    let error = refused(store, |store| store.release(&id("c"), Fence(1), by(1)));
    assert_is!(error, StoreError::NotFound(_));
}

fn events(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let fence = claim(store, "a", 0);
    store.release(&id("a"), fence, by(1)).expect("it is held");
    let fence = claim(store, "a", 2);
    store
        .reclaim(&id("a"), fence, Abandoned::LeaseOver, by(3))
        .expect("it is held");
    let events = store.events(None, 0, 99).expect("there is a history");
    let kinds: Vec<EventKind> = events.iter().map(|event| event.kind).collect();
    let claimed = EventKind::Claimed;
    let expected = [
        EventKind::Created,
        claimed,
        EventKind::Released,
        claimed,
        EventKind::Reclaimed,
    ];
    assert_eq!(kinds, expected);
}
