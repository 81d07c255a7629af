//! Our own `bd` against the real one: how long a cold call takes with many beads, and how often the real one is started in a run.
//!
//! `cargo bench --bench bd -- 1000` measures with so many beads, 10,000 if no number is given. It needs `scripts/real-tools bd`. Filling
//! the database of the real `bd` takes longest by far, minutes for 10,000; it is kept under `target/tmp` and used again.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../common/figures.rs"]
mod figures;
mod world;

use std::process::ExitCode;
use std::time::Duration;

use crate::figures::{Verdicts, median, millis, timed};
use crate::world::{Run, Side, filled};

/// The part of the real `bd`'s time that a cold call of ours may take.
const MAX_RATIO: f64 = 0.1;

/// How often each call is measured, in turns.
const ROUNDS: usize = 5;

/// The beads of the plan whose run is counted.
const N_SPRINTS: usize = 20;

/// What is called, and whether there is a target: a list of everything is mostly printing.
const CALLS: [(&str, &[&str], bool); 3] = [
    ("ready", &["ready", "--json"], true),
    ("show", &["show", "tt-7", "--json"], true),
    ("ready, all", &["ready", "--json", "--limit=0"], false),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let n_beads = arguments.iter().find_map(|argument| argument.parse().ok());
    let n_beads: usize = n_beads.unwrap_or(10_000);
    println!("cold calls with {n_beads} beads, medians of {ROUNDS}\n");
    println!(
        "{:>12} {:>12} {:>12} {:>8}",
        "", "real bd, ms", "ours, ms", "times"
    );
    let (real, ours) = (filled(Side::Real, n_beads), filled(Side::Ours, n_beads));
    let mut verdicts = Verdicts::default();
    for (name, words, has_target) in CALLS {
        let mut times: [Vec<Duration>; 2] = Default::default();
        for _ in 0..ROUNDS {
            for (world, times) in [&real, &ours].into_iter().zip(&mut times) {
                times.push(timed(|| world.bd(words)).1);
            }
        }
        let [theirs, ours] = times.map(|mut times| millis(median(&mut times)));
        if has_target {
            verdicts.add(name, ours / theirs);
        }
        println!(
            "{name:>12} {theirs:>12.1} {ours:>12.1} {:>8.1}",
            theirs / ours
        );
    }
    let is_met = verdicts.report(MAX_RATIO);
    count_calls();
    if is_met || !arguments.iter().any(|argument| argument == "--check") {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// How often the real `bd` is started by a run.
fn count_calls() {
    let run = Run::of(N_SPRINTS);
    let (n_calls, time) = run.count();
    #[expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]
    let per_bead = n_calls.len() as f64 / N_SPRINTS as f64;
    println!(
        "a run of {N_SPRINTS} beads, one developer and one judge each: bd was started {} times in {:.0} s, {per_bead:.1} times for each bead",
        n_calls.len(),
        time.as_secs_f64()
    );
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for call in &n_calls {
        match kinds.iter_mut().find(|(kind, _)| kind == call) {
            Some((_, count)) => *count += 1,
            None => kinds.push((call, 1)),
        }
    }
    for (kind, count) in kinds {
        println!("{count:>8} {kind}");
    }
}
