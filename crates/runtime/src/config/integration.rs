//! How verified work is integrated, and whom to notify: the keys `integration` and `notify` (Z-11, Z-12, Z-15, Z-22).

use std::fmt;

use beads_ralph_core::engine::IntegrationMode;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::document::Branch;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IntegrationSettings {
    /// How it is handed over. Without a choice: by pull requests where they can be made, else by merging.
    pub mode: Option<IntegrationMode>,
    /// The branch that it is merged into; `ralph/<plan>` if it is not said.
    pub target: Option<String>,
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

/// `notify`: a command line for the shell, or a program and its arguments.
#[derive(Debug)]
pub(super) enum NotifyKey {
    Line(String),
    Program(Vec<String>),
}

impl NotifyKey {
    pub(super) fn arguments(self, shell: &[String]) -> Vec<String> {
        match self {
            Self::Program(arguments) => arguments,
            // What is to be told comes as an argument behind these.
            Self::Line(line) => {
                let line = format!("{line} \"$@\"");
                shell
                    .iter()
                    .cloned()
                    .chain([line, "notify".to_owned()])
                    .collect()
            }
        }
    }
}

impl<'de> Deserialize<'de> for NotifyKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LineOrProgram)
    }
}

struct LineOrProgram;

impl<'de> Visitor<'de> for LineOrProgram {
    type Value = NotifyKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a command line, or a list of a program and its arguments")
    }

    fn visit_str<E: de::Error>(self, line: &str) -> Result<Self::Value, E> {
        if line.trim().is_empty() {
            return Err(E::custom("it is empty; omit the key to notify nobody"));
        }
        Ok(NotifyKey::Line(line.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut arguments: Vec<String> = Vec::new();
        while let Some(argument) = list.next_element()? {
            arguments.push(argument);
        }
        let program = arguments.first().filter(|name| !name.trim().is_empty());
        if program.is_none() {
            return Err(de::Error::custom(
                "the list is empty; it must start with a program",
            ));
        }
        Ok(NotifyKey::Program(arguments))
    }
}
