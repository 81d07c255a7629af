//! Limits of accounts, and budgets (Z-13).

use super::*;

fn limited(resets_in: Option<i64>) -> Answer {
    Answer::Ended {
        report: AgentReport {
            resets_at: resets_in.map(|seconds| Timestamp::from_second(seconds).unwrap()),
            ..report(Status::Limit)
        },
    }
}

#[test]
fn z_13_a_limit_with_an_end_parks_the_account_and_costs_no_attempt() {
    let other = Task {
        developers: vec!["codex".to_owned()],
        judges: vec!["codex".to_owned()],
        ..task("b", &[])
    };
    let claimed = other.clone();
    let mut stage = Stage::new(settings(), vec![task("a", &[]), other]);
    let fate = |effect: &Effect, n: usize| match effect.action {
        Action::Claim { .. } if effect.bead.as_str() == "b" => otherwise(Answer::Claimed {
            fence: Fence(1),
            task: Box::new(claimed.clone()),
        }),
        Action::Develop { .. } if effect.bead.as_str() == "a" && n == 1 => {
            otherwise(limited(Some(3600)))
        }
        _ => Fate::Well,
    };
    let outcome = stage.play(fate);
    assert_eq!(outcome, Some(Outcome::Done));
    assert_eq!(stage.now.as_second(), 3600, "it waited for the end");
    assert_eq!(stage.times("a", "park"), 1);
    let Action::Close { progress, .. } = stage.last("a", "close").action else {
        panic!()
    };
    assert_eq!(progress.attempts, 1);
}

#[test]
fn z_13_a_limit_without_an_end_is_waited_for_a_few_times_with_fewer_at_once() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    let outcome = stage.play(|effect, _| match effect.action {
        Action::Develop { .. } => otherwise(limited(None)),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::NeedsPerson));
    assert_eq!(stage.times("a", "develop"), 3, "two waits");
    assert_eq!(stage.engine.view().width, 1, "4, 2, 1");
    let Action::Block { progress, .. } = stage.last("a", "block").action else {
        panic!()
    };
    assert_eq!(progress.attempts, 0);
}

#[test]
fn z_14_an_account_that_another_run_found_at_its_limit_is_not_used() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.tell(&Event::Seen {
        tasks: Vec::new(),
        gone: Vec::new(),
        parked: vec![("claude".to_owned(), Timestamp::from_second(60).unwrap())],
    });
    stage.play(|effect, _| match effect.action {
        Action::Develop { .. } => Fate::Silence,
        _ => Fate::Well,
    });
    assert_eq!(stage.now.as_second(), 60);
    assert_eq!(stage.times("a", "develop"), 1);
}

fn capped(attempt: u64, bead: Option<u64>, run: Option<u64>) -> Settings {
    let cap = |micros: Option<u64>| Cap {
        micros,
        ..Cap::default()
    };
    Settings {
        caps: Caps {
            attempt: cap(Some(attempt)),
            bead: cap(bead),
            team: Cap::default(),
            run: cap(run),
        },
        ..settings()
    }
}

#[test]
fn z_13_what_an_agent_may_spend_is_set_aside_before_it_starts() {
    let tasks = vec![task("a", &[]), task("b", &[]), task("c", &[])];
    let mut stage = Stage::new(capped(400, None, Some(1000)), tasks);
    stage.play(|effect, _| match effect.action {
        Action::Develop { .. } => Fate::Silence,
        _ => Fate::Well,
    });
    let grants = |stage: &Stage| -> Vec<u64> {
        let launches = stage.effects.iter().filter_map(|it| it.action.launch());
        launches.filter_map(|launch| launch.grant.micros).collect()
    };
    assert_eq!(
        grants(&stage),
        [400, 400, 200],
        "no two spend the same money"
    );
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    assert_eq!(stage.engine.view().spent.micros, 600);
}

#[test]
fn z_13_a_bead_that_has_used_up_its_money_needs_a_person() {
    let mut stage = Stage::new(capped(1000, Some(150), None), vec![task("a", &[])]);
    let outcome = stage.play(|effect, _| match effect.action {
        Action::Judge { .. } => otherwise(judged(QaStatus::Fail, "no")),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::NeedsPerson));
    assert!(
        reason(&stage.state("a")).contains("used up"),
        "{:?}",
        stage.state("a")
    );
}

#[test]
fn z_13_a_run_that_has_used_up_its_money_gives_its_beads_back() {
    let tasks = vec![task("a", &[]), task("b", &[])];
    let mut stage = Stage::new(capped(1000, None, Some(150)), tasks);
    let outcome = stage.play_well();
    assert!(
        matches!(&outcome, Some(Outcome::Fatal(why)) if why.contains("used up")),
        "{outcome:?}"
    );
    assert_eq!(stage.times("a", "block") + stage.times("b", "block"), 0);
    assert!(
        stage.engine.view().spent.micros <= 250,
        "one agent beyond at most"
    );
}

#[test]
fn z_13_what_a_bead_has_cost_is_not_forgotten_when_it_is_claimed_again() {
    // The bead was lost before its cost was written, so that the store knows nothing of it.
    let capped = Settings {
        caps: Caps {
            bead: Cap {
                micros: Some(250),
                ..Cap::default()
            },
            ..Caps::default()
        },
        ..settings()
    };
    let mut stage = Stage::new(capped, vec![task("a", &[])]);
    stage.play(|effect, _| match effect.action {
        Action::Record { .. } => trouble(Trouble::lost("fence 1 is stale")),
        _ => Fate::Well,
    });
    stage.tell(&Event::Seen {
        tasks: vec![task("a", &[])],
        gone: Vec::new(),
        parked: Vec::new(),
    });
    stage.play(|effect, _| match effect.action {
        Action::Develop { .. } => Fate::Silence,
        _ => Fate::Well,
    });
    let develop = stage.last("a", "develop");
    let grant = develop.action.launch().unwrap().grant;
    assert_eq!(grant.micros, Some(150));
}
