//! Rounds of small and random plans, and runs that are played again.

use proptest::prelude::*;

use super::*;
use crate::engine::{
    Action, Backoff, Cap, Caps, Effect, Event, Head, Integration, Leader, Outcome, Spent,
    TaskState, replay,
};
use crate::issue::Fence;

fn settings(max_parallel: usize) -> Settings {
    Settings {
        selection: crate::engine::Selection::default(),
        run: "simulated".to_owned(),
        seed: 1,
        max_parallel,
        poll_ms: 5_000,
        max_tries: 5,
        max_limit_tries: 5,
        backoff: Backoff::Exponential,
        limit_backoff: Backoff::Exponential,
        max_pull_tries: 2,
        integration: Integration::Pr,
        leader: Leader::Native,
        order: Order::Urgency,
        caps: Caps::default(),
        cleans_up: true,
        watches: false,
        is_once: false,
    }
}

fn task(n: usize, waits_for: &[usize]) -> Task {
    let id = |n: usize| BeadId::parse(&format!("bd-1-{n}")).unwrap();
    Task {
        id: id(n),
        title: format!("Sprint {n}"),
        sprint: format!("1.{n}"),
        team: "team".to_owned(),
        priority: 1,
        weight: 1,
        branch: format!("feature/{n}"),
        worktree: format!("../{n}"),
        is_merge: false,
        standing: TaskState::Open,
        waits_for: waits_for.iter().map(|n| id(*n)).collect(),
        is_put_off: false,
        is_gate: false,
        source: None,
        held_back: None,
        fault: None,
        developers: vec!["claude".to_owned()],
        judges: vec!["claude".to_owned(), "codex".to_owned()],
        leader: None,
        attempts: 0,
        max_attempts: 3,
        has_checks: true,
        spent: Spent::default(),
        sealed: None,
        feedback: None,
        base: None,
    }
}

fn fixed(develop: u64, judge: u64) -> WorldModel {
    let agent = |ms| AgentModel {
        time_ms: Spread::Fixed(ms),
        cost_micros: Spread::Fixed(1_000_000),
    };
    WorldModel {
        developer: agent(develop),
        judge: agent(judge),
        checks_ms: Spread::Fixed(1),
        step_ms: Spread::Fixed(0),
        rates: Rates {
            developer_fails: 0.0,
            attempt_fails: 0.0,
            stops: 0.0,
            limits: 0.0,
            conflicts: 0.0,
        },
        ..WorldModel::default()
    }
}

/// Everything that can go wrong, often.
fn rough() -> WorldModel {
    WorldModel {
        rates: Rates {
            developer_fails: 0.1,
            attempt_fails: 0.3,
            stops: 0.01,
            limits: 0.1,
            conflicts: 0.2,
        },
        ..WorldModel::default()
    }
}

fn play(settings: &Settings, tasks: &[Task], model: &WorldModel, source: Source<'_>) -> Round {
    Play {
        settings: settings.clone(),
        tasks: tasks.to_vec(),
        model,
        source,
        seed: 7,
        began: Timestamp::UNIX_EPOCH,
    }
    .run()
}

#[test]
fn a_chain_takes_as_long_as_its_links_and_two_beads_share_the_workers() {
    let tasks = [task(1, &[]), task(2, &[1]), task(3, &[])];
    let model = fixed(10, 3);
    let round = play(&settings(2), &tasks, &model, Source::Drawn);
    assert_eq!(round.ending, Ending::Run(Outcome::Done));
    // QA agents run at the same time.
    assert_eq!(round.makespan_ms(), 28);
    assert_eq!(round.critical_ms(), 28);
    let chain: Vec<&str> = round.links.iter().map(|link| link.bead.as_str()).collect();
    assert_eq!(chain, ["bd-1-1", "bd-1-2"]);
    assert_eq!((round.n_attempts, round.n_runs, round.n_closed), (3, 9, 3));
    assert!((round.spent.usd() - 9.0).abs() < 1e-9);
    assert!((round.utilisation() - 42.0 / 56.0).abs() < 1e-9);
}

#[test]
fn l_6_the_longest_path_first_beats_first_in_first_out() {
    // Three single beads became ready before the chain of three, and there are two workers.
    let mut tasks = vec![task(1, &[]), task(2, &[]), task(3, &[]), task(4, &[])];
    tasks.extend([task(5, &[4]), task(6, &[5])]);
    let model = fixed(10, 0);
    let study = Study {
        settings: settings(2),
        tasks,
        model: &model,
        recorded: None,
        seed: 1,
        n_rounds: 3,
        began: Timestamp::UNIX_EPOCH,
    };
    let result = study.run();
    assert!((result.figures.makespan_ms.p50 - 33.0).abs() < f64::EPSILON);
    assert!((result.first_in_first_out.makespan_ms.p50 - 44.0).abs() < f64::EPSILON);
    assert_eq!(result.figures.endings["done"], 3);
    let most_critical: Vec<&str> = (result.criticality.iter())
        .map(|(bead, _)| bead.as_str())
        .collect();
    assert_eq!(most_critical, ["bd-1-4", "bd-1-5", "bd-1-6"]);
}

#[test]
fn z_13_a_budget_ends_a_run_and_limits_are_waited_for() {
    let tasks: Vec<Task> = (1..=4).map(|n| task(n, &[])).collect();
    let model = fixed(10, 3);
    let capped = Settings {
        caps: Caps {
            run: Cap {
                micros: Some(5_000_000),
                ..Cap::default()
            },
            attempt: Cap {
                micros: Some(2_000_000),
                ..Cap::default()
            },
            ..Caps::default()
        },
        ..settings(1)
    };
    let round = play(&capped, &tasks, &model, Source::Drawn);
    assert!(matches!(round.ending, Ending::Run(Outcome::Fatal(_))));
    assert!(round.spent.micros <= 5_000_000);
    assert!(round.n_closed < tasks.len());

    let mut limited = model.clone();
    limited.rates.limits = 0.5;
    limited.limit_ms = Spread::Fixed(1_000_000);
    let round = play(&settings(4), &tasks, &limited, Source::Drawn);
    assert_eq!(round.ending, Ending::Run(Outcome::Done));
    assert!(round.makespan_ms() > 1_000_000);
    assert_eq!(round.n_attempts, 4, "a limit costs no attempt");
}

#[test]
fn an_estimate_is_what_the_work_takes_in_the_middle() {
    let long = Task {
        weight: 60,
        ..task(1, &[])
    };
    let round = play(&settings(1), &[long], &fixed(10, 0), Source::Drawn);
    assert_eq!(round.makespan_ms(), 60 * 60_000 + 1);
}

#[test]
fn x_3_two_orders_meet_the_same_luck() {
    let tasks = random_tasks(12, 5);
    let model = rough();
    let wide = play(&settings(6), &tasks, &model, Source::Drawn);
    let narrow = play(&settings(1), &tasks, &model, Source::Drawn);
    let develop_times = |round: &Round| {
        let recorded = Recorded::new(&round.entries).unwrap();
        let times: std::collections::BTreeMap<Key, _> = recorded
            .answered()
            .filter(|(key, _)| key.kind == "develop")
            .map(|(key, memory)| (key.clone(), memory.took))
            .collect();
        times
    };
    let (wide, narrow) = (develop_times(&wide), develop_times(&narrow));
    let n_shared = wide.keys().filter(|key| narrow.contains_key(key)).count();
    assert!(n_shared >= 12);
    for (key, took) in &wide {
        assert!(narrow.get(key).is_none_or(|other| other == took), "{key:?}");
    }
}

#[test]
fn history_takes_the_place_of_guesses() {
    let tasks = random_tasks(10, 3);
    let model = fixed(120_000, 30_000);
    let round = play(&settings(3), &tasks, &model, Source::Drawn);
    let recorded = Recorded::new(&round.entries).unwrap();
    let mut lessons = Lessons::default();
    lessons.take_run(&recorded);
    assert_eq!(lessons.n_runs(), 30);
    let mut learned = WorldModel::default();
    lessons.apply(&mut learned);
    assert_eq!(learned.developer.time_ms.middle(), 120_000);
    assert_eq!(learned.judges["codex"].time_ms.middle(), 30_000);
    assert_eq!(learned.judges["codex"].cost_micros.middle(), 1_000_000);
    assert!(learned.rates.attempt_fails < WorldModel::default().rates.attempt_fails);
}

#[test]
fn percentiles_are_by_the_nearest_rank() {
    let numbers = (1..=100).rev().map(f64::from).collect();
    let of = Percentiles::of(numbers);
    assert_eq!((of.p50, of.p90, of.p99), (50.0, 90.0, 99.0));
    let all = |number| Percentiles {
        p50: number,
        p90: number,
        p99: number,
    };
    assert_eq!(Percentiles::of(vec![3.0]), all(3.0));
    assert_eq!(Percentiles::of(Vec::new()), all(0.0));
}

/// Beads that wait for earlier ones.
fn random_tasks(n: usize, seed: u64) -> Vec<Task> {
    let mut random = Random::new(seed);
    let is_edge = |random: &mut Random, a: usize, b: usize| b < a && random.is_hit(0.25);
    (1..=n)
        .map(|a| {
            let waits_for: Vec<usize> = (1..a).filter(|b| is_edge(&mut random, a, *b)).collect();
            Task {
                priority: i64::try_from(random.below(3)).unwrap(),
                ..task(a, &waits_for)
            }
        })
        .collect()
}

/// The same decisions, but for the numbers of effects.
fn launched(round: &Round) -> Vec<(BeadId, Action)> {
    let of = |effect: Effect| (effect.bead, effect.action);
    round.launches().into_iter().map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_run_that_is_played_again_decides_the_same(
        n in 1_usize..25, width in 1_usize..6, seed in any::<u64>(),
        is_pr in any::<bool>(), budget in prop::option::of(1_u64..40_000_000),
    ) {
        let tasks = random_tasks(n, seed);
        let settings = Settings {
            integration: if is_pr { Integration::Pr } else { Integration::Merge { target: "ralph/plan".to_owned() } },
            caps: Caps { run: Cap { micros: budget, ..Cap::default() }, ..Caps::default() },
            ..settings(width)
        };
        let model = rough();
        let first = Play {
            settings: settings.clone(), tasks: tasks.clone(), model: &model, source: Source::Drawn, seed,
            began: Timestamp::UNIX_EPOCH,
        }
        .run();
        prop_assert!(matches!(first.ending, Ending::Run(_)), "{:?}", first.ending);
        let recorded = Recorded::new(&first.entries).expect("something happened");
        prop_assert_eq!(recorded.tasks().len(), n);
        let again = play(&settings, &tasks, &WorldModel::default(), Source::Again(&recorded));
        prop_assert_eq!(launched(&first), launched(&again));
        prop_assert_eq!(&first.ending, &again.ending);
        let head = Head::new(settings, "test", "mark", Timestamp::UNIX_EPOCH);
        prop_assert!(replay(&head, &first.entries).is_ok());
        prop_assert!(replay(&head, &again.entries).is_ok());
    }

    #[test]
    fn what_if_changes_only_the_order(n in 1_usize..20, seed in any::<u64>()) {
        let tasks = random_tasks(n, seed);
        let model = fixed(10, 3);
        let first = play(&settings(2), &tasks, &model, Source::Drawn);
        let recorded = Recorded::new(&first.entries).expect("something happened");
        let wider = play(&settings(20), &tasks, &WorldModel::default(), Source::WhatIf(&recorded));
        prop_assert_eq!(&wider.ending, &Ending::Run(Outcome::Done));
        prop_assert!(wider.makespan_ms() <= first.makespan_ms());
        prop_assert_eq!(wider.makespan_ms(), wider.critical_ms(), "nothing waits for a worker");
    }
}

#[test]
fn a_recorded_run_that_was_stopped_and_adopted_is_played_again() {
    let tasks = random_tasks(8, 11);
    let model = rough();
    let settings = settings(3);
    let first = play(&settings, &tasks, &model, Source::Drawn);
    // A process that died after a third of it, and one that went on.
    let mut engine = crate::engine::Engine::new(settings.clone());
    let mut entries = Vec::new();
    for entry in first.entries.iter().take(first.entries.len() / 3) {
        engine.handle(entry.at, &entry.event);
        entries.push(entry.clone());
    }
    let at = entries.last().unwrap().at;
    let fences = (tasks.iter())
        .map(|task| (task.id.clone(), Fence(100)))
        .collect();
    let adopted = Event::Adopted { fences };
    let effects = engine.handle(at, &adopted);
    let seq = u64::try_from(entries.len()).unwrap() + 1;
    entries.push(crate::engine::Entry {
        seq,
        at,
        event: adopted,
        effects,
    });
    let recorded = Recorded::new(&entries).unwrap();
    let again = play(&settings, &tasks, &model, Source::Again(&recorded));
    assert_eq!(again.ending, Ending::Stuck, "the recording ends there");
    let launched = launched(&again);
    let of = |effect: Effect| (effect.bead, effect.action);
    let wanted: Vec<_> = launches(&entries).into_iter().map(of).collect();
    assert_eq!(launched, wanted);
}
