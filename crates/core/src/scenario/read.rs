//! Reading scenarios: the shapes as they are written, and what must hold beyond them.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::model::{Action, Cut, Failure, Rule, Scenario, Session, Turn, Usage};
use crate::text::{excerpt, parse_duration};

/// How often a turn may be repeated.
const MAX_TIMES: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioDocument {
    rules: Vec<Rule>,
}

impl TryFrom<ScenarioDocument> for Scenario {
    type Error = &'static str;

    fn try_from(document: ScenarioDocument) -> Result<Self, Self::Error> {
        if document.rules.is_empty() {
            return Err("a scenario needs at least one rule");
        }
        Ok(Self {
            rules: document.rules,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleDocument {
    #[serde(default)]
    name: String,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    sessions: Vec<Session>,
}

impl TryFrom<RuleDocument> for Rule {
    type Error = &'static str;

    fn try_from(document: RuleDocument) -> Result<Self, Self::Error> {
        if document.sessions.is_empty() {
            return Err("a rule needs at least one session");
        }
        let mut needles = document.contains.iter().chain(&document.lacks);
        if needles.any(String::is_empty) {
            return Err("`contains` and `lacks` take texts that are not empty");
        }
        Ok(Self {
            name: document.name,
            contains: document.contains,
            lacks: document.lacks,
            sessions: document.sessions,
        })
    }
}

impl TryFrom<Vec<TurnDocument>> for Session {
    type Error = String;

    fn try_from(documents: Vec<TurnDocument>) -> Result<Self, Self::Error> {
        let mut turns = Vec::with_capacity(documents.len());
        for (n, document) in documents.into_iter().enumerate() {
            let n_times = document.times.unwrap_or(1);
            let turn =
                Turn::try_from(document).map_err(|reason| format!("turn {}: {reason}", n + 1))?;
            if !(1..=MAX_TIMES).contains(&n_times) {
                return Err(format!("turn {}: `times` is from 1 to {MAX_TIMES}", n + 1));
            }
            turns.extend(std::iter::repeat_n(turn, n_times));
        }
        match turns.last() {
            None => Err("a session needs at least one turn".to_owned()),
            Some(last) if matches!(last.action, Action::Run(_)) => Err(
                "a session must not end with `run`: say how it goes on after the command, such as `say: done`".to_owned(),
            ),
            Some(_) => Ok(Self { turns }),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnDocument {
    run: Option<String>,
    say: Option<String>,
    report: Option<Value>,
    fail: Option<FailDocument>,
    hang: Option<String>,
    cut: Option<Cut>,
    garbage: Option<String>,
    usage: Option<Usage>,
    delay: Option<String>,
    times: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FailDocument {
    status: u16,
    retry_after: Option<u64>,
    resets_at: Option<i64>,
    message: Option<String>,
}

impl TryFrom<TurnDocument> for Turn {
    type Error = String;

    fn try_from(document: TurnDocument) -> Result<Self, Self::Error> {
        let delay = document
            .delay
            .as_deref()
            .map_or(Ok(Duration::ZERO), duration)?;
        let usage = document.usage.unwrap_or_default();
        Ok(Self {
            action: action(document)?,
            usage,
            delay,
        })
    }
}

/// The one thing that a turn does.
fn action(document: TurnDocument) -> Result<Action, String> {
    let candidates = [
        document.run.map(Action::Run).map(Ok),
        document.say.map(Action::Say).map(Ok),
        document.report.map(Action::Report).map(Ok),
        document.fail.map(failure),
        document.hang.as_deref().map(hang),
        document.cut.map(Action::Cut).map(Ok),
        document.garbage.map(Action::Garbage).map(Ok),
    ];
    let mut actions = candidates.into_iter().flatten();
    match (actions.next(), actions.next()) {
        (Some(action), None) => action,
        (None, _) => Err("it does nothing; write one of `run`, `say`, `report`, `fail`, `hang`, `cut`, `garbage`".to_owned()),
        (Some(_), Some(_)) => Err("it does two things; make two turns of them".to_owned()),
    }
}

fn failure(document: FailDocument) -> Result<Action, String> {
    if !(400..600).contains(&document.status) {
        return Err(format!(
            "a failure has a status from 400 to 599, not {}",
            document.status
        ));
    }
    if document.resets_at.is_some() && document.status != 429 {
        return Err("`resets_at` goes with status 429".to_owned());
    }
    let message = (document.message).unwrap_or_else(|| "the scenario says so".to_owned());
    Ok(Action::Fail(Failure {
        status: document.status,
        retry_after: document.retry_after,
        resets_at: document.resets_at,
        message,
    }))
}

fn hang(text: &str) -> Result<Action, String> {
    match text {
        "forever" => Ok(Action::Hang(None)),
        text => Ok(Action::Hang(Some(duration(text)?))),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "invalid duration '{}'; write one like `200ms` or `1m30s`",
            excerpt(text)
        )
    };
    parse_duration(text).ok_or_else(wrong)
}
