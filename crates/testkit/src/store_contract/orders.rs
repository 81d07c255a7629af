//! The order of answers, to the last tie, and what lists leave out: deferred, short-lived, pinned, bookkeeping.

use beads_ralph_core::issue::{Edit, Order, Query, StatusFilter};
use beads_ralph_runtime::store::{Capability, Guard, Store};
use serde_json::json;

use super::Clause;
use super::tools::{edit, found, label, put, put_plain, put_with, ready, ready_at, time, try_edit};

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
    Clause::new("an issue that is put off is not ready until then", deferred),
    Clause::needing(
        "a parent that is put off hides its children until then",
        &[Capability::MissingTargets],
        deferred_parent,
    ),
    Clause::new("a deferred issue is not blocked", deferred_is_not_blocked),
    Clause::new(
        "bookkeeping is not ready unless its type is asked for",
        bookkeeping,
    ),
    Clause::new(
        "lists leave bookkeeping out unless it is asked for",
        hidden_in_lists,
    ),
    Clause::needing(
        "pinned and short-lived issues are not ready",
        &[Capability::AnyValue],
        flags,
    ),
    Clause::new(
        "f_10 a wisp is ready when it is asked for, until it is over",
        wisps,
    ),
    Clause::new("what is put off is ready when it is asked for", put_off),
    Clause::new(
        "lists leave templates out unless they are asked for",
        templates,
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

const BOOKKEEPING: [&str; 7] = [
    "merge-request",
    "gate",
    "molecule",
    "message",
    "agent",
    "role",
    "rig",
];

fn deferred(store: &mut dyn Store) {
    put(store, "a", json!({"defer_until": time(100)}));
    put(store, "b", json!({"defer_until": null}));
    put(
        store,
        "c",
        json!({"defer_until": "2026-01-01T02:01:40+02:00"}),
    );
    assert_eq!(ready(store, 0), ["b"]);
    assert_eq!(ready(store, 99), ["b"]);
    assert_eq!(ready(store, 100), ["a", "b", "c"]);
    edit(
        store,
        "a",
        Edit::Set("defer_until".to_owned(), json!(time(500))),
    );
    edit(store, "c", Edit::Unset("defer_until".to_owned()));
    assert_eq!(ready(store, 100), ["b", "c"]);
    assert_eq!(ready(store, 500), ["a", "b", "c"]);
}

fn deferred_parent(store: &mut dyn Store) {
    put(store, "top", json!({"defer_until": time(100)}));
    put_with(
        store,
        "leaf",
        &[("free", "parent-child"), ("top", "parent-child")],
    );
    put_with(store, "below", &[("leaf", "parent-child")]);
    put_with(store, "linked", &[("top", "related")]);
    assert_eq!(
        ready(store, 0),
        ["below", "linked"],
        "only what is directly below"
    );
    assert_eq!(ready(store, 100), ["below", "leaf", "linked", "top"]);
}

fn deferred_is_not_blocked(store: &mut dyn Store) {
    put(store, "a", json!({"defer_until": time(100)}));
    let waiting = Query {
        is_blocked: Some(true),
        ..Query::default()
    };
    assert_eq!(found(store, &waiting), Vec::<String>::new());
    super::tools::claim(store, "a", 0);
}

fn bookkeeping(store: &mut dyn Store) {
    put_plain(store, &["plain"]);
    for kind in BOOKKEEPING {
        put(store, kind, json!({"issue_type": kind}));
    }
    assert_eq!(ready(store, 0), ["plain"]);
    for kind in BOOKKEEPING {
        let asked = Query {
            types: vec![kind.to_owned()],
            ..ready_at(0)
        };
        assert_eq!(found(store, &asked), [kind]);
    }
}

fn hidden_in_lists(store: &mut dyn Store) {
    put_plain(store, &["plain"]);
    for kind in BOOKKEEPING {
        put(store, kind, json!({"issue_type": kind}));
    }
    let list = Query {
        order: Order::Id,
        ..Query::default()
    };
    assert_eq!(found(store, &list), ["merge-request", "molecule", "plain"]);
    let all = Query {
        includes_hidden: true,
        ..list.clone()
    };
    assert_eq!(found(store, &all).len(), 8);
    let asked = Query {
        types: vec!["gate".to_owned(), "task".to_owned()],
        ..list
    };
    assert_eq!(found(store, &asked), ["gate", "plain"]);
}

fn flags(store: &mut dyn Store) {
    put(store, "kept", json!({"pinned": true}));
    put(store, "short", json!({"ephemeral": true}));
    put(store, "plain", json!({"pinned": false, "ephemeral": false}));
    assert_eq!(ready(store, 0), ["plain"]);
    let both = Query {
        includes_ephemeral: true,
        ..ready_at(0)
    };
    assert_eq!(found(store, &both), ["plain", "short"]);
    edit(store, "kept", Edit::Unset("pinned".to_owned()));
    assert_eq!(ready(store, 0), ["kept", "plain"]);
    let list = Query {
        status: StatusFilter::Any,
        ..Query::default()
    };
    assert_eq!(found(store, &list).len(), 3, "a list shows them");
}

fn wisps(store: &mut dyn Store) {
    put_plain(store, &["plain"]);
    let wisp = json!({"ephemeral": true, "created_at": time(0)});
    put(store, "short", wisp);
    let day = 24 * 60 * 60;
    for (seconds, asked) in [(day - 1, &["plain", "short"][..]), (day, &["plain"])] {
        let both = Query {
            includes_ephemeral: true,
            ..ready_at(seconds)
        };
        assert_eq!(found(store, &both), asked);
        assert_eq!(ready(store, seconds), ["plain"]);
    }
}

fn put_off(store: &mut dyn Store) {
    put(store, "top", json!({"defer_until": time(100)}));
    put_with(store, "leaf", &[("top", "parent-child")]);
    let both = Query {
        includes_deferred: true,
        ..ready_at(0)
    };
    assert_eq!(found(store, &both), ["leaf", "top"]);
}

fn templates(store: &mut dyn Store) {
    put(store, "mould", json!({"is_template": true}));
    put_plain(store, &["plain"]);
    let list = Query {
        order: Order::Id,
        ..Query::default()
    };
    assert_eq!(found(store, &list), ["plain"]);
    let all = Query {
        includes_hidden: true,
        ..list
    };
    assert_eq!(found(store, &all), ["mould", "plain"]);
}
