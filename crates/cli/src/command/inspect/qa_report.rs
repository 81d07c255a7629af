//! `qa-report`: what QA agents said, agent by agent (contracts §7.9), and which checks are flaky.
//!
//! Data: `{"agents": [{agent, runs, pass, fail, stop, fail_rate, last_message}], "flaky_checks": [{check, command, runs, flaky, flaky_rate, last_warning}]}`;
//! `fail_rate` is the share of runs that did not pass. Flaky checks are known where `verify.flaky_retries` is set, from what `exec`, `verify`, `run`
//! and `implement` keep in files, the worst first.

use std::ops::ControlFlow;

use beads_ralph_core::history::records::{self, FlakyCheck, FlakyChecks, QaAgentReport};
use beads_ralph_runtime::app::beads::worked_on;
use beads_ralph_runtime::check::each_kept_record;
use serde::Serialize;

use crate::args::Global;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::format::percent;
use crate::ui::table::{Page, Table};
use crate::work;

#[derive(Serialize)]
struct Answer<'a> {
    agents: &'a [QaAgentReport],
    flaky_checks: &'a [FlakyCheck],
}

pub(crate) fn run(global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    let mut runs = Vec::new();
    beads.each::<Failure>(&worked_on(), |record| {
        runs.extend(records::runs(&record.issue));
        Ok(ControlFlow::Continue(()))
    })?;
    let agents = records::qa_report(&runs);
    let mut checks = FlakyChecks::default();
    let root = work::store_root(&beads);
    each_kept_record(&root, &beads.directory, |record| checks.take(record));
    let flaky = checks.ranked();
    if ui.is_json() {
        return ui.data(&Answer {
            agents: &agents,
            flaky_checks: &flaky,
        });
    }
    if agents.is_empty() {
        ui.say("no QA agent has run yet\n");
    } else {
        ui.out(&table(&agents).draw(Page::of(ui)))?;
    }
    if flaky.is_empty() {
        return Ok(());
    }
    ui.out(&format!("\n{}", flaky_table(&flaky).draw(Page::of(ui))))
}

fn flaky_table(checks: &[FlakyCheck]) -> Table {
    let mut table = Table::new(&["FLAKY CHECK…", "RUNS", "FLAKY", "SHARE", "LAST MESSAGE…"]);
    for check in checks {
        table.row(vec![
            check.check.clone(),
            check.runs.to_string(),
            check.flaky.to_string(),
            percent(check.flaky_rate),
            check.last_warning.clone().unwrap_or_default(),
        ]);
    }
    table
}

fn table(agents: &[QaAgentReport]) -> Table {
    let mut table = Table::new(&[
        "AGENT",
        "RUNS",
        "PASS",
        "FAIL",
        "STOP",
        "NOT PASSED",
        "LAST MESSAGE…",
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
