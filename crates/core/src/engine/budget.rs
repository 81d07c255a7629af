//! What was spent, what is set aside, and what is left (Z-13).
//!
//! Before an agent starts, what it may spend is set aside at every level; when it has ended, what it did spend takes the place of that.
//! So agents that run at the same time can never spend the same money.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::settings::{Cap, Caps};
use super::{EffectId, Task};

/// What agents took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Millionths of a US dollar, as far as they are known.
    pub micros: u64,
    /// Tokens of all kinds.
    pub tokens: u64,
    /// How often a model was asked.
    pub turns: u64,
    /// Milliseconds that agents ran.
    pub time_ms: u64,
    /// How many runs did not say what they cost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_unpriced: u32,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Spent {
    /// A run that did not say what it took.
    pub(super) const UNKNOWN: Self = Self {
        micros: 0,
        tokens: 0,
        turns: 0,
        time_ms: 0,
        n_unpriced: 1,
    };

    fn amounts(&self) -> [u64; 4] {
        [self.micros, self.tokens, self.turns, self.time_ms]
    }

    /// Adds what another run took.
    pub fn add(&mut self, other: &Self) {
        self.micros = self.micros.saturating_add(other.micros);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.turns = self.turns.saturating_add(other.turns);
        self.time_ms = self.time_ms.saturating_add(other.time_ms);
        self.n_unpriced += other.n_unpriced;
    }

    /// The larger of two countings of the same.
    fn or_more(&self, other: &Self) -> Self {
        Self {
            micros: self.micros.max(other.micros),
            tokens: self.tokens.max(other.tokens),
            turns: self.turns.max(other.turns),
            time_ms: self.time_ms.max(other.time_ms),
            n_unpriced: self.n_unpriced.max(other.n_unpriced),
        }
    }

    /// US dollars, for people.
    #[expect(
        clippy::cast_precision_loss,
        reason = "nobody spends so much that a cent gets lost"
    )]
    pub fn usd(&self) -> f64 {
        self.micros as f64 / 1e6
    }
}

/// What an agent may spend, or why it may not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Grant {
    /// This much.
    Given(Cap),
    /// What is left is set aside for others; some of it may come back.
    Wait,
    /// The bead or its team has used up what it may.
    BeadSpent(String),
    /// The run has used up what it may.
    RunSpent(String),
}

/// The levels that an agent's spending counts at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Run,
    Team(String),
    Bead(String),
}

impl Level {
    fn words(&self) -> String {
        match self {
            Self::Run => "the run".to_owned(),
            Self::Team(team) => format!("team {team}"),
            Self::Bead(bead) => format!("bead {bead}"),
        }
    }

    fn cap(&self, caps: &Caps) -> Cap {
        match self {
            Self::Run => caps.run,
            Self::Team(_) => caps.team,
            Self::Bead(_) => caps.bead,
        }
    }
}

fn levels(task: &Task) -> [Level; 3] {
    [
        Level::Bead(task.id.to_string()),
        Level::Team(task.team.clone()),
        Level::Run,
    ]
}

#[derive(Debug, Clone, Default)]
struct Account {
    spent: Spent,
    reserved: BTreeMap<EffectId, Cap>,
}

/// The books of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    accounts: BTreeMap<Level, Account>,
    total: Spent,
}

impl Ledger {
    /// What a bead has cost before this run counts for the bead. What this run knows to have been spent on it may never have been
    /// written, and counts as well.
    pub(super) fn opens(&mut self, task: &Task) {
        let [bead, ..] = levels(task);
        let account = self.accounts.entry(bead).or_default();
        account.spent = account.spent.or_more(&task.spent);
    }

    /// What an agent for this bead may spend.
    pub(super) fn grant(&self, task: &Task, caps: &Caps) -> Grant {
        let mut grant = caps.attempt;
        for level in levels(task) {
            let cap = level.cap(caps);
            let account = self.accounts.get(&level).cloned().unwrap_or_default();
            match account.left(&cap) {
                Left::Some(left) => grant = least(grant, left),
                Left::SetAside => return Grant::Wait,
                Left::Nothing(what) => {
                    let reason = format!("the {what} that {} may use are used up", level.words());
                    return match level {
                        Level::Bead(_) | Level::Team(_) => Grant::BeadSpent(reason),
                        Level::Run => Grant::RunSpent(reason),
                    };
                }
            }
        }
        Grant::Given(grant)
    }

    /// Sets aside what an agent may spend.
    pub(super) fn reserve(&mut self, effect: EffectId, task: &Task, grant: Cap) {
        for level in levels(task) {
            let account = self.accounts.entry(level).or_default();
            account.reserved.insert(effect, grant);
        }
    }

    /// Puts what an agent did spend in the place of what was set aside.
    pub(super) fn settle(&mut self, effect: EffectId, task: &Task, spent: &Spent) {
        for level in levels(task) {
            let account = self.accounts.entry(level).or_default();
            account.reserved.remove(&effect);
            account.spent.add(spent);
        }
        self.total.add(spent);
    }

    pub(super) fn of_bead(&self, task: &Task) -> Spent {
        let [bead, ..] = levels(task);
        self.accounts
            .get(&bead)
            .map_or(task.spent, |account| account.spent)
    }

    pub(super) fn total(&self) -> Spent {
        self.total
    }
}

enum Left {
    Some(Cap),
    SetAside,
    Nothing(&'static str),
}

/// What the amounts of a cap are called.
const UNITS: [&str; 4] = ["dollars", "tokens", "turns", "minutes"];

impl Account {
    fn left(&self, cap: &Cap) -> Left {
        let mut left = [None; 4];
        for (at, most) in cap.amounts().into_iter().enumerate() {
            let Some(most) = most else { continue };
            let spent = self.spent.amounts()[at];
            if spent >= most {
                return Left::Nothing(UNITS[at]);
            }
            // An agent without a cap may take all that is left.
            let aside: Option<u64> = self.reserved.values().map(|it| it.amounts()[at]).sum();
            match aside {
                Some(aside) if spent + aside < most => left[at] = Some(most - spent - aside),
                _ => return Left::SetAside,
            }
        }
        Left::Some(Cap::of(left))
    }
}

fn least(a: Cap, b: Cap) -> Cap {
    let (a, b) = (a.amounts(), b.amounts());
    Cap::of(std::array::from_fn(|at| match (a[at], b[at]) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }))
}
