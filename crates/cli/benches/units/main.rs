//! What it costs to run a program as a unit, against starting it bare and waiting for it.
//!
//! `cargo bench` prints the figures, `cargo bench -- --check` also fails when a target is missed; what they mean
//! is in `docs/benchmarks.md`. Both sides take turns, so that a machine that slows down for a while slows both, and medians are
//! compared.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod capture;
#[path = "../common/figures.rs"]
mod figures;
mod processes;

use std::process::ExitCode;

use crate::figures::{Verdicts, median, millis, timed};

/// How much longer than a bare start a unit may take.
const MAX_RATIO: f64 = 1.5;

/// How much is run.
struct Sizes {
    /// How many units are under way at once.
    at_once: &'static [usize],
    /// How often the sides take turns.
    n_rounds: usize,
    /// How many times each of those that are under way at once runs, in a round.
    n_runs: usize,
    /// How much a program writes, in MiB.
    n_mebibytes: usize,
}

impl Sizes {
    const FULL: Self = Self {
        at_once: &[1, 10, 100],
        n_rounds: 11,
        n_runs: 5,
        n_mebibytes: 512,
    };

    /// Enough to see that everything runs; figures of an unoptimised build would mislead.
    const SMALL: Self = Self {
        at_once: &[1, 4],
        n_rounds: 1,
        n_runs: 4,
        n_mebibytes: 1,
    };
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, n_loops] = arguments.as_slice()
        && first == processes::BURN
    {
        return processes::burn(n_loops);
    }
    let has = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    let sizes = if has("--bench") {
        Sizes::FULL
    } else {
        Sizes::SMALL
    };
    let mut verdicts = Verdicts::default();
    processes::measure(&sizes, &mut verdicts);
    capture::measure(&sizes);
    if !verdicts.report(MAX_RATIO) && has("--check") {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
