//! Several connections to one file.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::new_comment;

use super::*;

fn assert_busy<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    let error = answer.unwrap_err();
    assert!(
        matches!(error, StoreError::Busy { seconds: 0, .. }),
        "{error:?}"
    );
    assert_eq!(error.code(), ErrorCode::DatabaseTimeout);
}

#[test]
fn a_reader_does_not_wait_for_a_writer_and_sees_the_state_before() {
    let place = place();
    let writer = filled(&place.path);
    let reader = SqliteStore::open_with(&place.path, AT_ONCE).unwrap();
    let before = contents(&reader).unwrap();
    writer
        .connection
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM claims;")
        .unwrap();
    assert_eq!(contents(&reader).unwrap(), before);
    writer.connection.execute_batch("COMMIT;").unwrap();
    assert_ne!(contents(&reader).unwrap(), before);
}

#[test]
fn a_writer_that_is_stuck_makes_others_busy_and_nothing_is_changed() {
    let place = place();
    let stuck = filled(&place.path);
    let mut other = SqliteStore::open_with(&place.path, AT_ONCE).unwrap();
    let before = contents(&other).unwrap();
    stuck.connection.execute_batch("BEGIN IMMEDIATE;").unwrap();
    assert_busy(other.write(&[insertion("new", &[])], by()));
    assert_busy(other.heartbeat(&id("b"), Fence(1), by().at));
    assert_busy(other.set_control("stop", &Value::Null, 1, by()));
    stuck.connection.execute_batch("ROLLBACK;").unwrap();
    assert_eq!(contents(&other).unwrap(), before);
    other.write(&[insertion("new", &[])], by()).unwrap();
}

#[test]
fn what_one_writes_the_other_reads() {
    let place = place();
    let mut one = filled(&place.path);
    let mut two = SqliteStore::open_with(&place.path, AT_ONCE).unwrap();
    one.write(&[labelling("a")], by()).unwrap();
    assert_eq!(contents(&one).unwrap(), contents(&two).unwrap());
    two.write(&[insertion("c", &["a"])], by()).unwrap();
    assert_eq!(contents(&one).unwrap(), contents(&two).unwrap());
}

#[test]
fn whoever_has_the_file_alone_keeps_everybody_out() {
    let place = place();
    drop(filled(&place.path));
    let alone = open::lock(&place.path, Access::Alone, AT_ONCE.busy).unwrap();
    assert_busy(SqliteStore::open_with(&place.path, AT_ONCE));
    assert_busy(SqliteStore::open_or_create_with(&place.path, AT_ONCE));
    drop(alone);
    let store = SqliteStore::open_with(&place.path, AT_ONCE).unwrap();
    assert_busy(open::lock(&place.path, Access::Alone, AT_ONCE.busy));
    drop(store);
    open::lock(&place.path, Access::Alone, AT_ONCE.busy).unwrap();
}

#[test]
fn a_store_that_others_use_can_be_opened_in_either_way() {
    let place = place();
    let _first = filled(&place.path);
    let (_second, opened) = SqliteStore::open_or_create_with(&place.path, AT_ONCE).unwrap();
    assert_eq!(opened, Opened::Existing);
    SqliteStore::open_with(&place.path, AT_ONCE).unwrap();
}

#[test]
fn f_14_of_many_that_close_their_steps_at_once_the_last_completes_the_molecule() {
    const N_STEPS: usize = 8;
    let place = place();
    let (mut store, _) = SqliteStore::open_or_create(&place.path).unwrap();
    let step = |number: usize| format!("m-{number}");
    let document = |id: &str, more: Value| {
        let mut document = json!({"id": id, "title": "t"});
        let fields = document.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        Write::Insert(Box::new(Entry::from_document(document).unwrap()))
    };
    let edge = json!([{"depends_on_id": "m", "type": "parent-child"}]);
    let mut batch = vec![document("m", json!({"issue_type": "molecule"}))];
    let steps = (0..N_STEPS).map(|n| document(&step(n), json!({"dependencies": edge})));
    batch.extend(steps);
    store.write(&batch, by()).unwrap();
    std::thread::scope(|scope| {
        for number in 0..N_STEPS {
            let (path, step) = (&place.path, step(number));
            scope.spawn(move || {
                let mut own = SqliteStore::open(path).unwrap();
                let close = Write::Update {
                    id: id(&step),
                    edits: vec![Edit::Close("done".to_owned())],
                    guard: Guard::default(),
                };
                own.write(&[close], by()).unwrap();
            });
        }
    });
    let root = store.get(&[id("m")]).unwrap().remove(0);
    assert_eq!((root.issue.status(), root.version), ("closed", 2));
    let events = store.events(Some(&id("m")), 0, 99).unwrap();
    let last = store.events(None, 0, 99).unwrap().pop().unwrap();
    assert_eq!(events.last(), Some(&last), "it closed with the last step");
}

/// Each child once looked at all its siblings; thousands of them would not end.
#[test]
fn an_epic_may_have_thousands_of_children() {
    let place = place();
    let (mut store, _) = SqliteStore::open_or_create(&place.path).unwrap();
    let child = |number: usize| {
        let edge = json!({"depends_on_id": "epic", "type": "parent-child"});
        let document = json!({"id": format!("c-{number}"), "title": "t", "dependencies": [edge]});
        Write::Insert(Box::new(Entry::from_document(document).unwrap()))
    };
    let children: Vec<Write> = (0..5000).map(child).collect();
    store.write(&[insertion("epic", &["gate"])], by()).unwrap();
    store.write(&children, by()).unwrap();
    store.write(&[insertion("gate", &[])], by()).unwrap();
    assert!(store.get(&[id("c-4999")]).unwrap()[0].is_blocked);
    let close = Write::Update {
        id: id("gate"),
        edits: vec![Edit::Close("done".to_owned())],
        guard: Guard::default(),
    };
    store.write(&[close], by()).unwrap();
    assert!(!store.get(&[id("c-4999")]).unwrap()[0].is_blocked);
}

/// How often the store is looked over while others write.
const N_CHECKS: usize = 20;

#[test]
fn a_check_sees_one_state_while_others_write() {
    let place = place();
    let mut store = filled(&place.path);
    let ids: Vec<String> = (0..300).map(|number| format!("n-{number:03}")).collect();
    let inserts: Vec<Write> = ids.iter().map(|id| insertion(id, &[])).collect();
    store.write(&inserts, by()).unwrap();
    let last = id(ids.last().unwrap());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut store = SqliteStore::open(&place.path).unwrap();
                while !is_over.load(Ordering::SeqCst) {
                    let comment = new_comment(&last, "ann", "more", &by().time());
                    let write = Write::Update {
                        id: last.clone(),
                        edits: vec![Edit::Comment(comment)],
                        guard: Guard::default(),
                    };
                    store.write(&[write], by()).unwrap();
                }
            });
        }
        let reports: Vec<_> = (0..N_CHECKS)
            .map(|_| check(&place.path, Options::default()))
            .collect();
        is_over.store(true, Ordering::SeqCst);
        for report in reports {
            assert_eq!(report.unwrap().findings, Vec::<String>::new());
        }
    });
}

#[test]
fn a_store_that_is_whole_is_not_repaired() {
    let place = place();
    let store = filled(&place.path);
    let before = contents(&store).unwrap();
    drop(store);
    let repaired = repair(&place.path, BTreeMap::new(), by(), AT_ONCE).unwrap();
    assert_eq!(repaired, None);
    let directory = place.path.parent().unwrap().read_dir_utf8().unwrap();
    let kept = directory.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.contains("damaged") || name.contains("mending")
    });
    assert_eq!(kept.count(), 0, "no copy is kept of it");
    let store = SqliteStore::open(&place.path).unwrap();
    assert_eq!(contents(&store).unwrap(), before);
}
