//! Runs under fire: some seeds, and every planted fault. The command in `docs/chaos.md` plays thousands.

use std::fmt::Write as _;

use beads_ralph_testkit::chaos::{MAX_SEEDS_TO_NOTICE, noticed, play, survey};

/// How many seeds every test run plays.
const N_SEEDS: u64 = 20;

#[test]
fn z_2_z_4_z_5_no_law_is_broken_whatever_fails_and_whoever_dies() {
    let survey = survey(0..N_SEEDS);
    let mut wrong = String::new();
    for report in &survey.broken {
        write!(wrong, "{report}").unwrap();
    }
    assert!(survey.broken.is_empty(), "{wrong}");
    let counts = survey.counts;
    for happened in [
        counts.closed,
        counts.for_person,
        counts.crashes,
        counts.errors,
        counts.lost_replies,
        counts.twice,
        counts.user,
    ] {
        assert!(happened > 0, "everything happens: {counts:?}");
    }
}

#[test]
fn every_planted_fault_is_noticed_early() {
    let missed: Vec<&str> = noticed()
        .iter()
        .filter(|(_, report)| report.is_none())
        .map(|(plant, _)| plant.words())
        .collect();
    assert!(
        missed.is_empty(),
        "no law notices within {MAX_SEEDS_TO_NOTICE} seeds that {missed:?}"
    );
}

#[test]
fn a_seed_plays_the_same_again() {
    for seed in [3, 5, 8] {
        let (once, again) = (play(seed, None, true), play(seed, None, true));
        assert_eq!(once.counts, again.counts);
        assert_eq!(once.log, again.log, "seed {seed}");
    }
}
