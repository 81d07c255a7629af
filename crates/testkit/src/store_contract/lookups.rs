//! Finding ids by how they begin.

use beads_ralph_runtime::store::Store;

use super::Clause;
use super::tools::put_plain;

pub(super) const CLAUSES: &[Clause] = &[
    Clause::new("ids with a prefix, in order, at most so many", prefixes),
    Clause::new(
        "a prefix is text: no case, no wildcard, any letter",
        odd_prefixes,
    ),
];

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
