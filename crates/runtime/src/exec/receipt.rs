//! What agents took, and what they may take.

use beads_ralph_core::agent::{Budget, CostSource, Outcome, Tokens};
use beads_ralph_core::dod::DodBead;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the agents of a bead took so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Receipt {
    pub agent_calls: u32,
    /// How many turns they took, as far as they say.
    pub turns: u64,
    pub tokens: Tokens,
    /// How much money, as far as it is known.
    pub usd: f64,
    /// How many calls did not say what they cost.
    pub calls_of_unknown_cost: u32,
}

impl Receipt {
    /// What earlier runs took, as a bead notes it: a budget is one for all runs together.
    pub fn noted(bead: &DodBead) -> Self {
        let noted = bead.meta("receipt").cloned();
        noted
            .and_then(|noted| serde_json::from_value(noted).ok())
            .unwrap_or_default()
    }

    pub fn add(&mut self, outcome: &Outcome) {
        self.agent_calls += 1;
        self.turns = self.turns.saturating_add(outcome.turns.unwrap_or(0));
        self.tokens.add(&outcome.tokens);
        match (outcome.cost.source, outcome.cost.usd) {
            (CostSource::Reported | CostSource::Computed, Some(usd)) => self.usd += usd,
            _ => self.calls_of_unknown_cost += 1,
        }
    }

    /// As it goes into a bead; nothing when no agent was called.
    pub fn to_value(&self) -> Option<Value> {
        (self.agent_calls > 0).then(|| json!(self))
    }
}

/// Why no further agent may be called within a budget, if so.
pub(super) fn exceeded(budget: &Budget, receipt: &Receipt) -> Option<String> {
    let tokens = receipt.tokens.total();
    let usd = budget.usd.filter(|usd| receipt.usd >= *usd);
    let usd = usd.map(|usd| format!("${:.2} of ${usd:.2}", receipt.usd));
    let of = |spent: u64, most: Option<u64>, what: &str| {
        let most = most.filter(|most| spent >= *most)?;
        Some(format!("{spent} of {most} {what}"))
    };
    let spent = usd
        .or_else(|| of(tokens, budget.tokens, "tokens"))
        .or_else(|| of(receipt.turns, budget.turns, "turns"))?;
    Some(format!(
        "Budget exceeded: {spent} (budgets.bead in beads-ralph.yaml)"
    ))
}
