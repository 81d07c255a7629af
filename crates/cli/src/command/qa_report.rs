//! `qa-report`: what QA agents said, agent by agent (contracts §7.9).
//!
//! Data: `{"agents": [{agent, runs, pass, fail, stop, fail_rate, last_message}]}`; `fail_rate` is the share of runs that did not pass.

use beads_ralph_core::report::{self, QaAgentReport};
use serde_json::json;

use crate::args::Global;
use crate::beads::Beads;
use crate::failure::Failure;
use crate::table::{Page, Table};
use crate::ui::Ui;

pub(crate) fn run(global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = Beads::open(global)?;
    let mut runs = Vec::new();
    beads.each(|record| {
        runs.extend(report::runs(&record.issue));
        Ok(())
    })?;
    let agents = report::qa_report(&runs);
    if ui.is_json() {
        return ui.data(&json!({"agents": agents}));
    }
    if agents.is_empty() {
        ui.say("no QA agent has run yet\n");
        return Ok(());
    }
    ui.out(&table(&agents).draw(Page::of(ui)))
}

fn table(agents: &[QaAgentReport]) -> Table {
    let mut table = Table::new(&[
        "AGENT",
        "RUNS",
        "PASS",
        "FAIL",
        "STOP",
        "NOT PASSED",
        "LAST SAID…",
    ]);
    for agent in agents {
        table.row(vec![
            agent.agent.clone(),
            agent.runs.to_string(),
            agent.pass.to_string(),
            agent.fail.to_string(),
            agent.stop.to_string(),
            percent(agent.fail_rate),
            agent.last_message.clone().unwrap_or_default(),
        ]);
    }
    table
}

/// A share as people read it.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}
