//! What a bead costs in `run` that is hardly any work, against a bare program that makes the same calls of git, agents and checks.
//!
//! `cargo bench` prints the figures, `cargo bench -- --check` also fails when a target is missed; what they mean
//! is in `docs/benchmarks.md`. Both sides take turns, each time in a new repository, and medians are compared.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod bare;
#[path = "../common/figures.rs"]
mod figures;
mod ours;
mod world;

use std::process::ExitCode;
use std::time::Duration;

use beads_ralph_runtime::os::files;

use crate::figures::{Verdicts, median, millis, timed};
use crate::world::{Integration, Load, Shape, World};

/// How much longer than the bare program a bead may take.
const MAX_RATIO: f64 = 1.5;

/// What is measured: a load, how often the sides take turns, and whether it has a target.
#[derive(Clone, Copy)]
struct Measured {
    load: Load,
    n_rounds: usize,
    has_target: bool,
}

const fn independent(n_beads: usize, at_once: usize, n_rounds: usize) -> Measured {
    Measured {
        load: Load {
            n_beads,
            at_once,
            shape: Shape::Independent,
            integration: Integration::Merge,
        },
        n_rounds,
        has_target: true,
    }
}

/// The same, with beads that stay on their branches.
const fn left_alone(measured: Measured) -> Measured {
    Measured {
        load: Load {
            integration: Integration::None,
            ..measured.load
        },
        has_target: false,
        ..measured
    }
}

/// The same, with beads that wait for each other.
const fn chained(measured: Measured) -> Measured {
    Measured {
        load: Load {
            shape: Shape::Chain,
            ..measured.load
        },
        has_target: false,
        ..measured
    }
}

const FULL: &[Measured] = &[
    independent(10, 1, 5),
    independent(10, 16, 5),
    independent(100, 1, 3),
    independent(100, 16, 3),
    independent(1000, 1, 1),
    independent(1000, 16, 1),
    left_alone(independent(100, 1, 1)),
    left_alone(independent(100, 16, 1)),
    chained(independent(100, 16, 1)),
];

/// Enough to see that everything runs; figures of an unoptimised build would mislead.
const SMALL: &[Measured] = &[
    independent(2, 1, 1),
    independent(4, 4, 1),
    left_alone(independent(2, 2, 1)),
    chained(independent(2, 2, 1)),
];

/// The figures of one load.
struct Figures {
    /// The time for each bead.
    ours: Duration,
    bare: Duration,
    /// The median of the ratios of runs that follow each other directly.
    ratio: f64,
    /// The peak memory, in MiB.
    peak: f64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    let measured = if has("--bench") { FULL } else { SMALL };
    // Numbers choose among the sizes, for whoever has less time.
    let sizes: Vec<usize> = arguments
        .iter()
        .filter_map(|text| text.parse().ok())
        .collect();
    let is_chosen =
        |measured: &&Measured| sizes.is_empty() || sizes.contains(&measured.load.n_beads);
    let path = beads_ralph_runtime::os::env::get(beads_ralph_runtime::os::env::Variable::Path)
        .expect("there is a PATH");
    let mut verdicts = Verdicts::default();
    println!(
        "a bead that is hardly any work, milliseconds for each (medians), and peak memory of the program, MiB\n"
    );
    println!(
        "{:>11} {:>11} {:>8} {:>8} {:>7} {:>9} {:>9} {:>7} {:>8}",
        "beads", "shape", "work is", "at once", "rounds", "ours", "bare", "ratio", "memory"
    );
    let mut all = Vec::new();
    for measured in measured.iter().filter(is_chosen) {
        let figures = measure(measured, &path);
        report(measured, &figures);
        if measured.has_target {
            let Load {
                n_beads, at_once, ..
            } = measured.load;
            verdicts.add(format!("{n_beads} beads, {at_once} at once"), figures.ratio);
        }
        all.push((measured.load, figures));
    }
    growth(&all);
    calls(&path);
    if !verdicts.report(MAX_RATIO) && has("--check") {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn measure(measured: &Measured, path: &str) -> Figures {
    let load = &measured.load;
    let (mut ours, mut bare, mut ratios) = (vec![], vec![], vec![]);
    let mut peak = f64::NAN;
    for round in 0..measured.n_rounds {
        let run_ours = || {
            let world = World::new().with_beads(load);
            let took = ours::run(&world, load, path);
            world.check(load);
            took
        };
        let run_bare = || {
            let world = World::new();
            let time = bare::run(&world, load, path);
            world.check(load);
            time
        };
        // Whoever comes second finds more in the caches.
        let (took, time) = if round % 2 == 0 {
            let took = run_ours();
            (took, run_bare())
        } else {
            let time = run_bare();
            (run_ours(), time)
        };
        peak = peak.max(took.peak);
        ratios.push(took.time.div_duration_f64(time));
        ours.push(took.time);
        bare.push(time);
    }
    let n_beads = u32::try_from(load.n_beads).expect("few beads");
    ratios.sort_by(f64::total_cmp);
    Figures {
        ours: median(&mut ours) / n_beads,
        bare: median(&mut bare) / n_beads,
        ratio: ratios[ratios.len() / 2],
        peak,
    }
}

fn report(measured: &Measured, figures: &Figures) {
    let Load {
        n_beads,
        at_once,
        shape,
        integration,
    } = measured.load;
    let shape = match shape {
        Shape::Independent => "independent",
        Shape::Chain => "a chain",
    };
    let kept = match integration {
        Integration::None => "left",
        Integration::Merge => "merged",
    };
    let n_rounds = measured.n_rounds;
    println!(
        "{n_beads:>11} {shape:>11} {kept:>8} {at_once:>8} {n_rounds:>7} {:>9.2} {:>9.2} {:>7.2} {:>8.1}",
        millis(figures.ours),
        millis(figures.bare),
        figures.ratio,
        figures.peak,
    );
}

/// How much longer a bead takes among ten times as many.
fn growth(all: &[(Load, Figures)]) {
    println!("\ngrowth: the time of a bead among ten times as many, by the time among fewer\n");
    println!(
        "{:>8} {:>8} {:>8} {:>9} {:>9}",
        "from", "to", "at once", "ours", "bare"
    );
    let is_plain =
        |load: &Load| load.shape == Shape::Independent && load.integration == Integration::Merge;
    for (load, figures) in all.iter().filter(|(load, _)| is_plain(load)) {
        let smaller = all.iter().find(|(other, _)| {
            is_plain(other) && other.at_once == load.at_once && other.n_beads * 10 == load.n_beads
        });
        if let Some((from, before)) = smaller {
            println!(
                "{:>8} {:>8} {:>8} {:>9.2} {:>9.2}",
                from.n_beads,
                load.n_beads,
                load.at_once,
                figures.ours.div_duration_f64(before.ours),
                figures.bare.div_duration_f64(before.bare),
            );
        }
    }
}

/// How often each side calls git, counted by a `git` that stands before the real one in the PATH. That of the agent counts, too.
fn calls(path: &str) {
    println!("\ncalls of git for each bead, those of the agent (two) among them\n");
    println!(
        "{:>11} {:>8} {:>7} {:>7}",
        "shape", "work is", "ours", "bare"
    );
    for (shape, integration) in [
        (Shape::Independent, Integration::Merge),
        (Shape::Independent, Integration::None),
        (Shape::Chain, Integration::Merge),
    ] {
        let load = |n_beads: usize| Load {
            n_beads,
            at_once: 1,
            shape,
            integration,
        };
        // What a run calls once is in both numbers.
        let of_ours = |n_beads: usize| {
            let world = World::new().with_beads(&load(n_beads));
            counted(&world, path, |path| {
                ours::run(&world, &load(n_beads), path);
            })
        };
        let of_bare = |n_beads: usize| {
            let world = World::new();
            counted(&world, path, |path| {
                bare::run(&world, &load(n_beads), path);
            })
        };
        let shape = match shape {
            Shape::Independent => "independent",
            Shape::Chain => "a chain",
        };
        println!(
            "{shape:>11} {:>8} {:>7} {:>7}",
            integration.as_str(),
            of_ours(3) - of_ours(2),
            of_bare(3) - of_bare(2),
        );
    }
}

/// How many calls of git there are while something runs with another PATH.
fn counted(world: &World, path: &str, run: impl FnOnce(&str)) -> usize {
    let (bin, log) = (world.logs.join("bin"), world.logs.join("calls"));
    files::create_directory(&bin).expect("a new directory");
    let real = path
        .split(':')
        .map(|directory| format!("{directory}/git"))
        .find(|git| std::path::Path::new(git).is_file())
        .expect("git is installed");
    let script = format!("#!/bin/sh\necho \"$*\" >>'{log}'\nexec '{real}' \"$@\"\n");
    let stand_in = bin.join("git");
    files::write_atomic(&stand_in, script.as_bytes()).expect("a file");
    make_executable(&stand_in);
    run(&format!("{bin}:{path}"));
    std::fs::read_to_string(&log).map_or(0, |text| text.lines().count())
}

fn make_executable(file: &camino::Utf8Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(file, mode).expect("it is ours");
}
