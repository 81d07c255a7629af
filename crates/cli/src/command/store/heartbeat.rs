//! `heartbeat`: the work on a claimed bead goes on.
//!
//! Data: `{id, fence, lease_until}`.

use std::time::Duration;

use beads_ralph_core::issue::Fence;
use beads_ralph_core::text::excerpt;
use clap::Args;
use serde_json::json;

use crate::args::{Global, duration, fence};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::time;

#[derive(Debug, Args)]
pub(crate) struct HeartbeatArgs {
    /// The bead
    pub(crate) id: String,
    /// The number that the claim gave out
    #[arg(long, value_name = "N", value_parser = fence)]
    pub(crate) fence: Fence,
    /// How long from now the claim holds, such as 30m
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub(crate) lease: Duration,
}

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
