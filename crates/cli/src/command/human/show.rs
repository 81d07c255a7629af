//! `human show`: everything about one thing that waits for a person.
//!
//! Data: what `human list` has for it, with `waiting: true`, its `status` and `notes`, `steps: [{id, title, status, stage, notes, reports: [{path, agent,
//! status, escalations: [{reason, detail}], error}]}]`, `worktree`, `pull_request` and `verified`; or `{id, title, status, waiting: false}`.

use std::fmt::Write as _;

use beads_ralph_core::implement::stage_of;
use beads_ralph_core::issue::Record;
use beads_ralph_core::text::{excerpt, visible};
use clap::Args;
use serde_json::{Value, json};

use super::waiting::{Kind, Waiting};
use crate::args::Global;

use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::{named, paragraph};
use crate::ui::format::next_steps;
use crate::worker_reports::{Found, reports};

#[derive(Debug, Args)]
pub(crate) struct HumanShowArgs {
    /// The bead, or the step of its molecule that waits
    pub(crate) id: String,
}

/// A step that waits, and what its workers left.
struct Shown<'w> {
    step: &'w Record,
    reports: Vec<Found>,
}

pub(super) fn run(args: &HumanShowArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    let (bead, waiting) = super::named(&beads, &args.id)?;
    let Some(waiting) = waiting else {
        return nothing(&bead, ui);
    };
    let steps: Vec<Shown<'_>> = (waiting.steps())
        .map(|(_, step)| Shown {
            step,
            reports: reports(&beads.directory, step),
        })
        .collect();
    if ui.is_json() {
        return ui.data(&to_json(&waiting, &steps));
    }
    ui.out(&said(&waiting, &steps))
}

/// What is said of a bead that waits for nobody.
fn nothing(bead: &Record, ui: &Ui) -> Result<(), Failure> {
    let issue = &bead.issue;
    if ui.is_json() {
        return ui.data(&json!({
            "id": issue.id().as_str(), "title": issue.title(), "status": issue.status(), "waiting": false,
        }));
    }
    let status = visible(issue.status());
    ui.out(&format!(
        "{} ({status}) does not wait for a person\n",
        named(bead)
    ))
}

fn to_json(waiting: &Waiting, steps: &[Shown<'_>]) -> Value {
    let step = |shown: &Shown<'_>| {
        let issue = &shown.step.issue;
        json!({
            "id": issue.id().as_str(),
            "title": issue.title(),
            "status": issue.status(),
            "stage": stage_of(issue),
            "notes": issue.text("notes"),
            "reports": shown.reports.iter().map(Found::to_json).collect::<Vec<Value>>(),
        })
    };
    let issue = &waiting.record.issue;
    let mut json = waiting.to_json();
    json["waiting"] = true.into();
    json["status"] = issue.status().into();
    json["notes"] = issue.text("notes").into();
    json["steps"] = steps.iter().map(step).collect();
    json["worktree"] = waiting.worktree().into();
    json["pull_request"] = waiting.pull_request().into();
    json["verified"] = waiting.is_verified().into();
    json
}

fn said(waiting: &Waiting, steps: &[Shown<'_>]) -> String {
    let issue = &waiting.record.issue;
    let mut text = format!(
        "{} ({}, {})\n",
        named(&waiting.record),
        waiting.kind.as_str(),
        visible(issue.status())
    );
    if let Some(since) = waiting.since_text() {
        _ = writeln!(text, "since {since}");
    }
    section(&mut text, "why", &waiting.why());
    if waiting.kind == Kind::Gate {
        section(
            &mut text,
            "what",
            issue.text("description").unwrap_or_default(),
        );
    }
    for shown in steps {
        about_step(&mut text, shown);
    }
    for (name, value) in [
        ("worktree", waiting.worktree()),
        ("pull request", waiting.pull_request()),
    ] {
        if let Some(value) = value {
            _ = writeln!(text, "{name}\n  {}", visible(&value));
        }
    }
    text.push_str("next\n");
    text.push_str(&next_steps(&waiting.commands(), "  "));
    text
}

fn about_step(text: &mut String, shown: &Shown<'_>) {
    let issue = &shown.step.issue;
    let stage = stage_of(issue).map_or(String::new(), |stage| format!("{}, ", excerpt(&stage)));
    let status = visible(issue.status());
    _ = writeln!(text, "step\n  {} ({stage}{status})", named(shown.step));
    for report in &shown.reports {
        let path = visible(report.path.as_str());
        match &report.said {
            Ok(said) => {
                _ = writeln!(
                    text,
                    "  report of {}: {}",
                    excerpt(&report.agent),
                    said.status
                );
                _ = writeln!(text, "    {path}");
                for escalation in &said.escalations {
                    let (reason, detail) = (escalation.reason.trim(), escalation.detail.trim());
                    text.push_str(&indented(&format!("{reason}: {detail}")));
                }
            }
            Err(error) => {
                let agent = excerpt(&report.agent);
                _ = writeln!(
                    text,
                    "  report of {agent}, which cannot be read: {}",
                    visible(error)
                );
                _ = writeln!(text, "    {path}");
            }
        }
    }
}

fn section(text: &mut String, heading: &str, body: &str) {
    if !body.trim().is_empty() {
        _ = write!(text, "{heading}\n{}", paragraph(body));
    }
}

fn indented(text: &str) -> String {
    let mut indented = String::new();
    for line in paragraph(text).lines() {
        _ = writeln!(indented, "  {line}");
    }
    indented
}
