//! What a run would be like: the engine itself under a virtual clock, with a model in the place of the world.
//!
//! For every effect a duration and an answer are drawn, or taken from the journal of a run that was. Draws belong to a bead, an
//! attempt and a kind of action, never to the order in which things happen, so that two orders of the same work meet the same luck.
//! Nothing here says what a real run will do: a model is as good as its numbers.

mod answer;
mod learn;
mod model;
mod play;
mod recorded;
mod round;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::bead::BeadId;
use crate::engine::{Order, Settings, Task};

pub use learn::Lessons;
pub use model::{AgentModel, Random, Rates, Spread, WorldModel};
pub use play::{Ending, Play, Source};
pub use recorded::{Key, Recorded};
pub use round::{Link, Round, launches};

/// Many rounds of the same work with different luck.
#[derive(Debug)]
pub struct Study<'a> {
    /// How the run decides.
    pub settings: Settings,
    /// The beads at its beginning.
    pub tasks: Vec<Task>,
    /// The world as numbers.
    pub model: &'a WorldModel,
    /// A run whose durations and answers are used where it has them.
    pub recorded: Option<&'a Recorded>,
    /// What draws are made from.
    pub seed: u64,
    /// How many rounds.
    pub n_rounds: u32,
    /// When each begins.
    pub began: Timestamp,
}

/// What the rounds have in common.
#[derive(Debug, Clone)]
pub struct StudyResult {
    /// With the order that runs have.
    pub figures: StudyFigures,
    /// With the same luck and beads begun in the order in which they became ready.
    pub first_in_first_out: StudyFigures,
    /// The longest chain of the round in the middle.
    pub critical_path: Vec<Link>,
    /// In what part of the rounds a bead was on the longest chain; the most frequent first.
    pub criticality: Vec<(BeadId, f64)>,
}

/// Numbers over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyFigures {
    /// How the rounds ended.
    pub endings: BTreeMap<&'static str, u32>,
    /// How long the run takes.
    pub makespan_ms: Percentiles,
    /// How long its longest chain takes: no number of workers makes it shorter.
    pub critical_ms: Percentiles,
    /// What part of the workers' time is used, from 0 to 1.
    pub utilisation: Percentiles,
    /// What it costs in US dollars.
    pub cost_usd: Percentiles,
    /// How many attempts there are.
    pub attempts: Percentiles,
    /// How many beads are closed.
    pub closed: Percentiles,
}

/// The middle, and what nine of ten and ninety-nine of a hundred rounds do not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    /// Half of the rounds are at or below it.
    pub p50: f64,
    /// Nine of ten.
    pub p90: f64,
    /// Ninety-nine of a hundred.
    pub p99: f64,
}

impl Percentiles {
    /// The percentiles of numbers, by the nearest rank; zeros when there are none.
    pub fn of(mut numbers: Vec<f64>) -> Self {
        numbers.sort_by(f64::total_cmp);
        let at = |hundredths: usize| {
            let rank = (numbers.len() * hundredths).div_ceil(100).max(1);
            numbers.get(rank - 1).copied().unwrap_or(0.0)
        };
        Self {
            p50: at(50),
            p90: at(90),
            p99: at(99),
        }
    }
}

impl Study<'_> {
    /// Plays all rounds, in both orders.
    pub fn run(&self) -> StudyResult {
        let rounds = self.rounds(self.settings.order);
        let first_in_first_out = StudyFigures::of(&self.rounds(Order::FirstInFirstOut));
        let mut in_order: Vec<&Round> = rounds.iter().collect();
        in_order.sort_by_key(|round| round.makespan_ms());
        let middle = in_order.get(in_order.len().saturating_sub(1) / 2);
        StudyResult {
            figures: StudyFigures::of(&rounds),
            first_in_first_out,
            critical_path: middle.map(|round| round.links.clone()).unwrap_or_default(),
            criticality: criticality(&rounds),
        }
    }

    fn rounds(&self, order: Order) -> Vec<Round> {
        (0..self.n_rounds)
            .map(|n| {
                let mut round = self.round(order, n);
                // Nobody reads the journals of all rounds, and they are most of what a round takes.
                round.entries = Vec::new();
                round
            })
            .collect()
    }

    /// Plays one round.
    pub fn round(&self, order: Order, n: u32) -> Round {
        // The seed of a round does not depend on how many rounds there are.
        let seed = Random::new(self.seed.wrapping_add(u64::from(n) << 32)).draw();
        let play = Play {
            settings: Settings {
                seed,
                order,
                ..self.settings.clone()
            },
            tasks: self.tasks.clone(),
            model: self.model,
            source: self.recorded.map_or(Source::Drawn, Source::WhatIf),
            seed,
            began: self.began,
        };
        play.run()
    }
}

fn criticality(rounds: &[Round]) -> Vec<(BeadId, f64)> {
    let mut counts: BTreeMap<&BeadId, u32> = BTreeMap::new();
    for link in rounds.iter().flat_map(|round| &round.links) {
        *counts.entry(&link.bead).or_default() += 1;
    }
    let n_rounds = f64::from(u32::try_from(rounds.len()).unwrap_or(u32::MAX).max(1));
    let mut shares: Vec<(BeadId, f64)> = counts
        .into_iter()
        .map(|(bead, n)| (bead.clone(), f64::from(n) / n_rounds))
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    shares
}

impl StudyFigures {
    #[expect(
        clippy::cast_precision_loss,
        reason = "the numbers are for people and far from the bounds"
    )]
    fn of(rounds: &[Round]) -> Self {
        let over = |of: &dyn Fn(&Round) -> f64| Percentiles::of(rounds.iter().map(of).collect());
        let mut endings = BTreeMap::new();
        for round in rounds {
            *endings.entry(ending_word(&round.ending)).or_default() += 1;
        }
        Self {
            endings,
            makespan_ms: over(&|round| round.makespan_ms() as f64),
            critical_ms: over(&|round| round.critical_ms() as f64),
            utilisation: over(&Round::utilisation),
            cost_usd: over(&|round| round.spent.usd()),
            attempts: over(&|round| round.n_attempts as f64),
            closed: over(&|round| round.n_closed as f64),
        }
    }
}

fn ending_word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Run(outcome) => outcome.as_str(),
        Ending::Stuck => "stuck",
        Ending::TooLong => "too_long",
    }
}

#[cfg(test)]
mod tests;
