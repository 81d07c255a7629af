//! Seals: a hash beside every row, so that a row that is not what was written is never believed.
//!
//! SQLite notices a broken structure but not a changed value. The hash is XXH3 over the values with their
//! lengths; it guards against damage, not against an adversary.

use twox_hash::XxHash3_64;

/// A value of a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'a> {
    Text(&'a str),
    Int(i64),
}

/// The seal of a row of a table.
pub(super) fn seal(table: &str, parts: &[Part<'_>]) -> i64 {
    let mut bytes = Vec::new();
    let mut write = |part: &[u8]| {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    };
    write(table.as_bytes());
    for part in parts {
        match part {
            Part::Text(text) => write(text.as_bytes()),
            Part::Int(int) => write(&int.to_le_bytes()),
        }
    }
    XxHash3_64::oneshot(&bytes).cast_signed()
}

/// What is mixed into the seal of an issue that is held back, so that the flag can change without the document
/// being read.
pub(super) fn blocked_mark(id: &str) -> i64 {
    seal("blocked", &[Part::Text(id)])
}
