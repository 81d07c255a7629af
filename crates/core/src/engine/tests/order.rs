//! Which bead is begun when.

use super::*;

fn claims(stage: &Stage) -> Vec<&str> {
    let claims = stage.asked.iter().filter(|(_, action)| *action == "claim");
    claims.map(|(bead, _)| bead.as_str()).collect()
}

#[test]
fn l_6_priority_then_the_longest_path_then_the_id() {
    let urgent = Task {
        priority: 0,
        ..task("z", &[])
    };
    let long = Task {
        weight: 5,
        ..task("y", &["c"])
    };
    let tasks = vec![task("a", &[]), task("b", &[]), task("c", &[]), urgent, long];
    let serial = Settings {
        max_parallel: 1,
        ..settings()
    };
    let mut stage = Stage::new(serial, tasks);
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    assert_eq!(claims(&stage), ["z", "c", "y", "a", "b"]);
    let Action::Claim { why } = &stage.effects[0].action else {
        panic!()
    };
    assert!(why.contains("priority 0"), "{why}");
}

#[test]
fn l_5_nothing_is_begun_before_what_it_waits_for_is_closed() {
    let tasks = vec![task("a", &[]), task("b", &["a"]), task("c", &["a", "b"])];
    let mut stage = Stage::new(settings(), tasks);
    assert_eq!(claims(&stage), ["a"]);
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    assert_eq!(claims(&stage), ["a", "b", "c"]);
}

#[test]
fn l_5_a_bead_that_is_not_valid_is_blocked_and_the_others_go_on() {
    let wrong = Task {
        fault: Some("metadata.branch is missing".to_owned()),
        ..task("a", &[])
    };
    let mut stage = Stage::new(settings(), vec![wrong, task("b", &[])]);
    assert_eq!(stage.play_well(), Some(Outcome::NeedsPerson));
    assert_eq!(stage.story("a"), ["block", "notify"]);
    assert_eq!(stage.last("a", "block").fence, None);
    assert!(is_closed(&stage.state("b")));
}

#[test]
fn z_8_beads_of_one_worktree_take_turns_and_others_do_not() {
    let same = |name: &str| Task {
        worktree: "../same".to_owned(),
        team: "t".to_owned(),
        ..task(name, &[])
    };
    let apart = Task {
        team: "t".to_owned(),
        ..task("c", &[])
    };
    let mut stage = Stage::new(settings(), vec![same("a"), same("b"), apart]);
    assert_eq!(claims(&stage), ["a", "c"]);
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    assert_eq!(claims(&stage), ["a", "c", "b"]);
}

#[test]
fn l_12_a_claim_that_somebody_else_won_is_asked_for_again_later() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    let outcome = stage.play(|effect, n| match effect.action {
        Action::Claim { .. } if n == 1 => otherwise(Answer::NotClaimed {
            why: "taken".to_owned(),
            is_full: false,
        }),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Done));
    assert_eq!(stage.times("a", "claim"), 2);
    let waited = stage.now.duration_since(Timestamp::UNIX_EPOCH);
    assert_eq!(waited.as_secs(), 5, "L-7: not before the next look");
}

#[test]
fn l_13_a_claim_that_the_store_could_not_do_is_tried_again() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    let outcome = stage.play(|effect, n| match effect.action {
        Action::Claim { .. } if n <= 2 => super::trouble(Trouble::passing("busy")),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Done));
}

#[test]
fn l_7_a_run_ends_when_nothing_is_left_unless_it_watches() {
    let mut stage = Stage::new(settings(), Vec::new());
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    let watching = Settings {
        watches: true,
        ..settings()
    };
    let mut stage = Stage::new(watching, vec![task("a", &[])]);
    assert_eq!(stage.play_well(), None);
    stage.tell(&Event::StopAsked { now: false });
    assert_eq!(stage.engine.outcome(), Some(Outcome::Stopped));
}

#[test]
fn a_run_waits_for_what_another_run_has_and_not_for_a_person() {
    let held = |is_run| Task {
        standing: TaskState::Held {
            by: "x".to_owned(),
            is_run,
        },
        ..task("a", &[])
    };
    let mut stage = Stage::new(settings(), vec![held(true), task("b", &["a"])]);
    assert_eq!(stage.play_well(), None);
    let closed = Task {
        standing: TaskState::Closed,
        ..task("a", &[])
    };
    stage.tell(&Event::Seen {
        tasks: vec![closed],
        gone: Vec::new(),
        parked: Vec::new(),
    });
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    let mut stage = Stage::new(settings(), vec![held(false)]);
    assert_eq!(stage.play_well(), Some(Outcome::Idle));
}

#[test]
fn once_means_what_is_ready_now() {
    let once = Settings {
        is_once: true,
        ..settings()
    };
    let mut stage = Stage::new(once, vec![task("a", &[]), task("b", &["a"])]);
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    assert_eq!(claims(&stage), ["a"]);
}
