//! Trying again what met passing trouble.

use super::*;

#[test]
fn z_2_a_write_that_is_tried_again_is_the_same_effect() {
    // Only its number tells whether the first try was heard.
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    let outcome = stage.play(|effect, n| match (&effect.action, n) {
        (Action::Record { .. } | Action::Close { .. }, 1) => {
            Fate::Else(Box::new(Err(Trouble::passing("busy"))))
        }
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Done));
    for name in ["record", "close"] {
        let tries: Vec<EffectId> = (stage.effects.iter())
            .filter(|effect| effect.action.name() == name)
            .map(|effect| effect.id)
            .collect();
        assert_eq!(tries.len(), 2, "{name}");
        assert_eq!(tries[0], tries[1], "{name}");
    }
}

#[test]
fn z_2_a_run_of_an_agent_that_could_not_begin_is_another_one_the_next_time() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    let outcome = stage.play(|effect, n| match (&effect.action, n) {
        (Action::Develop { .. }, 1) => Fate::Else(Box::new(Err(Trouble::passing("busy")))),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Done));
    let numbers: Vec<u32> = (stage.effects.iter())
        .filter_map(|effect| Some(effect.action.launch()?.number))
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn l_12_a_claim_whose_answer_was_lost_is_asked_for_again() {
    // The store gave the bead to this run, which heard that it could not be reached.
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    let claim = stage.pending[0].clone();
    stage.answer(&claim, Err(Trouble::passing("busy")));
    let held = Task {
        standing: TaskState::Held {
            by: "run-1".to_owned(),
            is_run: true,
        },
        ..task("a", &[])
    };
    stage.tell(&Event::Seen {
        tasks: vec![held],
        gone: Vec::new(),
        parked: Vec::new(),
    });
    assert_eq!(stage.play_well(), Some(Outcome::Done));
}
