//! `status --bead`: what was done to one bead, by `run` and by `implement`, with its checks and its cost, and what went wrong.

use std::fmt::Write as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::Spent;
use beads_ralph_core::history::records::{self, AgentRun};
use beads_ralph_core::implement::reason;
use beads_ralph_core::issue::{Issue, Record, Standing};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_core::vocabulary::{label, metadata as key};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::origin::{Origin, Origins};
use beads_ralph_runtime::check::last_records;
use beads_ralph_runtime::run::{RunDirectory, spent_on};
use camino::Utf8Path;
use serde::Serialize;
use serde_json::{Map, Value};

use super::metadata;
use super::stages::{self, JsonMolecule, PartOf, Worked};
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::{self, held, named, paragraph, time};
use crate::ui::format::{milliseconds, seconds, spending};
use crate::ui::kept_check::KeptCheck;
use crate::ui::table::{Page, Table, pairs};

pub(super) fn run(id: &str, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    let record = beads.resolve(id)?;
    let runs = records::runs(&record.issue);
    let worked = stages::of_bead(beads, &record)?;
    let part_of = stages::part_of(beads, &record)?;
    let checks = checks_of(&beads.directory, record.issue.id());
    let spent = spent_on(&record);
    let error = last_error(&record.issue, !worked.is_empty());
    if ui.is_json() {
        let n_dependents = beads.n_dependents(record.issue.id())?;
        return ui.data(&OneBead {
            bead: bead_view::to_json(&record, n_dependents),
            executions: runs.iter().map(Execution::of).collect(),
            molecules: worked.iter().map(Worked::to_json).collect(),
            checks: checks.iter().map(Checked::to_json).collect(),
            cost: spent.as_ref().map(Cost::of),
            part_of,
            last_error: error,
            question: records::question(&record.issue),
        });
    }
    let page = Page::of(ui);
    let origin = Origins::of(&beads.directory).find(&record.issue);
    let mut text = about(&record, part_of.as_ref(), origin.as_ref(), page);
    if let Some(part_of) = &part_of {
        let bead = visible(part_of.bead.as_str());
        _ = writeln!(text, "history: beads-ralph status --bead {bead}");
    } else if runs.is_empty() && worked.is_empty() {
        text.push_str("no agent has finished work on it yet\n");
    }
    text.push_str(&table(&runs).draw(page));
    if !checks.is_empty() {
        text.push('\n');
        text.push_str(&check_table(&checks).draw(page));
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
        _ = writeln!(text, "\noutput: beads-ralph logs {id}");
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

fn took(run: &AgentRun) -> Option<f64> {
    let (began, ended) = run.span()?;
    Some(ended.duration_since(began).as_secs_f64())
}

#[derive(Serialize)]
struct OneBead<'b> {
    bead: Map<String, Value>,
    executions: Vec<Execution<'b>>,
    molecules: Vec<JsonMolecule<'b>>,
    checks: Vec<JsonChecked<'b>>,
    cost: Option<Cost>,
    part_of: Option<PartOf>,
    last_error: Option<String>,
    question: Option<String>,
}

#[derive(Serialize)]
struct Execution<'r> {
    kind: records::AgentKind,
    attempt: u64,
    agent: &'r str,
    model: Option<&'r str>,
    status: &'r str,
    message: Option<&'r str>,
    started_at: Option<String>,
    completed_at: Option<String>,
    seconds: Option<f64>,
}

impl<'r> Execution<'r> {
    fn of(run: &'r AgentRun) -> Self {
        Self {
            kind: run.kind,
            attempt: run.attempt,
            agent: &run.agent,
            model: run.model.as_deref(),
            status: &run.status,
            message: run.message.as_deref(),
            started_at: run.began.map(time),
            completed_at: run.ended.map(time),
            seconds: took(run),
        }
    }
}

fn about(record: &Record, part_of: Option<&PartOf>, origin: Option<&Origin>, page: Page) -> String {
    let issue = &record.issue;
    let mut text = format!("{}\n", named(record));
    let mut status = issue.status().to_owned();
    if let Some(claim) = &record.claim {
        status = format!("{status}, held by {}", held(claim));
    }
    let mut facts = vec![("status", status)];
    if let Some(part_of) = part_of {
        let PartOf { molecule, bead } = part_of;
        facts.push(("part of", format!("molecule {molecule} for {bead}")));
    }
    if let Some(origin) = origin {
        facts.push(("plan", origin.words()));
    }
    for (name, of) in [
        ("team", key::TEAM_NAME),
        ("sprint", key::SPRINT),
        ("branch", key::BRANCH),
        ("worktree", key::WORKTREE_PATH),
        ("pr", key::PR_URL),
        ("base", key::BASE_COMMIT),
    ] {
        if let Some(value) = metadata(issue, of) {
            facts.push((name, value.to_owned()));
        }
    }
    text.push_str(&pairs(facts, "  ", page));
    text.push('\n');
    text
}

fn table(runs: &[AgentRun]) -> Table {
    let mut table = Table::new(&[
        "TRY",
        "WHAT",
        "AGENT",
        "MODEL",
        "RESULT",
        "TIME",
        "MESSAGE…",
    ]);
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

/// What the name of an attempt's directory begins with.
const ATTEMPT: &str = "attempt-";

/// The record of one check in one attempt of a run.
struct Checked {
    run: String,
    attempt: u32,
    check: KeptCheck,
}

/// The checks of a bead that `run` has kept, oldest first; of an attempt those of its last verification.
fn checks_of(beads: &Utf8Path, id: &BeadId) -> Vec<Checked> {
    let mut found = Vec::new();
    for run in RunDirectory::all(beads) {
        for attempt in attempts(&run, id) {
            let records = last_records(&run.attempt(id, attempt)).unwrap_or_default();
            let checks = KeptCheck::read_all(records).into_iter();
            found.extend(checks.map(|check| Checked {
                run: run.id().to_owned(),
                attempt,
                check,
            }));
        }
    }
    found
}

/// The numbers of the attempts that a run kept something of.
fn attempts(run: &RunDirectory, id: &BeadId) -> Vec<u32> {
    let directory = run.attempt(id, 1);
    let entries = directory.parent().and_then(|it| it.read_dir_utf8().ok());
    let entries = entries.into_iter().flatten().flatten();
    let numbers = entries.filter_map(|it| it.file_name().strip_prefix(ATTEMPT)?.parse().ok());
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

#[derive(Serialize)]
struct JsonChecked<'c> {
    run: &'c str,
    attempt: u32,
    name: &'c str,
    command: &'c str,
    result: &'static str,
    duration_ms: u64,
    remark: &'c str,
}

impl Checked {
    fn to_json(&self) -> JsonChecked<'_> {
        JsonChecked {
            run: &self.run,
            attempt: self.attempt,
            name: &self.check.name,
            command: &self.check.command,
            result: self.check.result(),
            duration_ms: self.check.duration_ms,
            remark: self.check.remark(),
        }
    }
}

fn check_table(checks: &[Checked]) -> Table {
    let mut table = Table::new(&["TRY", "CHECK", "RESULT", "TIME", "COMMAND", "REMARK…"]);
    for Checked { attempt, check, .. } in checks {
        table.row(vec![
            attempt.to_string(),
            excerpt(&check.name),
            check.result().to_owned(),
            milliseconds(check.duration_ms),
            excerpt(&check.command),
            excerpt(check.remark()),
        ]);
    }
    table
}

#[derive(Serialize)]
struct Cost {
    usd: f64,
    tokens: u64,
    turns: u64,
    time_ms: u64,
    n_unpriced: u32,
}

impl Cost {
    fn of(spent: &Spent) -> Self {
        Self {
            usd: spent.usd(),
            tokens: spent.tokens,
            turns: spent.turns,
            time_ms: spent.time_ms,
            n_unpriced: spent.n_unpriced,
        }
    }
}
