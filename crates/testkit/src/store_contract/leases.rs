//! What orchestrators share by name: leases (Z-14) and control rows (Z-15).

use beads_ralph_core::issue::{Fence, HolderProcess};
use beads_ralph_runtime::store::{Capability, Lease, Store, StoreError};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::Clause;
use super::tools::{assert_is, at, by, holder};

const LEASES: &[Capability] = &[Capability::Leases];

pub(super) const CLAUSES: &[Clause] = &[
    Clause::needing(
        "z_14 a name is taken by one, until its lease is over",
        LEASES,
        taken_by_one,
    ),
    Clause::needing(
        "z_14 of several names the first free one is given",
        LEASES,
        one_of_several,
    ),
    Clause::needing(
        "z_14 a lease that is over can be taken, and its fence is stale",
        LEASES,
        expiry,
    ),
    Clause::needing("z_14 renewing never shortens a lease", LEASES, renewal),
    Clause::needing(
        "z_14 a lease is renewed only by the fence that holds it",
        LEASES,
        stale_renewal,
    ),
    Clause::needing(
        "z_14 what is given back is free at once",
        LEASES,
        given_back,
    ),
    Clause::needing(
        "z_14 the fence of a name rises each time it is taken",
        LEASES,
        fence_rises,
    ),
    Clause::needing(
        "z_14 leases are listed by prefix, in order, without those that are over",
        LEASES,
        listed,
    ),
    Clause::needing("z_14 a holder comes back as it was", LEASES, holder_kept),
    Clause::needing(
        "z_15 a control row is set only over the version that was seen",
        LEASES,
        compare_and_set,
    ),
    Clause::needing("z_15 a null removes a control row", LEASES, removal),
    Clause::needing(
        "z_15 the version of a control row never falls, also after its removal",
        LEASES,
        version_rises,
    ),
    Clause::needing(
        "z_15 control rows are listed by prefix, in order",
        LEASES,
        controls_listed,
    ),
    Clause::needing("z_15 a value comes back as it was", LEASES, values),
];

fn take(store: &mut dyn Store, names: &[&str], run: &str, now: i64, until: i64) -> Option<Lease> {
    let taken = store.acquire(names, &holder(run), at(until), by(now));
    taken.expect("a store answers")
}

fn taken_by_one(store: &mut dyn Store) {
    let lease = take(store, &["slot"], "one", 0, 60).expect("it is free");
    assert_eq!((lease.name.as_str(), lease.fence), ("slot", Fence(1)));
    assert_eq!((lease.holder, lease.until), (holder("one"), at(60)));
    for (run, now) in [("two", 0), ("one", 1), ("two", 59), ("two", 60)] {
        assert_eq!(take(store, &["slot"], run, now, 999), None, "at {now}");
    }
    assert_eq!(
        take(store, &[], "one", 0, 60),
        None,
        "no name is free among none"
    );
}

fn one_of_several(store: &mut dyn Store) {
    let names = ["s1", "s2", "s3"];
    take(store, &["s2"], "one", 0, 60);
    let got = [0, 1, 2].map(|now| take(store, &names, "two", now, 60).map(|lease| lease.name));
    assert_eq!(got, [Some("s1".to_owned()), Some("s3".to_owned()), None]);
    assert_eq!(store.leases("", at(0)).expect("a store answers").len(), 3);
}

fn expiry(store: &mut dyn Store) {
    let first = take(store, &["slot"], "one", 0, 60).expect("it is free");
    let second = take(store, &["slot"], "two", 61, 120).expect("the lease is over");
    assert_eq!((second.fence, &second.holder), (Fence(2), &holder("two")));
    assert_is!(
        store.renew("slot", first.fence, at(500)),
        Err(StoreError::Guard { .. })
    );
    store
        .give_back("slot", first.fence)
        .expect("nothing happens");
    let held = store.leases("slot", at(61)).expect("a store answers");
    assert_eq!(held, [second], "the new holder has it as before");
}

fn renewal(store: &mut dyn Store) {
    let lease = take(store, &["slot"], "one", 0, 60).expect("it is free");
    for (asked, given) in [(100, 100), (50, 100), (-9, 100), (101, 101)] {
        let renewed = store
            .renew("slot", lease.fence, at(asked))
            .expect("it is held");
        assert_eq!((renewed.until, renewed.fence), (at(given), lease.fence));
        assert_eq!(store.leases("", at(0)).expect("a store answers"), [renewed]);
    }
    let odd = at(200) + SignedDuration::from_nanos(1_234_567);
    let renewed = store.renew("slot", lease.fence, odd).expect("it is held");
    assert_eq!(store.leases("", at(0)).expect("a store answers"), [renewed]);
    assert_eq!(take(store, &["slot"], "two", 101, 300), None);
}

fn stale_renewal(store: &mut dyn Store) {
    let lease = take(store, &["slot"], "one", 0, 60).expect("it is free");
    for (name, fence) in [
        ("slot", Fence(0)),
        ("slot", Fence(2)),
        ("other", lease.fence),
    ] {
        assert_is!(
            store.renew(name, fence, at(500)),
            Err(StoreError::Guard { .. })
        );
    }
    store.give_back("slot", lease.fence).expect("it is held");
    assert_is!(
        store.renew("slot", lease.fence, at(500)),
        Err(StoreError::Guard { .. })
    );
    assert_eq!(store.leases("", at(0)).expect("a store answers"), []);
}

fn given_back(store: &mut dyn Store) {
    let lease = take(store, &["slot"], "one", 0, 60).expect("it is free");
    store.give_back("slot", Fence(9)).expect("nothing happens");
    assert_eq!(take(store, &["slot"], "two", 0, 60), None);
    store.give_back("slot", lease.fence).expect("it is held");
    assert_eq!(store.leases("", at(0)).expect("a store answers"), []);
    assert!(take(store, &["slot"], "two", 0, 60).is_some());
    store
        .give_back("slot", lease.fence)
        .expect("nothing happens");
    store
        .give_back("nowhere", lease.fence)
        .expect("nothing happens");
    assert_eq!(store.leases("", at(0)).expect("a store answers").len(), 1);
}

fn fence_rises(store: &mut dyn Store) {
    let mut last = Fence(0);
    for round in 0..4 {
        let now = round * 100;
        let lease = take(store, &["slot"], "one", now, now + 50).expect("it is free");
        assert!(lease.fence > last, "{} after {last}", lease.fence);
        last = lease.fence;
        if round % 2 == 0 {
            store.give_back("slot", lease.fence).expect("it is held");
        }
    }
    let other = take(store, &["other"], "one", 0, 50).expect("it is free");
    assert_eq!(other.fence, Fence(1), "each name has its own");
}

fn listed(store: &mut dyn Store) {
    for (name, until) in [
        ("port/2", 50),
        ("port/10", 60),
        ("slot", 70),
        ("portal", 50),
        ("é", 50),
    ] {
        take(store, &[name], "one", 0, until);
    }
    let names = |prefix: &str, now| -> Vec<String> {
        let leases = store.leases(prefix, at(now)).expect("a store answers");
        leases.into_iter().map(|lease| lease.name).collect()
    };
    assert_eq!(names("port/", 0), ["port/10", "port/2"]);
    assert_eq!(names("port", 50), ["port/10", "port/2", "portal"]);
    assert_eq!(names("port", 51), ["port/10"]);
    assert_eq!(names("", 0).len(), 5);
    assert_eq!(names("é", 0), ["é"]);
    assert_eq!(names("x", 0), Vec::<String>::new());
}

fn holder_kept(store: &mut dyn Store) {
    let mut own = holder("run\n\"1\"");
    own.process = Some(HolderProcess {
        pid: 7,
        started: u64::MAX,
        boot: "b-1".to_owned(),
        machine: Some("m-1".to_owned()),
        namespace: Some("pid:[1]".to_owned()),
    });
    let lease = store
        .acquire(&["slot"], &own, at(60), by(0))
        .expect("a store answers");
    assert_eq!(lease.map(|lease| lease.holder), Some(own.clone()));
    let held = store.leases("", at(0)).expect("a store answers");
    assert_eq!(held[0].holder, own);
}

fn set(store: &mut dyn Store, key: &str, value: &Value, seen: u64) -> Result<u64, StoreError> {
    store.set_control(key, value, seen, by(0))
}

fn rows(store: &dyn Store, prefix: &str) -> Vec<(String, String, u64)> {
    let rows = store.controls(prefix).expect("a store answers");
    let rows = rows.into_iter();
    rows.map(|row| (row.key, row.value.to_string(), row.version))
        .collect()
}

fn compare_and_set(store: &mut dyn Store) {
    assert_is!(
        set(store, "stop", &json!(1), 1),
        Err(StoreError::Guard { .. })
    );
    assert_eq!(rows(store, ""), []);
    assert_eq!(set(store, "stop", &json!(1), 0).expect("there is none"), 1);
    for wrong in [0, 2, u64::MAX] {
        assert_is!(
            set(store, "stop", &json!(2), wrong),
            Err(StoreError::Guard { .. })
        );
    }
    assert_eq!(rows(store, ""), [("stop".to_owned(), "1".to_owned(), 1)]);
    assert_eq!(set(store, "stop", &json!(2), 1).expect("it is 1"), 2);
    assert_eq!(
        set(store, "stop", &json!(2), 2).expect("it is 2"),
        3,
        "the same value counts"
    );
}

fn removal(store: &mut dyn Store) {
    set(store, "stop", &json!(true), 0).expect("there is none");
    assert_is!(
        set(store, "stop", &Value::Null, 0),
        Err(StoreError::Guard { .. })
    );
    set(store, "stop", &Value::Null, 1).expect("it is 1");
    assert_eq!(rows(store, ""), []);
    assert_is!(
        set(store, "stop", &json!(1), 1),
        Err(StoreError::Guard { .. })
    );
    assert_is!(
        set(store, "stop", &json!(1), 2),
        Err(StoreError::Guard { .. })
    );
    set(store, "stop", &json!(1), 0).expect("there is none");
    assert_eq!(rows(store, "").len(), 1);
}

fn version_rises(store: &mut dyn Store) {
    let mut last = 0;
    for _ in 0..3 {
        let made = set(store, "k", &json!("x"), 0).expect("there is none");
        let gone = set(store, "k", &Value::Null, made).expect("it was seen");
        assert!(last < made && made < gone, "{last} {made} {gone}");
        last = gone;
    }
    let nothing = set(store, "k", &Value::Null, 0).expect("there is none");
    let made = set(store, "k", &json!("x"), 0).expect("there is none");
    assert!(last < made && nothing <= made);
}

fn controls_listed(store: &mut dyn Store) {
    for key in ["run/2", "run/10", "runs", "a", "é"] {
        set(store, key, &json!(key), 0).expect("there is none");
    }
    let keys = |prefix: &str| -> Vec<String> {
        rows(store, prefix)
            .into_iter()
            .map(|(key, ..)| key)
            .collect()
    };
    assert_eq!(keys("run/"), ["run/10", "run/2"]);
    assert_eq!(keys("run"), ["run/10", "run/2", "runs"]);
    assert_eq!(keys(""), ["a", "run/10", "run/2", "runs", "é"]);
    assert_eq!(keys("é"), ["é"]);
    assert_eq!(keys("x"), Vec::<String>::new());
}

fn values(store: &mut dyn Store) {
    let odd = "{\"z\":1.50,\"a\":[1e400,-0,123456789012345678901234567890],\"s\":\"\\u0000\\n\",\"n\":null}";
    let value: Value = serde_json::from_str(odd).expect("this is JSON");
    set(store, "k", &value, 0).expect("there is none");
    assert_eq!(rows(store, "")[0].1, value.to_string());
}
