//! `stats`: beads by status and type, and how the work on them went.
//!
//! Data: `{total, ready, blocked, held, by_status: {…}, by_type: {…}, oldest_open: {id, title, created_at}|null, metrics: {worked_on, closed, given_up,
//! active_seconds, beads_per_hour, mean_seconds_per_bead, success_rate, retry_rate, mean_concurrency, qa_failure_rate: {agent: share}}}`; a rate that cannot be told yet
//! is null.

use std::fmt::Write as _;

use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::Stats;

use crate::args::Global;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::figures;
use crate::ui::table::{Page, pairs};

pub(crate) fn run(global: &Global, ui: &Ui) -> Result<(), Failure> {
    let stats = global.open()?.stats()?;
    if ui.is_json() {
        return ui.data(&stats);
    }
    ui.out(&text(&stats, Page::of(ui)))
}

fn text(stats: &Stats, page: Page) -> String {
    let mut text = String::new();
    let totals = [
        ("beads", stats.total),
        ("ready", stats.ready),
        ("blocked", stats.blocked),
        ("held", stats.held),
    ];
    text.push_str(&pairs(totals, "", page));
    for (heading, counts) in [("status", &stats.by_status), ("type", &stats.by_type)] {
        _ = writeln!(text, "\nby {heading}");
        let counts = counts.iter().map(|(name, n)| (excerpt(name), n));
        text.push_str(&pairs(counts, "  ", page));
    }
    if let Some(oldest) = &stats.oldest_open {
        let line = format!(
            "oldest open: {} {} ({})",
            oldest.id, oldest.title, oldest.created_at
        );
        _ = writeln!(text, "\n{}", page.line(&line));
    }
    if stats.metrics.worked_on > 0 {
        _ = write!(text, "\n{}", figures::text(&stats.metrics, page));
    }
    text
}
