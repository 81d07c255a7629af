//! What the benchmarks of this program share: the clock, medians, and the verdict on ratios that have a target.

use std::time::{Duration, Instant};

/// The ratios that have a target.
#[derive(Debug, Default)]
pub(crate) struct Verdicts(Vec<(String, f64)>);

impl Verdicts {
    pub(crate) fn add(&mut self, what: impl Into<String>, ratio: f64) {
        self.0.push((what.into(), ratio));
    }

    /// Prints them; whether all are met.
    pub(crate) fn report(&self, max_ratio: f64) -> bool {
        println!("\ntargets: at most {max_ratio} times the other side\n");
        for (what, ratio) in &self.0 {
            let verdict = if *ratio <= max_ratio { "met" } else { "MISSED" };
            println!("{what:>60} {ratio:>6.2}  {verdict}");
        }
        self.0.iter().all(|(_, ratio)| *ratio <= max_ratio)
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed())
}

pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}
