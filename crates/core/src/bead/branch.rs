//! Branch names (contracts §3.2, B-29).

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::text::excerpt;

use super::field::Invalid;
use super::text_type::text_type;

/// A branch whose name matches `^[a-zA-Z0-9/_-]+$`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchName(Box<str>);

text_type!(BranchName);

impl BranchName {
    /// The pattern of a branch name.
    pub const PATTERN: &str = "^[a-zA-Z0-9/_-]+$";

    /// Reads a branch name; the pattern only, because readers accept what git would refuse.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-');
        if text.is_empty() || !text.bytes().all(fits) {
            return Err(Invalid::pattern(format!(
                "branch must match pattern {}, got '{}'",
                Self::PATTERN,
                excerpt(text)
            )));
        }
        Ok(Self(text.into()))
    }

    /// Checks what git asks beyond the pattern (B-29), before a branch is made.
    pub fn check_git_safe(&self) -> Result<(), Invalid> {
        let problem = if self.0.starts_with('-') {
            "must not start with '-'"
        } else if self.0.starts_with('/') || self.0.ends_with('/') {
            "must not start or end with '/'"
        } else if self.0.contains("//") {
            "must not contain '//'"
        } else {
            return Ok(());
        };
        Err(Invalid::pattern(format!(
            "branch '{}' {problem}",
            excerpt(&self.0)
        )))
    }
}

impl JsonSchema for BranchName {
    fn schema_name() -> Cow<'static, str> {
        "BranchName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The name of a branch.",
            "type": "string",
            "pattern": Self::PATTERN,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_25_branches_follow_their_pattern() {
        for text in ["main/1-2-auth", "develop/3a-2b-api", "a_b", "/"] {
            assert!(BranchName::parse(text).is_ok(), "{text}");
        }
        for text in ["", "main/1.2", "feat/auth api", "x\n", "ä"] {
            let refused = BranchName::parse(text).unwrap_err().to_string();
            assert!(refused.contains("branch must match pattern"), "{refused}");
        }
    }

    #[test]
    fn b_29_git_asks_for_more_than_the_pattern() {
        let safe = |text| BranchName::parse(text).unwrap().check_git_safe().is_ok();
        assert!(safe("feature/1-1-project-setup"));
        for text in ["/a", "a/", "a//b", "-a", "/"] {
            assert!(!safe(text), "{text}");
        }
    }
}
