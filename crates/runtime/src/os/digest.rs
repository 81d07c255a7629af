//! Hashes by which people can check that something is still what it was.

use sha2::{Digest as _, Sha256};

/// The SHA-256 of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// The SHA-256 of some bytes.
pub fn bytes(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |number: u8| char::from_digit(number.into(), 16).unwrap_or_default();
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
