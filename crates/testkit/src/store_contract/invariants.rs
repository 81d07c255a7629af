//! What is true of every store at every moment, whatever was done to it.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Event, Record, fold};
use beads_ralph_runtime::store::{Capability, Store};

use super::tools::everything;

/// Panics where a store contradicts itself: the flag of being held back against the reasons for it, and the
/// history against what it describes.
pub fn check_invariants(store: &dyn Store) {
    let records = everything(store);
    for record in &records {
        let id = record.issue.id();
        let blockers = store.blockers(id).expect("an issue has blockers");
        assert_eq!(
            record.is_blocked,
            !blockers.is_empty(),
            "{id} is held back exactly when something holds it back: {blockers:?}"
        );
        if let Some(claim) = &record.claim {
            assert_eq!(
                claim.fence, record.fence,
                "{id} is held with its latest fence"
            );
            assert_eq!(record.issue.status(), "in_progress", "{id} is held");
        }
    }
    if !store.gaps().contains(&Capability::History) {
        check_history(store, &records);
    }
}

fn check_history(store: &dyn Store, records: &[Record]) {
    let all = store
        .events(None, 0, usize::MAX)
        .expect("there is a history");
    for (index, event) in all.iter().enumerate() {
        assert_eq!(event.number, index as u64 + 1, "numbers have no gaps");
    }
    let n_changes: u64 = records.iter().map(|record| record.version).sum();
    let is_there = |event: &&Event| {
        records
            .iter()
            .any(|record| *record.issue.id() == event.issue)
    };
    let n_events = all.iter().filter(is_there).count();
    assert_eq!(n_events as u64, n_changes, "each change has one event");
    for record in records {
        check_fold(store, record, &all);
    }
}

fn check_fold(store: &dyn Store, record: &Record, all: &[Event]) {
    let id = record.issue.id();
    let own = history(store, id);
    let among_all: Vec<&Event> = all.iter().filter(|event| event.issue == *id).collect();
    assert_eq!(
        own.iter().collect::<Vec<_>>(),
        among_all,
        "one history of {id}"
    );
    for (index, event) in own.iter().enumerate() {
        assert_eq!(
            event.version,
            index as u64 + 1,
            "versions of {id} have no gaps"
        );
    }
    let folded = fold(&own).expect("a history tells what an issue is");
    let comments = store.comments(id).expect("an issue has comments");
    assert_eq!(comments.len(), record.n_comments, "comments of {id}");
    assert_eq!(folded.version, record.version, "the version of {id}");
    assert_eq!(
        folded.entry.issue, record.issue,
        "the folded document of {id}"
    );
    assert_eq!(
        folded.entry.comments, comments,
        "the folded comments of {id}"
    );
    assert_eq!(folded.entry.fence, record.fence, "the folded fence of {id}");
    // A heartbeat is no change, so the history knows the lease that was first given.
    let mut claim = folded.claim;
    if let (Some(folded), Some(now)) = (&mut claim, &record.claim) {
        assert!(
            folded.lease_until <= now.lease_until,
            "a lease never shortens"
        );
        folded.lease_until = now.lease_until;
    }
    assert_eq!(claim, record.claim, "the folded claim of {id}");
}

fn history(store: &dyn Store, id: &BeadId) -> Vec<Event> {
    store
        .events(Some(id), 0, usize::MAX)
        .expect("an issue has a history")
}
