//! Clocks that go backwards.

use beads_ralph_core::issue::{Edit, Fence};
use beads_ralph_runtime::store::{Capability, Guard, NewClaim, Stamp, Store};
use jiff::SignedDuration;
use serde_json::json;

use super::Clause;
use super::tools::{
    at, by, claim, entry, field, get, holder, id, label, put, put_plain, time, try_claim, try_edit,
    update,
};

pub(super) const CLAUSES: &[Clause] = &[
    Clause::needing(
        "updated_at never falls, whatever changes",
        &[Capability::Times],
        updated_at,
    ),
    Clause::needing(
        "updated_at never falls by the part of a second that is not written",
        &[Capability::Times],
        parts_of_a_second,
    ),
    Clause::needing(
        "updated_at never falls, also when a document is replaced by an older one",
        &[Capability::Times],
        replaced,
    ),
    Clause::new(
        "a clock that goes backwards stops nobody",
        nobody_is_stopped,
    ),
    Clause::new(
        "a lease never shortens when the clock goes backwards",
        leases_stay,
    ),
    Clause::needing(
        "z_14 a shared lease never shortens when the clock goes backwards",
        &[Capability::Leases],
        shared_leases_stay,
    ),
];

fn updated_at(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let change = |store: &mut dyn Store, edit: Edit, seconds| {
        try_edit(store, "a", vec![edit], Guard::default(), seconds).expect("nothing forbids it");
        field(store, "a", "updated_at")
    };
    assert_eq!(change(store, label("1"), 100), json!(time(100)));
    assert_eq!(change(store, label("2"), 50), json!(time(100)));
    assert_eq!(
        change(store, Edit::Close("x".to_owned()), 60),
        json!(time(100))
    );
    assert_eq!(change(store, Edit::Reopen, 70), json!(time(100)));
    let fence = claim(store, "a", 10);
    assert_eq!(field(store, "a", "updated_at"), json!(time(100)));
    store.release(&id("a"), fence, by(5)).expect("it is held");
    assert_eq!(field(store, "a", "updated_at"), json!(time(100)));
    assert_eq!(get(store, "a").version, 7, "every change counts");
    assert_eq!(change(store, label("3"), 101), json!(time(101)));
}

fn parts_of_a_second(store: &mut dyn Store) {
    let updated_at = "2026-01-01T00:00:10.5Z";
    put(store, "a", json!({"updated_at": updated_at}));
    let by = Stamp {
        actor: "ann",
        at: at(10) + SignedDuration::from_millis(700),
    };
    let holder = holder("one");
    let new = NewClaim {
        holder: &holder,
        lease_until: at(60),
        is_forced: false,
        instead_of: None,
    };
    let record = store.claim(&id("a"), &new, by).expect("it is open");
    assert_eq!(field(store, "a", "updated_at"), updated_at, "after a claim");
    let edit = update("a", vec![label("x")], Guard::default());
    store.write(&[edit], by).expect("nothing forbids it");
    assert_eq!(field(store, "a", "updated_at"), updated_at, "after an edit");
    store
        .release(&id("a"), record.fence, by)
        .expect("it is held");
    assert_eq!(
        field(store, "a", "updated_at"),
        updated_at,
        "after a release"
    );
}

fn replaced(store: &mut dyn Store) {
    put(store, "a", json!({"updated_at": time(100)}));
    for older in [json!({"updated_at": time(1)}), json!({"priority": 1})] {
        let other = Box::new(entry("a", older).issue);
        try_edit(store, "a", vec![Edit::Replace(other)], Guard::default(), 50)
            .expect("nothing forbids it");
        assert_eq!(field(store, "a", "updated_at"), json!(time(100)));
    }
}

fn nobody_is_stopped(store: &mut dyn Store) {
    put(
        store,
        "a",
        json!({"created_at": time(1000), "updated_at": time(1000)}),
    );
    let first = try_claim(store, "a", "one", 500).expect("it is open");
    store
        .release(&id("a"), first.fence, by(400))
        .expect("it is held");
    let second = try_claim(store, "a", "two", 0).expect("it is open");
    assert_eq!(second.fence, Fence(2));
    assert_eq!(second.claim.map(|claim| claim.claimed_at), Some(at(0)));
}

fn leases_stay(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let fence = claim(store, "a", 1000);
    let claim = store
        .heartbeat(&id("a"), fence, at(10))
        .expect("it is held");
    assert_eq!(claim.lease_until, at(1060));
    try_edit(store, "a", vec![label("x")], Guard::default(), 5).expect("nothing forbids it");
    assert_eq!(get(store, "a").claim, Some(claim));
}

fn shared_leases_stay(store: &mut dyn Store) {
    let lease = store.acquire(&["slot"], &holder("one"), at(1060), by(1000));
    let lease = lease.expect("a store answers").expect("it is free");
    let renewed = store
        .renew("slot", lease.fence, at(10))
        .expect("it is held");
    assert_eq!(renewed.until, at(1060));
    let other = store.acquire(&["slot"], &holder("two"), at(60), by(0));
    assert_eq!(other.expect("a store answers"), None);
}
