//! `status --bead`: what was done to one bead, by `run` and by `implement`, and what went wrong.

use std::fmt::Write as _;

use beads_ralph_core::history::records::{self, AgentRun};
use beads_ralph_core::implement::reason;
use beads_ralph_core::issue::{Issue, Record, Standing};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_core::vocabulary::label;
use beads_ralph_runtime::run::spent_on;
use serde_json::{Value, json};

use super::checked::{self, Checked};
use super::metadata;
use super::stages::{self, PartOf, Worked};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::origin::{Origin, Origins};
use crate::ui::Ui;
use crate::ui::bead_view::{self, held, named, paragraph, time};
use crate::ui::format::{seconds, spending};
use crate::ui::table::{Page, Table};

pub(super) fn run(id: &str, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    let record = beads.resolve(id)?;
    let runs = records::runs(&record.issue);
    let worked = stages::of_bead(beads, &record)?;
    let part_of = stages::part_of(beads, &record)?;
    let checks = checked::of_bead(&beads.directory, record.issue.id());
    let spent = spent_on(&record);
    let error = last_error(&record.issue, !worked.is_empty());
    if ui.is_json() {
        let n_dependents = beads.n_dependents(record.issue.id())?;
        return ui.data(&json!({
            "bead": bead_view::to_json(&record, n_dependents),
            "executions": runs.iter().map(to_json).collect::<Vec<Value>>(),
            "molecules": worked.iter().map(Worked::to_json).collect::<Vec<Value>>(),
            "checks": checks.iter().map(Checked::to_json).collect::<Vec<Value>>(),
            "cost": spent.as_ref().map(checked::cost_json),
            "part_of": part_of,
            "last_error": error,
            "question": records::question(&record.issue),
        }));
    }
    let page = Page::of(ui);
    let origin = Origins::of(&beads.directory).find(&record.issue);
    let mut text = about(&record, part_of.as_ref(), origin.as_ref(), page);
    if let Some(part_of) = &part_of {
        let bead = visible(part_of.bead.as_str());
        _ = writeln!(text, "how it went: beads-ralph status --bead {bead}");
    } else if runs.is_empty() && worked.is_empty() {
        text.push_str("no agent has come to its end with it yet\n");
    }
    text.push_str(&table(&runs).draw(page));
    if !checks.is_empty() {
        text.push('\n');
        text.push_str(&checked::table(&checks).draw(page));
    }
    if let Some(spent) = &spent {
        let line = format!("total: {}", spending(spent));
        _ = writeln!(text, "\n{}", page.line(&line));
    }
    for molecule in &worked {
        text.push_str(&molecule.text(page));
    }
    if let Some(question) = records::question(&record.issue) {
        _ = write!(text, "\nquestion\n{}", paragraph(&question));
    }
    if let Some(error) = error {
        _ = write!(text, "\nlast error\n{}", paragraph(&error));
    }
    if !runs.is_empty() || !worked.is_empty() {
        let id = visible(record.issue.id().as_str());
        _ = writeln!(text, "\nwhat was written: beads-ralph logs {id}");
    }
    ui.out(&text)
}

/// What is wrong with it; of what is done nothing is wrong any more. The notes of a bead that `implement` works on say what is wrong only
/// while a person is asked.
fn last_error(issue: &Issue, is_implemented: bool) -> Option<String> {
    if is_implemented && !issue.has_label(label::HUMAN) {
        return None;
    }
    if is_implemented && let Some(notes) = issue.text("notes") {
        return Some(reason(notes).to_owned());
    }
    (issue.standing() == Standing::Pending).then(|| records::last_error(issue))?
}

/// How long a run took, in seconds.
fn took(run: &AgentRun) -> Option<f64> {
    let (began, ended) = run.span()?;
    Some(ended.duration_since(began).as_secs_f64())
}

fn to_json(run: &AgentRun) -> Value {
    json!({
        "kind": run.kind,
        "attempt": run.attempt,
        "agent": run.agent,
        "model": run.model,
        "status": run.status,
        "message": run.message,
        "started_at": run.began.map(time),
        "completed_at": run.ended.map(time),
        "seconds": took(run),
    })
}

/// The bead itself, and where its work is.
fn about(record: &Record, part_of: Option<&PartOf>, origin: Option<&Origin>, page: Page) -> String {
    let issue = &record.issue;
    let mut text = format!("{}\n", named(record));
    let mut status = issue.status().to_owned();
    if let Some(claim) = &record.claim {
        status = format!("{status}, held by {}", held(claim));
    }
    _ = writeln!(text, "{}", page.line(&format!("  status    {status}")));
    if let Some(part_of) = part_of {
        let PartOf { molecule, bead } = part_of;
        let line = format!("  part of   molecule {molecule} for {bead}");
        _ = writeln!(text, "{}", page.line(&line));
    }
    if let Some(origin) = origin {
        let line = format!("  plan      {}", origin.words());
        _ = writeln!(text, "{}", page.line(&line));
    }
    for (name, key) in [
        ("team", "team_name"),
        ("sprint", "sprint"),
        ("branch", "branch"),
        ("worktree", "worktree_path"),
        ("pr", "pr_url"),
        ("base", "base_commit"),
    ] {
        if let Some(value) = metadata(issue, key) {
            _ = writeln!(text, "{}", page.line(&format!("  {name:<9} {value}")));
        }
    }
    text.push('\n');
    text
}

fn table(runs: &[AgentRun]) -> Table {
    let mut table = Table::new(&["TRY", "WHAT", "AGENT", "MODEL", "RESULT", "TIME", "SAID…"]);
    for run in runs {
        table.row(vec![
            run.attempt.to_string(),
            run.kind.as_str().to_owned(),
            run.agent.clone(),
            run.model.clone().unwrap_or_default(),
            run.status.clone(),
            took(run).map_or(String::new(), seconds),
            excerpt(run.message.as_deref().unwrap_or_default()),
        ]);
    }
    table
}
