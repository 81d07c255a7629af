//! Arguments with placeholders in them.

use serde::{Deserialize, Deserializer, de};

use crate::diag::did_you_mean;
use crate::text::excerpt;

/// One argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// A text with placeholders in it.
    Text(Vec<ArgumentPart>),
    /// The arguments of the permission mode.
    Permissions,
    /// The options that were configured.
    Options,
}

/// A piece of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentPart {
    /// As it stands.
    Literal(Box<str>),
    /// What a call has in its place.
    Value(Placeholder),
}

crate::text::word_enum! {
    /// What a call can have in it; the word stands between braces.
    #[derive(PartialOrd, Ord)]
    pub enum Placeholder {
        /// The id of the model that the tier stands for.
        Model = "model",
        /// How hard the tier thinks.
        Effort = "effort",
        /// The id that a new session is to have.
        Session = "session",
        /// The id of the session to resume.
        Resume = "resume",
        /// The agent's name.
        Agent = "agent",
        /// How often the model may be asked.
        MaxTurns = "max_turns",
        /// How many US dollars may be spent.
        MaxUsd = "max_usd",
        /// The JSON Schema of the report.
        Schema = "schema",
        /// A file that holds that schema.
        SchemaFile = "schema_file",
        /// The prompt.
        Prompt = "prompt",
        /// A file that holds the prompt.
        PromptFile = "prompt_file",
        /// Where the agent works.
        Worktree = "worktree",
        /// A file for the agent's last message.
        LastMessageFile = "last_message_file",
    }
}

const PERMISSIONS: &str = "permissions";
const OPTIONS: &str = "options";

impl Argument {
    /// Reads an argument. Only `{word}` is a placeholder, so JSON can stand for itself.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "{permissions}" => return Ok(Self::Permissions),
            "{options}" => return Ok(Self::Options),
            _ => {}
        }
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            literal.push_str(before);
            let length = after
                .bytes()
                .take_while(|byte| byte.is_ascii_lowercase() || *byte == b'_');
            let (word, tail) = after.split_at(length.count());
            match tail.strip_prefix('}') {
                Some(tail) if !word.is_empty() => {
                    if !literal.is_empty() {
                        parts.push(ArgumentPart::Literal(std::mem::take(&mut literal).into()));
                    }
                    parts.push(ArgumentPart::Value(placeholder(word)?));
                    rest = tail;
                }
                _ => {
                    literal.push('{');
                    rest = after;
                }
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() || parts.is_empty() {
            parts.push(ArgumentPart::Literal(literal.into()));
        }
        Ok(Self::Text(parts))
    }

    /// The placeholders in it.
    pub fn placeholders(&self) -> impl Iterator<Item = Placeholder> {
        let parts = match self {
            Self::Text(parts) => parts.as_slice(),
            Self::Permissions | Self::Options => &[],
        };
        parts.iter().filter_map(|part| match part {
            ArgumentPart::Value(placeholder) => Some(*placeholder),
            ArgumentPart::Literal(_) => None,
        })
    }
}

fn placeholder(word: &str) -> Result<Placeholder, String> {
    if word == PERMISSIONS || word == OPTIONS {
        return Err(format!("{{{word}}} must be a separate argument"));
    }
    let known = || Placeholder::ALL.iter().map(|known| known.as_str());
    let found = Placeholder::ALL.iter().find(|known| known.as_str() == word);
    found.copied().ok_or_else(|| {
        let near = did_you_mean(word, known().chain([PERMISSIONS, OPTIONS]));
        let hint = near.map_or_else(
            || format!("known are {}", known().collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean {{{near}}}?"),
        );
        format!("unknown placeholder {{{}}}; {hint}", excerpt(word))
    })
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_and_json_is_left_alone() {
        let names = |text: &str| -> Vec<&str> {
            let argument = Argument::parse(text).unwrap();
            argument.placeholders().map(Placeholder::as_str).collect()
        };
        assert_eq!(names("--model={model}"), ["model"]);
        assert_eq!(names("{session}/{agent}"), ["session", "agent"]);
        for plain in [
            "",
            "{",
            "{}",
            "{\"sandbox\":{\"enabled\":true}}",
            "a{B}",
            "x}",
        ] {
            let expected = vec![ArgumentPart::Literal(plain.into())];
            assert_eq!(Argument::parse(plain), Ok(Argument::Text(expected)));
        }
        assert_eq!(Argument::parse("{options}"), Ok(Argument::Options));
    }

    #[test]
    fn an_unknown_placeholder_is_an_error_with_the_nearest() {
        let message = |text: &str| Argument::parse(text).unwrap_err();
        assert_eq!(
            message("{modle}"),
            "unknown placeholder {modle}; did you mean {model}?"
        );
        assert!(message("{nonsense}").contains("known are model, "));
        assert!(message("-x{options}").contains("a separate argument"));
    }
}
