//! New issues: what goes in comes out, and what is wrong is refused.

use beads_ralph_core::bead::Timestamp;
use beads_ralph_core::issue::{
    Comment, Dependency, Edit, Entry, EventKind, Fence, MAX_DOCUMENT_DEPTH, Query, StatusFilter,
};
use beads_ralph_runtime::store::{Capability, Store, StoreError, Write};
use serde_json::{Value, json};

use super::Clause;
use super::tools::{
    assert_is, at, by, claim, comment, document, edit, entry, everything, field, force, found, get,
    id, insertion, is_blocked, label, put, put_plain, refused, try_claim, try_put,
};

pub(super) const CLAUSES: &[Clause] = &[
    Clause::needing(
        "an issue starts at version 1, free and unheld",
        &[Capability::Versions],
        first_version,
    ),
    Clause::needing(
        "an issue that comes is one event `created` with who and when",
        &[Capability::History],
        created_event,
    ),
    Clause::new("an id is taken once, by an issue of any status", taken_once),
    Clause::needing(
        "closed and pinned issues can come as such",
        &[Capability::MissingTargets],
        finished,
    ),
    Clause::needing(
        "comments come with their issue, in their order",
        &[Capability::ExactDocuments],
        with_comments,
    ),
    Clause::new(
        "the fence of an issue that moved is not given again",
        fence_carried_in,
    ),
    Clause::new(
        "an issue in progress can come without a holder",
        in_progress,
    ),
    Clause::new("an empty store answers with nothing", empty_store),
    Clause::needing(
        "z_21 unknown fields come back as they were",
        UNKNOWN,
        unknown_fields,
    ),
    Clause::needing(
        "z_21 a field may have the name of something that the store keeps beside it",
        UNKNOWN,
        store_words,
    ),
    Clause::needing(
        "z_21 the text of a number comes back as it was",
        UNKNOWN,
        number_texts,
    ),
    Clause::needing(
        "the order of labels, edges and metadata comes back",
        &[Capability::ExactDocuments],
        orders,
    ),
    Clause::needing(
        "null is not absent, and empty is neither",
        &[Capability::ExactDocuments],
        nulls,
    ),
    Clause::needing(
        "any text comes back: empty, long, right to left, with every control character",
        &[Capability::ExactDocuments],
        texts,
    ),
    Clause::needing(
        "a change leaves what it does not name as it was",
        UNKNOWN,
        left_alone,
    ),
    Clause::needing(
        "a comment and an edge lose nothing",
        &[Capability::UnknownFields, Capability::ExactDocuments],
        records,
    ),
    Clause::needing(
        "the deepest document and the deepest comment that are taken can be read and changed",
        &[Capability::AnyValue],
        limits,
    ),
    Clause::needing(
        "times come back in their own spelling",
        &[Capability::ExactDocuments, Capability::ExactDocuments],
        times,
    ),
];

fn first_version(store: &mut dyn Store) {
    let more = json!({"status": "open", "priority": 1, "labels": ["a"]});
    assert_eq!(try_put(store, "a", more.clone()).expect("it is new"), 1);
    let record = get(store, "a");
    assert_eq!((record.version, record.fence), (1, Fence::default()));
    assert_eq!((record.is_blocked, record.n_comments), (false, 0));
    assert_eq!(record.claim, None);
    assert_eq!(
        Value::Object(record.issue.into_document()),
        document("a", more)
    );
}

fn created_event(store: &mut dyn Store) {
    store
        .write(&[insertion("a", json!({}))], by(5))
        .expect("it is new");
    let events = store.events(None, 0, 10).expect("there is a history");
    assert_eq!(events.len(), 1);
    let event = &events[0];
    assert_eq!((event.number, event.version), (1, 1));
    assert_eq!((event.issue.as_str(), event.actor.as_str()), ("a", "ann"));
    assert_eq!(
        (event.kind, &event.at),
        (EventKind::Created, &Timestamp::from_instant(at(5)))
    );
    assert!(event.before.is_empty(), "there was nothing before");
    assert_eq!(event.after["/title"], "Title of a");
}

fn taken_once(store: &mut dyn Store) {
    put(store, "a", json!({}));
    put(
        store,
        "b",
        json!({"status": "closed", "closed_at": "2025-01-01T00:00:00Z"}),
    );
    for taken in ["a", "b"] {
        let error = refused(store, |store| try_put(store, taken, json!({"priority": 0})));
        assert_is!(error, StoreError::Exists(id) if id.as_str() == taken);
    }
    put(store, "A", json!({}));
    assert_eq!(everything(store).len(), 3, "ids differ by their case");
}

fn finished(store: &mut dyn Store) {
    let closed_at = "2025-06-01T12:00:00+02:00";
    put(
        store,
        "done",
        json!({"status": "closed", "closed_at": closed_at, "dependencies": ["nowhere"]}),
    );
    put(
        store,
        "kept",
        json!({"status": "pinned", "dependencies": ["nowhere"]}),
    );
    let record = get(store, "done");
    assert_eq!((record.issue.status(), record.version), ("closed", 1));
    assert_eq!(record.issue.text("closed_at"), Some(closed_at));
    assert!(!is_blocked(store, "done") && !is_blocked(store, "kept"));
    for finished in ["done", "kept"] {
        let error = refused(store, |store| try_claim(store, finished, "r", 0));
        assert_is!(error, StoreError::NotClaimable { .. });
    }
}

fn with_comments(store: &mut dyn Store) {
    let said = [comment("one"), comment("two"), comment("one")];
    let mut entry = entry("a", json!({}));
    entry.comments = said.to_vec();
    store
        .write(&[Write::Insert(Box::new(entry))], by(0))
        .expect("it is new");
    assert_eq!(get(store, "a").n_comments, 3);
    assert_eq!(store.comments(&id("a")).expect("it is there"), said);
    assert_eq!(get(store, "a").version, 1);
}

fn fence_carried_in(store: &mut dyn Store) {
    let mut entry = entry("a", json!({}));
    entry.fence = Fence(7);
    store
        .write(&[Write::Insert(Box::new(entry))], by(0))
        .expect("it is new");
    assert_eq!(get(store, "a").fence, Fence(7));
    assert_eq!(get(store, "a").claim, None);
    assert_eq!(claim(store, "a", 1), Fence(8));
}

fn in_progress(store: &mut dyn Store) {
    put(store, "a", json!({"status": "in_progress"}));
    assert_eq!(get(store, "a").claim, None);
    let error = refused(store, |store| try_claim(store, "a", "r", 0));
    assert_is!(&error, StoreError::InProgress(_));
    assert!(error.is_already_claimed());
}

fn empty_store(store: &mut dyn Store) {
    let all = Query {
        status: StatusFilter::Any,
        ..Query::default()
    };
    assert_eq!(found(store, &all), Vec::<String>::new());
    assert_eq!(store.get(&[id("a")]).expect("a store answers"), []);
    assert_eq!(store.ids_with_prefix("", 9).expect("a store answers"), []);
    assert_eq!(store.dependents(&id("a")).expect("a store answers"), []);
    assert_is!(store.comments(&id("a")), Err(StoreError::NotFound(_)));
    assert_is!(store.blockers(&id("a")), Err(StoreError::NotFound(_)));
    put_plain(store, &["a", "b"]);
    let got = store
        .get(&[id("b"), id("x"), id("a"), id("b")])
        .expect("a store answers");
    let ids: Vec<&str> = got
        .iter()
        .map(|record| record.issue.id().as_str())
        .collect();
    assert_eq!(
        ids,
        ["b", "a", "b"],
        "in the order in which they were asked for"
    );
}

const UNKNOWN: &[Capability] = &[Capability::UnknownFields];

fn text_of(store: &dyn Store, id: &str) -> String {
    Value::Object(get(store, id).issue.into_document()).to_string()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("this is JSON")
}

fn put_value(store: &mut dyn Store, document: Value) {
    let entry = Entry::from_document(document).expect("this is an issue");
    store
        .write(&[Write::Insert(Box::new(entry))], by(0))
        .expect("it is new");
}

fn unknown_fields(store: &mut dyn Store) {
    let document = parsed(
        r#"{"zeta": [], "id": "a", "": {"": ""}, "title": "T", "a/b": {"~": null}, "~1": 1,
            "metadata": {"z": {"y": [{"x": []}]}, "a": "é"}, "version": 99, "is_blocked": true,
            "n_comments": "many", "Title": false, "seal": 1, "document": {}}"#,
    );
    put_value(store, document.clone());
    assert_eq!(text_of(store, "a"), document.to_string());
    assert_eq!(get(store, "a").version, 1);
    assert!(!get(store, "a").is_blocked);
}

fn store_words(store: &mut dyn Store) {
    let document = json!({"id": "a", "title": "T", "claim": {"fence": 7}, "fence": 9, "number": 1,
        "holder": null, "": {"claim": 1}, "metadata": {"claim": 1, "": 2, "fence": "x"}});
    put_value(store, document.clone());
    assert_eq!((get(store, "a").claim, get(store, "a").fence.0), (None, 0));
    let fence = claim(store, "a", 20);
    force(store, "a", Edit::Set("fence".to_owned(), json!(10)));
    force(store, "a", Edit::Unset("claim".to_owned()));
    assert_eq!(get(store, "a").claim.map(|claim| claim.fence), Some(fence));
    assert_eq!(field(store, "a", "fence"), 10);
}

fn number_texts(store: &mut dyn Store) {
    let numbers = "[1.50,1e400,-0,-0.0,1E+2,0.1000,123456789012345678901234567890,-9223372036854775809,18446744073709551616,1.0]";
    let document = parsed(&format!(
        r#"{{"id": "a", "title": "T", "own": {numbers}, "metadata": {{"n": {numbers}}}}}"#
    ));
    put_value(store, document.clone());
    assert_eq!(text_of(store, "a"), document.to_string());
    let n_before = get(store, "a").version;
    edit(store, "a", Edit::Set("own".to_owned(), parsed("[1.5]")));
    edit(store, "a", Edit::Set("own".to_owned(), parsed("[1.50]")));
    assert_eq!(
        get(store, "a").version,
        n_before + 2,
        "another text is another value"
    );
    assert_eq!(field(store, "a", "own").to_string(), "[1.50]");
}

fn orders(store: &mut dyn Store) {
    let document = json!({"id": "a", "title": "T", "labels": ["z", "a", "m"],
        "dependencies": [
            {"issue_id": "a", "depends_on_id": "z", "type": "related"},
            {"issue_id": "a", "depends_on_id": "b", "type": "blocks"},
            {"issue_id": "a", "depends_on_id": "m", "type": "tracks"}],
        "metadata": {"z": 1, "a": 2, "m": 3}});
    put_value(store, document.clone());
    assert_eq!(text_of(store, "a"), document.to_string());
    edit(store, "a", Edit::RemoveDependency(id("b")));
    edit(store, "a", Edit::RemoveLabel("z".to_owned()));
    edit(store, "a", label("b"));
    let record = get(store, "a");
    let edges = record.issue.dependencies();
    let targets: Vec<&str> = edges.iter().map(|edge| edge.target().as_str()).collect();
    assert_eq!(targets, ["z", "m"]);
    assert_eq!(field(store, "a", "labels"), json!(["a", "m", "b"]));
}

fn nulls(store: &mut dyn Store) {
    let document = json!({"id": "a", "title": "T", "description": null, "notes": "", "labels": [],
        "dependencies": [], "metadata": {}, "closed_at": null, "owner": null, "status": "open"});
    put_value(store, document.clone());
    put(
        store,
        "b",
        json!({"metadata": null, "labels": null, "dependencies": null, "comments": null}),
    );
    put_plain(store, &["c"]);
    assert_eq!(text_of(store, "a"), document.to_string());
    for key in ["metadata", "labels", "dependencies", "comments"] {
        assert_eq!(get(store, "b").issue.document()[key], Value::Null, "{key}");
    }
    assert_eq!(get(store, "c").issue.document().len(), 2);
}

fn texts(store: &mut dyn Store) {
    let controls: String = (0..32u8)
        .map(char::from)
        .chain(['\u{7f}', '\u{202e}', '\u{feff}'])
        .collect();
    let long = "ä".repeat(200_000);
    let texts = [
        "",
        " ",
        "'; DROP TABLE issues; --",
        "\u{5e9}\u{5dc}",
        "👩‍👩‍👧",
        &controls,
        &long,
    ];
    for (index, text) in texts.iter().enumerate() {
        let own = format!("t{index}");
        put(
            store,
            &own,
            json!({"description": text, "notes": text, "metadata": {*text: text}}),
        );
        let record = get(store, &own);
        assert_eq!(record.issue.text("description"), Some(*text));
        assert_eq!(field(store, &own, "metadata"), json!({*text: text}));
    }
}

fn left_alone(store: &mut dyn Store) {
    let own = json!({"odd": {"b": 1.50, "a": [null]}, "metadata": {"k": "v"}, "labels": ["x"]});
    put(store, "a", own.clone());
    edit(store, "a", label("y"));
    edit(store, "a", Edit::AppendNotes("n".to_owned()));
    let fence = claim(store, "a", 20);
    store.release(&id("a"), fence, by(30)).expect("it is held");
    edit(store, "a", Edit::Close("done".to_owned()));
    edit(store, "a", Edit::Reopen);
    for key in ["odd", "metadata"] {
        assert_eq!(field(store, "a", key).to_string(), own[key].to_string());
    }
}

fn records(store: &mut dyn Store) {
    let said = json!({"odd": {"z": 1.50, "a": null}, "text": "hi", "id": 7});
    let said = Comment::from_value(said).expect("an object is a comment");
    let mut with_comment = entry("a", json!({}));
    with_comment.comments = vec![said.clone()];
    store
        .write(&[Write::Insert(Box::new(with_comment))], by(0))
        .expect("it is new");
    edit(store, "a", Edit::Comment(said.clone()));
    edit(store, "a", Edit::Comment(comment("plain")));
    let kept = store.comments(&id("a")).expect("it is there");
    assert_eq!(kept[0].to_value().to_string(), said.to_value().to_string());
    assert_eq!(kept[1].to_value().to_string(), said.to_value().to_string());
    let edge = Dependency::new(id("b"), "blocks").expect("a type is a word");
    edit(
        store,
        "a",
        Edit::AddDependency(edge.with("odd", json!({"z": [1.50]}))),
    );
    let record = get(store, "a");
    let edges = record.issue.dependencies();
    assert_eq!(edges[0].get("odd"), Some(&json!({"z": [1.50]})));
}

fn limits(store: &mut dyn Store) {
    let deep = (0..MAX_DOCUMENT_DEPTH - 3).fold(json!(1), |value, _| json!([value]));
    put(store, "deep", json!({"metadata": {"k": deep}}));
    edit(store, "deep", label("x"));
    // A comment is held to the same limits, wherever it is nested in the end.
    let said = |depth: usize| {
        let deep = (0..depth - 1).fold(json!(1), |value, _| json!([value]));
        Comment::from_value(json!({ "text": deep }))
    };
    assert!(said(MAX_DOCUMENT_DEPTH - 2).is_err() && said(1000).is_err());
    let deepest = said(MAX_DOCUMENT_DEPTH - 3).expect("this is the limit");
    edit(store, "deep", Edit::Comment(deepest.clone()));
    assert_eq!(store.comments(&id("deep")).expect("it is there"), [deepest]);
}

fn times(store: &mut dyn Store) {
    let spellings = [
        "2026-01-01T00:00:00Z",
        "2026-01-01 00:00",
        "2026-01-01T00:00:00.123456789+02:00",
        "0001-01-01T00:00:00",
        "9999-12-30T21:59:59Z",
    ];
    let write = |(index, text): (usize, &&str)| {
        insertion(
            &format!("t{index}"),
            json!({"created_at": text, "updated_at": text, "due_at": text}),
        )
    };
    for write in spellings.iter().enumerate().map(write) {
        store.write(&[write], by(0)).expect("it is new");
    }
    for (index, text) in spellings.iter().enumerate() {
        for key in ["created_at", "updated_at", "due_at"] {
            assert_eq!(field(store, &format!("t{index}"), key), *text);
        }
    }
}
