//! How the time of reading commands grows with the store: cold processes on 1,000, 10,000 and 100,000 beads.
//!
//! `cargo bench --bench growth` prints the figures, `-- --check` also fails when a target is missed; what they mean is in
//! `docs/benchmarks.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod beads;
mod commands;
#[path = "../common/figures.rs"]
#[expect(dead_code, reason = "the targets are not all ratios here")]
mod figures;
mod processes;

use std::process::ExitCode;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::commands::{COMMANDS, Growth, MEMORY};
use crate::figures::{median, millis};
use crate::processes::{TICK, cpu_time, peak_memory, run};

/// How much longer what does not grow may take on the largest store than on the smallest.
const MAX_GROWTH: f64 = 1.5;

/// The most memory that a stream may take on the largest store, by that on the smallest.
const MAX_MEMORY: f64 = 1.5;

/// How many milliseconds `stats` may take on the largest store.
const MAX_STATS: f64 = 60.0;

/// How much is measured.
struct Sizes {
    beads: [usize; 3],
    n_runs: usize,
    n_long_runs: usize,
}

const FULL: Sizes = Sizes {
    beads: [1_000, 10_000, 100_000],
    n_runs: 21,
    n_long_runs: 3,
};

const SMALL: Sizes = Sizes {
    beads: [20, 50, 100],
    n_runs: 1,
    n_long_runs: 1,
};

fn main() -> ExitCode {
    let has = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    // Cargo passes `--bench` when it benches; figures of an unoptimised build would mislead.
    let sizes = if has("--bench") { FULL } else { SMALL };
    let directory = tempfile::tempdir().expect("there is room for temporary files");
    let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).expect("a plain path");
    let stores = sizes.beads.map(|n| beads::store(&root, n));
    let are_flat = growth(&stores, &sizes);
    let is_bounded = memory(&stores, &sizes);
    if (are_flat && is_bounded) || !has("--check") {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Times of every command on every store; whether the targets are met.
fn growth(stores: &[Utf8PathBuf; 3], sizes: &Sizes) -> bool {
    println!(
        "cold processes, milliseconds (medians), and milliseconds of processor time (means)\n"
    );
    let [small, middle, large] = sizes.beads;
    println!(
        "{:<42} {small:>8} {middle:>8} {large:>8} {:>7} {:>9} {:>9} {:>7}",
        "", "growth", "cpu first", "cpu last", "growth"
    );
    let mut are_met = true;
    for (command, growth) in COMMANDS {
        let n_runs = match growth {
            Growth::None | Growth::Stats => sizes.n_runs,
            Growth::Linear => sizes.n_long_runs,
        };
        let (times, cpu) = measured(stores, command, n_runs);
        let ratio = |of: &[Duration; 3]| {
            of[2].as_secs_f64() / of[0].as_secs_f64().max(TICK.as_secs_f64() / 10.0)
        };
        let [first, second, last] = times.map(millis);
        let verdict = match growth {
            Growth::None if ratio(&times) <= MAX_GROWTH => "met".to_owned(),
            // What the processor did tells more than the clock where others were at work.
            Growth::None if ratio(&cpu) <= MAX_GROWTH => "met by processor time".to_owned(),
            Growth::Stats if last <= MAX_STATS => "met".to_owned(),
            Growth::None | Growth::Stats => {
                are_met = false;
                "MISSED".to_owned()
            }
            Growth::Linear => {
                let beads = Duration::from_nanos(u64::try_from(large - small).unwrap_or(u64::MAX));
                let more = cpu[2].saturating_sub(cpu[0]);
                format!("{:.2} µs a bead", more.div_duration_f64(beads) / 1000.0)
            }
        };
        println!(
            "{command:<42} {first:>8.1} {second:>8.1} {last:>8.1} {:>7.2} {:>9.1} {:>9.1} {:>7.2}  {verdict}",
            ratio(&times),
            millis(cpu[0]),
            millis(cpu[2]),
            ratio(&cpu)
        );
    }
    are_met
}

/// The medians of the clock and the means of the processor. The stores take turns.
fn measured(
    stores: &[Utf8PathBuf; 3],
    command: &str,
    n_runs: usize,
) -> ([Duration; 3], [Duration; 3]) {
    let mut times: [Vec<Duration>; 3] = Default::default();
    let mut cpu = [Duration::ZERO; 3];
    // The first run reads from the disk.
    for store in stores {
        run(store, command);
    }
    for _ in 0..n_runs {
        for ((store, times), cpu) in stores.iter().zip(&mut times).zip(&mut cpu) {
            let before = cpu_time();
            times.push(run(store, command));
            *cpu += cpu_time().saturating_sub(before);
        }
    }
    let n = u32::try_from(n_runs).unwrap_or(1);
    (
        times.each_mut().map(|times| median(times)),
        cpu.map(|cpu| cpu / n),
    )
}

/// Peak memory of what is printed as it is read; whether it stays the same.
fn memory(stores: &[Utf8PathBuf; 3], sizes: &Sizes) -> bool {
    let [small, middle, large] = sizes.beads;
    println!("\npeak memory, MiB\n");
    println!(
        "{:<42} {small:>8} {middle:>8} {large:>8} {:>7}",
        "", "growth"
    );
    let mut are_met = true;
    for (command, is_flat) in MEMORY {
        let peaks = [0, 1, 2].map(|at: usize| peak_memory(Utf8Path::new(&stores[at]), command));
        let growth = peaks[2] / peaks[0];
        let verdict = match (is_flat, growth <= MAX_MEMORY) {
            (true, true) => "met",
            (true, false) => "MISSED",
            (false, _) => "",
        };
        are_met &= verdict != "MISSED";
        println!(
            "{command:<42} {:>8.1} {:>8.1} {:>8.1} {growth:>7.2}  {verdict}",
            peaks[0], peaks[1], peaks[2]
        );
    }
    are_met
}
