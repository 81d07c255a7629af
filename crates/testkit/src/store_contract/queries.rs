//! Queries: every condition, alone and together, and finding ids by how they begin.

use beads_ralph_core::issue::{Edit, Order, Query, StatusFilter};
use beads_ralph_runtime::store::{Capability, Store};
use serde_json::json;

use super::Clause;
use super::tools::{
    claim, close, edit, found, id, label, put, put_plain, put_with, ready_at, set_status,
};

pub(super) const CLAUSES: &[Clause] = &[
    Clause::new(
        "a query asks for what is neither closed nor pinned, unless it says more",
        statuses,
    ),
    Clause::new("labels: all of, one of, none of", labels),
    Clause::new(
        "labels that change are found as they are now",
        changed_labels,
    ),
    Clause::new("types: one of", types),
    Clause::new("the role that it is for, or none", assignees),
    Clause::needing(
        "priorities: from, to, both included",
        &[Capability::AnyValue],
        priorities,
    ),
    Clause::needing(
        "the parent: by edge, or by name where there is no edge",
        &[Capability::MissingTargets],
        parents,
    ),
    Clause::new("metadata: a key with the text of its value", metadata),
    Clause::new(
        "metadata of the plan is found like any other",
        plan_metadata,
    ),
    Clause::new(
        "words in id, title, description and notes, whatever their case",
        words,
    ),
    Clause::new("only what is held back, or only what is not", blocked),
    Clause::needing(
        "conditions are all of them true",
        &[Capability::AnyValue],
        together,
    ),
    Clause::new("a question may name very many words", very_many),
    Clause::new("a limit cuts the answer, and zero is nothing", limits),
    Clause::new(
        "what is ready can be narrowed like any list",
        ready_narrowed,
    ),
    Clause::new("ids with a prefix, in order, at most so many", prefixes),
    Clause::new(
        "a prefix is text: no case, no wildcard, any letter",
        odd_prefixes,
    ),
];

fn by_id() -> Query {
    Query {
        order: Order::Id,
        ..Query::default()
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn statuses(store: &mut dyn Store) {
    for status in ["open", "blocked", "pinned", "qa"] {
        put(store, status, json!({"status": status}));
    }
    put_plain(store, &["closed", "held", "plain"]);
    close(store, "closed");
    claim(store, "held", 0);
    assert_eq!(
        found(store, &by_id()),
        ["blocked", "held", "open", "plain", "qa"]
    );
    let with = |status| Query { status, ..by_id() };
    assert_eq!(found(store, &with(StatusFilter::Any)).len(), 7);
    let one_of = |statuses: &[&str]| with(StatusFilter::OneOf(texts(statuses)));
    assert_eq!(
        found(store, &one_of(&["closed", "pinned"])),
        ["closed", "pinned"]
    );
    assert_eq!(found(store, &one_of(&["open"])), ["open", "plain"]);
    assert_eq!(found(store, &one_of(&["in_progress", "nothing"])), ["held"]);
    assert_eq!(
        found(store, &one_of(&[])),
        Vec::<String>::new(),
        "none of them"
    );
}

fn labels(store: &mut dyn Store) {
    put(store, "ab", json!({"labels": ["a", "b"]}));
    put(store, "a", json!({"labels": ["a"]}));
    put(store, "bc", json!({"labels": ["b", "c", "b"]}));
    put_plain(store, &["plain"]);
    let query = |all: &[&str], any: &[&str], none: &[&str]| Query {
        labels_all: texts(all),
        labels_any: texts(any),
        labels_none: texts(none),
        ..by_id()
    };
    for (all, any, none, expected) in [
        (&["a"][..], &[][..], &[][..], &["a", "ab"][..]),
        (&["a", "b"], &[], &[], &["ab"]),
        (&[], &["a", "c"], &[], &["a", "ab", "bc"]),
        (&[], &[], &["b"], &["a", "plain"]),
        (&["b"], &["a", "c"], &["c"], &["ab"]),
        (&["A"], &[], &[], &[]),
        (&[], &["zzz"], &[], &[]),
        (&["b", "b"], &["c", "c"], &["x"], &["bc"]),
    ] {
        assert_eq!(
            found(store, &query(all, any, none)),
            expected,
            "{all:?} {any:?} {none:?}"
        );
    }
}

fn changed_labels(store: &mut dyn Store) {
    put(store, "a", json!({"labels": ["old"]}));
    edit(store, "a", label("new"));
    edit(store, "a", Edit::RemoveLabel("old".to_owned()));
    let with = |label: &str| Query {
        labels_all: texts(&[label]),
        ..by_id()
    };
    assert_eq!(found(store, &with("new")), ["a"]);
    assert_eq!(found(store, &with("old")), Vec::<String>::new());
}

fn types(store: &mut dyn Store) {
    put(store, "bug", json!({"issue_type": "bug"}));
    put(store, "odd", json!({"issue_type": "Own Type"}));
    put_plain(store, &["plain"]);
    let of = |types: &[&str]| Query {
        types: texts(types),
        ..by_id()
    };
    assert_eq!(found(store, &of(&["bug"])), ["bug"]);
    assert_eq!(found(store, &of(&["Own Type", "task"])), ["odd", "plain"]);
    assert_eq!(found(store, &of(&["epic"])), Vec::<String>::new());
}

fn assignees(store: &mut dyn Store) {
    put(store, "ann", json!({"assignee": "ann"}));
    put(store, "empty", json!({"assignee": ""}));
    put(store, "null", json!({"assignee": null}));
    put_plain(store, &["plain"]);
    let for_ann = Query {
        assignee: Some("ann".to_owned()),
        ..by_id()
    };
    let for_nobody = Query {
        is_unassigned: true,
        ..by_id()
    };
    assert_eq!(found(store, &for_ann), ["ann"]);
    assert_eq!(found(store, &for_nobody), ["empty", "null", "plain"]);
    edit(store, "ann", Edit::Unset("assignee".to_owned()));
    assert_eq!(found(store, &for_nobody).len(), 4);
}

fn priorities(store: &mut dyn Store) {
    for priority in [i64::MIN, -1, 0, 1, 3, i64::MAX] {
        put(
            store,
            &format!("p{priority}"),
            json!({"priority": priority}),
        );
    }
    put_plain(store, &["plain"]);
    let between = |low, high| Query {
        priorities: Some((low, high)),
        ..Query::default()
    };
    assert_eq!(found(store, &between(0, 2)), ["p0", "p1", "plain"]);
    assert_eq!(found(store, &between(3, 3)), ["p3"]);
    assert_eq!(found(store, &between(2, 1)), Vec::<String>::new());
    assert_eq!(found(store, &between(i64::MIN, i64::MAX)).len(), 7);
}

fn parents(store: &mut dyn Store) {
    put_plain(store, &["p", "p.1", "p-1", "px", "p.x.y"]);
    put_with(store, "p.2", &[("other", "parent-child")]);
    put_with(
        store,
        "child",
        &[("p", "parent-child"), ("other", "parent-child")],
    );
    put_with(store, "linked", &[("p", "blocks")]);
    let below = |parent: &str| Query {
        parent: Some(id(parent)),
        ..by_id()
    };
    assert_eq!(found(store, &below("p")), ["child", "p.1", "p.x.y"]);
    assert_eq!(found(store, &below("other")), ["child", "p.2"]);
    assert_eq!(found(store, &below("p.x")), ["p.x.y"]);
    assert_eq!(found(store, &below("child")), Vec::<String>::new());
}

fn metadata(store: &mut dyn Store) {
    put(store, "text", json!({"metadata": {"k": "v", "one": "1"}}));
    put(
        store,
        "number",
        json!({"metadata": {"one": 1, "yes": true, "list": [1, 2]}}),
    );
    put(store, "null", json!({"metadata": {"k": null}}));
    put_plain(store, &["plain"]);
    let with = |pairs: &[(&str, &str)], keys: &[&str]| {
        let pairs = pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Query {
            metadata: pairs.collect(),
            metadata_keys: texts(keys),
            ..by_id()
        }
    };
    assert_eq!(found(store, &with(&[("k", "v")], &[])), ["text"]);
    assert_eq!(
        found(store, &with(&[("one", "1")], &[])),
        ["number", "text"]
    );
    assert_eq!(
        found(store, &with(&[("yes", "true"), ("list", "[1,2]")], &[])),
        ["number"]
    );
    assert_eq!(found(store, &with(&[("k", "null")], &[])), ["null"]);
    assert_eq!(found(store, &with(&[], &["k"])), ["null", "text"]);
    assert_eq!(found(store, &with(&[("one", "1")], &["k"])), ["text"]);
}

fn plan_metadata(store: &mut dyn Store) {
    put(
        store,
        "a",
        json!({"metadata": {"plan_file": "plan.md", "x": "1"}}),
    );
    put(store, "b", json!({"metadata": {"plan_file": "other.md"}}));
    put_plain(store, &["plain"]);
    let of = |plan: &str, more: &[(String, String)]| {
        let mut metadata = vec![("plan_file".to_owned(), plan.to_owned())];
        metadata.extend_from_slice(more);
        Query {
            metadata,
            ..by_id()
        }
    };
    assert_eq!(found(store, &of("plan.md", &[])), ["a"]);
    assert_eq!(
        found(store, &of("plan.md", &[("x".to_owned(), "2".to_owned())])),
        Vec::<String>::new()
    );
    edit(store, "a", Edit::UnsetMetadata("plan_file".to_owned()));
    assert_eq!(found(store, &of("plan.md", &[])), Vec::<String>::new());
    put(store, "odd", json!({"metadata": {"plan_file": 7}}));
    put(store, "null", json!({"metadata": {"plan_file": null}}));
    assert_eq!(found(store, &of("7", &[])), ["odd"]);
    assert_eq!(found(store, &of("null", &[])), ["null"]);
}

fn words(store: &mut dyn Store) {
    put(
        store,
        "alpha",
        json!({"title": "Die Straße", "description": "Fix the LOGIN"}),
    );
    put(store, "beta", json!({"title": "x", "notes": "login again"}));
    put(store, "gamma", json!({"title": "100% _done_"}));
    let with = |text: &str| Query {
        text: Some(text.to_owned()),
        ..by_id()
    };
    assert_eq!(found(store, &with("login")), ["alpha", "beta"]);
    assert_eq!(found(store, &with(" FIX  login ")), ["alpha"]);
    assert_eq!(found(store, &with("ALPH")), ["alpha"]);
    assert_eq!(found(store, &with("straße")), ["alpha"]);
    assert_eq!(found(store, &with("%")), ["gamma"], "nothing is a wildcard");
    assert_eq!(found(store, &with("'; --")), Vec::<String>::new());
    assert_eq!(found(store, &with("")).len(), 3);
}

fn blocked(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    put_with(store, "b", &[("a", "blocks")]);
    put(store, "kept", json!({"status": "pinned"}));
    let with = |is_blocked| Query {
        is_blocked: Some(is_blocked),
        ..by_id()
    };
    assert_eq!(found(store, &with(true)), ["b"]);
    assert_eq!(found(store, &with(false)), ["a"]);
    close(store, "a");
    assert_eq!(found(store, &with(true)), Vec::<String>::new());
    assert_eq!(found(store, &with(false)), ["b"]);
}

fn together(store: &mut dyn Store) {
    for (issue, priority, own) in [("a", 1, "x"), ("b", 1, "y"), ("c", 5, "x")] {
        put(
            store,
            issue,
            json!({"priority": priority, "labels": [own, "all"], "metadata": {"k": own}}),
        );
    }
    let query = Query {
        labels_all: texts(&["all"]),
        labels_any: texts(&["x", "z"]),
        priorities: Some((0, 4)),
        metadata: vec![("k".to_owned(), "x".to_owned())],
        text: Some("title".to_owned()),
        is_blocked: Some(false),
        types: texts(&["task"]),
        is_unassigned: true,
        ..by_id()
    };
    assert_eq!(found(store, &query), ["a"]);
}

fn very_many(store: &mut dyn Store) {
    put(store, "a", json!({"labels": ["x"]}));
    let many = |first: &str| -> Vec<String> {
        let rest = (0..40_000).map(|n| format!("w{n}"));
        std::iter::once(first.to_owned()).chain(rest).collect()
    };
    let any = Query {
        labels_any: many("x"),
        labels_none: many("y"),
        status: StatusFilter::OneOf(many("open")),
        types: many("task"),
        ..by_id()
    };
    assert_eq!(found(store, &any), ["a"]);
    let all = Query {
        labels_all: many("x"),
        ..by_id()
    };
    assert_eq!(found(store, &all), Vec::<String>::new());
    let same = Query {
        labels_all: vec!["x".to_owned(); 5000],
        ..by_id()
    };
    assert_eq!(found(store, &same), ["a"]);
}

fn limits(store: &mut dyn Store) {
    put_plain(store, &["a", "b", "c", "d"]);
    close(store, "b");
    let first = |limit| Query {
        limit: Some(limit),
        ..by_id()
    };
    assert_eq!(found(store, &first(0)), Vec::<String>::new());
    assert_eq!(
        found(store, &first(2)),
        ["a", "c"],
        "what does not match does not count"
    );
    assert_eq!(found(store, &first(9)), ["a", "c", "d"]);
    assert_eq!(found(store, &first(usize::MAX)), ["a", "c", "d"]);
}

fn ready_narrowed(store: &mut dyn Store) {
    put(store, "a", json!({"labels": ["x"], "assignee": "ann"}));
    put(store, "b", json!({"labels": ["x"]}));
    put_with(store, "c", &[("a", "blocks")]);
    let query = Query {
        labels_all: texts(&["x"]),
        assignee: Some("ann".to_owned()),
        ..ready_at(0)
    };
    assert_eq!(found(store, &query), ["a"]);
    set_status(store, "a", "blocked");
    assert_eq!(found(store, &query), Vec::<String>::new());
    let odd = Query {
        status: StatusFilter::OneOf(texts(&["closed"])),
        ..ready_at(0)
    };
    assert_eq!(
        found(store, &odd),
        Vec::<String>::new(),
        "only what is open can be started"
    );
}

fn with_prefix(store: &dyn Store, prefix: &str, limit: usize) -> Vec<String> {
    let ids = store
        .ids_with_prefix(prefix, limit)
        .expect("a store answers");
    ids.iter().map(ToString::to_string).collect()
}

fn prefixes(store: &mut dyn Store) {
    put_plain(store, &["bd-2", "bd-1", "bd-10", "b", "c", "bd"]);
    assert_eq!(with_prefix(store, "bd-1", 9), ["bd-1", "bd-10"]);
    assert_eq!(with_prefix(store, "bd", 9), ["bd", "bd-1", "bd-10", "bd-2"]);
    assert_eq!(with_prefix(store, "bd", 2), ["bd", "bd-1"]);
    assert_eq!(with_prefix(store, "bd", 0), Vec::<String>::new());
    assert_eq!(with_prefix(store, "", usize::MAX).len(), 6);
    assert_eq!(with_prefix(store, "bd-100", 9), Vec::<String>::new());
}

fn odd_prefixes(store: &mut dyn Store) {
    let ids = [
        "a%b",
        "a_b",
        "a*b",
        "aéb",
        "a\u{d7ff}b",
        "a\u{e000}b",
        "a\u{10ffff}b",
        "a\u{ffff}",
        "A",
    ];
    let kept: Vec<&str> = ids.into_iter().filter(|id| is_id(id)).collect();
    put_plain(store, &kept);
    for id in &kept {
        let prefix: String = id.chars().take(2).collect();
        assert_eq!(with_prefix(store, &prefix, 9), [*id], "{prefix:?}");
    }
    assert_eq!(with_prefix(store, "a", 99).len(), kept.len() - 1);
    assert_eq!(with_prefix(store, "\u{10ffff}", 9), Vec::<String>::new());
    assert_eq!(with_prefix(store, "a\u{0}", 9), Vec::<String>::new());
    assert_eq!(with_prefix(store, "'", 9), Vec::<String>::new());
}

/// Which of these characters an id may hold is not a store's business.
fn is_id(text: &str) -> bool {
    beads_ralph_core::issue::check_id(text).is_ok()
}
