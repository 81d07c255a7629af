//! Beads that somebody changes between the look and the write.

use beads_ralph_core::gate::Gate;
use beads_ralph_core::issue::Entry;
use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::os::files;
use crate::store::MemoryStore;

const BY: Stamp<'static> = Stamp {
    actor: "somebody",
    at: Timestamp::UNIX_EPOCH,
};

fn red() -> Gates {
    Gates::new([Gate::unreadable("smoke", "no")])
}

fn directory() -> (TempDir, Utf8PathBuf) {
    let guard = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(guard.path()).unwrap().to_owned();
    (guard, path)
}

fn feature(status: &str) -> Vec<u8> {
    let document = json!({"intent": "x", "type": "feature", "status": status,
        "dod": {"verifiers": [{"name": "t", "command": "true"}]}});
    document.to_string().into_bytes()
}

#[test]
fn g_4_a_file_that_was_finished_meanwhile_stays_so() {
    let (_guard, path) = directory();
    let path = path.join("x.json");
    files::write_atomic(&path, &feature("in_progress")).unwrap();
    let seen = BeadFile::read(&path).unwrap();
    let done = feature("completed");
    files::write_atomic(&path, &done).unwrap();
    let mut enforced = Enforced::default();
    enforced.file(&seen, &red()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), done);
    assert!(enforced.blocked.is_empty());
    // The same, as it would have been.
    files::write_atomic(&path, &feature("in_progress")).unwrap();
    enforced.file(&seen, &red()).unwrap();
    assert_eq!(enforced.blocked.len(), 1);
}

#[test]
fn g_4_a_file_that_was_moved_meanwhile_keeps_nobody_else_waiting() {
    let (_guard, path) = directory();
    let path = path.join("x.json");
    files::write_atomic(&path, &feature("in_progress")).unwrap();
    let seen = BeadFile::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut enforced = Enforced::default();
    enforced.file(&seen, &red()).unwrap();
    assert!(enforced.blocked.is_empty());
    assert!(!path.exists());
}

#[test]
fn g_4_whoever_changes_a_bead_of_the_store_meanwhile_is_faster() {
    let mut store = MemoryStore::new();
    let document = json!({"id": "bd-1", "title": "One", "status": "in_progress", "issue_type": "feature",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"});
    let entry = Entry::from_document(document).unwrap();
    let id = entry.issue.id().clone();
    store.write(&[Write::Insert(Box::new(entry))], BY).unwrap();
    let ids = std::slice::from_ref(&id);
    let seen = store.get(ids).unwrap().pop().unwrap();
    let write = Write::Update {
        id: id.clone(),
        edits: vec![Edit::Close("done".to_owned())],
        guard: Guard::default(),
    };
    store.write(&[write], BY).unwrap();
    let mut enforced = Enforced::default();
    let lost = enforced.record(&seen, &mut store, BY, &red()).unwrap_err();
    assert!(is_overtaken(&lost), "{lost}");
    assert_eq!(store.get(ids).unwrap()[0].issue.status(), "closed");
    assert!(enforced.blocked.is_empty());
}
