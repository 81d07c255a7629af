//! `status`: the state of all sprints, by team; with `--bead` the history of one bead (contracts §7.9).
//!
//! Data: `{teams: [{team_name, beads: [{id, sprint, title, status, attempt_count, holder, is_gone, human, held_back}]}], counts: {open, in_progress, blocked,
//! closed}, ready: [ids], stop, pause, implement: [{id, title, status, molecule, stage, place, done, total, human, merge_ready}]}`, with `--metrics` also `metrics`. Statuses of others have a count when there are any. `stop`
//! and `pause` are what was asked for last, as `{at, by, now}`, or null.
//! With `--bead`: `{bead: {…}, executions: [{kind, attempt, agent, model, status, message, started_at, completed_at, seconds}], molecules: [{id, formula,
//! status, done, total, current, worktree, pull_request, steps: [{id, stage, place, status, human, holder, tries, cycles, closed_at, said, reports: [{path,
//! agent, status, gate, escalations, error}]}]}], checks: [{run, attempt, name, command, result, duration_ms, remark}], cost: {usd, tokens, turns, time_ms,
//! n_unpriced} | null, part_of, last_error, question}`; molecules are those of `implement`, and `tries` counts how often a step was
//! begun.

mod implementing;
mod one_bead;
mod stages;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::ops::ControlFlow;

use beads_ralph_core::bead::{ASSIGNEE, IssueType};
use beads_ralph_core::gate::{Applicant, Gates};
use beads_ralph_core::history::records::{Figures, Tally};
use beads_ralph_core::issue::{Issue, Query, Record, StatusFilter};
use beads_ralph_core::number::SprintId;
use beads_ralph_core::text::excerpt;
use beads_ralph_core::vocabulary::{Status, label, metadata as key};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::controls::{self, Order, Orders};
use beads_ralph_runtime::os::host;
use camino::Utf8PathBuf;
use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::args::Global;
use crate::failure::Failure;
use crate::governing;
use crate::ui::bead_view::time;
use crate::ui::table::{Page, Table};
use crate::ui::{Ui, figures};
use implementing::Implementing;

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Show everything about one bead: its history and its errors
    #[arg(long, value_name = "ID", conflicts_with = "metrics")]
    pub(crate) bead: Option<String>,
    /// Add metrics: beads per hour, time per bead, success rate, retry rate, QA failures
    #[arg(long)]
    pub(crate) metrics: bool,
    /// Write the latest run, live or finished, as a page of HTML; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["bead", "metrics"])]
    pub(crate) html: Option<Utf8PathBuf>,
}

/// The team of beads that name none (L-5).
const DEFAULT_TEAM: &str = "default-team";

const COUNTED: [&str; 4] = [
    Status::Open.as_str(),
    Status::InProgress.as_str(),
    Status::Blocked.as_str(),
    Status::Closed.as_str(),
];

#[derive(Serialize)]
struct Overview {
    teams: Vec<Team>,
    counts: BTreeMap<String, usize>,
    ready: Vec<String>,
    stop: Option<Order>,
    pause: Option<Order>,
    implement: Vec<Implementing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<Figures>,
}

#[derive(Serialize)]
struct Team {
    team_name: String,
    beads: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: String,
    sprint: String,
    title: String,
    status: String,
    attempt_count: u64,
    holder: Option<String>,
    /// Whether the holder is dead, so that the next run takes the bead.
    is_gone: bool,
    human: bool,
    /// Which red gates hold it back, in words.
    held_back: Option<String>,
}

pub(crate) fn run(args: &StatusArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    if let Some(path) = &args.html {
        return super::report::page_of("latest", Some(path), ui);
    }
    let beads = global.open()?;
    if let Some(id) = &args.bead {
        return one_bead::run(id, &beads, ui);
    }
    let status = look(&beads, &governing::gates(global)?, args.metrics)?;
    if ui.is_json() {
        return ui.data(&status);
    }
    if status.teams.is_empty() && status.implement.is_empty() {
        ui.say("the store has no sprints; `beads-ralph plan apply` adds them\n");
    }
    ui.out(&status.text(Page::of(ui)))
}

fn look(beads: &Beads, gates: &Gates, is_with_figures: bool) -> Result<Overview, Failure> {
    let ours = Query {
        types: IssueType::ALL.iter().map(ToString::to_string).collect(),
        status: StatusFilter::Any,
        ..Query::default()
    };
    let ready = Query {
        ready_at: Some(beads.by.now),
        assignee: Some(ASSIGNEE.to_owned()),
        labels_none: vec![label::HUMAN.to_owned()],
        status: StatusFilter::default(),
        ..ours.clone()
    };
    let mut ready_ids = Vec::new();
    beads.each::<Failure>(&ready, |record| {
        let denied = gates.permission(&Applicant::of_issue(&record.issue)).err();
        if denied.is_none() {
            ready_ids.push(record.issue.id().to_string());
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let Orders { stop, pause } = controls::read(beads.store.as_ref())?;
    let mut counts: BTreeMap<String, usize> = COUNTED.map(|status| (status.to_owned(), 0)).into();
    let mut tally = Tally::default();
    let mut teams = Teams::new();
    beads.each::<Failure>(&ours, |record| {
        let issue = &record.issue;
        *counts.entry(issue.status().to_owned()).or_default() += 1;
        if is_with_figures {
            tally.take(issue);
        }
        let name = metadata(issue, key::TEAM_NAME).unwrap_or(DEFAULT_TEAM);
        let number = metadata(issue, key::SPRINT).and_then(SprintId::parse);
        let row = sprint(&record, gates, beads.by.now);
        let team = teams.entry(name.to_owned()).or_default();
        team.push((number, row));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(Overview {
        metrics: is_with_figures.then(|| tally.figures()),
        teams: in_order(teams),
        counts,
        ready: ready_ids,
        stop,
        pause,
        implement: implementing::look(beads)?,
    })
}

/// The sprints of each team with their numbers, by the names of the teams.
type Teams = BTreeMap<String, Vec<(Option<SprintId>, Row)>>;

/// The teams with their sprints in the order of their numbers.
fn in_order(teams: Teams) -> Vec<Team> {
    let teams = teams.into_iter().map(|(team_name, mut rows)| {
        rows.sort_by(|(one, left), (other, right)| {
            let keys = (
                one.as_ref().map(SprintId::key),
                other.as_ref().map(SprintId::key),
            );
            (keys.0.cmp(&keys.1)).then_with(|| left.id.cmp(&right.id))
        });
        Team {
            team_name,
            beads: rows.into_iter().map(|(_, row)| row).collect(),
        }
    });
    teams.collect()
}

fn sprint(record: &Record, gates: &Gates, now: jiff::Timestamp) -> Row {
    let issue = &record.issue;
    let denied = gates.permission(&Applicant::of_issue(issue)).err();
    let attempts = issue.metadata().and_then(|map| map.get(key::ATTEMPT_COUNT));
    let claim = record.claim.as_ref();
    let gone = claim.and_then(|claim| claim.is_abandoned(now, &host::name(), host::liveness));
    Row {
        id: issue.id().to_string(),
        sprint: metadata(issue, key::SPRINT).unwrap_or_default().to_owned(),
        title: issue.title().to_owned(),
        status: issue.status().to_owned(),
        attempt_count: attempts.and_then(Value::as_u64).unwrap_or(0),
        holder: claim.map(|claim| claim.holder.run.clone()),
        is_gone: gone.is_some(),
        human: issue.has_label(label::HUMAN),
        held_back: denied
            .filter(|_| issue.status() == Status::Open)
            .map(|denied| denied.to_string()),
    }
}

/// A text of the metadata that says something.
fn metadata<'i>(issue: &'i Issue, key: &str) -> Option<&'i str> {
    let text = issue.metadata()?.get(key)?.as_str()?;
    Some(text).filter(|text| !text.trim().is_empty())
}

impl Row {
    fn held_by(&self) -> String {
        let holder = self.holder.clone().unwrap_or_default();
        if self.is_gone {
            format!("{holder} (gone)")
        } else {
            holder
        }
    }
}

impl Overview {
    fn text(&self, page: Page) -> String {
        let mut table = Table::new(&[
            "TEAM", "SPRINT", "ID", "STATUS", "TRIES", "HOLDER", "TITLE…",
        ]);
        let ready: HashSet<&str> = self.ready.iter().map(String::as_str).collect();
        for team in &self.teams {
            for bead in &team.beads {
                table.row(vec![
                    team.team_name.clone(),
                    bead.sprint.clone(),
                    bead.id.clone(),
                    word(bead, &ready),
                    bead.attempt_count.to_string(),
                    bead.held_by(),
                    bead.title.clone(),
                ]);
            }
        }
        let mut text = table.draw(page);
        let implement = implementing::text(&self.implement, page);
        if !text.is_empty() && !implement.is_empty() {
            text.push('\n');
        }
        text.push_str(&implement);
        if !text.is_empty() {
            text.push('\n');
        }
        if !self.teams.is_empty() || self.implement.is_empty() {
            text.push_str(&self.counted(page));
        }
        self.push_orders(&mut text);
        if self.sprints().any(|bead| bead.is_gone) {
            text.push_str(
                "the holders of some of them are gone; `beads-ralph run` resumes these\n",
            );
        }
        let held_back: BTreeSet<&String> = self.sprints().flat_map(|it| &it.held_back).collect();
        for why in held_back {
            _ = writeln!(
                text,
                "{}, which hold features back: beads-ralph gate list",
                page.line(why)
            );
        }
        let n_people = self
            .sprints()
            .filter(|bead| bead.human || bead.status == Status::Blocked);
        if n_people.count() > 0 {
            text.push_str("some wait for you: beads-ralph blocked\n");
        }
        let mut implement = self.implement.iter();
        if implement.any(|bead| bead.human || bead.merge_ready) {
            text.push_str("some wait for your answer: beads-ralph human list\n");
        }
        if let Some(metrics) = &self.metrics {
            _ = write!(text, "\n{}", figures::text(metrics, page));
        }
        text
    }

    fn counted(&self, page: Page) -> String {
        let counts: Vec<String> = (COUNTED.iter())
            .chain(
                self.counts
                    .keys()
                    .map(String::as_str)
                    .filter(|key| !COUNTED.contains(key))
                    .collect::<Vec<_>>()
                    .iter(),
            )
            .map(|status| format!("{} {}", self.counts[*status], status.replace('_', " ")))
            .collect();
        let counts = page.line(&counts.join(", "));
        format!("{counts}; {} ready\n", self.ready.len())
    }

    fn sprints(&self) -> impl Iterator<Item = &Row> {
        self.teams.iter().flat_map(|team| &team.beads)
    }

    fn push_orders(&self, text: &mut String) {
        if let Some(pause) = &self.pause {
            let (at, by) = (time(pause.at), excerpt(&pause.by));
            _ = writeln!(
                text,
                "paused since {at} by {by}; `beads-ralph pause --off` resumes runs"
            );
        }
        if let Some(stop) = &self.stop {
            _ = writeln!(
                text,
                "last asked to stop at {} by {}",
                time(stop.at),
                excerpt(&stop.by)
            );
        }
    }
}

fn word(bead: &Row, ready: &HashSet<&str>) -> String {
    let status = bead.status.replace('_', " ");
    if bead.human {
        format!("{status}, for a person")
    } else if ready.contains(bead.id.as_str()) {
        "ready".to_owned()
    } else if bead.held_back.is_some() {
        "held back".to_owned()
    } else if bead.status == Status::Open {
        "waiting".to_owned()
    } else {
        status
    }
}
