//! `watchdog`: beads in progress that have been silent for too long get a reminder, go back to open, or are left to a person; then the beads in files that are
//! pending are worked on (contracts §8.7).
//!
//! Data: `{passes, beads: [{id, silent_minutes|null, step, why|null, file|null, overtaken}], executed: [{id, status, why|null}], dry_run}` of the last
//! pass. `step` is `fresh`, `nobody`, `waits`, `nudge`, `restart` or `give_up`; `status` is `completed`, `failed` or `interrupted`, or else says why a
//! bead was not begun: `held_back` by a gate, `busy`, `invalid`, `error`, or `pending` with `--dry-run`.

mod executing;

use std::time::Duration;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_core::watchdog::{Decision, minutes};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::bead_files::Ralph;
use beads_ralph_runtime::os::clock;
use beads_ralph_runtime::os::process::Cancel;
use beads_ralph_runtime::store::Store;
use beads_ralph_runtime::watchdog::{Pass, Seen, Watchdog, WatchdogError};
use clap::Args;
use serde_json::{Value, json};

use self::executing::{Executed, Executor};
use crate::args::{Global, duration};
use crate::command::gate;
use crate::command::work;
use crate::command::work::exec::ExecArgs;
use crate::failure::Failure;
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct WatchdogArgs {
    /// One pass, and no more
    #[arg(long, alias = "run-once")]
    pub(crate) once: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only watch: begin no bead in a file that is pending
    #[arg(long)]
    pub(crate) no_exec: bool,
    /// How long to wait between two passes
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration)]
    pub(crate) interval: Duration,
}

/// What a watchdog did: how many passes, and what the last one came to.
#[derive(Default)]
struct Watch {
    n_passes: u64,
    seen: Vec<Seen>,
    executed: Vec<Executed>,
}

pub(crate) fn run(args: &WatchdogArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let (mut beads, ralph) = place(global)?;
    let cancel = Cancel::on_signals()?;
    let writer = global.writer();
    let dog = Watchdog {
        ralph: &ralph,
        cancel: &cancel,
        actor: writer.actor(),
        version: env!("CARGO_PKG_VERSION"),
        is_dry_run: args.dry_run,
    };
    if !args.dry_run {
        ralph.prepare()?;
    }
    let options = ExecArgs::default();
    let executor = if args.no_exec {
        None
    } else {
        Some(Executor::new(dog, &options, ui)?)
    };
    let store = beads.as_mut().map(|beads| &mut *beads.store);
    let watch = watch(&dog, executor.as_ref(), store, args, ui)?;
    if ui.is_json() {
        let beads: Vec<Value> = watch.seen.iter().map(to_json).collect();
        let executed: Vec<Value> = watch.executed.iter().map(Executed::to_json).collect();
        return ui.data(&json!({
            "passes": watch.n_passes,
            "beads": beads,
            "executed": executed,
            "dry_run": args.dry_run,
        }));
    }
    Ok(())
}

/// The store, and the beads in files. Where there are such beads, no store is needed.
fn place(global: &Global) -> Result<(Option<Beads>, Ralph), Failure> {
    match global.open() {
        Ok(beads) => {
            let root = work::store_root(&beads);
            let ralph = Ralph::with_store(&root, &beads.directory);
            Ok((Some(beads), ralph))
        }
        Err(failure) if failure.code() == ErrorCode::DatabaseNotInitialized => {
            let ralph = gate::main_project()?;
            if ralph.todo_files().is_empty() {
                return Err(failure);
            }
            Ok((None, ralph))
        }
        Err(failure) => Err(failure),
    }
}

/// Makes passes until somebody stops it, or one. A store that cannot be had for a moment is looked at again.
fn watch(
    dog: &Watchdog<'_>,
    executor: Option<&Executor<'_>>,
    mut store: Option<&mut (dyn Store + 'static)>,
    args: &WatchdogArgs,
    ui: &Ui,
) -> Result<Watch, Failure> {
    let mut watch = Watch::default();
    loop {
        match turn(dog, executor, store.as_deref_mut(), &mut watch, ui) {
            Ok(()) => {}
            Err(WatchdogError::Interrupted) if !args.once => return Ok(watch),
            Err(WatchdogError::Store(error)) if !args.once && error.is_temporary() => {
                ui.complain(&format!(
                    "{}; it is tried again\n",
                    visible(&error.to_string())
                ));
            }
            Err(error) => return Err(error.into()),
        }
        if args.once || dog.cancel.wait(args.interval) {
            return Ok(watch);
        }
    }
}

/// One pass, and the work after it.
fn turn(
    dog: &Watchdog<'_>,
    executor: Option<&Executor<'_>>,
    mut store: Option<&mut (dyn Store + 'static)>,
    watch: &mut Watch,
    ui: &Ui,
) -> Result<(), WatchdogError> {
    let pass = dog.pass(
        store.as_deref_mut().map(|store| store as &mut dyn Store),
        clock::now(),
    )?;
    // What cannot be written here will not be written at the end either, where it is an error.
    drop(ui.out(&text(&pass, dog.is_dry_run)));
    watch.n_passes += 1;
    watch.seen = pass.seen;
    watch.executed.clear();
    let Some(executor) = executor else {
        return Ok(());
    };
    let store = store.map(|store| &*store as &dyn Store);
    executor.all(store, &mut |executed| watch.executed.push(executed))
}

fn to_json(seen: &Seen) -> Value {
    let (step, why) = match &seen.step {
        Decision::Fresh => ("fresh", None),
        Decision::Nobody => ("nobody", None),
        Decision::Waits => ("waits", None),
        Decision::Nudge => ("nudge", None),
        Decision::Restart(why) => ("restart", Some(why)),
        Decision::GiveUp(why) => ("give_up", Some(why)),
    };
    json!({
        "id": seen.bead.id,
        "silent_minutes": seen.silence.map(minutes),
        "step": step,
        "why": why,
        "file": seen.file,
        "overtaken": seen.is_overtaken,
    })
}

fn text(pass: &Pass, is_dry_run: bool) -> String {
    let would = if is_dry_run { "would be " } else { "" };
    let told = pass.seen.iter().filter_map(|seen| {
        let what = match &seen.step {
            Decision::Fresh | Decision::Waits => return None,
            _ if seen.is_overtaken => "was changed meanwhile, and is left alone".to_owned(),
            Decision::Nobody => "is silent, and nobody is named whom one could ask".to_owned(),
            Decision::Nudge => format!(
                "{would}reminded of: silent for {} minutes",
                seen.silence.map(minutes).unwrap_or_default()
            ),
            Decision::Restart(why) => format!("{would}put back to open: {}", visible(why)),
            Decision::GiveUp(why) => format!("{would}left to a person: {}", visible(why)),
        };
        let file = seen.file.as_deref();
        let file = file.map_or(String::new(), |file| format!("; see {}", visible(file)));
        let (id, title) = (visible(&seen.bead.id), excerpt(&seen.bead.title));
        Some(format!("{id} {title} {what}{file}\n"))
    });
    let lines: String = told.collect();
    let counts = &pass.counts;
    let n = counted(pass.seen.len(), "bead", "beads");
    format!(
        "{lines}{n} in progress: {} reminded of, {} put back, {} left to a person\n",
        counts.nudges_sent, counts.restarts_done, counts.failures
    )
}

impl From<WatchdogError> for Failure {
    fn from(error: WatchdogError) -> Self {
        let message = error.to_string();
        let failure = |action: &str| {
            Self::new(ErrorCode::ValidationConstraint, message.as_str()).action(action)
        };
        match error {
            WatchdogError::File(error) => error.into(),
            WatchdogError::Bead(error) => error.into(),
            WatchdogError::Store(error) => error.into(),
            WatchdogError::Busy => failure("see which process holds .ralph/metrics/watchdog.lock"),
            WatchdogError::Interrupted => failure("run the same command again").exit_with(130),
        }
    }
}
