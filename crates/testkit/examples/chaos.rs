//! Plays seeds, prints what broke.
#![expect(clippy::print_stdout, reason = "it is a program for developers")]
use beads_ralph_testkit::chaos::{Plant, play};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        args.iter()
            .position(|it| it == name)
            .and_then(|at| args.get(at + 1))
            .cloned()
    };
    let plant =
        value("--plant").and_then(|name| Plant::ALL.into_iter().find(|it| it.name() == name));
    if let Some(seed) = value("--seed") {
        let report = play(seed.parse().expect("a seed is a number"), plant, true);
        for line in &report.log {
            println!("{line}");
        }
        println!("{report}{:?}", report.counts);
        return;
    }
    let n: u64 = value("--seeds").map_or(200, |n| n.parse().expect("seeds are a number"));
    let mut bad = 0;
    for seed in 0..n {
        let report = play(seed, plant, false);
        if !report.violations.is_empty() {
            bad += 1;
            println!("{report}");
            if bad > 20 {
                break;
            }
        }
    }
    println!("{bad} bad of {n}");
}
