//! The tokens of a run and what they cost, as the agent says or as somebody configured it (Z-13).

use serde::{Deserialize, Serialize};

use crate::bead::Model;

/// Tokens by kind. The kinds do not overlap, but for `reasoning`, which is a part of `output`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    /// Read anew.
    pub input: u64,
    /// Written, reasoning included.
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Read and put into a cache.
    pub cache_write: u64,
    /// Written while thinking.
    pub reasoning: u64,
}

impl Tokens {
    /// All of them.
    pub fn total(&self) -> u64 {
        [self.input, self.output, self.cache_read, self.cache_write]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Adds another count.
    pub fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }

    /// What came after an earlier count.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            input: self.input.saturating_sub(before.input),
            output: self.output.saturating_sub(before.output),
            cache_read: self.cache_read.saturating_sub(before.cache_read),
            cache_write: self.cache_write.saturating_sub(before.cache_write),
            reasoning: self.reasoning.saturating_sub(before.reasoning),
        }
    }
}

/// What a run cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// In US dollars.
    pub usd: Option<f64>,
    /// How that is known.
    pub source: CostSource,
}

/// How a cost is known (Z-13).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// The agent said so.
    Reported,
    /// From the tokens and the configured price.
    Computed,
    /// It is not known.
    #[default]
    Unknown,
}

/// US dollars for a million tokens of each kind. What is read from a cache, or put into one, costs as much as other
/// input unless its own price is given.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// What is read.
    pub input: f64,
    /// What is written.
    pub output: f64,
    /// What is read from a cache.
    pub cache_read: Option<f64>,
    /// What is read and put into a cache.
    pub cache_write: Option<f64>,
}

impl Price {
    /// What these tokens cost, in US dollars.
    pub fn of(&self, tokens: &Tokens) -> f64 {
        let cost = |n: u64, price: f64| as_f64(n) * price / 1e6;
        cost(tokens.input, self.input)
            + cost(tokens.output, self.output)
            + cost(tokens.cache_read, self.cache_read.unwrap_or(self.input))
            + cost(tokens.cache_write, self.cache_write.unwrap_or(self.input))
    }

    /// Whether this can be a price.
    pub(super) fn is_sound(&self) -> bool {
        [
            Some(self.input),
            Some(self.output),
            self.cache_read,
            self.cache_write,
        ]
        .into_iter()
        .flatten()
        .all(|price| price.is_finite() && price >= 0.0)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "nobody counts more tokens than a double can"
)]
fn as_f64(n: u64) -> f64 {
    n as f64
}

/// The prices of an agent: one for all of its models, or one for each tier.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PriceTable {
    /// The price of tiers that have none.
    pub default: Option<Price>,
    /// The fast tier's.
    pub haiku: Option<Price>,
    /// The middle tier's.
    pub sonnet: Option<Price>,
    /// The strongest tier's.
    pub opus: Option<Price>,
}

impl PriceTable {
    /// The price of a tier.
    pub fn of(&self, tier: Option<Model>) -> Option<Price> {
        let own = match tier {
            Some(Model::Haiku) => self.haiku,
            Some(Model::Sonnet) => self.sonnet,
            Some(Model::Opus) => self.opus,
            None => None,
        };
        own.or(self.default)
    }

    /// The first entry that cannot be a price.
    pub(super) fn unsound(&self) -> Option<&'static str> {
        let entries = [
            ("default", self.default),
            ("haiku", self.haiku),
            ("opus", self.opus),
            ("sonnet", self.sonnet),
        ];
        let is_unsound = |price: Option<Price>| price.is_some_and(|price| !price.is_sound());
        let mut entries = entries.into_iter().filter(|(_, price)| is_unsound(*price));
        entries.next().map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_13_tokens_times_price() {
        let price = Price {
            input: 2.0,
            output: 10.0,
            cache_read: Some(0.2),
            cache_write: None,
        };
        let tokens = Tokens {
            input: 1_000_000,
            output: 100_000,
            cache_read: 500_000,
            cache_write: 500_000,
            reasoning: 90_000,
        };
        assert!((price.of(&tokens) - 4.1).abs() < 1e-9);
    }

    #[test]
    fn z_13_a_tier_may_have_its_own_price() {
        let one = |input| Price {
            input,
            output: 1.0,
            cache_read: None,
            cache_write: None,
        };
        let table = PriceTable {
            default: Some(one(1.0)),
            opus: Some(one(9.0)),
            ..PriceTable::default()
        };
        assert_eq!(table.of(Some(Model::Opus)), Some(one(9.0)));
        assert_eq!(table.of(Some(Model::Haiku)), Some(one(1.0)));
        assert_eq!(table.of(None), Some(one(1.0)));
        assert_eq!(PriceTable::default().of(None), None);
        let table = PriceTable {
            sonnet: Some(one(f64::NAN)),
            ..table
        };
        assert_eq!(table.unsound(), Some("sonnet"));
    }
}
