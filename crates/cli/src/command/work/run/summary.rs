//! The result of a run: beads, attempts, cost, branches, and what waits for you.

use std::fmt::Write as _;

use beads_ralph_core::bead::{AgentSpec, Rules};
use beads_ralph_core::engine::{BeadState, BeadView, End, Engine, Event, Outcome, Settings};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_runtime::agent::{self, Finding};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::origin::Origins;
use beads_ralph_runtime::bead_files::Ralph;
use beads_ralph_runtime::run::{Ended, Selection, Sight, TaskReader, left_behind};
use beads_ralph_runtime::{gate, os::clock, os::host};
use serde_json::{Value, json};

use super::Place;
use crate::failure::Failure;
use crate::ui::format::{cost, milliseconds, spending};
use crate::ui::table::{Page, Table};
use crate::ui::{Ui, counted};

/// The data of a run.
pub(super) fn json(ended: &Ended) -> Value {
    let view = ended.engine.view();
    let reason = match &ended.outcome {
        Outcome::Fatal(reason) => Some(reason.clone()),
        Outcome::Done | Outcome::Idle | Outcome::Stopped | Outcome::NeedsPerson => None,
    };
    json!({
        "run": view.run, "outcome": ended.outcome.as_str(), "reason": reason, "adopted": ended.is_adopted,
        "beads": view.beads,
        "spent": view.spent, "journal": ended.run.journal(),
    })
}

/// Shows what a run came to.
pub(super) fn show(ended: &Ended, prints_events: bool, ui: &Ui) -> Result<(), Failure> {
    // Standard output is for the events alone, so that a program can read it to its end.
    if prints_events && ui.is_json() {
        return Ok(());
    }
    if ui.is_json() {
        return match ended.outcome {
            Outcome::Done | Outcome::Idle | Outcome::Stopped => ui.data(&json(ended)),
            Outcome::NeedsPerson | Outcome::Fatal(_) => Ok(()),
        };
    }
    let view = ended.engine.view();
    let mut table = Table::new(&[
        "bead",
        "sprint",
        "state",
        "attempts",
        "agent time",
        "cost",
        "branch",
    ]);
    for bead in &view.beads {
        table.row(vec![
            bead.id.clone(),
            visible(&bead.sprint),
            state(bead),
            bead.attempt.to_string(),
            milliseconds(bead.spent.time_ms),
            cost(&bead.spent),
            visible(&bead.branch),
        ]);
    }
    let mut text = table.draw(Page::of(ui));
    let n_closed = view
        .beads
        .iter()
        .filter(|bead| matches!(bead.state, BeadState::Ended(End::Closed { .. })))
        .count();
    _ = writeln!(
        text,
        "\nthis run: {} closed; {}",
        counted(n_closed, "bead", "beads"),
        spending(&view.spent)
    );
    push_people(&mut text, &view.beads, &mut Origins::of_run(&ended.run));
    if prints_events {
        ui.say(&text);
        return Ok(());
    }
    ui.out(&text)
}

fn push_people(text: &mut String, beads: &[BeadView], origins: &mut Origins) {
    let needing: Vec<(&BeadView, &str)> = (beads.iter())
        .filter_map(|bead| match &bead.state {
            BeadState::Ended(End::NeedsPerson { reason }) => Some((bead, reason.as_str())),
            BeadState::Blocked => Some((
                bead,
                "it needed attention before this run; `beads-ralph blocked` says why",
            )),
            _ => None,
        })
        .collect();
    if needing.is_empty() {
        return;
    }
    text.push_str("\nNeeds attention:\n");
    for (bead, reason) in needing {
        _ = writeln!(text, "  {}: {}", bead.id, visible(reason));
        if let Some(source) = &bead.source {
            let origin = origins.locate(source, &bead.sprint);
            _ = writeln!(text, "    {}", origin.words());
        }
        _ = writeln!(
            text,
            "    beads-ralph logs {0}   |   beads-ralph retry {0}   |   beads-ralph close {0}",
            bead.id
        );
    }
}

fn state(bead: &BeadView) -> String {
    match &bead.state {
        BeadState::Waiting { on } => format!(
            "waits for {}",
            on.first().map_or("something else", String::as_str)
        ),
        BeadState::HeldBack { why } => visible(why),
        BeadState::Ready => "ready".to_owned(),
        BeadState::Working { phase, .. } => phase.as_str().to_owned(),
        BeadState::Held { by } => format!("held by {}", excerpt(by)),
        BeadState::Blocked => "needs attention".to_owned(),
        BeadState::Closed => "closed".to_owned(),
        BeadState::Ended(End::Closed { pull, .. }) => pull
            .as_ref()
            .map_or_else(|| "closed".to_owned(), |url| format!("closed, {url}")),
        BeadState::Ended(End::NeedsPerson { .. }) => "needs attention".to_owned(),
        BeadState::Ended(End::Released) => "released".to_owned(),
        BeadState::Ended(End::Lost { .. }) => "taken by another holder".to_owned(),
    }
}

/// What would be begun first, and why.
pub(super) fn dry_run(
    settings: &Settings,
    findings: &[Finding],
    beads: &Beads,
    selection: &Selection,
    place: &Place,
    ui: &Ui,
) -> Result<(), Failure> {
    let account = |spec: &AgentSpec| agent::account(&place.config, &place.root, spec);
    let ralph = Ralph::with_store(&place.root, &beads.directory);
    let reader = TaskReader {
        rules: Rules {
            rig: place.config.rig.clone(),
        },
        max_attempts: place.config.run.max_attempts,
        has_default_checks: !place.config.default_checks.is_empty(),
        selection: selection.clone(),
        gone: &|claim, now| claim.is_abandoned(now, &host::name(), host::liveness),
        gates: &|store| gate::gates(&ralph, Some(store)),
        account: &account,
    };
    let now = clock::wall();
    let seen = Sight::default().look(&*beads.store, &reader, now, &|_| false)?;
    let mut engine = Engine::new(settings.clone());
    let effects = engine.handle(now, &seen.unwrap_or(Event::Woke));
    let first: Vec<Value> = (effects.iter())
        .filter_map(|effect| match &effect.action {
            beads_ralph_core::engine::Action::Claim { why } => {
                Some(json!({"bead": effect.bead, "why": why}))
            }
            _ => None,
        })
        .collect();
    let view = engine.view();
    let is_refused = findings.iter().any(|finding| finding.is_error);
    let refused = is_refused.then(|| super::refusal(findings));
    if ui.is_json() {
        let findings: Vec<Value> = findings
            .iter()
            .map(|it| json!({"error": it.is_error, "message": it.message, "action": it.action}))
            .collect();
        let data = json!({"dry_run": true, "settings": settings, "findings": findings, "first": first, "beads": view.beads});
        return match refused {
            Some(refused) => Err(refused.with_results(data)),
            None => ui.data(&data),
        };
    }
    let mut text = String::new();
    for finding in findings {
        let word = if finding.is_error { "error" } else { "warning" };
        _ = writeln!(
            text,
            "{word}: {}\n  help: {}",
            visible(&finding.message),
            visible(&finding.action)
        );
    }
    for (run, _) in left_behind(&beads.directory)? {
        let run = run.id();
        _ = writeln!(
            text,
            "{run} is unfinished; `beads-ralph run` resumes it with its original settings"
        );
    }
    let n_beads = counted(view.beads.len(), "bead", "beads");
    if first.is_empty() {
        _ = writeln!(text, "{n_beads} not done; none of them could be begun now");
    } else {
        _ = writeln!(text, "{n_beads} not done; these would be begun first:");
    }
    for one in &first {
        _ = writeln!(
            text,
            "  {}: {}",
            one["bead"].as_str().unwrap_or_default(),
            one["why"].as_str().unwrap_or_default()
        );
    }
    ui.out(&text)?;
    refused.map_or(Ok(()), |refused| Err(refused.told()))
}
