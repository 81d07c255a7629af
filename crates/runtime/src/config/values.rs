//! Values of the configuration that carry their own rules: what is wrong is said where it stands (L-1).

use std::fmt;

use beads_ralph_core::text::excerpt;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

/// A whole number of at least `MIN`, if there is one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count<const MIN: u32>(pub(super) Option<u32>);

impl<const MIN: u32> Count<MIN> {
    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0.or(other.0))
    }
}

impl<'de, const MIN: u32> Deserialize<'de> for Count<MIN> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeNumber::<MIN>)
    }
}

struct WholeNumber<const MIN: u32>;

impl<const MIN: u32> Visitor<'_> for WholeNumber<MIN> {
    type Value = Count<MIN>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {MIN} to {}", u32::MAX)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        let count = u32::try_from(number).ok().filter(|count| *count >= MIN);
        let max = u32::MAX;
        let refused = || {
            E::custom(format!(
                "{number} will not do; it must be a whole number from {MIN} to {max}"
            ))
        };
        count.map(|count| Count(Some(count))).ok_or_else(refused)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Count(None))
    }
}

/// A text with something in it, if there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text(pub(super) Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        if text.as_deref().is_some_and(|text| text.trim().is_empty()) {
            return Err(de::Error::custom(
                "it is empty; leave the key out for its default",
            ));
        }
        Ok(Self(text))
    }
}

/// The name of a branch, if there is one. The source branch is the user's own, so what git takes is taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Branch(pub(super) Option<String>);

impl<'de> Deserialize<'de> for Branch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        if let Some(name) = name.as_deref().filter(|name| !is_branch(name)) {
            let name = excerpt(name);
            return Err(de::Error::custom(format!(
                "'{name}' is no name of a branch"
            )));
        }
        Ok(Self(name))
    }
}

/// What `git check-ref-format --branch` takes.
fn is_branch(name: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c);
    let is_part = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && !part.to_ascii_lowercase().ends_with(".lock")
    };
    name != "@"
        && name != "HEAD"
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains(is_odd)
        && !name.contains("..")
        && !name.contains("@{")
        && name.split('/').all(is_part)
}

/// How waits grow from one try to the next (contracts §7.7).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backoff {
    /// Each wait is twice as long as the one before.
    #[default]
    Exponential,
    /// Each wait is longer than the one before by as much as the first.
    Linear,
    /// All waits are as long as the first.
    Constant,
}
