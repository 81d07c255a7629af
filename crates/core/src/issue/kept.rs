//! What is kept in a bead's metadata where a store has no room for it: in a database of the real `bd`, and in its exports.
//!
//! Who holds an issue is a record of its own (Z-3), and so is the fence, which outlives every claim. Where only metadata can hold them, they
//! are one text under one key: numbers of that JSON pass through floating point, a text does not. The reason of a close is there
//! too, because `bd` takes it only from a command that can do nothing else.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::claim::{Claim, Fence};
use crate::vocabulary::metadata;

/// What is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The fence of the latest claim.
    pub fence: Fence,
    /// The claim, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// Why it was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_reason: Option<String>,
}

impl Kept {
    /// Takes it out of a document, which gets what belongs to it. Anything else under that key stays as it is.
    pub fn take(document: &mut Map<String, Value>) -> Option<Self> {
        let metadata = document.get_mut("metadata")?.as_object_mut()?;
        let kept: Self =
            serde_json::from_str(metadata.get(metadata::BEADS_RALPH)?.as_str()?).ok()?;
        metadata.shift_remove(metadata::BEADS_RALPH);
        if metadata.is_empty() {
            document.shift_remove("metadata");
        }
        let is_closed = document.get("status").and_then(Value::as_str) == Some("closed");
        if let Some(reason) = kept.close_reason.as_ref().filter(|_| is_closed) {
            let slot = document.entry("close_reason").or_insert(Value::Null);
            if slot.is_null() {
                *slot = reason.as_str().into();
            }
        }
        Some(kept)
    }

    /// The text that is kept.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a record of plain values is JSON")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn z_3_what_is_kept_comes_out_whole_and_what_is_not_ours_stays() {
        let kept = Kept {
            fence: Fence(u64::MAX),
            claim: None,
            close_reason: Some("done".to_owned()),
        };
        let mut document = json!({"status": "closed", "metadata": {metadata::BEADS_RALPH: kept.to_text(), "a": 1}});
        let document = document.as_object_mut().unwrap();
        assert_eq!(Kept::take(document), Some(kept));
        assert_eq!(document["close_reason"], "done");
        assert_eq!(document["metadata"], json!({"a": 1}));
        for theirs in [json!({"mine": 1}), json!("text"), json!(7)] {
            let mut document = json!({"metadata": {metadata::BEADS_RALPH: theirs}});
            let before = document.clone();
            assert_eq!(Kept::take(document.as_object_mut().unwrap()), None);
            assert_eq!(document, before);
        }
    }
}
