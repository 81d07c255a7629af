//! `stats`: beads by status and type, and the rates of contracts §7.9.
//!
//! Data: `{total, ready, blocked, held, by_status: {…}, by_type: {…}, oldest_open: {id, title, created_at}|null, metrics: {worked_on, closed, given_up,
//! active_seconds, beads_per_hour, mean_seconds_per_bead, success_rate, retry_rate, mean_concurrency, qa_failure_rate: {agent: share}}}`; a rate that cannot be told yet
//! is null.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use beads_ralph_core::issue::{Issue, Query, Standing};
use beads_ralph_core::report::{Figures, Tally};
use beads_ralph_core::text::excerpt;
use jiff::Timestamp;
use serde::Serialize;

use crate::args::Global;
use crate::beads::Beads;
use crate::failure::Failure;
use crate::figures;
use crate::table::Page;
use crate::ui::Ui;

#[derive(Debug, Default, Serialize)]
struct Stats {
    total: usize,
    ready: usize,
    blocked: usize,
    held: usize,
    by_status: BTreeMap<String, usize>,
    by_type: BTreeMap<String, usize>,
    oldest_open: Option<Oldest>,
    metrics: Figures,
}

#[derive(Debug, Serialize)]
struct Oldest {
    id: String,
    title: String,
    created_at: String,
    #[serde(skip)]
    at: Timestamp,
}

pub(crate) fn run(global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = Beads::open(global)?;
    let ready = Query {
        ready_at: Some(beads.by.now),
        ..Query::default()
    };
    let mut stats = Stats {
        ready: beads.store.find(&ready)?.len(),
        ..Stats::default()
    };
    let mut tally = Tally::default();
    beads.each(|record| {
        tally.take(&record.issue);
        stats.total += 1;
        stats.blocked += usize::from(record.is_blocked);
        stats.held += usize::from(record.claim.is_some());
        let issue = &record.issue;
        *stats
            .by_status
            .entry(issue.status().to_owned())
            .or_default() += 1;
        *stats
            .by_type
            .entry(issue.issue_type().to_owned())
            .or_default() += 1;
        stats.see_age(issue);
        Ok(())
    })?;
    stats.metrics = tally.figures();
    if ui.is_json() {
        return ui.data(&stats);
    }
    ui.out(&stats.text(Page::of(ui)))
}

impl Stats {
    fn see_age(&mut self, issue: &Issue) {
        let Some(at) = issue.time("created_at") else {
            return;
        };
        let is_older = self
            .oldest_open
            .as_ref()
            .is_none_or(|oldest| at < oldest.at);
        if issue.standing() == Standing::Pending && is_older {
            self.oldest_open = Some(Oldest {
                id: issue.id().to_string(),
                title: issue.title().to_owned(),
                created_at: issue.text("created_at").unwrap_or_default().to_owned(),
                at,
            });
        }
    }

    fn text(&self, page: Page) -> String {
        let mut text = String::new();
        let totals = [
            ("beads", self.total),
            ("ready", self.ready),
            ("blocked", self.blocked),
            ("held", self.held),
        ];
        for (name, n) in totals {
            _ = writeln!(text, "{name:<12} {n}");
        }
        for (heading, counts) in [("status", &self.by_status), ("type", &self.by_type)] {
            _ = writeln!(text, "\nby {heading}");
            for (name, n) in counts {
                _ = writeln!(text, "  {:<20} {n}", excerpt(name));
            }
        }
        if let Some(oldest) = &self.oldest_open {
            let line = format!(
                "oldest open: {} {} ({})",
                oldest.id, oldest.title, oldest.created_at
            );
            _ = writeln!(text, "\n{}", page.line(&line));
        }
        if self.metrics.worked_on > 0 {
            _ = write!(text, "\n{}", figures::text(&self.metrics, page));
        }
        text
    }
}
