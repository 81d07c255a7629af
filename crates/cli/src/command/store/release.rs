//! `release`: gives claimed beads back.
//!
//! Results: `{id, released: true, fence}` for each bead, else `{id, released: false, error}`.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Fence, Record};
use beads_ralph_core::text::excerpt;
use clap::Args;
use serde_json::json;

use crate::args::{Global, fence};
use crate::beads::{Beads, Writer};
use crate::failure::{ALREADY_CLAIMED, Failure};
use crate::ui::Ui;
use crate::ui::bead_view::{held, named};
use crate::ui::outcomes::{self, Done};

#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    /// The beads
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// The number that the claim gave out; without it, only your own claims on this machine that name no process
    #[arg(long, value_name = "N", value_parser = fence)]
    pub(crate) fence: Option<Fence>,
    /// Whose claim it is; without it, whoever writes
    #[arg(long, value_name = "NAME")]
    pub(crate) holder: Option<String>,
    /// Also when somebody else holds it
    #[arg(long, conflicts_with = "fence")]
    pub(crate) force: bool,
}

pub(crate) fn run(args: &ReleaseArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    super::close::one_fence_one_bead(args.fence, &args.ids)?;
    let mut beads = Beads::open(global)?;
    outcomes::each(&args.ids, "released", ui, |id| {
        let record = beads.resolve(id)?;
        let id = record.issue.id();
        let fence = match args.fence {
            Some(fence) => fence,
            None => present_fence(&record, args, beads.by.actor())?,
        };
        let record = beads.store.release(id, fence, beads.by.stamp())?;
        let data = json!({"id": id.as_str(), "fence": fence});
        Ok(Done::new(format!("released {}", named(&record)), data))
    })
}

/// The fence of the claim as it is now, for its own holder at a terminal, or for whoever insists. A program passes
/// its fence, as everywhere (Z-2).
fn present_fence(record: &Record, args: &ReleaseArgs, actor: &str) -> Result<Fence, Failure> {
    let id = excerpt(record.issue.id().as_str());
    let Some(claim) = &record.claim else {
        let message = format!(
            "bead {id} is not claimed; its status is {}",
            record.issue.status()
        );
        return Err(Failure::new(ErrorCode::ValidationConstraint, message)
            .action("there is nothing to give back; `beads-ralph reopen` opens it"));
    };
    let name = args.holder.as_deref().unwrap_or(actor);
    let fence = if args.force {
        Some(claim.fence)
    } else {
        Writer::fence_of(record, name)
    };
    if let Some(fence) = fence {
        return Ok(fence);
    }
    let message = format!("bead {id} is already claimed by {}", held(claim));
    Err(Failure::new(ErrorCode::ValidationConstraint, message)
        .action("pass the --fence of that claim or --force; if its holder is gone, run `beads-ralph recover`")
        .exit_with(ALREADY_CLAIMED))
}
