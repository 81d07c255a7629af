//! Time along a line.

use std::time::Duration;

use jiff::Timestamp;

/// The steps of ticks, in seconds.
const STEPS: [u64; 14] = [
    1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14_400, 28_800, 86_400, 604_800,
];

/// The most ticks of a line.
const MAX_TICKS: u64 = 10;

/// From moments to places on a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    began: Timestamp,
    milliseconds: i128,
    width: i128,
}

impl Scale {
    pub(super) fn new(began: Timestamp, last: Timestamp, width: u32) -> Self {
        let length = last.duration_since(began).as_millis().max(1);
        Self {
            began,
            milliseconds: length,
            width: width.into(),
        }
    }

    /// Where a moment is, in tenths of a unit, so that short runs are not all at one place.
    pub(super) fn tenths(&self, at: Timestamp) -> i128 {
        let since = at.duration_since(self.began).as_millis();
        (since * self.width * 10 / self.milliseconds).clamp(0, self.width * 10)
    }

    /// Where the line ends.
    pub(super) fn end(&self) -> i128 {
        self.width * 10
    }

    /// Where ticks are, with the time since the beginning.
    pub(super) fn ticks(&self) -> Vec<(i128, Duration)> {
        let seconds = u64::try_from(self.milliseconds / 1000).unwrap_or(u64::MAX);
        let fits = |step: &&u64| seconds / **step <= MAX_TICKS;
        let step = STEPS.iter().find(fits).copied();
        let step = step.unwrap_or_else(|| (seconds / MAX_TICKS).max(1));
        let moments = (0..=seconds / step).map(|n| Duration::from_secs(n * step));
        moments
            .map(|since| {
                let since_ms = i128::try_from(since.as_millis()).unwrap_or(i128::MAX);
                (since_ms * self.width * 10 / self.milliseconds, since)
            })
            .collect()
    }
}

/// Tenths of a unit, as SVG has them.
pub(super) fn units(tenths: i128) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn a_line_has_few_ticks_whatever_it_covers() {
        let began = Timestamp::UNIX_EPOCH;
        for seconds in [0, 1, 59, 3600, 100_000, 40_000_000] {
            let scale = Scale::new(began, began + SignedDuration::from_secs(seconds), 1000);
            let n = scale.ticks().len();
            assert!((1..=12).contains(&n), "{n} ticks for {seconds} s");
            assert_eq!(scale.tenths(began), 0);
        }
        let scale = Scale::new(began, began + SignedDuration::from_secs(100), 1000);
        assert_eq!(scale.tenths(began + SignedDuration::from_secs(50)), 5000);
        assert_eq!(scale.tenths(began + SignedDuration::from_secs(500)), 10_000);
        assert_eq!(units(5005), "500.5");
    }
}
