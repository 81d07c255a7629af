//! The numbers in the place of the world: how long things take, how often they go wrong, what they cost; and how they are drawn.

use std::collections::BTreeMap;

use crate::bead::BeadId;

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
pub struct WorldModel {
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

impl Default for WorldModel {
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

impl WorldModel {
    pub(super) fn developer(&self, account: &str) -> &AgentModel {
        self.developers.get(account).unwrap_or(&self.developer)
    }

    pub(super) fn judge(&self, account: &str) -> &AgentModel {
        self.judges.get(account).unwrap_or(&self.judge)
    }
}

/// A small generator: `SplitMix64`. Good enough to draw from, and no secret is ever made of it.
#[derive(Debug, Clone)]
pub struct Random(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    /// A generator.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The generator that belongs to something about a bead.
    pub fn keyed(seed: u64, bead: &BeadId, purpose: &str, numbers: &[u64]) -> Self {
        // FNV-1a spreads the key, and the mixing after it spreads the hash.
        let mut hash = 0xcbf2_9ce4_8422_2325 ^ mixed(seed.wrapping_add(STEP));
        let mut take = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        bead.as_str().bytes().for_each(&mut take);
        take(0);
        purpose.bytes().for_each(&mut take);
        for number in numbers {
            number.to_le_bytes().into_iter().for_each(&mut take);
        }
        Self(mixed(hash))
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A number below another one, or 0 where there is none.
    pub fn below(&mut self, n: u64) -> u64 {
        self.draw() % n.max(1)
    }

    /// A number from 0 to below 1.
    #[expect(
        clippy::cast_precision_loss,
        reason = "53 bits are what such a number holds"
    )]
    pub fn unit(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether something that happens with this probability happens.
    pub fn is_hit(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of several, if there are any.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let n = u64::try_from(items.len()).unwrap_or(u64::MAX);
        let at = usize::try_from(self.below(n)).unwrap_or(0);
        items.get(at)
    }

    /// A number from the normal distribution with mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
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

#[cfg(test)]
mod random_tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        // The first numbers of SplitMix64 for the seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.draw(), 6_457_827_717_110_365_317);
        assert_eq!(random.draw(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn x_3_a_draw_belongs_to_its_key() {
        let bead = |id: &str| BeadId::parse(id).unwrap();
        let of = |seed, id: &str, purpose, numbers: &[u64]| {
            Random::keyed(seed, &bead(id), purpose, numbers).draw()
        };
        let first = of(1, "bd-1-1", "develop", &[1, 0]);
        assert_eq!(first, of(1, "bd-1-1", "develop", &[1, 0]));
        let others = [
            of(2, "bd-1-1", "develop", &[1, 0]),
            of(1, "bd-1-2", "develop", &[1, 0]),
            of(1, "bd-1-1", "judge", &[1, 0]),
            of(1, "bd-1-1", "develop", &[2, 0]),
        ];
        assert!(!others.contains(&first));
    }

    #[test]
    fn draws_are_spread_evenly() {
        let mut random = Random::new(7);
        let n_below_half = (0..10_000).filter(|_| random.is_hit(0.5)).count();
        assert!((4_800..5_200).contains(&n_below_half), "{n_below_half}");
        let mean = (0..10_000).map(|_| random.normal()).sum::<f64>() / 10_000.0;
        assert!(mean.abs() < 0.05, "{mean}");
        assert_eq!(random.below(0), 0);
        assert_eq!(random.pick::<u8>(&[]), None);
    }
}
