//! What `run` noted in the bead of a plan's gate (V-11): it writes no results of checks, but how the sprint ended.

use serde_json::Value;

use super::model::{Gate, Light, Why};
use crate::history::records::last_error;
use crate::issue::Issue;
use crate::vocabulary::metadata;

/// A gate of a plan with its last run and what that came to.
pub(super) fn seen(gate: Gate, issue: &Issue) -> Gate {
    let noted = |key: &str| issue.metadata()?.get(key);
    let checked_at = noted(metadata::CHECKED_AT).and_then(Value::as_str);
    let has_passed = noted("scrum_result").and_then(|it| it.get("success")?.as_bool());
    let light = match gate.light {
        Light::Red(Why::NeverRun | Why::Failed) => match has_passed {
            Some(true) => Light::Red(Why::Reopened),
            Some(false) => Light::Red(Why::Failed),
            None => gate.light,
        },
        light => light,
    };
    let closed_at = || issue.text("closed_at").filter(|_| !gate.is_red());
    let last_run = checked_at.or_else(closed_at).map(str::to_owned);
    let failure = match light {
        Light::Red(Why::Failed) => last_error(issue),
        _ => gate.failure,
    };
    Gate {
        light,
        last_run: last_run.or(gate.last_run),
        failure,
        ..gate
    }
}
