//! The differences that remain: which there are, and what is still the same where they show.
//!
//! docs/bd-compatibility.md has one row for each, with its reason.

use std::collections::BTreeSet;

use camino::Utf8Path;

use super::pair::Seen;

/// How many differences there may be.
pub(crate) const MAX: usize = 15;

/// What is still compared where a difference shows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rest {
    /// The exit code.
    #[expect(dead_code, reason = "no difference is listed yet")]
    Code,
}

/// The differences by number.
pub(crate) const ALL: &[(u8, Rest)] = &[];

/// What is compared of a call that differs so.
pub(crate) fn rest(number: u8, seen: &Seen) -> Seen {
    let found = ALL.iter().find(|(known, _)| *known == number);
    let (_, rest) = found.unwrap_or_else(|| panic!("there is no difference {number}"));
    match rest {
        Rest::Code => Seen {
            code: seen.code,
            stdout: String::new(),
            stderr: String::new(),
        },
    }
}

/// The numbers of the rows of the table in docs/bd-compatibility.md.
pub(crate) fn documented() -> BTreeSet<u8> {
    let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bd-compatibility.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    rows.filter_map(|row| row.split(" | ").next()?.trim().parse().ok())
        .collect()
}
