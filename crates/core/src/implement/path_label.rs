//! Paths and addresses within labels (I-10, I-13, Z-34).
//!
//! A label holds letters, digits, `.`, `-` and `_`. `/` is written `__`, `_` is `_u`, and every other byte is `_xHH`; `:` of an
//! address is `_c`. Reading goes from left to right, and any other use of `_` is malformed.

use thiserror::Error;

/// Why a text is no path in a label.
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
    encode(
        path.strip_suffix('/')
            .filter(|rest| !rest.is_empty())
            .unwrap_or(path),
        false,
    )
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
            byte => {
                encoded.push_str("_x");
                for digit in [byte >> 4, byte & 15] {
                    encoded.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
                }
            }
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
