//! Hashes by which people can check that something is still what it was.

use sha2::{Digest as _, Sha256};

/// The SHA-256 of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}
