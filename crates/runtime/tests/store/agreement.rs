//! All stores agree: the same operations have the same outcome, step by step.
//!
//! The store in memory computes everything from scratch; the one in a file keeps what is held back as it
//! goes. Wherever they differ, one of them is wrong.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Edit, Entry, Order, Query, StatusFilter};
use beads_ralph_runtime::store::{
    Guard, MemoryStore, SqliteStore, Stamp, Store, StoreError, Write,
};
use beads_ralph_testkit::store_contract::check_invariants;
use camino::Utf8Path;
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use super::operation::{IDS, Step, step};
use beads_ralph_testkit::scratch;

/// Some questions that touch every condition that a store may answer by an index.
fn questions() -> Vec<Query> {
    let everything = Query {
        status: StatusFilter::Any,
        includes_hidden: true,
        order: Order::Id,
        ..Query::default()
    };
    let x = || "x".to_owned();
    vec![
        everything.clone(),
        Query::default(),
        Query {
            ready_at: Timestamp::from_second(1_767_225_625).ok(),
            ..Query::default()
        },
        Query {
            is_blocked: Some(true),
            order: Order::Updated,
            ..Query::default()
        },
        Query {
            labels_all: vec![x()],
            metadata: vec![("plan_file".to_owned(), x())],
            ..everything.clone()
        },
        Query {
            labels_any: vec![x(), "y".to_owned()],
            parent: BeadId::parse("a").ok(),
            limit: Some(2),
            ..everything.clone()
        },
        Query {
            status: StatusFilter::OneOf(vec!["closed".to_owned(), "in_progress".to_owned()]),
            order: Order::Oldest,
            ..everything
        },
    ]
}

/// What came of a step, in words. Which of several circles is named first is left open.
fn outcome(step: &Step, store: &mut dyn Store) -> Result<String, String> {
    step.run(store).map_err(|error| match error {
        StoreError::Cycle(_) => "a circle".to_owned(),
        error => format!("{error:?}"),
    })
}

fn assert_agree(memory: &dyn Store, sqlite: &dyn Store, after: u64) {
    for query in questions() {
        assert_eq!(
            sqlite.find(&query).unwrap(),
            memory.find(&query).unwrap(),
            "{query:?}"
        );
    }
    let since = |store: &dyn Store| store.events(None, after, usize::MAX).unwrap();
    assert_eq!(since(sqlite), since(memory));
    for id in IDS {
        let id = BeadId::parse(id).unwrap();
        assert_eq!(
            sqlite.dependents(&id).unwrap(),
            memory.dependents(&id).unwrap()
        );
        assert_eq!(sqlite.blockers(&id).ok(), memory.blockers(&id).ok(), "{id}");
    }
    let now = Timestamp::UNIX_EPOCH;
    assert_eq!(
        sqlite.leases("", now).unwrap(),
        memory.leases("", now).unwrap()
    );
    assert_eq!(sqlite.controls("").unwrap(), memory.controls("").unwrap());
}

fn check(path: &Utf8Path, steps: &[Step]) {
    let mut memory = MemoryStore::new();
    let (mut sqlite, _) = SqliteStore::open_or_create(path).unwrap();
    for step in steps {
        let seen = memory.events(None, 0, usize::MAX).unwrap().len() as u64;
        assert_eq!(
            outcome(step, &mut sqlite),
            outcome(step, &mut memory),
            "{step:?}"
        );
        assert_agree(&memory, &sqlite, seen);
    }
    check_invariants(&memory);
    check_invariants(&sqlite);
    drop(sqlite);
    let sqlite = SqliteStore::open(path).unwrap();
    assert_agree(&memory, &sqlite, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn memory_and_sqlite_agree_after_every_step(steps in prop::collection::vec(step(), 1..40)) {
        let directory = scratch();
        check(&Utf8Path::from_path(directory.path()).unwrap().join("x.db"), &steps);
    }
}

#[test]
fn who_asks_whether_something_is_free_is_told_what_the_batch_did_before() {
    let directory = scratch();
    let path = Utf8Path::from_path(directory.path()).unwrap().join("x.db");
    let stores: [Box<dyn Store>; 2] = [
        Box::new(MemoryStore::new()),
        Box::new(SqliteStore::open_or_create(&path).unwrap().0),
    ];
    let insert = |document: serde_json::Value| {
        let entry = Entry::from_document(document).unwrap();
        Write::Insert(Box::new(entry))
    };
    let by = Stamp {
        actor: "me",
        at: Timestamp::UNIX_EPOCH,
    };
    for mut store in stores {
        let edge = json!({"depends_on_id": "c", "type": "waits-for"});
        let waiting = json!({"id": "b", "title": "B", "dependencies": [edge]});
        store.write(&[insert(waiting)], by).unwrap();
        let update = Write::Update {
            id: BeadId::parse("b").unwrap(),
            edits: vec![Edit::AppendNotes("n".to_owned())],
            guard: Guard {
                is_free: true,
                ..Guard::default()
            },
        };
        assert!(
            store.write(std::slice::from_ref(&update), by).is_err(),
            "c is missing"
        );
        let batch = [insert(json!({"id": "c", "title": "C"})), update];
        store.write(&batch, by).unwrap();
    }
}
