//! `watchdog`: beads in progress that have been silent for too long are reminded of, put back to open, or given up (contracts §8.7).
//!
//! Data: `{passes, beads: [{id, silent_minutes|null, step, why|null, file|null, overtaken}], dry_run}` of the last pass, where `step` is `fresh`, `nobody`,
//! `nudge`, `restart` or `give_up`.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::text::visible;
use beads_ralph_core::watchdog::{Step, minutes};
use beads_ralph_runtime::clock;
use beads_ralph_runtime::ralph::Ralph;
use beads_ralph_runtime::store::Store;
use beads_ralph_runtime::unit::Cancel;
use beads_ralph_runtime::watchdog::{Pass, Seen, Watchdog, WatchdogError};
use serde_json::{Value, json};

use crate::args::{Global, WatchdogArgs};
use crate::bead_view::named;
use crate::beads::{Beads, is_passing};
use crate::failure::Failure;
use crate::ui::{Ui, counted};
use crate::work;

pub(crate) fn run(args: &WatchdogArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = Beads::open(global)?;
    let root = work::store_root(&beads);
    let cancel = Cancel::on_signals()?;
    let dog = Watchdog {
        root: &root,
        cancel: &cancel,
        actor: beads.by.actor(),
        version: env!("CARGO_PKG_VERSION"),
        is_dry_run: args.dry_run,
    };
    if !args.dry_run {
        Ralph::with_store(&root, &beads.directory).prepare()?;
    }
    let (n_passes, last) = watch(&dog, &mut *beads.store, args, ui)?;
    if ui.is_json() {
        let beads: Vec<Value> = last.iter().map(to_json).collect();
        return ui.data(&json!({"passes": n_passes, "beads": beads, "dry_run": args.dry_run}));
    }
    Ok(())
}

/// Makes passes until somebody stops it, or one: how many, and what the last one saw. A store that cannot be had for a moment is looked at again.
fn watch(
    dog: &Watchdog<'_>,
    store: &mut dyn Store,
    args: &WatchdogArgs,
    ui: &Ui,
) -> Result<(u64, Vec<Seen>), Failure> {
    let mut n_passes = 0;
    let mut last = Vec::new();
    loop {
        match dog.pass(store, clock::now()) {
            Ok(pass) => {
                n_passes += 1;
                if !ui.is_json() {
                    ui.out(&text(&pass, args.dry_run))?;
                }
                last = pass.seen;
            }
            Err(WatchdogError::Interrupted) if !args.once => return Ok((n_passes, last)),
            Err(WatchdogError::Store(error)) if !args.once && is_passing(&error) => {
                ui.complain(&format!(
                    "{}; it is tried again\n",
                    visible(&error.to_string())
                ));
            }
            Err(error) => return Err(error.into()),
        }
        if args.once || dog.cancel.wait(args.interval) {
            return Ok((n_passes, last));
        }
    }
}

fn to_json(seen: &Seen) -> Value {
    let (step, why) = match &seen.step {
        Step::Fresh => ("fresh", None),
        Step::Nobody => ("nobody", None),
        Step::Nudge => ("nudge", None),
        Step::Restart(why) => ("restart", Some(why)),
        Step::GiveUp(why) => ("give_up", Some(why)),
    };
    json!({
        "id": seen.record.issue.id(),
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
            Step::Fresh => return None,
            _ if seen.is_overtaken => "was changed meanwhile, and is left alone".to_owned(),
            Step::Nobody => "is silent, and nobody is named whom one could ask".to_owned(),
            Step::Nudge => format!(
                "{would}reminded of: silent for {} minutes",
                seen.silence.map(minutes).unwrap_or_default()
            ),
            Step::Restart(why) => format!("{would}put back to open: {}", visible(why)),
            Step::GiveUp(why) => format!("{would}given up: {}", visible(why)),
        };
        let file = seen.file.as_deref();
        let file = file.map_or(String::new(), |file| format!("; see {}", visible(file)));
        Some(format!("{} {what}{file}\n", named(&seen.record)))
    });
    let lines: String = told.collect();
    let counts = &pass.counts;
    let n = counted(pass.seen.len(), "bead", "beads");
    format!(
        "{lines}{n} in progress: {} reminded of, {} put back, {} given up\n",
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
            WatchdogError::Store(error) => error.into(),
            WatchdogError::Busy => failure("see which process holds .ralph/metrics/watchdog.lock"),
            WatchdogError::Interrupted => failure("run the same command again").exit_with(130),
        }
    }
}
