//! How beads and runs end before they are done.

use super::*;

fn stops(effect: &Effect, _: usize) -> Fate {
    match effect.action {
        Action::Judge { .. } if effect.bead.as_str() == "a" => {
            otherwise(judged(QaStatus::Stop, "a secret"))
        }
        _ => Fate::Well,
    }
}

#[test]
fn l_8_a_stop_of_qa_blocks_the_bead_and_begins_nothing_new() {
    let two = Settings {
        max_parallel: 2,
        ..settings()
    };
    let tasks = vec![task("a", &[]), task("b", &[]), task("c", &[])];
    let mut stage = Stage::new(two, tasks);
    let outcome = stage.play(stops);
    assert!(
        matches!(&outcome, Some(Outcome::Fatal(why)) if why.contains("a secret")),
        "{outcome:?}"
    );
    assert!(is_closed(&stage.state("b")), "what runs may finish");
    assert_eq!(stage.times("c", "claim"), 0);
    assert_eq!(stage.times("a", "develop"), 1, "no retry");
    let Action::Block { is_fatal, .. } = stage.last("a", "block").action else {
        panic!()
    };
    assert!(is_fatal);
}

#[test]
fn z_1_a_missing_agent_or_a_refused_key_stops_the_run() {
    for status in [Status::Config, Status::Auth] {
        let mut stage = Stage::new(settings(), vec![task("a", &[])]);
        let outcome = stage.play(|effect, _| match effect.action {
            Action::Develop { .. } => otherwise(Answer::Ended {
                report: report(status),
            }),
            _ => Fate::Well,
        });
        assert!(matches!(outcome, Some(Outcome::Fatal(_))), "{outcome:?}");
        assert_eq!(stage.times("a", "block"), 1);
    }
}

#[test]
fn one_qa_agent_that_cannot_run_waits_for_the_others_to_end() {
    let mut two = task("a", &[]);
    two.judges.push("codex".to_owned());
    let claimed = two.clone();
    let mut stage = Stage::new(settings(), vec![two]);
    let outcome = stage.play(|effect, _| match &effect.action {
        Action::Claim { .. } => otherwise(Answer::Claimed {
            fence: Fence(1),
            task: Box::new(claimed.clone()),
        }),
        Action::Judge { agent: 0, .. } => otherwise(Answer::Judged {
            report: report(Status::Auth),
            verdict: None,
        }),
        _ => Fate::Well,
    });
    assert!(matches!(outcome, Some(Outcome::Fatal(_))), "{outcome:?}");
    assert_eq!(stage.times("a", "block"), 1);
    assert_eq!(stage.times("a", "verify"), 0);
}

#[test]
fn l_9_a_gentle_stop_lets_agents_end_and_gives_the_bead_back() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, _| match effect.action {
        Action::Develop { .. } => Fate::Silence,
        _ => Fate::Well,
    });
    stage.tell(&Event::StopAsked { now: false });
    assert_eq!(stage.engine.outcome(), None, "the agent still runs");
    assert_eq!(stage.play_well(), Some(Outcome::Stopped));
    assert_eq!(
        stage.story("a")[3..],
        ["seal", "record", "restore", "release"],
        "what it made is committed; no QA agent is begun"
    );
    let Action::Release { progress } = stage.last("a", "release").action else {
        panic!()
    };
    assert_eq!(progress.attempts, 0, "the attempt is not used up");
}

#[test]
fn l_9_a_stop_now_ends_agents_and_puts_the_worktree_back() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, _| match effect.action {
        Action::Develop { .. } => Fate::Silence,
        _ => Fate::Well,
    });
    stage.tell(&Event::StopAsked { now: true });
    assert_eq!(stage.story("a").last(), Some(&"cancel"));
    let outcome = stage.play(|effect, _| match effect.action {
        Action::Develop { .. } => otherwise(Answer::Ended {
            report: report(Status::Killed),
        }),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Stopped));
    assert_eq!(stage.story("a")[4..], ["restore", "release"]);
}

#[test]
fn z_15_a_pause_begins_nothing_new_and_ends_nothing() {
    let mut stage = Stage::new(settings(), vec![task("a", &[]), task("b", &["a"])]);
    stage.tell(&Event::PauseAsked { is_paused: true });
    assert_eq!(stage.play_well(), None);
    assert!(is_closed(&stage.state("a")));
    assert_eq!(stage.times("b", "claim"), 0);
    stage.tell(&Event::PauseAsked { is_paused: false });
    assert_eq!(stage.play_well(), Some(Outcome::Done));
}

#[test]
fn l_7_7_passing_trouble_is_tried_again_and_lasting_trouble_stops_the_run() {
    for (n_failures, is_done) in [(2, true), (3, false)] {
        let pushing = Settings {
            integration: Integration::Pr,
            ..settings()
        };
        let mut stage = Stage::new(pushing, vec![task("a", &[])]);
        let outcome = stage.play(|effect, n| match effect.action {
            Action::Push { .. } if n <= n_failures => {
                super::trouble(Trouble::passing("the network is down"))
            }
            _ => Fate::Well,
        });
        assert_eq!(outcome == Some(Outcome::Done), is_done, "{outcome:?}");
        assert_eq!(stage.times("a", "block"), usize::from(!is_done));
    }
}

#[test]
fn trouble_of_one_bead_is_for_a_person_and_of_all_beads_stops_the_run() {
    for (trouble, is_fatal) in [
        (Trouble::for_bead("the branch is gone"), false),
        (Trouble::for_run("no room on the disk"), true),
    ] {
        let mut stage = Stage::new(settings(), vec![task("a", &[]), task("b", &[])]);
        let outcome = stage.play(|effect, _| match effect.action {
            Action::Prepare { .. } if effect.bead.as_str() == "a" => {
                super::trouble(trouble.clone())
            }
            _ => Fate::Well,
        });
        assert_eq!(matches!(outcome, Some(Outcome::Fatal(_))), is_fatal);
        assert_eq!(reason(&stage.state("a")), trouble.message);
        assert!(is_closed(&stage.state("b")));
    }
}

#[test]
fn z_2_a_bead_that_somebody_took_is_left_alone() {
    let mut stage = Stage::new(settings(), vec![task("a", &[]), task("b", &["a"])]);
    let outcome = stage.play(|effect, _| match effect.action {
        Action::Record { .. } => super::trouble(Trouble::lost("fence 1 is stale")),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Idle));
    assert!(matches!(
        stage.state("a"),
        BeadState::Ended(End::Lost { .. })
    ));
    for never in ["block", "release", "close"] {
        assert_eq!(stage.times("a", never), 0, "{never}");
    }
}

#[test]
fn answers_that_come_twice_or_to_nothing_change_nothing() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    let claim = stage.effects[0].clone();
    for _ in 0..2 {
        stage.answer(&claim, Ok(well(&claim)));
    }
    assert_eq!(stage.times("a", "prepare"), 1);
    stage.tell(&Event::Answered {
        effect: EffectId(99),
        answer: Box::new(Ok(Answer::Done)),
    });
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    assert_eq!(stage.times("a", "close"), 1);
}

#[test]
fn z_7_the_agent_of_a_bead_that_was_lost_is_ended() {
    // That a bead is lost is told as an answer to what runs for it, and it runs all the same.
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, _| match effect.action {
        Action::Develop { .. } => Fate::Silence,
        _ => Fate::Well,
    });
    let develop = stage.last("a", "develop");
    stage.answer(
        &develop,
        Err(Trouble::lost("another process has claimed it")),
    );
    assert_eq!(stage.story("a").last(), Some(&"cancel"));
}

#[test]
fn l_9_a_setup_that_was_ended_by_a_stop_is_no_matter_for_a_person() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, _| match effect.action {
        Action::Prepare { .. } => Fate::Silence,
        _ => Fate::Well,
    });
    stage.tell(&Event::StopAsked { now: true });
    let outcome = stage.play(|effect, _| match effect.action {
        Action::Prepare { .. } => trouble(Trouble::for_bead("the setup was stopped")),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Stopped));
    assert_eq!(
        (stage.times("a", "block"), stage.times("a", "release")),
        (0, 1)
    );
}

#[test]
fn l_9_somebody_in_the_worktree_does_not_keep_a_run_from_stopping() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, _| match effect.action {
        Action::Develop { .. } => Fate::Silence,
        _ => Fate::Well,
    });
    stage.tell(&Event::StopAsked { now: true });
    let began = stage.now;
    let outcome = stage.play(|effect, _| match effect.action {
        Action::Restore { .. } => trouble(Trouble::occupied("a shell is in there")),
        Action::Develop { .. } => otherwise(Answer::Ended {
            report: report(Status::Killed),
        }),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Stopped));
    assert_eq!((stage.times("a", "block"), stage.now), (0, began));
}

#[test]
fn l_8_after_a_fatal_word_nobody_waits_for_an_account() {
    let other = Task {
        developers: vec!["codex".to_owned()],
        ..task("b", &[])
    };
    let mut stage = Stage::new(settings(), vec![task("a", &[]), other.clone()]);
    let until = stage.now + SignedDuration::from_hours(5);
    stage.tell(&Event::Seen {
        tasks: Vec::new(),
        gone: Vec::new(),
        parked: vec![("codex".to_owned(), until)],
    });
    let outcome = stage.play(|effect, _| match effect.action {
        Action::Claim { .. } if effect.bead.as_str() == "b" => otherwise(Answer::Claimed {
            fence: Fence(1),
            task: Box::new(other.clone()),
        }),
        _ => stops(effect, 1),
    });
    assert!(matches!(outcome, Some(Outcome::Fatal(_))), "{outcome:?}");
    assert!(stage.now < until, "it did not wait for codex");
    assert_eq!(
        (stage.times("b", "develop"), stage.times("b", "release")),
        (0, 1)
    );
}

#[test]
fn l_7_7_waiting_for_somebody_uses_up_no_try() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    let outcome = stage.play(|effect, n| match effect.action {
        Action::Prepare { .. } if n <= 10 => trouble(Trouble::occupied("a shell is in there")),
        Action::Prepare { .. } if n == 11 => trouble(Trouble::passing("a lock")),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Done));
}
