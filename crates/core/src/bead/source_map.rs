//! Where in a plan a bead comes from (Z-45).

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reader::{Errors, Fields, Node};
use crate::text::visible;
use crate::vocabulary::metadata;

/// The sprint's heading in the plan, as it was when the bead was compiled.
///
/// Lines move whenever somebody edits the plan above. So a reader who has the plan looks the sprint up by its number and
/// takes these numbers only where it does not; the digest says whether the sprint's text is still the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceMap {
    /// The plan's file.
    #[schemars(length(min = 1))]
    pub file: String,
    /// The heading's line, from 1.
    #[schemars(range(min = 1))]
    pub line: u32,
    /// The heading's first character in its line, from 1.
    #[schemars(range(min = 1))]
    pub column: u32,
    /// The SHA-256 of the sprint's section without annotations and trailing blank lines, as `sha256:<hexadecimal>`.
    #[schemars(length(min = 1))]
    pub digest: String,
}

impl SourceMap {
    /// The place that some metadata name, if they name one; what is wrong with it is for the validator to say.
    pub fn of(metadata: &serde_json::Map<String, Value>) -> Option<Self> {
        let map = metadata.get(metadata::SOURCE_MAP)?;
        let text = |key: &str| map.get(key)?.as_str().map(str::to_owned);
        let number = |key: &str| map.get(key)?.as_u64()?.try_into().ok();
        Some(Self {
            file: text("file")?,
            line: number("line")?,
            column: number("column")?,
            digest: text("digest")?,
        })
    }

    /// Whether two places hold the same text of the same plan, wherever it stands.
    pub fn is_same_text(&self, other: &Self) -> bool {
        self.file == other.file && self.digest == other.digest
    }

    pub(super) fn read(node: Node<'_, '_>, errors: &mut Errors) -> Option<Self> {
        let map = node.fields(errors)?;
        let fields = Fields {
            map,
            path: &node.path,
        };
        let file = fields.non_empty(errors, "file");
        let number = |key: &'static str, errors: &mut Errors| {
            fields.required(errors, key, |node, errors| node.integer(errors, key, 1))
        };
        let (line, column) = (number("line", errors), number("column", errors));
        let digest = fields.non_empty(errors, "digest");
        Some(Self {
            file: file?,
            line: line?,
            column: column?,
            digest: digest?,
        })
    }
}

impl fmt::Display for SourceMap {
    /// `plan.md:12:1`, as editors read it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", visible(&self.file), self.line, self.column)
    }
}
