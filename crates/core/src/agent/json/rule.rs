//! The rules by which what a program prints is read; the language is described in [the module](super).

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use super::Is;
use super::Saying;
use crate::agent::reader::MAX_TEXT;
use crate::agent::{Pointer, Status};

/// How much memory a pattern may take once it is compiled; patterns come from files.
const MAX_PATTERN: usize = 1 << 20;

/// How what a program prints is read.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// What it prints.
    pub stream: StreamKind,
    /// Whether its counters are those of the whole session, also of what went before this run.
    pub is_cumulative: bool,
    /// Whether its count of what it read includes what came from a cache.
    pub is_cache_in_input: bool,
    /// What its objects mean.
    pub rules: Vec<Rule>,
    /// What exit codes mean.
    pub exits: BTreeMap<i32, Failure>,
    /// What texts of errors mean: the last resort.
    pub failures: Vec<TextRule>,
}

impl Reading {
    /// The first thing about it that cannot be meant, for a message.
    pub(in crate::agent) fn fault(&self) -> Option<String> {
        let field = self.rules.iter().find_map(Rule::unaddable)?;
        Some(format!(
            "`add` is for numbers and `text`, not for {field:?}"
        ))
    }
}

/// What a program prints on standard output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamKind {
    /// One JSON object a line.
    JsonLines,
    /// One JSON object, over any number of lines.
    Json,
    /// Any text; it succeeds by its exit code.
    #[default]
    Text,
}

/// One rule.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    pub(in crate::agent) when: BTreeMap<Pointer, Is>,
    pub(in crate::agent) once: Option<Pointer>,
    pub(in crate::agent) each: Option<Pointer>,
    pub(in crate::agent) of: BTreeMap<Pointer, Is>,
    pub(in crate::agent) take: BTreeMap<Field, Source>,
    pub(in crate::agent) add: BTreeMap<Field, Source>,
    pub(in crate::agent) estimate: BTreeMap<Counter, Source>,
    pub(in crate::agent) say: Option<Saying>,
    pub(in crate::agent) deny: Option<Saying>,
    pub(in crate::agent) suspect: Option<Suspect>,
    pub(in crate::agent) pending: Option<Pointer>,
    pub(in crate::agent) goes_on: bool,
    pub(in crate::agent) ends: Option<Status>,
    pub(in crate::agent) retry: Option<bool>,
}

impl Rule {
    /// The first field that it adds to and that nothing can be added to.
    pub(in crate::agent) fn unaddable(&self) -> Option<Field> {
        let mut fields = self.add.keys().copied();
        fields.find(|field| field.counter().is_none() && *field != Field::Text)
    }
}

/// A field of the outcome that a rule can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::agent) enum Field {
    Session,
    ModelId,
    Text,
    Error,
    Report,
    ResetsAt,
    Turns,
    Cost,
    InputTokens,
    OutputTokens,
    CacheReadTokens,
    CacheWriteTokens,
    ReasoningTokens,
}

/// A number of the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::agent) enum Counter {
    Turns,
    Cost,
    InputTokens,
    OutputTokens,
    CacheReadTokens,
    CacheWriteTokens,
    ReasoningTokens,
}

impl Field {
    pub(in crate::agent) fn counter(self) -> Option<Counter> {
        match self {
            Self::Turns => Some(Counter::Turns),
            Self::Cost => Some(Counter::Cost),
            Self::InputTokens => Some(Counter::InputTokens),
            Self::OutputTokens => Some(Counter::OutputTokens),
            Self::CacheReadTokens => Some(Counter::CacheReadTokens),
            Self::CacheWriteTokens => Some(Counter::CacheWriteTokens),
            Self::ReasoningTokens => Some(Counter::ReasoningTokens),
            Self::Session
            | Self::ModelId
            | Self::Text
            | Self::Error
            | Self::Report
            | Self::ResetsAt => None,
        }
    }
}

/// What a failure is due to, should there be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suspect {
    /// The account's limit.
    Limit,
    /// The login.
    Auth,
    /// Something that was not allowed.
    Denied,
    /// How it was called.
    Config,
    /// Nothing in particular: what was suspected is over.
    Nothing,
}

impl Suspect {
    pub(in crate::agent) fn status(self) -> Option<Status> {
        match self {
            Self::Limit => Some(Status::Limit),
            Self::Auth => Some(Status::Auth),
            Self::Denied => Some(Status::Denied),
            Self::Config => Some(Status::Config),
            Self::Nothing => None,
        }
    }
}

/// A status that a failure can have: one that a program can report, and never success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Status")]
pub struct Failure(pub(in crate::agent) Status);

impl TryFrom<Status> for Failure {
    type Error = String;

    fn try_from(status: Status) -> Result<Self, Self::Error> {
        match status {
            Status::Ok | Status::Crashed | Status::NoResult => {
                Err(format!("`{status}` is not a kind of failure"))
            }
            _ => Ok(Self(status)),
        }
    }
}

/// What the text of an error means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextRule {
    /// What it looks like.
    pub(in crate::agent) matches: Pattern,
    /// What it means.
    pub(in crate::agent) status: Failure,
}

/// A regular expression.
#[derive(Debug, Clone)]
pub(in crate::agent) struct Pattern(Regex);

impl Pattern {
    pub(in crate::agent) fn parse(text: &str) -> Result<Self, String> {
        let built = RegexBuilder::new(text).size_limit(MAX_PATTERN).build();
        built.map(Self).map_err(|error| error.to_string())
    }

    pub(in crate::agent) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// Where a value comes from.
#[derive(Debug, Clone)]
pub(in crate::agent) enum Source {
    At(Pointer),
    Constant(u32),
}

impl Source {
    pub(in crate::agent) fn number(&self, value: &Value) -> Option<f64> {
        let number = match self {
            Self::At(pointer) => pointer.sum(value)?,
            Self::Constant(number) => f64::from(*number),
        };
        (number.is_finite() && number >= 0.0).then_some(number)
    }

    pub(in crate::agent) fn value<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match self {
            Self::At(pointer) => pointer.first(value).filter(|value| !value.is_null()),
            Self::Constant(_) => None,
        }
    }

    /// The text there, or several, each on its own line.
    pub(in crate::agent) fn text(&self, value: &Value) -> Option<String> {
        let Self::At(pointer) = self else {
            return None;
        };
        let found = pointer.find(value);
        let texts: Vec<&str> = found.iter().filter_map(|value| value.as_str()).collect();
        let mut text = (!texts.is_empty()).then(|| texts.join("\n"))?;
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        Some(text)
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let source = match Value::deserialize(deserializer)? {
            Value::String(text) => {
                return Pointer::parse(&text)
                    .map(Self::At)
                    .map_err(de::Error::custom);
            }
            value => value.as_u64().and_then(|number| u32::try_from(number).ok()),
        };
        source.map(Self::Constant).ok_or_else(|| {
            de::Error::custom("expected a JSON pointer such as /usage/tokens, or a whole number")
        })
    }
}
