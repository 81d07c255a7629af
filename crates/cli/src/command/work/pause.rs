//! `pause`: asks the runs on this store to begin nothing new, and takes it back (Z-15).
//!
//! Data: `{"pause": {at, by, now} | null, "changed": bool}`.

use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::controls;
use clap::Args;
use serde_json::json;

use crate::args::Global;

use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::time;

#[derive(Debug, Args)]
pub(crate) struct PauseArgs {
    /// Go on again
    #[arg(long)]
    pub(crate) off: bool,
}

pub(crate) fn run(args: &PauseArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = global.open()?;
    let store = beads.store.as_mut();
    if args.off {
        let is_changed = controls::resume(store, beads.by.stamp())?;
        if ui.is_json() {
            return ui.data(&json!({"pause": null, "changed": is_changed}));
        }
        return ui.out(if is_changed {
            "runs on this store go on\n"
        } else {
            "nothing is paused\n"
        });
    }
    let before = controls::read(store)?.pause;
    let is_changed = before.is_none();
    let order = match before {
        Some(order) => order,
        None => controls::pause(store, beads.by.stamp())?,
    };
    if ui.is_json() {
        return ui.data(&json!({"pause": order, "changed": is_changed}));
    }
    let said = if is_changed {
        "runs on this store begin nothing new; beads-ralph pause --off lets them go on\n".to_owned()
    } else {
        format!(
            "paused since {} by {}\n",
            time(order.at),
            excerpt(&order.by)
        )
    };
    ui.out(&said)
}
