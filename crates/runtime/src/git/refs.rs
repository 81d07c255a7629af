//! The names of the refs that keep the work on a bead reachable (Z-6, Z-39).
//!
//! Git cannot hold a ref and others below it, so the verified commit of a bead is `refs/beads-ralph/<bead>/verified`, beside
//! `refs/beads-ralph/<bead>/interrupted/<n>`.

use std::fmt::Write as _;

use beads_ralph_core::bead::BeadId;
use twox_hash::XxHash3_64;

/// Below this are all of ours.
const PREFIX: &str = "refs/beads-ralph";

/// How long the encoded name of a bead may be: a ref is a file, and its lock has a longer name.
const MAX_NAME: usize = 200;

/// How much of a longer one stays readable.
const KEPT: usize = 150;

pub(super) fn verified(bead: &BeadId) -> String {
    format!("{PREFIX}/{}/verified", encoded(bead))
}

pub(super) fn interrupted(bead: &BeadId, attempt: u32) -> String {
    format!("{PREFIX}/{}/interrupted/{attempt}", encoded(bead))
}

pub(super) fn branch(name: &str) -> String {
    format!("refs/heads/{name}")
}

/// An id as one part of a ref: letters, digits, `-`, `_` and single dots stay, every other byte is `%` and its number. A very
/// long one is cut, and its hash makes it unique.
fn encoded(bead: &BeadId) -> String {
    let bytes = bead.as_str().as_bytes();
    let mut name = String::with_capacity(bytes.len());
    for (index, &byte) in bytes.iter().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if is_plain || (byte == b'.' && is_inner_dot(bytes, index)) {
            name.push(char::from(byte));
        } else {
            write!(name, "%{byte:02X}").expect("a text can be written to");
        }
    }
    if name.len() > MAX_NAME {
        name.truncate(KEPT);
        let hash = XxHash3_64::oneshot(bytes);
        write!(name, "%-{hash:016x}").expect("a text can be written to");
    }
    name
}

/// Whether a dot may stay: git allows none at the beginning and the end, no two, and not the ending of its own locks.
fn is_inner_dot(bytes: &[u8], index: usize) -> bool {
    let rest = &bytes[index + 1..];
    index > 0 && bytes[index - 1] != b'.' && !rest.is_empty() && rest != b"lock"
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn encoded(id: &str) -> String {
        super::encoded(&BeadId::parse(id).unwrap())
    }

    #[test]
    fn z_6_any_id_is_a_legal_part_of_a_ref() {
        for (id, expected) in [
            ("bd-1-1-setup", "bd-1-1-setup"),
            ("bd-a3f8.1", "bd-a3f8.1"),
            ("a/b c", "a%2Fb%20c"),
            (".a..b.", "%2Ea.%2Eb%2E"),
            ("x.lock", "x%2Elock"),
            ("@{u}~^:?*[\\", "%40%7Bu%7D%7E%5E%3A%3F%2A%5B%5C"),
            ("%2F", "%252F"),
            ("é", "%C3%A9"),
        ] {
            assert_eq!(encoded(id), expected);
        }
    }

    #[test]
    fn z_6_different_ids_have_different_refs() {
        let long = "é".repeat(120);
        let ids = [
            "a/b",
            "a%2Fb",
            "a.b",
            "a..b",
            "a.",
            "a",
            &long,
            &format!("{long}x"),
        ];
        let names: HashSet<String> = ids.iter().map(|id| encoded(id)).collect();
        assert_eq!(names.len(), ids.len());
        assert!(names.iter().all(|name| name.len() <= MAX_NAME));
    }
}
