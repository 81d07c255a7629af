//! The order of answers, to the last tie.

use beads_ralph_core::issue::{Edit, Order, Query};
use beads_ralph_runtime::store::{Capability, Guard, Store};
use serde_json::json;

use super::Clause;
use super::tools::{found, label, put, put_plain, time, try_edit};

pub(super) const CLAUSES: &[Clause] = &[
    Clause::needing(
        "by priority: the most urgent, then the newest, then by id",
        &[Capability::AnyValue],
        priority,
    ),
    Clause::needing(
        "the oldest first, then by id",
        &[Capability::AnyValue],
        oldest,
    ),
    Clause::needing(
        "the latest change first, then by id",
        &[Capability::Times],
        updated,
    ),
    Clause::new("by id, as text", by_id),
    Clause::needing(
        "a time without an offset is UTC, and one that is missing is long ago",
        &[Capability::AnyValue],
        odd_times,
    ),
    Clause::needing(
        "times that differ by less than a microsecond are the same",
        &[Capability::ExactDocuments],
        tiny_differences,
    ),
    Clause::needing(
        "a limit takes the first of the order",
        &[Capability::AnyValue],
        limited,
    ),
];

fn ordered(store: &dyn Store, order: Order) -> Vec<String> {
    let query = Query {
        order,
        ..Query::default()
    };
    found(store, &query)
}

fn put_at(store: &mut dyn Store, id: &str, priority: i64, created: i64) {
    put(
        store,
        id,
        json!({"priority": priority, "created_at": time(created)}),
    );
}

fn put_mixed(store: &mut dyn Store) {
    for (id, priority, created) in [
        ("late", 5, 30),
        ("b", 1, 10),
        ("a", 1, 10),
        ("new", 1, 20),
        ("urgent", -3, 0),
    ] {
        put_at(store, id, priority, created);
    }
    put(store, "plain", json!({"created_at": time(5)}));
}

fn priority(store: &mut dyn Store) {
    put_mixed(store);
    let expected = ["urgent", "new", "a", "b", "plain", "late"];
    assert_eq!(ordered(store, Order::Priority), expected);
}

fn oldest(store: &mut dyn Store) {
    put_mixed(store);
    let expected = ["urgent", "plain", "a", "b", "new", "late"];
    assert_eq!(ordered(store, Order::Oldest), expected);
}

fn updated(store: &mut dyn Store) {
    put_plain(store, &["never", "c", "a", "b"]);
    for (issue, seconds) in [("b", 10), ("a", 10), ("c", 20)] {
        try_edit(store, issue, vec![label("x")], Guard::default(), seconds).expect("it is there");
    }
    assert_eq!(ordered(store, Order::Updated), ["c", "a", "b", "never"]);
    let change = vec![Edit::Close("x".to_owned()), Edit::Reopen];
    try_edit(store, "b", change, Guard::default(), 30).expect("it is there");
    assert_eq!(ordered(store, Order::Updated), ["b", "c", "a", "never"]);
}

fn by_id(store: &mut dyn Store) {
    put_plain(
        store,
        &["b", "a.10", "a.2", "B", "é", "a", "z\u{10000}", "z\u{ffe6}"],
    );
    let expected = ["B", "a", "a.10", "a.2", "b", "z\u{ffe6}", "z\u{10000}", "é"];
    assert_eq!(ordered(store, Order::Id), expected);
}

fn odd_times(store: &mut dyn Store) {
    for (id, created) in [
        ("e", json!("2026-01-01T12:00:00+05:00")),
        ("d", json!("2026-01-01 06:30")),
        ("c", json!("2026-01-01T06:00:00.25Z")),
        ("b", json!(null)),
        ("a", json!("1969-12-31T23:59:59.5Z")),
    ] {
        put(store, id, json!({"created_at": created}));
    }
    assert_eq!(ordered(store, Order::Oldest), ["a", "b", "c", "d", "e"]);
    assert_eq!(ordered(store, Order::Priority), ["e", "d", "c", "b", "a"]);
}

fn tiny_differences(store: &mut dyn Store) {
    for (id, fraction) in [("b", "000000100"), ("a", "000000900"), ("c", "000001000")] {
        let at = format!("2026-01-01T00:00:00.{fraction}Z");
        put(store, id, json!({"created_at": at, "updated_at": at}));
    }
    assert_eq!(ordered(store, Order::Oldest), ["a", "b", "c"]);
    assert_eq!(ordered(store, Order::Updated), ["c", "a", "b"]);
    assert_eq!(ordered(store, Order::Priority), ["c", "a", "b"]);
}

fn limited(store: &mut dyn Store) {
    put_mixed(store);
    let query = Query {
        limit: Some(2),
        ..Query::default()
    };
    assert_eq!(found(store, &query), ["urgent", "new"]);
    let query = Query {
        order: Order::Oldest,
        ..query
    };
    assert_eq!(found(store, &query), ["urgent", "plain"]);
}
