//! Going on after a crash, and the journal (Z-4, Z-39).

use super::*;

/// Everything that was told so far, as a journal.
#[derive(Default)]
struct Book(Vec<Entry>);

impl Book {
    fn tell(&mut self, engine: &mut Engine, at: Timestamp, event: Event) -> Vec<Effect> {
        let effects = engine.handle(at, &event);
        self.0.push(Entry {
            seq: self.0.len() as u64 + 1,
            at,
            event,
            effects: effects.clone(),
        });
        effects
    }
}

fn head() -> Head {
    Head::new(settings(), "0.0.0", "mark", Timestamp::UNIX_EPOCH)
}

/// Plays a run well, and returns its journal.
fn recorded() -> Vec<Entry> {
    let mut engine = Engine::new(settings());
    let mut book = Book::default();
    let seen = Event::Seen {
        tasks: vec![task("a", &[]), task("b", &["a"])],
        gone: Vec::new(),
        parked: Vec::new(),
    };
    let mut pending = book.tell(&mut engine, Timestamp::UNIX_EPOCH, seen);
    while let Some(effect) = pending.pop() {
        let answered = Event::Answered {
            effect: effect.id,
            answer: Box::new(Ok(well(&effect))),
        };
        let at = Timestamp::from_second(book.0.len().try_into().unwrap()).unwrap();
        pending.extend(book.tell(&mut engine, at, answered));
    }
    book.0
}

#[test]
fn z_4_a_journal_folds_to_the_same_decisions_through_its_text() {
    let entries = recorded();
    let text: Vec<String> = entries
        .iter()
        .map(|entry| serde_json::to_string(entry).unwrap())
        .collect();
    let read: Vec<Entry> = text
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(read, entries);
    let engine = replay(&head(), &read).unwrap();
    assert_eq!(engine.outcome(), Some(Outcome::Done));
}

#[test]
fn z_4_a_journal_that_was_tampered_with_is_not_gone_on_with() {
    let entries = recorded();
    let mut missing = entries.clone();
    missing.remove(3);
    assert!(matches!(
        replay(&head(), &missing),
        Err(ReplayError::Order {
            expected: 4,
            found: 5
        })
    ));
    let mut other = entries.clone();
    other[2].effects.clear();
    assert!(matches!(
        replay(&head(), &other),
        Err(ReplayError::Diverged { seq: 3, .. })
    ));
    let newer = Head {
        engine: ENGINE + 1,
        version: "9.9.9".to_owned(),
        ..head()
    };
    let error = replay(&newer, &entries).unwrap_err().to_string();
    assert!(error.contains("9.9.9"), "the version is named: {error}");
}

#[test]
fn z_39_an_agent_that_was_cut_off_begins_anew_with_the_same_attempt() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, _| match effect.action {
        Action::Develop { .. } => Fate::Silence,
        _ => Fate::Well,
    });
    stage.pending.clear();
    stage.tell(&Event::Adopted {
        fences: vec![(id("a"), Fence(2))],
    });
    assert_eq!(stage.story("a")[3..], ["restore"]);
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    let develop = stage.last("a", "develop");
    let launch = develop.action.launch().unwrap();
    assert_eq!((launch.attempt, launch.number), (1, 2), "another session");
    assert_eq!(develop.fence, Some(Fence(2)), "under the new claim");
}

#[test]
fn z_39_what_was_sealed_is_judged_again_at_its_commit() {
    for cut in ["judge", "verify"] {
        let mut stage = Stage::new(settings(), vec![task("a", &[])]);
        stage.play(|effect, _| {
            if effect.action.name() == cut {
                Fate::Silence
            } else {
                Fate::Well
            }
        });
        stage.pending.clear();
        stage.tell(&Event::Adopted {
            fences: vec![(id("a"), Fence(2))],
        });
        let Action::Restore { commit: to, .. } = stage.last("a", "restore").action else {
            panic!()
        };
        let sealed = commit(&format!("a-{}", stage.last("a", "seal").id));
        assert_eq!(to, sealed, "the work stays");
        assert_eq!(stage.play_well(), Some(Outcome::Done));
        assert_eq!(stage.times("a", "develop"), 1, "{cut}");
    }
}

#[test]
fn z_4_what_may_have_been_done_is_asked_for_again_under_its_number() {
    let merged = Integration::Merge {
        target: "ralph/p".to_owned(),
    };
    let none = ["claim", "prepare", "seal", "record", "keep", "close"]
        .map(|cut| (cut, &Integration::None));
    let others = [
        ("merge", &merged),
        ("push", &Integration::Pr),
        ("propose", &Integration::Pr),
    ];
    for (cut, integration) in none.into_iter().chain(others) {
        let integration = integration.clone();
        let settings = Settings {
            integration,
            ..settings()
        };
        let mut stage = Stage::new(settings, vec![task("a", &[])]);
        stage.play(|effect, _| {
            if effect.action.name() == cut {
                Fate::Silence
            } else {
                Fate::Well
            }
        });
        let before = stage.last("a", cut);
        stage.pending.clear();
        stage.tell(&Event::Adopted {
            fences: vec![(id("a"), Fence(2))],
        });
        let again = stage.last("a", cut);
        assert_eq!((again.id, &again.action), (before.id, &before.action));
        assert_eq!(stage.play_well(), Some(Outcome::Done), "{cut}");
        assert_eq!(stage.times("a", "develop"), 1, "{cut}");
    }
}

#[test]
fn z_4_a_bead_that_could_not_be_taken_over_is_somebody_elses() {
    let mut stage = Stage::new(settings(), vec![task("a", &[]), task("b", &[])]);
    stage.play(|effect, _| match effect.action {
        Action::Develop { .. } => Fate::Silence,
        _ => Fate::Well,
    });
    stage.pending.clear();
    stage.tell(&Event::Adopted {
        fences: vec![(id("b"), Fence(2))],
    });
    assert!(matches!(
        stage.state("a"),
        BeadState::Ended(End::Lost { .. })
    ));
    stage.play_well();
    assert!(is_closed(&stage.state("b")));
    assert_eq!(stage.times("a", "close"), 0);
}

#[test]
fn a_run_that_was_stopping_when_it_died_goes_on() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, _| match effect.action {
        Action::Develop { .. } => Fate::Silence,
        _ => Fate::Well,
    });
    stage.tell(&Event::StopAsked { now: false });
    stage.pending.clear();
    stage.pass(60);
    stage.tell(&Event::Adopted {
        fences: vec![(id("a"), Fence(2))],
    });
    assert_eq!(stage.play_well(), Some(Outcome::Done));
}

#[test]
fn z_39_nobody_begins_in_a_worktree_that_is_being_put_back() {
    let judged_by_two = Task {
        judges: vec!["claude".to_owned(), "codex".to_owned()],
        ..task("a", &[])
    };
    let mut stage = Stage::new(settings(), vec![judged_by_two.clone()]);
    stage.tell(&Event::Seen {
        tasks: Vec::new(),
        gone: Vec::new(),
        parked: vec![(
            "codex".to_owned(),
            stage.now + SignedDuration::from_hours(1),
        )],
    });
    while let Some(effect) = stage.pending.first().cloned() {
        match effect.action {
            Action::Judge { .. } => break,
            Action::Claim { .. } => {
                let claimed = Answer::Claimed {
                    fence: Fence(1),
                    task: Box::new(judged_by_two.clone()),
                };
                stage.answer(&effect, Ok(claimed));
            }
            _ => stage.answer(&effect, Ok(well(&effect))),
        }
    }
    assert_eq!(stage.times("a", "judge"), 1, "the other one is parked");
    for fence in 2..4 {
        stage.now += SignedDuration::from_hours(1);
        stage.pending.clear();
        stage.tell(&Event::Adopted {
            fences: vec![(id("a"), Fence(fence))],
        });
        assert_eq!(stage.times("a", "judge"), 1, "not before it is put back");
    }
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    assert_eq!(
        stage.times("a", "judge"),
        3,
        "the first one again, and the other one"
    );
    assert_eq!(stage.times("a", "develop"), 1);
}

#[test]
fn z_4_a_last_word_that_may_have_been_said_is_said_again_under_its_number() {
    for cut in ["block", "release"] {
        let mut stage = Stage::new(settings(), vec![task("a", &[])]);
        let fate = |effect: &Effect, _: usize| match effect.action {
            Action::Develop { .. } if cut == "release" => Fate::Silence,
            Action::Develop { .. } => otherwise(Answer::Ended {
                report: report(Status::Failed),
            }),
            _ if effect.action.name() == cut => Fate::Silence,
            _ => Fate::Well,
        };
        stage.play(fate);
        if cut == "release" {
            stage.tell(&Event::StopAsked { now: true });
            let develop = stage.last("a", "develop");
            let killed = Answer::Ended {
                report: report(Status::Killed),
            };
            stage.answer(&develop, Ok(killed));
            stage.play(fate);
        }
        let before = stage.last("a", cut);
        stage.pending.clear();
        // It may be written already, so that there is nothing to take over.
        stage.tell(&Event::Adopted { fences: Vec::new() });
        let again = stage.last("a", cut);
        assert_eq!(
            (again.id, &again.action),
            (before.id, &before.action),
            "{cut}"
        );
        assert_eq!(stage.times("a", cut), 2, "{cut}");
    }
}
