//! The labels that connect a bead, its molecule, its worktree and its pull request (I-2, I-10, I-13, Z-34, §9.13).
//!
//! A label holds letters, digits, `.`, `-` and `_`. In a path or an address `/` is written `__`, `_` is `_u`, and every other byte is
//! `_xHH`; `:` of an address is `_c`. Reading goes from left to right, and any other use of `_` is malformed.

use std::fmt::Write as _;

use thiserror::Error;

use crate::bead::BeadId;
use crate::issue::Issue;
use crate::vocabulary::label;

/// The label of the molecules of a bead.
pub fn link_label(source: &BeadId) -> String {
    format!("{}{source}", label::FOR_BEAD_PREFIX)
}

/// The bead that a molecule was poured for.
pub fn linked_source(molecule: &Issue) -> Option<BeadId> {
    let mut labels = molecule.labels();
    labels.find_map(|label| BeadId::parse(label.strip_prefix(label::FOR_BEAD_PREFIX)?).ok())
}

/// The worktree that a molecule names, whether it is there or not (I-10).
pub fn worktree_of(molecule: &Issue) -> Option<String> {
    decode_path(labelled(molecule, label::WORKTREE_PREFIX)?).ok()
}

/// The pull request that a molecule names (I-13).
pub fn pull_request_of(molecule: &Issue) -> Option<String> {
    decode_url(labelled(molecule, label::PULL_REQUEST_PREFIX)?).ok()
}

/// What the first label with a beginning says after it.
fn labelled<'i>(issue: &'i Issue, beginning: &str) -> Option<&'i str> {
    let mut labels = issue.labels();
    labels.find_map(|label| label.strip_prefix(beginning))
}

/// Why a label has no valid path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PathLabelError {
    /// An `_` that begins nothing.
    #[error("`_` is followed by something else than `_`, `u` or `x` at byte {0}")]
    Malformed(usize),
    /// Bytes that are no text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// Nothing at all.
    #[error("it is empty")]
    Empty,
}

/// A path as a label has it; one `/` at its end is left out.
pub fn encode_path(path: &str) -> String {
    let rest = path.strip_suffix('/').filter(|rest| !rest.is_empty());
    encode(rest.unwrap_or(path), false)
}

/// An address as a label has it (I-13).
pub fn encode_url(url: &str) -> String {
    encode(url, true)
}

fn encode(text: &str, has_colon: bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'/' => encoded.push_str("__"),
            b'_' => encoded.push_str("_u"),
            b':' if has_colon => encoded.push_str("_c"),
            b'.' | b'-' => encoded.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => encoded.push(char::from(byte)),
            byte => _ = write!(encoded, "_x{byte:02x}"),
        }
    }
    encoded
}

/// The path in a label.
pub fn decode_path(label: &str) -> Result<String, PathLabelError> {
    decode(label, false)
}

/// The address in a label.
pub fn decode_url(label: &str) -> Result<String, PathLabelError> {
    decode(label, true)
}

fn decode(label: &str, has_colon: bool) -> Result<String, PathLabelError> {
    if label.is_empty() {
        return Err(PathLabelError::Empty);
    }
    let bytes = label.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'_' {
            decoded.push(bytes[at]);
            at += 1;
            continue;
        }
        let (byte, length) = match bytes.get(at + 1) {
            Some(b'_') => (b'/', 2),
            Some(b'u') => (b'_', 2),
            Some(b'c') if has_colon => (b':', 2),
            Some(b'x') => (escaped(bytes, at)?, 4),
            _ => return Err(PathLabelError::Malformed(at)),
        };
        decoded.push(byte);
        at += length;
    }
    String::from_utf8(decoded).map_err(|_| PathLabelError::NotUtf8)
}

/// The byte of `_xHH`.
fn escaped(bytes: &[u8], at: usize) -> Result<u8, PathLabelError> {
    let digit = |at: usize| {
        let digit = bytes
            .get(at)
            .and_then(|byte| char::from(*byte).to_digit(16));
        digit.and_then(|digit| u8::try_from(digit).ok())
    };
    match (digit(at + 2), digit(at + 3)) {
        (Some(high), Some(low)) => Ok(high << 4 | low),
        _ => Err(PathLabelError::Malformed(at)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn i_2_a_molecule_names_its_bead() {
        let source = BeadId::parse("proj-1.2").unwrap();
        let document = json!({"id": "m", "title": "t", "labels": ["x", link_label(&source)]});
        let molecule = Issue::without_comments(document).unwrap();
        assert_eq!(linked_source(&molecule), Some(source));
        let other = json!({"id": "m", "title": "t", "labels": ["for-bead-"]});
        assert_eq!(
            linked_source(&Issue::without_comments(other).unwrap()),
            None
        );
    }

    #[test]
    fn i_10_i_13_a_molecule_names_its_worktree_and_its_pull_request() {
        let molecule = |labels: &[&str]| {
            let document = json!({"id": "m", "title": "t", "labels": labels});
            Issue::without_comments(document).unwrap()
        };
        let named = molecule(&["worktree-path-__w__a_ub", "pr-url-https_c____x__1"]);
        assert_eq!(worktree_of(&named).as_deref(), Some("/w/a_b"));
        assert_eq!(pull_request_of(&named).as_deref(), Some("https://x/1"));
        let broken = molecule(&["worktree-path-a_b", "pr-url-"]);
        assert_eq!(worktree_of(&broken), None);
        assert_eq!(pull_request_of(&broken), None);
    }
}

#[cfg(test)]
mod path_label_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn i_10_the_paths_of_the_contract() {
        for (path, encoded) in [
            ("/tmp/test_path", "__tmp__test_upath"),
            ("a__b/c", "a_u_ub__c"),
            ("/w/_x", "__w___ux"),
            ("/w/x_/y", "__w__x_u__y"),
            (
                "/home/u/repo/.claude/worktrees/feat/proj-42-add_rate/",
                "__home__u__repo__.claude__worktrees__feat__proj-42-add_urate",
            ),
        ] {
            assert_eq!(encode_path(path), encoded);
            assert_eq!(
                decode_path(encoded).unwrap(),
                path.strip_suffix('/').unwrap_or(path)
            );
        }
        assert_eq!(encode_path("/"), "__");
        for wrong in ["a_b", "_", "a_", "_x1", "_xzz", "_c", "_U", ""] {
            assert!(decode_path(wrong).is_err(), "{wrong}");
        }
        assert_eq!(decode_path("_xff"), Err(PathLabelError::NotUtf8));
    }

    #[test]
    fn z_34_other_characters_are_escaped_byte_by_byte() {
        assert_eq!(encode_path("/w/a b"), "__w__a_x20b");
        assert_eq!(decode_path("__w__a_x20b").unwrap(), "/w/a b");
        assert_eq!(encode_path("é"), "_xc3_xa9");
    }

    #[test]
    fn i_13_addresses_have_a_colon() {
        let url = "https://github.com/a/b_c/pull/7";
        let encoded = encode_url(url);
        assert_eq!(encoded, "https_c____github.com__a__b_uc__pull__7");
        assert_eq!(decode_url(&encoded).unwrap(), url);
    }

    proptest! {
        #[test]
        fn i_10_every_path_comes_back(path in "\\PC{1,40}") {
            let expected = path.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(&path);
            let encoded = encode_path(&path);
            prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)));
            prop_assert_eq!(decode_path(&encoded).unwrap(), expected);
        }
    }
}
