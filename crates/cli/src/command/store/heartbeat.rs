//! `heartbeat`: the work on a claimed bead goes on.
//!
//! Data: `{id, fence, lease_until}`.

use beads_ralph_core::text::excerpt;
use serde_json::json;

use crate::args::{Global, HeartbeatArgs};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::time;

pub(crate) fn run(args: &HeartbeatArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = Beads::open(global)?;
    let id = beads.resolve(&args.id)?.issue.id().clone();
    let until = beads.by.lease_until(args.lease)?;
    let claim = beads.store.heartbeat(&id, args.fence, until)?;
    let until = time(claim.lease_until);
    if ui.is_json() {
        return ui.data(&json!({"id": id.as_str(), "fence": claim.fence, "lease_until": until}));
    }
    ui.out(&format!(
        "{}: fence {}, lease until {until}\n",
        excerpt(id.as_str()),
        claim.fence
    ))
}
