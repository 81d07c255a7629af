//! Numbers that look random and are the same for the same seed.

use crate::bead::BeadId;

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
