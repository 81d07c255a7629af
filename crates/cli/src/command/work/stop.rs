//! `stop`: asks the runs on this store to stop (Z-15).
//!
//! Data: `{"stop": {at, by, now}}`.

use beads_ralph_runtime::controls;
use clap::Args;
use serde_json::json;

use crate::args::Global;

use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// End the agents that run, instead of letting them finish what they do
    #[arg(long)]
    pub(crate) now: bool,
}

pub(crate) fn run(args: &StopArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = global.open()?;
    let order = controls::stop(beads.store.as_mut(), args.now, beads.by.stamp())?;
    if ui.is_json() {
        return ui.data(&json!({"stop": order}));
    }
    ui.out(if args.now {
        "every run on this store is asked to stop now: its agents are ended, and their beads go back to open\n"
    } else {
        "every run on this store is asked to stop: nothing new is begun, and what agents do now is finished\n"
    })
}
