//! `human show`: everything about one thing that waits for a person.
//!
//! Data: what `human list` has for it, with `waiting: true`, its `status` and `notes`, `steps: [{id, title, status, stage, notes, reports: [{path, agent,
//! status, escalations: [{reason, detail}], error}]}]`, `worktree`, `pull_request` and `verified`; or `{id, title, status, waiting: false}`.

use std::fmt::Write as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::implement::stage_of;
use beads_ralph_core::issue::Record;
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_core::vocabulary::field;
use beads_ralph_runtime::app::worker_reports::{Found, FoundJson, reports};
use clap::Args;
use serde::Serialize;

use super::waiting::{Kind, Waiting, WaitingFacts};
use crate::args::Global;

use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::{named, paragraph};
use crate::ui::format::next_steps;

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
        return ui.data(&Answer::of(&waiting, &steps));
    }
    ui.out(&said(&waiting, &steps))
}

/// The answer for a bead that waits for nobody.
fn nothing(bead: &Record, ui: &Ui) -> Result<(), Failure> {
    let issue = &bead.issue;
    if ui.is_json() {
        #[derive(Serialize)]
        struct Nothing<'b> {
            id: &'b BeadId,
            title: &'b str,
            status: &'b str,
            waiting: bool,
        }
        return ui.data(&Nothing {
            id: issue.id(),
            title: issue.title(),
            status: issue.status(),
            waiting: false,
        });
    }
    let status = visible(issue.status());
    ui.out(&format!(
        "{} ({status}) does not wait for a person\n",
        named(bead)
    ))
}

/// What waits, with the evidence, for programs.
#[derive(Serialize)]
struct Answer<'w> {
    #[serde(flatten)]
    facts: WaitingFacts<'w>,
    waiting: bool,
    status: &'w str,
    notes: Option<&'w str>,
    steps: Vec<StepFacts<'w>>,
    worktree: Option<String>,
    pull_request: Option<String>,
    verified: bool,
}

#[derive(Serialize)]
struct StepFacts<'w> {
    id: &'w BeadId,
    title: &'w str,
    status: &'w str,
    stage: Option<String>,
    notes: Option<&'w str>,
    reports: Vec<FoundJson<'w>>,
}

impl<'w> Answer<'w> {
    fn of(waiting: &'w Waiting, steps: &'w [Shown<'_>]) -> Self {
        let issue = &waiting.record.issue;
        Self {
            facts: waiting.facts(),
            waiting: true,
            status: issue.status(),
            notes: issue.text(field::NOTES),
            steps: steps.iter().map(StepFacts::of).collect(),
            worktree: waiting.worktree(),
            pull_request: waiting.pull_request(),
            verified: waiting.is_verified(),
        }
    }
}

impl<'w> StepFacts<'w> {
    fn of(shown: &'w Shown<'_>) -> Self {
        let issue = &shown.step.issue;
        Self {
            id: issue.id(),
            title: issue.title(),
            status: issue.status(),
            stage: stage_of(issue),
            notes: issue.text(field::NOTES),
            reports: shown.reports.iter().map(Found::to_json).collect(),
        }
    }
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
