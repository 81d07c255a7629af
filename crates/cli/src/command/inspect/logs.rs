//! `logs`: the output of agents and checks of a bead, from `exec`, `verify`, `run` and `implement`.
//!
//! Data: `{bead, run, runs: [names], logs: [{log, bytes, path}]}` for the list, `{bead, run, log, text}` for one of them. With
//! `--follow` there is only text, because the output does not end.

mod follow;
mod places;

use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::text::{excerpt, visible, visible_lines};
use beads_ralph_runtime::os::files;
use clap::Args;
use serde::Serialize;

use crate::args::Global;
use crate::failure::Failure;
use crate::ui::format::list_of;
use crate::ui::table::{Page, Table};
use crate::ui::{self, Ui};
use places::Run;
pub(crate) use places::{Log, logs_in};

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The bead's id
    #[arg(value_name = "BEAD")]
    pub(crate) bead: String,
    /// The log to print, as the list names it; without it, print the list
    #[arg(value_name = "LOG")]
    pub(crate) log: Option<String>,
    /// The run: its name, or how many runs back (1 is the one before the latest)
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Follow the output, file after file, until interrupted
    #[arg(short, long)]
    pub(crate) follow: bool,
}

#[derive(Serialize)]
struct OneLog<'l> {
    bead: &'l str,
    run: &'l str,
    log: &'l str,
    text: &'l str,
}

#[derive(Serialize)]
struct Listed<'l> {
    bead: &'l str,
    run: &'l str,
    runs: &'l [String],
    logs: &'l [Log],
}

pub(crate) fn run(args: &LogsArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    if args.follow && ui.is_json() {
        let message = "--follow does not end, so it cannot answer one JSON object";
        return Err(Failure::new(ErrorCode::ValidationConstraint, message)
            .action("leave out --json or --follow")
            .exit_with(2));
    }
    let (bead, runs) = places::find(&args.bead, global)?;
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    let run = choose(&bead, runs, args)?;
    let logs = run.logs();
    if args.follow {
        let wanted = args.log.as_deref();
        let wanted = wanted.map(|name| find(&logs, name)).transpose()?;
        return follow::follow(&run, wanted, ui);
    }
    let Some(wanted) = &args.log else {
        return list(&bead, &run.name, &names, &logs, ui);
    };
    let log = find(&logs, wanted)?;
    let bytes = files::read_kept(&log.path)?;
    let text = String::from_utf8_lossy(&bytes);
    if ui.is_json() {
        let data = OneLog {
            bead: &bead,
            run: &run.name,
            log: &log.name,
            text: &text,
        };
        return ui.data(&data);
    }
    if ui::page_width().is_some() {
        return ui.out(&visible_lines(&text));
    }
    ui.out(&text)
}

fn choose(bead: &str, mut runs: Vec<Run>, args: &LogsArgs) -> Result<Run, Failure> {
    let index = match &args.run {
        None => runs.len().checked_sub(1),
        Some(wanted) => runs.iter().position(|run| run.name == *wanted).or_else(|| {
            let back: usize = wanted.parse().ok()?;
            runs.len().checked_sub(back.checked_add(1)?)
        }),
    };
    match index {
        Some(index) => Ok(runs.swap_remove(index)),
        None if runs.is_empty() => {
            let message = format!("no agent or check has run for '{}' here", excerpt(bead));
            let failure = Failure::new(ErrorCode::DependencyUnresolved, message);
            Err(failure.action(
                "`beads-ralph run`, `implement`, `exec` and `verify` keep what agents and checks write",
            ))
        }
        None => {
            let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
            let message = format!("unknown run; the runs are {}", list_of(&names, usize::MAX));
            Err(Failure::new(ErrorCode::DependencyUnresolved, message)
                .action("name one of them, or count back from the latest"))
        }
    }
}

fn find<'a>(logs: &'a [Log], wanted: &str) -> Result<&'a Log, Failure> {
    if let Some(log) = logs.iter().find(|log| log.name == wanted) {
        return Ok(log);
    }
    let message = format!("unknown log '{}'", excerpt(wanted));
    let failure = Failure::new(ErrorCode::DependencyUnresolved, message);
    Err(
        match did_you_mean(wanted, logs.iter().map(|log| log.name.as_str())) {
            Some(near) => failure.action(format!("did you mean {}?", visible(near))),
            None => failure.action("see `beads-ralph logs BEAD` for the names"),
        },
    )
}

fn list(bead: &str, run: &str, runs: &[String], logs: &[Log], ui: &Ui) -> Result<(), Failure> {
    if ui.is_json() {
        return ui.data(&Listed {
            bead,
            run,
            runs,
            logs,
        });
    }
    let mut table = Table::new(&["log…", "bytes"]);
    for log in logs {
        table.row(vec![log.name.clone(), log.n_bytes.to_string()]);
    }
    ui.say(&format!(
        "run {}, {} of {}\n",
        visible(run),
        runs.iter().position(|it| it == run).map_or(0, |n| n + 1),
        runs.len()
    ));
    ui.out(&table.draw(Page::of(ui)))
}
