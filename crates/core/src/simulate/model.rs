//! The numbers in the place of the world: how long things take, how often they go wrong, what they cost.

use std::collections::BTreeMap;

use super::random::Random;

/// How a number is spread.
#[derive(Debug, Clone, PartialEq)]
pub enum Spread {
    /// It is always the same.
    Fixed(u64),
    /// Everything between two numbers is as likely.
    Uniform {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// Half of it lies below the median, and a few are much larger, as with most work.
    LogNormal {
        /// The median.
        median: u64,
        /// How wide it is: about two thirds lie between the median divided and multiplied by `e` to this power.
        width: f64,
    },
    /// One of those that were seen.
    Seen(Vec<u64>),
}

/// The widest that a log-normal spread may be; beyond it numbers are no times any more.
pub(super) const MAX_WIDTH: f64 = 5.0;

impl Spread {
    /// Draws a number.
    pub fn draw(&self, random: &mut Random) -> u64 {
        match self {
            Self::Fixed(number) => *number,
            Self::Uniform { least, most } => {
                let width = most.saturating_sub(*least).saturating_add(1);
                least.saturating_add(random.below(width))
            }
            Self::LogNormal { median, width } => {
                let factor = (width.clamp(0.0, MAX_WIDTH) * random.normal()).exp();
                scaled(*median, factor)
            }
            Self::Seen(numbers) => random.pick(numbers).copied().unwrap_or(0),
        }
    }

    /// What lies in the middle.
    pub fn middle(&self) -> u64 {
        match self {
            Self::Fixed(number) | Self::LogNormal { median: number, .. } => *number,
            Self::Uniform { least, most } => least.midpoint(*most),
            Self::Seen(numbers) => {
                let mut numbers = numbers.clone();
                numbers.sort_unstable();
                numbers.get(numbers.len() / 2).copied().unwrap_or(0)
            }
        }
    }
}

/// A number times a factor.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the numbers are milliseconds and millionths of a dollar, and the cast saturates"
)]
pub(super) fn scaled(number: u64, factor: f64) -> u64 {
    (number as f64 * factor.max(0.0)).round() as u64
}

/// How one agent's runs are.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentModel {
    /// How long a run takes, in milliseconds.
    pub time_ms: Spread,
    /// What a run costs, in millionths of a US dollar.
    pub cost_micros: Spread,
}

/// How often things go wrong, as probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// That a dev agent's run fails.
    pub developer_fails: f64,
    /// That an attempt is judged bad, by a QA agent or a check.
    pub attempt_fails: f64,
    /// That QA says that no further attempt makes sense.
    pub stops: f64,
    /// That an agent's run meets the limit of its account.
    pub limits: f64,
    /// That branches do not fit together.
    pub conflicts: f64,
}

/// The world as numbers. Times are in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// A dev agent's run, where nothing is known of the agent. A bead with an estimate takes that long in the middle.
    pub developer: AgentModel,
    /// A QA agent's run, where nothing is known of the agent.
    pub judge: AgentModel,
    /// What is known of single agents: dev and QA, by the account that they use.
    pub developers: BTreeMap<String, AgentModel>,
    /// The same for QA agents.
    pub judges: BTreeMap<String, AgentModel>,
    /// The checks of a bead.
    pub checks_ms: Spread,
    /// Everything else that is done for a bead: git, the store, pull requests.
    pub step_ms: Spread,
    /// How long an account stays at its limit.
    pub limit_ms: Spread,
    /// How often things go wrong.
    pub rates: Rates,
}

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;

impl Default for Model {
    /// Guesses, for who has no history yet.
    fn default() -> Self {
        let agent = |minutes, cents: u64| AgentModel {
            time_ms: Spread::LogNormal {
                median: minutes * MINUTE,
                width: 0.5,
            },
            cost_micros: Spread::LogNormal {
                median: cents * 10_000,
                width: 0.5,
            },
        };
        Self {
            developer: agent(12, 80),
            judge: agent(4, 20),
            developers: BTreeMap::new(),
            judges: BTreeMap::new(),
            checks_ms: Spread::LogNormal {
                median: MINUTE,
                width: 0.5,
            },
            step_ms: Spread::Fixed(2 * SECOND),
            limit_ms: Spread::Uniform {
                least: 10 * MINUTE,
                most: 180 * MINUTE,
            },
            rates: Rates {
                developer_fails: 0.03,
                attempt_fails: 0.2,
                stops: 0.0,
                limits: 0.0,
                conflicts: 0.05,
            },
        }
    }
}

impl Model {
    pub(super) fn developer(&self, account: &str) -> &AgentModel {
        self.developers.get(account).unwrap_or(&self.developer)
    }

    pub(super) fn judge(&self, account: &str) -> &AgentModel {
        self.judges.get(account).unwrap_or(&self.judge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_where_their_spread_says() {
        let mut random = Random::new(3);
        let uniform = Spread::Uniform { least: 5, most: 9 };
        let seen = Spread::Seen(vec![2, 3]);
        for _ in 0..200 {
            assert_eq!(Spread::Fixed(4).draw(&mut random), 4);
            assert!((5..=9).contains(&uniform.draw(&mut random)));
            assert!([2, 3].contains(&seen.draw(&mut random)));
        }
        let mut drawn: Vec<u64> = (0..1001)
            .map(|_| {
                Spread::LogNormal {
                    median: 1000,
                    width: 0.5,
                }
                .draw(&mut random)
            })
            .collect();
        drawn.sort_unstable();
        assert!((900..1100).contains(&drawn[500]), "{}", drawn[500]);
        assert!(drawn[990] > 2000, "{}", drawn[990]);
    }

    #[test]
    fn extremes_do_not_overflow() {
        let mut random = Random::new(3);
        let all = Spread::Uniform {
            least: 0,
            most: u64::MAX,
        };
        all.draw(&mut random);
        let wide = Spread::LogNormal {
            median: u64::MAX,
            width: f64::INFINITY,
        };
        wide.draw(&mut random);
        assert_eq!(Spread::Seen(Vec::new()).draw(&mut random), 0);
        assert_eq!(Spread::Seen(vec![9, 1, 5]).middle(), 5);
    }
}
