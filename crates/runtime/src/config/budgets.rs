//! What may be spent (Z-13, Z-22).

use std::time::Duration;

use beads_ralph_core::agent::Budget;
use serde::Deserialize;

/// What may be spent, at each level. There are caps unless somebody takes them away with `null`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budgets {
    pub attempt: Allowance,
    pub bead: Allowance,
    pub team: Allowance,
    pub run: Allowance,
}

/// What may be spent at one level; what is absent is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Allowance {
    pub usd: Option<f64>,
    pub tokens: Option<u64>,
    pub turns: Option<u64>,
    pub minutes: Option<u64>,
}

impl Allowance {
    pub fn budget(&self) -> Budget {
        Budget {
            usd: self.usd,
            tokens: self.tokens,
            turns: self.turns,
        }
    }

    pub fn time(&self) -> Option<Duration> {
        self.minutes.map(Duration::from_mins)
    }
}

impl Default for Budgets {
    /// Enough for a large sprint with a strong model, and an end to what runs away.
    fn default() -> Self {
        let usd = |usd: f64| Allowance {
            usd: Some(usd),
            ..Allowance::default()
        };
        Self {
            attempt: Allowance {
                turns: Some(250),
                ..usd(10.0)
            },
            bead: usd(30.0),
            team: Allowance::default(),
            run: usd(200.0),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BudgetsKey {
    attempt: AllowanceKey,
    bead: AllowanceKey,
    team: AllowanceKey,
    run: AllowanceKey,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AllowanceKey {
    #[serde(deserialize_with = "said")]
    usd: Said<f64>,
    #[serde(deserialize_with = "said")]
    tokens: Said<u64>,
    #[serde(deserialize_with = "said")]
    turns: Said<u64>,
    #[serde(deserialize_with = "said")]
    minutes: Said<u64>,
}

/// A limit as configured: absent, a value, or explicitly none.
type Said<T> = Option<Option<T>>;

fn said<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Said<T>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl BudgetsKey {
    pub(super) fn over_defaults(self) -> Result<Budgets, String> {
        let default = Budgets::default();
        Ok(Budgets {
            attempt: self.attempt.over("attempt", default.attempt)?,
            bead: self.bead.over("bead", default.bead)?,
            team: self.team.over("team", default.team)?,
            run: self.run.over("run", default.run)?,
        })
    }
}

impl AllowanceKey {
    fn over(self, level: &str, default: Allowance) -> Result<Allowance, String> {
        let allowance = Allowance {
            usd: self.usd.unwrap_or(default.usd),
            tokens: self.tokens.unwrap_or(default.tokens),
            turns: self.turns.unwrap_or(default.turns),
            minutes: self.minutes.unwrap_or(default.minutes),
        };
        let counts = [
            ("tokens", allowance.tokens),
            ("turns", allowance.turns),
            ("minutes", allowance.minutes),
        ];
        let zero = counts.iter().find(|(_, count)| *count == Some(0));
        let zero = zero.map(|(name, _)| *name);
        let is_odd = (allowance.usd).is_some_and(|usd| !usd.is_finite() || usd <= 0.0);
        match is_odd.then_some("usd").or(zero) {
            None => Ok(allowance),
            Some(name) => Err(format!(
                "`budgets.{level}.{name}` must be greater than 0; for no limit, write null"
            )),
        }
    }
}
