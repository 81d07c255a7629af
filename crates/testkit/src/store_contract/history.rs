//! The history: what changed, in order, enough to rebuild every issue, also when clocks go backwards.

use beads_ralph_core::issue::{Abandoned, Edit, Event, Fence, fold};
use beads_ralph_runtime::store::{Capability, Guard, NewClaim, Stamp, Store};
use jiff::SignedDuration;
use serde_json::json;

use super::Clause;
use super::tools::{
    at, by, claim, close, comment, edge, edit, entry, everything, field, get, holder, id,
    insertion, label, put, put_plain, put_with, time, try_claim, try_edit, update,
};

const HISTORY: &[Capability] = &[Capability::History];

pub(super) const CLAUSES: &[Clause] = &[
    Clause::needing(
        "events have numbers and versions without gaps",
        &[Capability::History, Capability::AtomicBatches],
        numbers,
    ),
    Clause::needing(
        "events can be read from any number on, so many at a time",
        HISTORY,
        pages,
    ),
    Clause::needing(
        "every version of an issue can be rebuilt",
        &[
            Capability::History,
            Capability::Guards,
            Capability::AnyValue,
        ],
        rebuilt,
    ),
    Clause::needing(
        "an event tells what was before and what is after",
        HISTORY,
        before_and_after,
    ),
    Clause::needing("an event says who and when", HISTORY, who_and_when),
    Clause::needing(
        "what only becomes free or held back has no event",
        HISTORY,
        no_event_for_neighbours,
    ),
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

fn events(store: &dyn Store) -> Vec<Event> {
    store
        .events(None, 0, usize::MAX)
        .expect("there is a history")
}

fn numbers(store: &mut dyn Store) {
    let batch = vec![
        insertion("a", json!({})),
        insertion("b", json!({})),
        update("a", vec![label("x")], Guard::default()),
        update("a", vec![label("x")], Guard::default()),
        update("b", vec![label("x")], Guard::default()),
    ];
    store.write(&batch, by(0)).expect("nothing forbids it");
    drop(store.write(&[insertion("a", json!({}))], by(0)));
    put_plain(store, &["c"]);
    let told: Vec<(u64, String, u64)> = (events(store).iter())
        .map(|event| (event.number, event.issue.to_string(), event.version))
        .collect();
    let expected = [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("c", 1)];
    let expected: Vec<(u64, String, u64)> = (1..)
        .zip(expected)
        .map(|(number, (issue, version))| (number, issue.to_owned(), version))
        .collect();
    assert_eq!(told, expected, "what was refused has no number");
}

fn pages(store: &mut dyn Store) {
    put_plain(store, &["a", "b"]);
    for n in 0..4 {
        edit(store, "a", label(&format!("l{n}")));
    }
    let all = events(store);
    for after in 0..=all.len() {
        for limit in [0, 1, 3, usize::MAX] {
            let page = store
                .events(None, after as u64, limit)
                .expect("there is a history");
            let expected: Vec<Event> = all.iter().skip(after).take(limit).cloned().collect();
            assert_eq!(page, expected, "after {after}, at most {limit}");
        }
    }
    let own = store
        .events(Some(&id("a")), 2, 2)
        .expect("there is a history");
    let numbers: Vec<u64> = own.iter().map(|event| event.number).collect();
    assert_eq!(numbers, [3, 4]);
    assert_eq!(
        store.events(Some(&id("x")), 0, 9).expect("a store answers"),
        []
    );
    for after in [1000, u64::MAX / 2, u64::MAX] {
        assert_eq!(store.events(None, after, 9).expect("a store answers"), []);
    }
}

fn rebuilt(store: &mut dyn Store) {
    put(
        store,
        "a",
        json!({"metadata": {"a/b~": 1, "z": null}, "labels": ["x"], "owner": null}),
    );
    let mut versions = vec![get(store, "a")];
    let map = json!({"z": 1.50, "": {}})
        .as_object()
        .cloned()
        .unwrap_or_default();
    for change in [
        Edit::Comment(comment("one")),
        Edit::MergeMetadata(map),
        Edit::UnsetMetadata("a/b~".to_owned()),
        edge("b", "blocks"),
        Edit::Unset("owner".to_owned()),
        Edit::RemoveDependency(id("b")),
    ] {
        edit(store, "a", change);
        versions.push(get(store, "a"));
    }
    let fence = claim(store, "a", 20);
    versions.push(get(store, "a"));
    let both = vec![
        Edit::Comment(comment("two")),
        Edit::AppendNotes("n".to_owned()),
    ];
    try_edit(store, "a", both, Guard::fenced(fence), 20).expect("the holder may");
    versions.push(get(store, "a"));
    let reclaimed = store.reclaim(&id("a"), fence, Abandoned::LeaseOver, by(30));
    versions.push(reclaimed.expect("it is held"));
    close(store, "a");
    versions.push(get(store, "a"));
    let events = store
        .events(Some(&id("a")), 0, 99)
        .expect("there is a history");
    for (index, version) in versions.iter().enumerate() {
        let folded = fold(&events[..=index]).expect("a history tells what an issue is");
        assert_eq!(
            folded.entry.issue, version.issue,
            "version {}",
            version.version
        );
        assert_eq!(folded.entry.fence, version.fence);
        assert_eq!(folded.claim, version.claim);
        assert_eq!(folded.version, version.version);
        assert_eq!(folded.entry.comments.len(), version.n_comments);
    }
}

fn before_and_after(store: &mut dyn Store) {
    put(
        store,
        "a",
        json!({"priority": 1, "metadata": {"k": 1, "other": 2}}),
    );
    let map = json!({"k": 2}).as_object().cloned().unwrap_or_default();
    edit(store, "a", Edit::MergeMetadata(map));
    edit(store, "a", Edit::Unset("priority".to_owned()));
    let events = events(store);
    assert_eq!(events[1].before["/metadata/k"], 1);
    assert_eq!(events[1].after["/metadata/k"], 2);
    assert!(!events[1].after.contains_key("/metadata/other"));
    assert_eq!(events[2].before["/priority"], 1);
    assert!(!events[2].after.contains_key("/priority"));
}

fn who_and_when(store: &mut dyn Store) {
    let bob = Stamp {
        actor: "Böb \"the\" builder\n",
        at: at(77),
    };
    store
        .write(&[insertion("a", json!({}))], bob)
        .expect("it is new");
    let events = events(store);
    assert_eq!(events[0].actor, bob.actor);
    assert_eq!(events[0].at, bob.time());
}

fn no_event_for_neighbours(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    put_with(store, "b", &[("a", "blocks")]);
    put_with(store, "c", &[("b", "parent-child")]);
    close(store, "a");
    assert_eq!(events(store).len(), 4);
    let versions: Vec<u64> = everything(store)
        .iter()
        .map(|record| record.version)
        .collect();
    assert_eq!(versions, [2, 1, 1]);
}

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
