//! The figures of contracts §7.9, for people.

use beads_ralph_core::history::records::Figures;

use crate::ui::format::{percent, seconds};
use crate::ui::table::{Page, pairs};

/// One figure a line; what cannot be told yet is a dash.
pub(crate) fn text(figures: &Figures, page: Page) -> String {
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let share = |value: Option<f64>| or_dash(value.map(percent));
    let number = |value: Option<f64>| or_dash(value.map(|value| format!("{value:.1}")));
    let rows = [
        ("beads worked on", figures.worked_on.to_string()),
        (
            "closed, blocked",
            format!("{}, {}", figures.closed, figures.given_up),
        ),
        ("active time of agents", seconds(figures.active_seconds)),
        ("beads per hour", number(figures.beads_per_hour)),
        (
            "mean time per bead",
            or_dash(figures.mean_seconds_per_bead.map(seconds)),
        ),
        ("success rate", share(figures.success_rate)),
        ("retry rate", share(figures.retry_rate)),
        ("mean concurrency", number(figures.mean_concurrency)),
    ];
    let agents = figures.qa_failure_rate.iter();
    let agents = agents.map(|(agent, rate)| (format!("rejected by {agent}"), percent(*rate)));
    let rows = rows.map(|(name, value)| (name.to_owned(), value));
    pairs(rows.into_iter().chain(agents), "", page)
}
