//! `stats`: beads by status and type, and the rates of contracts §7.9.
//!
//! Data: `{total, ready, blocked, held, by_status: {…}, by_type: {…}, oldest_open: {id, title, created_at}|null, metrics: {worked_on, closed, given_up,
//! active_seconds, beads_per_hour, mean_seconds_per_bead, success_rate, retry_rate, mean_concurrency, qa_failure_rate: {agent: share}}}`; a rate that cannot be told yet
//! is null.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;

use beads_ralph_core::history::records::{Figures, Tally};
use beads_ralph_core::issue::{Condition, Grouping, Moment, Order, Query};
use beads_ralph_core::text::excerpt;
use jiff::Timestamp;
use serde::Serialize;

use crate::args::Global;
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::figures;
use crate::ui::table::{Page, pairs};

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
}

pub(crate) fn run(global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = Beads::open(global)?;
    let ready = Query {
        ready_at: Some(beads.by.now),
        ..Query::default()
    };
    let all = Beads::everything();
    let count = |query: Query| beads.store.count(&query);
    let mut tally = Tally::default();
    beads.each(&figures::worked_on(), |record| {
        tally.take(&record.issue);
        Ok(ControlFlow::Continue(()))
    })?;
    let by_status = beads.store.count_by(&all, Grouping::Status)?;
    let stats = Stats {
        total: by_status.values().sum(),
        ready: count(ready)?,
        blocked: count(Query {
            is_blocked: Some(true),
            ..all.clone()
        })?,
        held: count(Query {
            is_held: true,
            ..all.clone()
        })?,
        by_status,
        by_type: beads.store.count_by(&all, Grouping::Type)?,
        oldest_open: oldest(&beads)?,
        metrics: tally.figures(),
    };
    if ui.is_json() {
        return ui.data(&stats);
    }
    ui.out(&stats.text(Page::of(ui)))
}

/// What came first of what is not done; one that does not say when it came is left out.
fn oldest(beads: &Beads) -> Result<Option<Oldest>, Failure> {
    let mut found = beads.store.find(&Query {
        conditions: vec![Condition::After(Moment::Created, Timestamp::MIN)],
        includes_hidden: true,
        order: Order::Oldest,
        limit: Some(1),
        ..Query::default()
    })?;
    Ok(found.pop().map(|record| Oldest {
        id: record.issue.id().to_string(),
        title: record.issue.title().to_owned(),
        created_at: record
            .issue
            .text("created_at")
            .unwrap_or_default()
            .to_owned(),
    }))
}

impl Stats {
    fn text(&self, page: Page) -> String {
        let mut text = String::new();
        let totals = [
            ("beads", self.total),
            ("ready", self.ready),
            ("blocked", self.blocked),
            ("held", self.held),
        ];
        text.push_str(&pairs(totals, "", page));
        for (heading, counts) in [("status", &self.by_status), ("type", &self.by_type)] {
            _ = writeln!(text, "\nby {heading}");
            let counts = counts.iter().map(|(name, n)| (excerpt(name), n));
            text.push_str(&pairs(counts, "  ", page));
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
