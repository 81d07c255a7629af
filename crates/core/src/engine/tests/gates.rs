//! Gates in the loop (contracts §8.5): held back by red ones, and gates of plans that nobody works on.

use super::*;

fn gate(name: &str, waits_for: &[&str]) -> Task {
    Task {
        is_gate: true,
        developers: Vec::new(),
        judges: Vec::new(),
        leader: None,
        ..task(name, waits_for)
    }
}

/// What happens to a gate when its checks say so.
fn fate(is_green: bool) -> impl Fn(&Effect, usize) -> Fate {
    move |effect, _| match &effect.action {
        Action::Claim { .. } if effect.bead.as_str() == "g" => otherwise(Answer::Claimed {
            fence: Fence(1),
            task: Box::new(gate("g", &[])),
        }),
        Action::Verify { commit, .. } if effect.bead.as_str() == "g" => {
            otherwise(Answer::Verified {
                commit: commit.clone(),
                is_green,
                summary: "tests: Exit code 1".to_owned(),
                is_cut_off: false,
            })
        }
        _ => Fate::Well,
    }
}

#[test]
fn v_11_a_gate_goes_from_its_place_to_its_checks_and_nobody_is_called() {
    for integration in [
        Integration::None,
        Integration::Pr,
        Integration::Merge {
            target: "main".to_owned(),
        },
    ] {
        let settings = Settings {
            integration,
            leader: Leader::Agent,
            ..settings()
        };
        let mut stage = Stage::new(settings, vec![gate("g", &[]), task("b", &["g"])]);
        assert_eq!(stage.play(fate(true)), Some(Outcome::Done));
        let story = ["claim", "prepare", "verify", "keep", "close"];
        assert_eq!(stage.story("g"), story);
        assert!(is_closed(&stage.state("b")));
    }
}

#[test]
fn v_11_a_red_gate_waits_for_a_person_at_once_and_so_does_what_waits_for_it() {
    let mut stage = Stage::new(settings(), vec![gate("g", &[]), task("b", &["g"])]);
    assert_eq!(stage.play(fate(false)), Some(Outcome::NeedsPerson));
    assert_eq!(stage.times("g", "verify"), 1);
    assert_eq!(
        reason(&stage.state("g")),
        "the gate is red: the checks failed: tests: Exit code 1"
    );
    assert_eq!(stage.story("b"), Vec::<&str>::new());
}

#[test]
fn v_11_nobody_solves_conflicts_for_a_gate() {
    let mut stage = Stage::new(settings(), vec![gate("g", &[])]);
    let outcome = stage.play(|effect, n| match &effect.action {
        Action::Prepare { .. } => otherwise(Answer::Prepared {
            head: commit("base"),
            conflicts: vec!["a.txt".to_owned()],
            merging: Some("x".to_owned()),
            from: String::new(),
            is_anew: false,
        }),
        _ => fate(true)(effect, n),
    });
    assert_eq!(outcome, Some(Outcome::NeedsPerson));
    assert!(reason(&stage.state("g")).contains("conflicts in a.txt"));
    assert_eq!(stage.times("g", "resolve"), 0);
}

#[test]
fn g_3_what_gates_hold_back_is_not_begun_until_they_are_green() {
    let why = "Gates are RED: smoke".to_owned();
    let held = Task {
        held_back: Some(why.clone()),
        ..task("a", &[])
    };
    let mut stage = Stage::new(settings(), vec![held, task("b", &[])]);
    assert_eq!(stage.play_well(), Some(Outcome::Idle));
    assert_eq!(stage.story("a"), Vec::<&str>::new());
    assert_eq!(stage.state("a"), BeadState::HeldBack { why });
    assert!(is_closed(&stage.state("b")));
    stage.tell(&Event::Seen {
        tasks: vec![task("a", &[])],
        gone: Vec::new(),
        parked: Vec::new(),
    });
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    assert!(is_closed(&stage.state("a")));
}
