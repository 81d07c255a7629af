//! Guards: a change happens only when what the writer saw is still true.

use beads_ralph_core::issue::{Edit, Fence};
use beads_ralph_runtime::store::{Capability, Guard, Store, StoreError};
use serde_json::json;

use super::Clause;
use super::tools::{
    assert_is, claim, close, get, label, put, put_plain, refused, set_status, try_edit,
};

const GUARDS: &[Capability] = &[Capability::Guards];

pub(super) const CLAUSES: &[Clause] = &[
    Clause::new(
        "a guard on the status: a change happens only in that status",
        on_status,
    ),
    Clause::needing(
        "a guard on the version: a change happens only to that version",
        &[Capability::Guards, Capability::Versions],
        on_version,
    ),
    Clause::needing(
        "a guard on the fence: nobody holds it, so no fence is right",
        GUARDS,
        on_fence,
    ),
    Clause::needing(
        "a guard on being free: nothing that an issue waits for is open",
        GUARDS,
        on_being_free,
    ),
    Clause::needing(
        "all parts of a guard must hold",
        &[Capability::Guards, Capability::Versions],
        all_parts,
    ),
    Clause::needing(
        "a guard is checked also when the edit would change nothing",
        &[Capability::Guards, Capability::Versions],
        even_unchanged,
    ),
    Clause::new(
        "whoever sets an issue to work takes it with a claim",
        starting_needs_a_claim,
    ),
];

fn on_status(store: &mut dyn Store) {
    put(store, "a", json!({"status": "blocked"}));
    put_plain(store, &["b"]);
    let guard = |status: &str| Guard {
        status: Some(status.to_owned()),
        ..Guard::default()
    };
    for (id, status) in [("a", "blocked"), ("b", "open")] {
        for wrong in ["closed", "in_progress", "Open", ""] {
            let error = refused(store, |store| {
                try_edit(store, id, vec![label("x")], guard(wrong), 10)
            });
            assert_is!(error, StoreError::Guard { .. });
        }
        try_edit(store, id, vec![label("x")], guard(status), 10).expect("that is its status");
    }
}

fn on_being_free(store: &mut dyn Store) {
    put_plain(store, &["b"]);
    put(store, "a", json!({"dependencies": ["b"]}));
    let free = Guard {
        is_free: true,
        ..Guard::default()
    };
    let done = || vec![Edit::Close("done".to_owned())];
    let error = refused(store, |store| {
        try_edit(store, "a", done(), free.clone(), 10)
    });
    assert_is!(error, StoreError::Guard { .. });
    close(store, "b");
    try_edit(store, "a", done(), free, 10).expect("it waits for nothing");
}

fn version(version: u64) -> Guard {
    Guard {
        version: Some(version),
        ..Guard::default()
    }
}

fn on_version(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    for wrong in [0, 2, u64::MAX] {
        let error = refused(store, |store| {
            try_edit(store, "a", vec![label("x")], version(wrong), 10)
        });
        assert_is!(error, StoreError::Guard { .. });
    }
    let answer = try_edit(store, "a", vec![label("x")], version(1), 10);
    assert_eq!(answer.expect("that is its version"), 2);
    let error = refused(store, |store| {
        try_edit(store, "a", vec![label("y")], version(1), 10)
    });
    assert_is!(error, StoreError::Guard { .. });
}

fn on_fence(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    for fence in [0, 1, u64::MAX] {
        let error = refused(store, |store| {
            try_edit(
                store,
                "a",
                vec![label("x")],
                Guard::fenced(Fence(fence)),
                10,
            )
        });
        assert_is!(error, StoreError::Stale { given, .. } if *given == Fence(fence));
    }
}

fn all_parts(store: &mut dyn Store) {
    put_plain(store, &["a"]);
    let fence = claim(store, "a", 0);
    let right = Guard {
        status: Some("in_progress".to_owned()),
        version: Some(2),
        fence: Some(fence),
        is_forced: false,
        is_free: false,
    };
    let wrong = [
        Guard {
            status: Some("open".to_owned()),
            ..right.clone()
        },
        Guard {
            version: Some(1),
            ..right.clone()
        },
        Guard {
            fence: Some(Fence(fence.0 + 1)),
            ..right.clone()
        },
        Guard {
            fence: Some(Fence::default()),
            is_forced: true,
            ..right.clone()
        },
    ];
    for wrong in wrong {
        refused(store, |store| {
            try_edit(store, "a", vec![label("x")], wrong, 10)
        });
    }
    try_edit(store, "a", vec![label("x")], right, 10).expect("all of it is true");
}

fn even_unchanged(store: &mut dyn Store) {
    put(store, "a", json!({"labels": ["x"]}));
    let error = refused(store, |store| {
        try_edit(store, "a", vec![label("x")], version(7), 10)
    });
    assert_is!(error, StoreError::Guard { .. });
    assert_eq!(
        try_edit(store, "a", vec![label("x")], version(1), 10).expect("it is 1"),
        1
    );
}

fn starting_needs_a_claim(store: &mut dyn Store) {
    put_plain(store, &["a", "b"]);
    close(store, "b");
    for id in ["a", "b"] {
        let start = vec![Edit::Status("in_progress".to_owned())];
        let error = refused(store, |store| {
            try_edit(store, id, start, Guard::default(), 10)
        });
        assert_is!(error, StoreError::Guard { .. });
    }
    let forced = Guard {
        is_forced: true,
        ..Guard::default()
    };
    let start = vec![Edit::Status("in_progress".to_owned())];
    try_edit(store, "a", start, forced, 10).expect("it was forced");
    assert_eq!(
        (get(store, "a").claim, get(store, "a").fence),
        (None, Fence::default())
    );
    set_status(store, "a", "in_progress");
    set_status(store, "a", "open");
}
