//! Who leads the work on a bead, and whom to tell: the keys `scrum_master` and `notify` (Z-15, Z-22).

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScrumMaster {
    #[default]
    Native,
    /// The bead's `scrum_master_agent`; what it claims is verified.
    Agent,
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
            return Err(E::custom("it is empty; leave the key out to tell nobody"));
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
            return Err(de::Error::custom("the list names no program"));
        }
        Ok(NotifyKey::Program(arguments))
    }
}
