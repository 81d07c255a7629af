//! Claims: of any number of claimers exactly one succeeds (L-11), and how holding goes on and ends.

use beads_ralph_core::issue::{Abandoned, Edit, EventKind, Fence, HolderProcess, Record, Waiting};
use beads_ralph_runtime::store::{Capability, Guard, NewClaim, Store, StoreError, Write};
use serde_json::{Value, json};

use super::Clause;
use super::tools::{
    assert_is, at, by, claim, close, edit, entry, field, get, holder, id, label, put, put_plain,
    put_with, ready, refused, state, time, try_claim, try_edit,
};

pub(super) const CLAUSES: &[Clause] = &[
    Clause::new(
        "l_11 a claim sets open → in_progress and records the claimer",
        takes,
    ),
    Clause::new(
        "l_11 of several claimers one wins, and the others see who",
        one_wins,
    ),
    Clause::new("an issue that is not open cannot be claimed", not_open),
    Clause::new("what does not exist cannot be claimed", missing),
    Clause::needing(
        "what waits for an id that does not exist cannot be claimed",
        &[Capability::MissingTargets],
        held_back_by_nothing,
    ),
    Clause::new(
        "what is held back cannot be claimed, unless it is forced",
        held_back,
    ),
    Clause::new(
        "force does not take what somebody holds, nor what is not open",
        force_is_no_theft,
    ),
    Clause::needing(
        "the first claim says when work began, and later ones leave it",
        &[Capability::Times],
        started_once,
    ),
    Clause::needing(
        "z_2 the fence rises with every claim, through release, close and reopen",
        &[Capability::Guards],
        fence_rises,
    ),
    Clause::new("z_2 a fence that cannot rise is not given", last_fence),
    Clause::needing(
        "an issue with a closed dependency can be claimed",
        &[Capability::MissingTargets],
        freed,
    ),
    Clause::needing(
        "z_4 the claim of somebody who is gone is taken over in one step, or stays as it is",
        &[Capability::History],
        taken_over,
    ),
    Clause::needing(
        "a claim is one version",
        &[Capability::Versions],
        one_version,
    ),
    Clause::needing(
        "a claim is one event `claimed`",
        &[Capability::History],
        one_event,
    ),
    Clause::new(
        "a heartbeat moves the end of the lease, and never to an earlier time",
        heartbeat,
    ),
    Clause::needing(
        "a heartbeat changes neither version nor history",
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
        "releasing and reclaiming are separate events",
        HISTORY,
        events,
    ),
];

fn takes(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let mut holder = holder("run-1");
    holder.process = Some(HolderProcess {
        pid: u32::MAX,
        started: u64::MAX,
        boot: "b".to_owned(),
        machine: None,
        namespace: None,
    });
    let new = NewClaim {
        holder: &holder,
        lease_until: at(60),
        is_forced: false,
        instead_of: None,
    };
    let record = store.claim(&id("a"), &new, by(5)).expect("it is open");
    assert_eq!(record, get(store, "a"), "the answer is what is kept");
    assert_eq!(record.fence, Fence(1));
    assert_eq!(record.issue.status(), "in_progress");
    let claim = record.claim.expect("it is held");
    assert_eq!((claim.holder, claim.fence), (holder, Fence(1)));
    assert_eq!((claim.claimed_at, claim.lease_until), (at(5), at(60)));
}

fn one_wins(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let winner = try_claim(store, "a", "first", 0).expect("it is open");
    for (run, seconds) in [("second", 0), ("third", 1000), ("first", 1)] {
        let error = refused(store, |store| try_claim(store, "a", run, seconds));
        assert!(error.is_already_claimed(), "{error}");
        assert!(error.to_string().contains("already claimed"), "{error}");
        assert_is!(error, StoreError::Held { holder, fence, .. }
            if holder.run == "first" && *fence == winner.fence);
    }
}

fn not_open(store: &mut dyn Store) {
    for status in ["blocked", "deferred", "pinned", "hooked", "qa"] {
        put(store, status, json!({"status": status}));
        let error = refused(store, |store| try_claim(store, status, "r", 0));
        assert_is!(error, StoreError::NotClaimable { status: own, .. } if own == status);
    }
    put_plain(store, &["done"]);
    close(store, "done");
    let error = refused(store, |store| try_claim(store, "done", "r", 0));
    assert!(
        !error.is_already_claimed(),
        "closed is not taken by somebody"
    );
    assert_is!(error, StoreError::NotClaimable { .. });
}

fn missing(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let error = refused(store, |store| try_claim(store, "b", "r", 0));
    assert_is!(error, StoreError::NotFound(_));
}

fn forced(store: &mut dyn Store, id: &str) -> Result<Fence, StoreError> {
    let holder = holder("forced");
    let claim = NewClaim {
        holder: &holder,
        lease_until: at(60),
        is_forced: true,
        instead_of: None,
    };
    let record = store.claim(&super::tools::id(id), &claim, by(0))?;
    Ok(record.fence)
}

fn take_over(
    store: &mut dyn Store,
    bead: &str,
    fence: Fence,
    run: &str,
) -> Result<Record, StoreError> {
    let holder = holder(run);
    let claim = NewClaim {
        holder: &holder,
        lease_until: at(60),
        is_forced: false,
        instead_of: Some((fence, Abandoned::ProcessDead)),
    };
    store.claim(&id(bead), &claim, by(9))
}

fn taken_over(store: &mut dyn Store) {
    put_plain(store, &["a", "b"]);
    let error = refused(store, |store| take_over(store, "a", Fence(1), "early"));
    assert_is!(error, StoreError::Stale { .. });
    claim(store, "a", 0);
    let error = refused(store, |store| take_over(store, "a", Fence(7), "wrong"));
    assert_is!(error, StoreError::Stale { .. });

    let record = take_over(store, "a", Fence(1), "next").expect("its holder is gone");
    assert_eq!(record, get(store, "a"), "the answer is what is kept");
    let held = record.claim.expect("it is held");
    assert_eq!((held.holder.run.as_str(), held.fence), ("next", Fence(2)));
    assert_eq!(record.issue.status(), "in_progress");
    let events = store
        .events(Some(&id("a")), 0, 99)
        .expect("it has a history");
    let kinds: Vec<EventKind> = events.iter().map(|event| event.kind).collect();
    let last = [EventKind::Claimed, EventKind::Reclaimed, EventKind::Claimed];
    assert_eq!(kinds[kinds.len() - 3..], last);

    put_with(store, "c", &[("b", "blocks")]);
    forced(store, "c").expect("it was forced");
    let error = refused(store, |store| take_over(store, "c", Fence(1), "next"));
    assert_is!(error, StoreError::Blocked { .. });
}

fn one_version(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    claim(store, "a", 0);
    assert_eq!(get(store, "a").version, 2);
}

fn held_back(store: &mut dyn Store) {
    put_plain(store, &["b"]);
    put_with(store, "a", &[("b", "blocks")]);
    assert_eq!(reasons(store, "a"), [("b".to_owned(), Waiting::ForIt)]);
    assert_eq!(forced(store, "a").expect("it was forced"), Fence(1));
    assert!(get(store, "a").is_blocked, "it is held back as before");
}

fn held_back_by_nothing(store: &mut dyn Store) {
    put_with(store, "a", &[("gone", "blocks")]);
    let missing = ("gone".to_owned(), Waiting::Missing);
    assert_eq!(reasons(store, "a"), [missing]);
}

/// Why an issue cannot be claimed.
fn reasons(store: &mut dyn Store, id: &str) -> Vec<(String, Waiting)> {
    let error = refused(store, |store| try_claim(store, id, "r", 0));
    let StoreError::Blocked { blockers, .. } = &error else {
        panic!("{error:?} does not say what holds it back");
    };
    (blockers.iter())
        .map(|blocker| (blocker.id.to_string(), blocker.waiting))
        .collect()
}

fn force_is_no_theft(store: &mut dyn Store) {
    put_plain(store, &["a", "b"]);
    claim(store, "a", 0);
    close(store, "b");
    assert_is!(
        refused(store, |store| forced(store, "a")),
        StoreError::Held { .. }
    );
    assert_is!(
        refused(store, |store| forced(store, "b")),
        StoreError::NotClaimable { .. }
    );
}

fn started_once(store: &mut dyn Store) {
    put(store, "a", json!({"started_at": null}));
    put_plain(store, &["b"]);
    for issue in ["a", "b"] {
        assert_eq!(field(store, issue, "started_at"), Value::Null);
        let fence = claim(store, issue, 5);
        assert_eq!(field(store, issue, "started_at"), json!(time(5)));
        assert_eq!(field(store, issue, "updated_at"), json!(time(5)));
        store.release(&id(issue), fence, by(6)).expect("it is held");
        claim(store, issue, 50);
        assert_eq!(field(store, issue, "started_at"), json!(time(5)));
    }
}

fn fence_rises(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let one = claim(store, "a", 0);
    store.release(&id("a"), one, by(1)).expect("it is held");
    assert_eq!(
        get(store, "a").fence,
        one,
        "it does not fall when nobody holds it"
    );
    let two = claim(store, "a", 2);
    let done = vec![Edit::Close("done".to_owned())];
    try_edit(store, "a", done, Guard::fenced(two), 3).expect("the holder may");
    assert_eq!(get(store, "a").fence, two);
    edit(store, "a", Edit::Reopen);
    assert_eq!(get(store, "a").fence, two);
    let three = claim(store, "a", 4);
    assert_eq!([one, two, three], [Fence(1), Fence(2), Fence(3)]);
}

fn last_fence(store: &mut dyn Store) {
    let mut moved = entry("a", json!({}));
    moved.fence = Fence(u64::MAX);
    store
        .write(&[Write::Insert(Box::new(moved))], by(0))
        .expect("it is new");
    assert_eq!(get(store, "a").fence, Fence(u64::MAX));
    let error = refused(store, |store| try_claim(store, "a", "r", 0));
    assert_is!(error, StoreError::Invalid { .. });
}

fn freed(store: &mut dyn Store) {
    put_plain(store, &["b"]);
    put_with(store, "a", &[("b", "blocks"), ("x", "related")]);
    close(store, "b");
    let record = try_claim(store, "a", "r", 20).expect("nothing holds it back");
    assert!(!record.is_blocked);
    edit(store, "b", Edit::Reopen);
    assert!(get(store, "a").is_blocked, "held, and held back again");
}

fn one_event(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    claim(store, "a", 5);
    edit(store, "a", label("x"));
    let events = store
        .events(Some(&id("a")), 1, 1)
        .expect("there is a history");
    let event = &events[0];
    assert_eq!(
        (event.kind, event.version, event.number),
        (EventKind::Claimed, 2, 2)
    );
    assert_eq!(event.after["/status"], "in_progress");
    assert!(
        !event.before.contains_key("/title"),
        "what stayed is not told"
    );
}

const HISTORY: &[Capability] = &[Capability::History];

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
