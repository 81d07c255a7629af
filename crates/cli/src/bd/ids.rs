//! Ids as the real `bd` gives and reads them: `<prefix>-<base36>`, children `<parent>.<n>`, and short forms.

use std::fmt;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Record;
use beads_ralph_runtime::os::digest;

use super::{Opened, Refusal, quoted};

/// The length that a new id begins with, and the one after which no more are tried.
const SHORTEST: usize = 3;
const LONGEST: usize = 8;
/// How many ids of one length are tried.
const TRIES: usize = 10;

/// The bead that a text means: its id, its id without the prefix, or the only one whose id goes on from it.
/// The error is a sentence without `Error:`.
pub(super) fn resolve(opened: &Opened, text: &str) -> Result<Record, Unresolved> {
    if let Some(record) = opened.exact(text)? {
        return Ok(record);
    }
    let prefix = opened.prefix()?;
    let start = format!("{prefix}-");
    let full = if text.starts_with(&start) || looks_prefixed(text) {
        text.to_owned()
    } else {
        format!("{start}{text}")
    };
    if let Some(record) = opened.exact(&full)? {
        return Ok(record);
    }
    let none = || Unresolved::None(format!("no issue found matching {}", quoted(text)));
    let hash = full.strip_prefix(&start).unwrap_or(&full);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    if hash.is_empty() || !hash.chars().all(is_plain) {
        return Err(none());
    }
    let begin = if full.starts_with(&start) {
        full.clone()
    } else {
        hash.to_owned()
    };
    let found = opened.store.ids_with_prefix(&begin, 100)?;
    match found.as_slice() {
        [] => Err(none()),
        [only] => opened.record(only)?.ok_or_else(none),
        several => {
            let ids: Vec<&str> = several.iter().map(BeadId::as_str).collect();
            Err(Unresolved::Other(format!(
                "ambiguous issue ID: {} matches {} issues: [{}]\nUse more characters to disambiguate",
                quoted(text),
                ids.len(),
                ids.join(" ")
            )))
        }
    }
}

/// Why a text means no bead.
pub(super) enum Unresolved {
    /// There is none.
    None(String),
    /// There are several, or the store failed.
    Other(String),
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::None(sentence) | Self::Other(sentence)) = self;
        f.write_str(sentence)
    }
}

/// The bead that a text means. `doing` begins the error.
pub(super) fn find(opened: &Opened, doing: &str, text: &str) -> Result<Record, Refusal> {
    resolve(opened, text).map_err(|why| Refusal::json(format!("{doing} {text}: {why}")))
}

impl From<beads_ralph_runtime::store::StoreError> for Unresolved {
    fn from(error: beads_ralph_runtime::store::StoreError) -> Self {
        Self::Other(error.to_string())
    }
}

/// Whether a text looks as if it had a prefix already: a short word, a hyphen, and something after it.
fn looks_prefixed(text: &str) -> bool {
    let is_small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let Some((prefix, rest)) = text.split_once('-') else {
        return false;
    };
    (1..=8).contains(&prefix.len())
        && prefix.chars().all(is_small)
        && rest.chars().next().is_some_and(is_small)
}

/// A new id that no bead has: the hash of what it is about, as short as can be.
pub(super) fn new_id(
    opened: &Opened,
    prefix: &str,
    title: &str,
    description: &str,
) -> Result<BeadId, Refusal> {
    for length in SHORTEST..=LONGEST {
        for nonce in 0..TRIES {
            let nanos = opened.by.now.as_nanosecond();
            let content = format!("{title}|{description}|{}|{nanos}|{nonce}", opened.actor());
            let id = format!(
                "{prefix}-{}",
                base36(&digest::bytes(content.as_bytes()), length)
            );
            let id = BeadId::parse(&id).map_err(|error| Refusal::json(error.to_string()))?;
            if opened.record(&id)?.is_none() {
                return Ok(id);
            }
        }
    }
    Err(Refusal::json(
        "no id is free: every one that was tried is taken",
    ))
}

/// The end of a number written with digits and letters.
fn base36(bytes: &[u8], length: usize) -> String {
    const ALPHABET: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let head = bytes.iter().take(8);
    let mut number = head.fold(0u64, |number, byte| (number << 8) | u64::from(*byte));
    let mut digits = Vec::new();
    for _ in 0..length {
        let digit = usize::try_from(number % 36).unwrap_or_default();
        digits.push(char::from(ALPHABET[digit]));
        number /= 36;
    }
    digits.iter().rev().collect()
}

/// The next id below a parent. An id that a bead once had is never given again, also when the bead was deleted: its history and
/// what others wrote about it belong to that one.
pub(super) fn next_child(opened: &Opened, parent: &BeadId) -> Result<BeadId, Refusal> {
    let start = format!("{parent}.");
    let below = opened.store.ids_ever_with_prefix(&start)?;
    let number = |id: &BeadId| id.as_str().strip_prefix(&start)?.parse::<u64>().ok();
    let last = below.iter().filter_map(number).max().unwrap_or_default();
    let id = format!("{start}{}", last.saturating_add(1));
    BeadId::parse(&id).map_err(|error| Refusal::json(error.to_string()))
}
