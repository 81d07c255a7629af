//! `patrol`: the tests and the build of the project, again and again; a bead about what breaks, closed when it is mended (contracts §8.6).
//!
//! Data: `{cycles, checks: [{check, command, passed, reason|null, log|null, done, beads: […], held: […]}]}` of the last cycle, where `done` is
//! `nothing`, `filed`, `known` or `closed`; with `--dry-run` `{dry_run: true, checks: [{check, command, beads: […]}]}` with the beads that are open.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::Query;
use beads_ralph_core::patrol::{Check, Measure, measure};
use beads_ralph_core::text::visible;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::bead_files::Ralph;
use beads_ralph_runtime::config;
use beads_ralph_runtime::os::process::{Cancel, Units};
use beads_ralph_runtime::patrol::{Done, Patrol, PatrolError, Report};
use clap::Args;
use serde_json::{Value, json};

use crate::args::Global;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::work;

pub(crate) fn run(args: &PatrolArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = global.open()?;
    let root = work::store_root(&beads);
    let config = config::load(Some(&root))?;
    let (units, cancel) = (Units::own()?, Cancel::on_signals()?);
    let patrol = Patrol {
        units: &units,
        cancel: &cancel,
        root: &root,
        config: &config,
        actor: beads.by.actor(),
    };
    if patrol.checks()?.is_empty() {
        let message = "there is nothing to look at: no go.mod, package.json or Cargo.toml, and no command in beads-ralph.yaml";
        return Err(Failure::new(ErrorCode::ValidationConstraint, message)
            .action("name the commands there: `patrol: {unit: make test, build: make}`"));
    }
    if args.dry_run {
        return dry_run(&patrol, &beads, ui);
    }
    Ralph::with_store(&root, &beads.directory).prepare()?;
    let store = &mut *beads.store;
    let cycle = || patrol.cycle(store, &mut |check, report| tell(check, report, ui));
    let (n_cycles, last) = walk(cycle, |n_idle| patrol.wait(n_idle), args.once, ui)?;
    if ui.is_json() {
        let checks: Vec<Value> = last.iter().map(to_json).collect();
        return ui.data(&json!({"cycles": n_cycles, "checks": checks}));
    }
    Ok(())
}

/// Goes round until somebody stops it, or once: how often, and what the last cycle came to. A store that cannot be had for a moment is looked at
/// again, and changes nothing. `wait` is told how many cycles in a row changed nothing, and whether it was stopped is its answer.
fn walk(
    mut cycle: impl FnMut() -> Result<Vec<Report>, PatrolError>,
    mut wait: impl FnMut(u32) -> bool,
    is_once: bool,
    ui: &Ui,
) -> Result<(u64, Vec<Report>), Failure> {
    let (mut n_cycles, mut n_idle) = (0, 0);
    let mut last = Vec::new();
    loop {
        match cycle() {
            Ok(reports) => {
                if reports.iter().any(|report| report.done.is_change()) {
                    n_idle = 0;
                }
                last = reports;
            }
            Err(PatrolError::Interrupted) if !is_once => return Ok((n_cycles, last)),
            Err(PatrolError::Store(error)) if !is_once && error.is_temporary() => {
                ui.complain(&format!(
                    "{}; it is tried again\n",
                    visible(&error.to_string())
                ));
            }
            Err(error) => return Err(error.into()),
        }
        n_cycles += 1;
        if is_once || wait(n_idle) {
            return Ok((n_cycles, last));
        }
        n_idle = n_idle.saturating_add(1);
    }
}

/// What happens, line by line.
fn tell(check: &Check, report: Option<&Report>, ui: &Ui) {
    let command = visible(&check.command);
    let Some(report) = report else {
        ui.say(&format!("{}: {command}\n", check.watched.as_str()));
        return;
    };
    let log = report.log.as_ref();
    let log = log.map_or(String::new(), |log| format!("; see {log}"));
    let what = match &report.reason {
        Some(reason) => format!("failed: {}{log}", visible(reason)),
        None => "passed".to_owned(),
    };
    let done = match &report.done {
        Done::Nothing => String::new(),
        Done::Filed(id) => format!("; filed {}", visible(id.as_str())),
        Done::Known(id) => format!("; {} says so already", visible(id.as_str())),
        Done::Closed(closed, held) => format!(
            "{}{}",
            listed("; closed ", closed),
            listed("; left to those who work on it: ", held)
        ),
    };
    if !ui.is_json() {
        // What cannot be written here will not be written at the end either, where it is an error.
        drop(ui.out(&format!("{} {what}{done}\n", check.watched.as_str())));
    }
}

fn listed(before: &str, ids: &[BeadId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| visible(id.as_str())).collect();
    if ids.is_empty() {
        return String::new();
    }
    format!("{before}{}", ids.join(", "))
}

fn to_json(report: &Report) -> Value {
    let none: &[BeadId] = &[];
    let (done, beads, held) = match &report.done {
        Done::Nothing => ("nothing", none, none),
        Done::Filed(id) => ("filed", std::slice::from_ref(id), none),
        Done::Known(id) => ("known", std::slice::from_ref(id), none),
        Done::Closed(closed, held) => ("closed", closed.as_slice(), held.as_slice()),
    };
    json!({
        "check": report.check.watched.as_str(),
        "command": report.check.command,
        "passed": report.reason.is_none(),
        "reason": report.reason,
        "log": report.log,
        "done": done,
        "beads": beads,
        "held": held,
    })
}

fn dry_run(patrol: &Patrol<'_>, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    let unfinished = beads.store.find(&Query::default())?;
    let mut checks = Vec::new();
    for check in patrol.checks()? {
        let open = match measure(check.watched, false, &unfinished, |_| false) {
            Measure::Known(id) => Some(id),
            Measure::Nothing | Measure::File | Measure::Close { .. } => None,
        };
        let word = check.watched.as_str();
        if !ui.is_json() {
            let known = open.as_ref();
            let known = known.map_or(String::new(), |id| {
                format!(" ({} is open)", visible(id.as_str()))
            });
            ui.out(&format!(
                "would run {word}: {}{known}\n",
                visible(&check.command)
            ))?;
        }
        let open: Vec<BeadId> = open.into_iter().collect();
        checks.push(json!({"check": word, "command": check.command, "beads": open}));
    }
    if ui.is_json() {
        return ui.data(&json!({"dry_run": true, "checks": checks}));
    }
    Ok(())
}

impl From<PatrolError> for Failure {
    fn from(error: PatrolError) -> Self {
        let message = error.to_string();
        let failure =
            |action: &str| Self::new(ErrorCode::ValidationConstraint, &*message).action(action);
        match error {
            PatrolError::File(error) => error.into(),
            PatrolError::Store(error) => error.into(),
            PatrolError::NotRun { .. } => failure("look at `verify.shell` in beads-ralph.yaml"),
            PatrolError::Busy(_) => failure("run the same command again"),
            PatrolError::Interrupted => failure("run the same command again").exit_with(130),
        }
    }
}

#[cfg(test)]
mod tests;

#[derive(Debug, Args)]
pub(crate) struct PatrolArgs {
    /// One cycle, and no more
    #[arg(long)]
    pub(crate) once: bool,
    /// Say what would be run, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
