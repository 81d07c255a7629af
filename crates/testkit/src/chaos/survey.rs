//! Many seeds, one after the other on every core, and the table of what came of them.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{Counts, Plant, Report, play};

/// Within how many seeds a planted fault must be noticed.
pub const MAX_SEEDS_TO_NOTICE: u64 = 200;

/// What came of many seeds.
#[derive(Debug, Default)]
pub struct Survey {
    /// How much happened.
    pub counts: Counts,
    /// The seeds in which a law was broken, in order.
    pub broken: Vec<Report>,
}

/// Plays seeds without any planted fault.
pub fn survey(seeds: Range<u64>) -> Survey {
    let next = AtomicU64::new(seeds.start);
    let player = || {
        let mut survey = Survey::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return survey;
            }
            let report = play(seed, None, false);
            survey.counts.add(&report.counts);
            if !report.violations.is_empty() {
                survey.broken.push(report);
            }
        }
    };
    let mut whole = Survey::default();
    for part in on_every_core(player) {
        whole.counts.add(&part.counts);
        whole.broken.extend(part.broken);
    }
    whole.broken.sort_by_key(|report| report.seed);
    whole
}

/// For every planted fault, the first seed in which a law notices it, if there is one early enough.
pub fn noticed() -> Vec<(Plant, Option<Report>)> {
    let next = AtomicU64::new(0);
    let player = || {
        let mut noticed = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(plant) = usize::try_from(at).ok().and_then(|at| Plant::ALL.get(at)) else {
                return noticed;
            };
            let mut reports = (0..MAX_SEEDS_TO_NOTICE).map(|seed| play(seed, Some(*plant), false));
            let first = reports.find(|report| !report.violations.is_empty());
            noticed.push((*plant, first));
        }
    };
    let mut all: Vec<_> = on_every_core(player).into_iter().flatten().collect();
    all.sort_by_key(|(plant, _)| Plant::ALL.iter().position(|it| it == plant));
    all
}

fn on_every_core<T: Send>(player: impl Fn() -> T + Sync) -> Vec<T> {
    let n_players = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let players: Vec<_> = (0..n_players).map(|_| scope.spawn(&player)).collect();
        let join = |player: thread::ScopedJoinHandle<'_, T>| player.join();
        let ended = players.into_iter().map(join);
        ended.map(|it| it.expect("panics are caught")).collect()
    })
}

/// The page about it, as `docs/chaos.md` holds it.
pub fn page(n_seeds: u64, survey: &Survey, noticed: &[(Plant, Option<Report>)]) -> String {
    let mut page = format!(
        "{}\n## {n_seeds} seeds\n\n| What | How often |\n| --- | ---: |\n",
        include_str!("survey/introduction.md")
    );
    let Counts {
        beads,
        closed,
        for_person,
        events,
        effects,
        agents,
        calls,
        processes,
        crashes,
        errors,
        lost_replies,
        twice,
        user,
    } = survey.counts;
    let rows = [
        ("beads", beads),
        ("beads that a run closed", closed),
        ("beads that wait for a person at the end", for_person),
        ("events in all journals", events),
        ("effects in all journals", effects),
        ("runs of agents", agents),
        ("calls of the store, git, the forge and agents", calls),
        ("processes that were started", processes),
        ("processes that were killed", crashes),
        ("calls that failed", errors),
        ("of these, calls that had acted all the same", lost_replies),
        ("answers that came twice", twice),
        ("things that users did meanwhile", user),
        ("**broken laws**", survey.broken.len() as u64),
    ];
    for (what, n) in rows {
        writeln!(page, "| {what} | {n} |").expect("a string takes everything");
    }
    page.push_str("\n## Planted faults\n\n| What is wrong | Noticed at seed | By the law of |\n| --- | ---: | --- |\n");
    for (plant, report) in noticed {
        let (seed, law) = match report {
            Some(report) => (report.seed.to_string(), report.law()),
            None => ("never".to_owned(), ""),
        };
        writeln!(page, "| {} | {seed} | {law} |", plant.words())
            .expect("a string takes everything");
    }
    page
}
