//! What came of an agent's run: how it ended, what it cost, and what a leading one claims.

use std::time::Duration;

use beads_ralph_core::agent::{Budget, CostSource, Outcome, report_in};
use beads_ralph_core::bead::{Model, ScrumResult};
use beads_ralph_core::engine::{AgentReport, Cap, Spent};
use beads_ralph_core::text::{excerpt, without_colour};
use camino::Utf8Path;
use serde_json::json;

use super::Claimed;
use crate::{os::clock, os::files};

pub(super) struct Ran {
    pub(super) report: AgentReport,
    pub(super) outcome: Outcome,
    pub(super) limit: Duration,
}

impl Ran {
    pub(super) fn new(
        outcome: &Outcome,
        agent: String,
        model: Option<Model>,
        started_at: jiff::Timestamp,
        directory: Option<&Utf8Path>,
    ) -> Self {
        let ended_at = clock::now().max(started_at);
        let time = ended_at.duration_since(started_at).as_millis();
        let report = AgentReport {
            agent,
            model: model.unwrap_or(Model::Sonnet),
            model_id: outcome.model_id.clone(),
            session: outcome.session.clone().unwrap_or_default(),
            started_at,
            ended_at,
            status: outcome.status,
            reason: explained(outcome, directory),
            spent: Spent {
                micros: micros(outcome.cost.usd),
                tokens: outcome.tokens.total(),
                turns: outcome.turns.unwrap_or(0),
                time_ms: u64::try_from(time).unwrap_or(0),
                n_unpriced: u32::from(outcome.cost.source == CostSource::Unknown),
            },
            resets_at: outcome.resets_at,
            evidence: directory.map(ToString::to_string),
        };
        Self {
            report,
            outcome: outcome.clone(),
            limit: Duration::ZERO,
        }
    }
}

/// Why an agent ended as it did; where it failed, with the last line that it wrote for people.
fn explained(outcome: &Outcome, directory: Option<&Utf8Path>) -> String {
    let reason = outcome.reason.clone();
    let Some(directory) = directory.filter(|_| !outcome.is_ok()) else {
        return reason;
    };
    let line = last_line(&directory.join("stderr"));
    // What programs write for programs on standard output is no explanation.
    let line =
        line.or_else(|| last_line(&directory.join("stdout")).filter(|it| !it.starts_with('{')));
    match line {
        Some(line) if !reason.contains(&line) => {
            format!("{reason}: {}", excerpt(&without_colour(&line)))
        }
        _ => reason,
    }
}

fn last_line(path: &Utf8Path) -> Option<String> {
    let written = files::read(path).ok()?;
    let written = String::from_utf8_lossy(&written);
    let last = written
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty());
    last.map(str::to_owned)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is not negative, and nobody spends so much"
)]
fn micros(usd: Option<f64>) -> u64 {
    (usd.unwrap_or(0.0).max(0.0) * 1e6).round() as u64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "nobody spends so much that a cent gets lost"
)]
pub(super) fn budget(cap: &Cap) -> Budget {
    Budget {
        usd: cap.micros.map(|micros| micros as f64 / 1e6),
        tokens: cap.tokens,
        turns: cap.turns,
    }
}

pub(super) fn time_of(cap: &Cap) -> Option<Duration> {
    cap.time_ms.map(Duration::from_millis)
}

/// What a leading agent claims; without a readable claim it claims nothing.
pub(super) fn claimed(ran: &Ran, bead: &str) -> Claimed {
    let text = ran.outcome.text.as_deref().unwrap_or_default();
    let found = report_in(text).map_err(|fault| fault.as_str().to_owned());
    let result = found.and_then(|report| {
        let value = report.with_bead_id(bead).value;
        ScrumResult::from_document(&value).map_err(|errors| {
            errors
                .first()
                .map_or_else(|| json!(errors.len()).to_string(), ToString::to_string)
        })
    });
    match result {
        Ok(result) => Claimed {
            is_success: result.success,
            is_fatal: result.fatal,
            error: result.error,
            qa_results: result.qa_results,
        },
        Err(why) => Claimed {
            is_success: false,
            is_fatal: false,
            error: Some(format!("its result cannot be read: {why}")),
            qa_results: Vec::new(),
        },
    }
}
