//! A small run, told.

use jiff::SignedDuration;

use super::*;
use crate::agent::Status;
use crate::bead;
use crate::engine::tests::{id, settings, task};
use crate::engine::{
    Action, AgentReport, Answer, Effect, EffectId, Entry, Event, Head, Launch, Progress,
};
use crate::simulate::{Play, Source, WorldModel};

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

fn weighed(name: &str, waits_for: &[&str], weight: u64) -> Task {
    Task {
        weight,
        ..task(name, waits_for)
    }
}

fn story(name: &str, waited_for: &[&str], weight: u64, seconds: i64) -> Story {
    Story {
        claimed: Some(at(0)),
        ended: Some(at(seconds)),
        ..Story::of(weighed(name, waited_for, weight))
    }
}

fn told(stories: Vec<Story>) -> Chronicle {
    Chronicle {
        run: "r".to_owned(),
        version: "0".to_owned(),
        began: at(0),
        last: at(0),
        outcome: None,
        state: RunState::Running,
        is_left: false,
        n_adopted: 0,
        width: 2,
        stories,
        spent: Spent::default(),
    }
}

#[test]
fn the_longest_way_is_found_as_planned_and_as_it_was() {
    let chronicle = told(vec![
        story("a", &[], 10, 60),
        story("b", &["a"], 1, 600),
        story("c", &["a"], 30, 10),
        story("d", &["b", "c", "gone"], 5, 30),
        story("e", &[], 20, 40),
    ]);
    let (planned, actual) = critical_paths(&chronicle);
    let names = |path: &CriticalPath| path.beads.iter().map(BeadId::to_string).collect::<Vec<_>>();
    assert_eq!(names(&planned), ["a", "c", "d"]);
    assert_eq!(planned.took_ms, 45 * 60_000);
    assert_eq!(names(&actual), ["a", "b", "d"]);
    assert_eq!(actual.took_ms, 690_000);
    assert_eq!(critical_paths(&told(Vec::new())).0, CriticalPath::default());
}

#[test]
fn beads_that_wait_in_a_circle_do_not_hang_it() {
    let chronicle = told(vec![story("a", &["b"], 1, 1), story("b", &["a"], 1, 1)]);
    assert_eq!(critical_paths(&chronicle).0.beads, []);
}

#[test]
fn a_journal_becomes_attempts_with_what_ran_in_them() {
    let effect = |number: u64, action: Action| Effect {
        id: EffectId(number),
        bead: id("a"),
        fence: None,
        action,
    };
    let launch = Launch {
        attempt: 2,
        number: 1,
        account: "claude".to_owned(),
        grant: crate::engine::Cap::default(),
    };
    let report = AgentReport {
        agent: "claude".to_owned(),
        model: bead::Model::Sonnet,
        model_id: None,
        session: "s".to_owned(),
        started_at: at(10),
        ended_at: at(70),
        status: Status::Failed,
        reason: "no".to_owned(),
        spent: Spent {
            tokens: 7,
            ..Spent::default()
        },
        resets_at: None,
        evidence: None,
    };
    let entry = |seq: u64, seconds: i64, event: Event, effects: Vec<Effect>| Entry {
        seq,
        at: at(seconds),
        event,
        effects,
    };
    let seen = Event::Seen {
        tasks: vec![task("a", &[])],
        gone: Vec::new(),
        parked: Vec::new(),
    };
    let develop = Action::Develop {
        agent: 0,
        launch,
        feedback: Some("the test fails".to_owned()),
    };
    let ended = Event::Answered {
        effect: EffectId(1),
        answer: Box::new(Ok(Answer::Ended { report })),
    };
    let verify = Action::Verify {
        attempt: 2,
        commit: CommitId("c".to_owned()),
    };
    let verified = Event::Answered {
        effect: EffectId(2),
        answer: Box::new(Ok(Answer::Verified {
            commit: CommitId("c".to_owned()),
            is_green: false,
            summary: "tests: red".to_owned(),
            is_cut_off: false,
        })),
    };
    let entries = [
        entry(1, 1, seen, vec![effect(1, develop)]),
        entry(2, 71, ended, vec![effect(2, verify)]),
        entry(3, 80, verified, Vec::new()),
    ];
    let mut teller = tell::Teller::default();
    for entry in &entries {
        teller.hear(entry);
    }
    let stories: Vec<&Story> = teller.stories.values().collect();
    let [story] = stories.as_slice() else {
        panic!("{stories:?}");
    };
    let [attempt] = story.attempts.as_slice() else {
        panic!("{:?}", story.attempts);
    };
    assert_eq!(
        (attempt.number, attempt.feedback.as_deref()),
        (2, Some("the test fails"))
    );
    let runs: Vec<_> = (attempt.runs.iter())
        .map(|run| (run.kind, run.is_good, run.began, run.ended))
        .collect();
    assert_eq!(
        runs,
        [
            (RunKind::Develop, false, at(10), at(70)),
            (RunKind::Verify, false, at(71), at(80))
        ]
    );
    assert_eq!(story.spent.tokens, 7);
}

#[test]
fn whoever_reads_along_is_told_the_same_story() {
    let model = WorldModel::default();
    let play = Play {
        settings: settings(),
        tasks: vec![task("a", &[]), task("b", &["a"]), task("c", &["a"])],
        model: &model,
        source: Source::Drawn,
        seed: 3,
        began: at(0),
    };
    let head = Head::new(settings(), "0.1", "m", at(0));
    let entries = play.run().entries;
    let mut telling = Telling::begin(head.clone()).unwrap();
    for (n, entry) in entries.iter().enumerate() {
        telling.hear(entry).unwrap();
        let at_once = chronicle(&head, &entries[..=n]).unwrap();
        assert_eq!(format!("{:?}", telling.told()), format!("{at_once:?}"));
    }
    let told = telling.told();
    assert_eq!(told.last, entries.last().unwrap().at);
    let attempts: Vec<u32> = told.stories.iter().map(|it| it.attempt).collect();
    let made: Vec<u32> = (told.stories.iter())
        .map(|it| it.attempts.last().map_or(0, |attempt| attempt.number))
        .collect();
    assert_eq!(attempts, made);
    assert!(
        telling.hear(&entries[0]).is_err(),
        "what was heard comes no second time"
    );
}

#[test]
fn what_is_tried_again_after_it_was_given_up_has_attempts_of_its_own() {
    let mut story = Story::of(task("a", &[]));
    let done = |story: &mut Story, action: Action, answer: Answer| {
        let effect = Effect {
            id: EffectId(1),
            bead: id("a"),
            fence: None,
            action,
        };
        story.note(&effect, at(1), &Ok(answer));
    };
    for number in [1, 2] {
        story.attempt_of(Some(number));
    }
    let block = Action::Block {
        reason: "no".to_owned(),
        is_fatal: false,
        progress: Progress::default(),
        commit: None,
    };
    done(&mut story, block, Answer::Done);
    story.attempt_of(None);
    story.attempt_of(Some(1));
    story.attempt_of(Some(2));
    story.attempt_of(None);
    let numbers: Vec<u32> = story.attempts.iter().map(|it| it.number).collect();
    assert_eq!(numbers, [1, 2, 1, 2]);
}

#[test]
fn z_41_of_ways_of_one_length_the_first_in_the_natural_order_of_sprints_is_taken() {
    let of = |name: &str, sprint: &str| {
        let mut story = story(name, &[], 5, 60);
        story.task.sprint = sprint.to_owned();
        story
    };
    let chronicle = told(vec![of("bd-1-10", "1.10"), of("bd-1-2", "1.2")]);
    let (planned, actual) = critical_paths(&chronicle);
    let names = |path: &CriticalPath| path.beads.iter().map(BeadId::to_string).collect::<Vec<_>>();
    assert_eq!(names(&planned), ["bd-1-2"], "as in the graph of a plan");
    assert_eq!(names(&actual), ["bd-1-2"]);
}
