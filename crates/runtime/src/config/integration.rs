//! What is done with verified work (Z-11, Z-12, Z-22).

use std::fmt;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::values::Branch;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IntegrationSettings {
    /// How it is handed over. Without a choice: by pull requests where they can be made, else by merging.
    pub mode: Option<IntegrationMode>,
    /// The branch that it is merged into; `ralph/<plan>` if it is not said.
    pub target: Option<String>,
}

/// How verified work is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntegrationMode {
    /// It stays on its branch.
    None,
    /// It is merged into the target branch.
    Merge,
    /// It is pushed and proposed as a pull request.
    Pr,
}

impl IntegrationMode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Merge => "merge",
            Self::Pr => "pr",
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct IntegrationKey(IntegrationSection);

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct IntegrationSection {
    mode: Option<IntegrationMode>,
    target: Branch,
}

impl IntegrationKey {
    pub(super) fn settings(self) -> IntegrationSettings {
        IntegrationSettings {
            mode: self.0.mode,
            target: self.0.target.0,
        }
    }
}

impl<'de> Deserialize<'de> for IntegrationKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordOrSection)
    }
}

struct WordOrSection;

impl<'de> Visitor<'de> for WordOrSection {
    type Value = IntegrationKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("none, merge, pr, or a section with `mode` and `target`")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
        let mode = IntegrationMode::deserialize(StrDeserializer::new(word))?;
        Ok(IntegrationKey(IntegrationSection {
            mode: Some(mode),
            target: Branch::default(),
        }))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(IntegrationKey::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        IntegrationSection::deserialize(MapAccessDeserializer::new(map)).map(IntegrationKey)
    }
}
