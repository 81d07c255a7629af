//! Plays runs under fire, and says which seeds broke a law; writes or checks the page about it.
#![expect(clippy::print_stdout, reason = "it is a program for developers")]

use std::ops::Range;
use std::process::ExitCode;

use beads_ralph_runtime::os::files;
use beads_ralph_testkit::chaos::{Plant, Survey, noticed, page, play, survey};

const USAGE: &str = "chaos --seed N [--plant NAME]   one seed, line by line
chaos --seeds A..B              many seeds
chaos --write FILE              writes the page about a thousand seeds and all planted faults
chaos --check FILE              says whether the page is as it would be written";

/// How many seeds the page is about.
const N_SEEDS: u64 = 1_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_fine = match arguments[..] {
        ["--seed", seed] => number(seed).map(|seed| show(seed, None)),
        ["--seed", seed, "--plant", name] => {
            let plant = Plant::ALL.into_iter().find(|plant| plant.name() == name);
            number(seed)
                .zip(plant)
                .map(|(seed, plant)| show(seed, Some(plant)))
        }
        ["--seeds", seeds] => range(seeds).map(|seeds| tell(&survey(seeds))),
        ["--write", file] => {
            let (page, is_fine) = whole();
            files::write_atomic(file.into(), page.as_bytes()).expect("the page can be written");
            Some(is_fine)
        }
        ["--check", file] => Some(check(file)),
        _ => None,
    };
    match is_fine {
        Some(true) => ExitCode::SUCCESS,
        Some(false) => ExitCode::FAILURE,
        None => {
            println!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

fn range(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once("..")?;
    Some(number(from)?..number(to)?)
}

fn show(seed: u64, plant: Option<Plant>) -> bool {
    let report = play(seed, plant, true);
    for line in &report.log {
        println!("{line}");
    }
    println!("{report}{:?}", report.counts);
    report.violations.is_empty()
}

/// Says what was broken; whether nothing was.
fn tell(survey: &Survey) -> bool {
    for report in &survey.broken {
        println!("{report}");
    }
    println!("{:?}\n{} broken", survey.counts, survey.broken.len());
    survey.broken.is_empty()
}

fn whole() -> (String, bool) {
    let survey = survey(0..N_SEEDS);
    let noticed = noticed();
    let is_fine = tell(&survey) && noticed.iter().all(|(_, report)| report.is_some());
    (page(N_SEEDS, &survey, &noticed), is_fine)
}

fn check(file: &str) -> bool {
    let (page, is_fine) = whole();
    let is_same = files::read(file.into()).is_ok_and(|written| written == page.as_bytes());
    if !is_same {
        println!(
            "{file} does not say what the seeds say; write it anew with --write {file}. It would be:\n\n{page}"
        );
    }
    is_fine && is_same
}
