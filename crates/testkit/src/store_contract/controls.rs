//! Control rows: values that processes share (Z-15).

use beads_ralph_runtime::store::{Capability, Store, StoreError};
use serde_json::{Value, json};

use super::Clause;
use super::tools::{assert_is, by};

const LEASES: &[Capability] = &[Capability::Leases];

pub(super) const CLAUSES: &[Clause] = &[
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
        listed,
    ),
    Clause::needing("z_15 a value comes back as it was", LEASES, values),
];

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

fn listed(store: &mut dyn Store) {
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
