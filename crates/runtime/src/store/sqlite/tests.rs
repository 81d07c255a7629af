//! What is true of the store in a file beyond the contract of all stores.

use beads_ralph_core::issue::{Edit, Entry, Order, StatusFilter};
use serde_json::json;

use super::*;
use crate::store::Guard;

mod damage;
mod finding;
mod opening;
mod sharing;

/// A directory that is thrown away, with a file in it that is not there yet.
struct Place {
    _directory: tempfile::TempDir,
    path: Utf8PathBuf,
}

fn place() -> Place {
    let directory = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    let path = Utf8Path::from_path(directory.path()).unwrap().join("x.db");
    Place {
        _directory: directory,
        path,
    }
}

/// Waits for nobody.
const AT_ONCE: Options = Options {
    busy: Duration::ZERO,
};

fn by() -> Stamp<'static> {
    Stamp {
        actor: "ann",
        at: Timestamp::from_second(1_767_225_600).unwrap(),
    }
}

fn id(text: &str) -> BeadId {
    BeadId::parse(text).unwrap()
}

fn insertion(id: &str, edges: &[&str]) -> Write {
    let document = json!({"id": id, "title": "t", "dependencies": edges});
    Write::Insert(Box::new(Entry::from_document(document).unwrap()))
}

fn labelling(id: &str) -> Write {
    let label = beads_ralph_core::issue::Label::parse("x").unwrap();
    Write::Update {
        id: self::id(id),
        edits: vec![Edit::AddLabel(label)],
        guard: Guard::default(),
    }
}

fn holder() -> Holder {
    Holder {
        run: "r".to_owned(),
        host: "h".to_owned(),
        process: None,
    }
}

/// A store with something in every table.
fn filled(path: &Utf8Path) -> SqliteStore {
    let (mut store, opened) = SqliteStore::open_or_create_with(path, AT_ONCE).unwrap();
    assert_eq!(opened, Opened::Created);
    let batch = vec![insertion("a", &["b"]), insertion("b", &[]), labelling("b")];
    store.write(&batch, by()).unwrap();
    let said = Edit::Comment(Comment::from_value(json!({"text": "hi"})).unwrap());
    let comment = Write::Update {
        id: id("b"),
        edits: vec![said],
        guard: Guard::default(),
    };
    store.write(&[comment], by()).unwrap();
    let until = Timestamp::from_second(1_767_999_999).unwrap();
    let claim = NewClaim {
        holder: &holder(),
        lease_until: until,
        is_forced: false,
        instead_of: None,
    };
    store.claim(&id("b"), &claim, by()).unwrap();
    store.acquire(&["slot"], &holder(), until, by()).unwrap();
    store.set_control("stop", &json!(1.50), 0, by()).unwrap();
    store
}

fn everything() -> Query {
    Query {
        status: StatusFilter::Any,
        order: Order::Id,
        ..Query::default()
    }
}

/// All that can be read, in words.
fn contents(store: &SqliteStore) -> Result<String, StoreError> {
    let records = store.find(&everything())?;
    let comments = store.comments(&id("b"))?;
    let events = store.events(None, 0, 99)?;
    let leases = store.leases("", Timestamp::UNIX_EPOCH)?;
    let controls = store.controls("")?;
    let n_records = store.count(&everything())?;
    Ok(format!(
        "{records:#?} {comments:?} {events:?} {leases:?} {controls:?} {n_records}"
    ))
}
