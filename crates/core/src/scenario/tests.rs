//! Scenarios: which rule, which session, which turn; and what is refused.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn scenario(value: Value) -> Result<Scenario, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// The sessions of the only rule.
fn rule(sessions: &Value) -> Result<Rule, String> {
    scenario(json!({"rules": [{"sessions": sessions}]})).map(|scenario| scenario.rules()[0].clone())
}

fn session(turns: &Value) -> Session {
    rule(&json!([turns])).unwrap().session(1).clone()
}

#[track_caller]
fn refused(turn: &Value, expected: &str) {
    let error = rule(&json!([[turn, {"say": "x"}]])).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

/// The turns that a conversation gets when it is asked with these numbers of results.
fn asked(turns: &Value, n_results: &[usize]) -> Vec<usize> {
    let session = session(turns);
    let mut progress = SessionProgress::default();
    let next = |n: &usize| progress.next(&session, *n);
    n_results.iter().map(next).collect()
}

#[test]
fn the_first_rule_that_fits_counts() {
    let scenario = scenario(json!({"rules": [
        {"name": "both", "contains": ["a", "b"], "sessions": [[{"say": "1"}]]},
        {"name": "not c", "contains": ["a"], "lacks": ["c", "d"], "sessions": [[{"say": "2"}]]},
        {"name": "a", "contains": ["a"], "sessions": [[{"say": "3"}]]},
    ]}))
    .unwrap();
    for (prompt, name) in [
        ("ab", Some("both")),
        ("abc", Some("both")),
        ("a", Some("not c")),
        ("ac", Some("a")),
        ("ad", Some("a")),
        ("A", None),
        ("", None),
    ] {
        let found = scenario
            .rule_for(prompt)
            .map(|(_, rule)| rule.name.as_str());
        assert_eq!(found, name, "{prompt}");
    }
}

#[test]
fn every_conversation_of_a_rule_gets_the_next_session_and_the_last_repeats() {
    let scenario = scenario(json!({"rules": [
        {"contains": ["dev"], "sessions": [[{"say": "1"}], [{"say": "2"}]]},
        {"sessions": [[{"say": "else"}]]},
    ]}));
    let mut play = Play::new(scenario.unwrap());
    let mut said = |conversation: &str, prompt: &str| {
        let cue = play.next(conversation, prompt, 0).unwrap();
        match &cue.turn.action {
            Action::Say(text) => format!("{} {text}", cue.n_session),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(said("a", "dev"), "1 1");
    assert_eq!(said("x", "qa"), "1 else");
    assert_eq!(said("b", "dev"), "2 2");
    // A conversation keeps its rule and its session, whatever it says later.
    assert_eq!(said("a", "qa"), "1 1");
    assert_eq!(said("c", "dev"), "3 2");
}

#[test]
fn what_no_rule_fits_takes_no_session() {
    let scenario = scenario(
        json!({"rules": [{"contains": ["a"], "sessions": [[{"say": "1"}], [{"say": "2"}]]}]}),
    );
    let mut play = Play::new(scenario.unwrap());
    assert_eq!(play.next("one", "b", 0), None);
    assert_eq!(play.next("one", "a", 0).unwrap().n_session, 1);
}

#[test]
fn a_command_is_asked_for_until_its_result_comes() {
    let turns = json!([{"run": "a"}, {"run": "b"}, {"say": "c"}]);
    assert_eq!(asked(&turns, &[0, 0, 0, 1, 1, 2, 2]), [0, 0, 0, 1, 1, 2, 2]);
}

#[test]
fn what_is_no_command_is_done_once_and_the_last_repeats() {
    let turns = json!([{"fail": {"status": 429}, "times": 2}, {"run": "a"}, {"cut": "midway"}, {"say": "b"}]);
    assert_eq!(session(&turns).turns().len(), 5);
    assert_eq!(asked(&turns, &[0, 0, 0, 0, 1, 1, 1]), [0, 1, 2, 2, 3, 4, 4]);
    let for_ever = json!([{"fail": {"status": 500}}]);
    assert_eq!(asked(&for_ever, &[0, 0, 0]), [0, 0, 0]);
}

#[test]
fn more_results_than_commands_lead_to_the_last_turn() {
    let turns = json!([{"run": "a"}, {"say": "b"}, {"report": 1}]);
    assert_eq!(asked(&turns, &[7, 0, 1]), [2, 0, 1]);
}

#[test]
fn a_turn_has_its_cost_and_its_delay() {
    let turns = json!([{"say": "a"}, {"say": "b", "delay": "1s500ms", "usage": {"output": 7}}]);
    let session = session(&turns);
    assert_eq!(
        (session.turns()[0].usage, session.turns()[0].delay),
        (Usage::default(), Duration::ZERO)
    );
    let expected = Usage {
        output: 7,
        ..Usage::NONE
    };
    assert_eq!(
        (session.turns()[1].usage, session.turns()[1].delay),
        (expected, Duration::from_millis(1500))
    );
}

#[test]
fn every_action_is_read() {
    let turns = json!([
        {"run": "true"},
        {"fail": {"status": 429, "retry_after": 0, "message": "slow"}},
        {"fail": {"status": 429, "resets_at": 5}},
        {"hang": "forever"},
        {"hang": "2s"},
        {"cut": "before"},
        {"garbage": "{"},
        {"report": {"ok": null}},
    ]);
    let actions: Vec<Action> = session(&turns)
        .turns()
        .iter()
        .map(|turn| turn.action.clone())
        .collect();
    let limit = Failure {
        status: 429,
        retry_after: None,
        resets_at: Some(5),
        message: "the scenario says so".to_owned(),
    };
    let slow = Failure {
        retry_after: Some(0),
        resets_at: None,
        message: "slow".to_owned(),
        ..limit.clone()
    };
    assert!(slow.is_retried() && !limit.is_retried());
    assert_eq!(
        actions,
        [
            Action::Run("true".to_owned()),
            Action::Fail(slow),
            Action::Fail(limit),
            Action::Hang(None),
            Action::Hang(Some(Duration::from_secs(2))),
            Action::Cut(Cut::Before),
            Action::Garbage("{".to_owned()),
            Action::Report(json!({"ok": null})),
        ]
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    refused(
        &json!({"say": "x", "colour": "red"}),
        "unknown field `colour`",
    );
    refused(&json!({"usage": {}}), "turn 1: it does nothing");
    refused(
        &json!({"run": "x", "say": "y"}),
        "turn 1: it does two things",
    );
    refused(
        &json!({"say": "x", "times": 0}),
        "`times` is from 1 to 1000",
    );
    refused(
        &json!({"say": "x", "times": 1001}),
        "`times` is from 1 to 1000",
    );
    refused(
        &json!({"say": "x", "delay": "soon"}),
        "invalid duration 'soon'",
    );
    refused(
        &json!({"say": "x", "usage": {"in": 1}}),
        "unknown field `in`",
    );
    refused(&json!({"hang": "long"}), "invalid duration 'long'");
    refused(&json!({"cut": "now"}), "unknown variant `now`");
    refused(
        &json!({"fail": {"status": 200}}),
        "from 400 to 599, not 200",
    );
    refused(
        &json!({"fail": {"status": 500, "resets_at": 1}}),
        "goes with status 429",
    );
    refused(
        &json!({"fail": {"retry_after": 1}}),
        "missing field `status`",
    );
}

#[test]
fn a_scenario_without_content_is_refused() {
    for (value, expected) in [
        (json!({"rules": []}), "at least one rule"),
        (json!({}), "missing field `rules`"),
        (json!({"rules": [{"sessions": []}]}), "at least one session"),
        (json!({"rules": [{"sessions": [[]]}]}), "at least one turn"),
        (
            json!({"rules": [{"sessions": [[{"run": "x"}]]}]}),
            "must not end with `run`",
        ),
        (
            json!({"rules": [{"contains": [""], "sessions": [[{"say": "x"}]]}]}),
            "not empty",
        ),
        (
            json!({"rules": [{"contain": ["a"], "sessions": [[{"say": "x"}]]}]}),
            "unknown field `contain`",
        ),
        (json!({"rules": [], "rule": 1}), "unknown field `rule`"),
    ] {
        let error = scenario(value).unwrap_err();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

proptest! {
    /// Whoever works a session off, as a program does that tries again after failures, meets every turn once and in order.
    #[test]
    fn a_session_is_worked_off_in_order(kinds in prop::collection::vec(0_u8..3, 0..20)) {
        let mut turns: Vec<Value> = kinds
            .iter()
            .map(|kind| match kind {
                0 => json!({"run": "x"}),
                1 => json!({"fail": {"status": 500}}),
                _ => json!({"cut": "before"}),
            })
            .collect();
        turns.push(json!({"say": "end"}));
        let session = session(&json!(turns));
        let mut progress = SessionProgress::default();
        let mut n_results = 0;
        for (expected, turn) in turns.iter().enumerate() {
            prop_assert_eq!(progress.next(&session, n_results), expected);
            n_results += usize::from(turn.get("run").is_some());
        }
        prop_assert_eq!(progress.next(&session, n_results), turns.len() - 1);
    }
}
