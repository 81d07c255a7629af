//! `claim`, `heartbeat` and `release`: who works on a bead, and for how long (L-11, Z-2, Z-3).
//!
//! Results of `claim`: `{id, claimed: true, fence, lease_until, holder}` for each bead, else `{id, claimed: false, error}`; the exit code is
//! 4 when somebody else holds one. Data of `heartbeat`: `{id, fence, lease_until}`. Results of `release`: `{id, released: true, fence}`.

use std::time::Duration;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Fence, Holder, Record};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::{Authority, BeadError};
use beads_ralph_runtime::store::{NewClaim, StoreError};
use clap::Args;
use serde::Serialize;

use crate::args::{Global, HolderArgs, duration, fence, one_fence_one_bead};
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::{named, time};
use crate::ui::outcomes::{self, Done};

#[derive(Debug, Args)]
pub(crate) struct ClaimArgs {
    /// The beads
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) holder: HolderArgs,
    /// Claim it even if it is blocked
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HeartbeatArgs {
    /// The bead
    pub(crate) id: String,
    /// The fence of your claim
    #[arg(long, value_name = "N", value_parser = fence)]
    pub(crate) fence: Fence,
    /// How long the claim is valid from now, such as 30m
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub(crate) lease: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    /// The beads
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// The fence of the claim; by default, only your own claims on this machine without a process are released
    #[arg(long, value_name = "N", value_parser = fence)]
    pub(crate) fence: Option<Fence>,
    /// Who holds the claim (default: the actor)
    #[arg(long, value_name = "NAME")]
    pub(crate) holder: Option<String>,
    /// Release it even if somebody else holds it
    #[arg(long, conflicts_with = "fence")]
    pub(crate) force: bool,
}

/// What a holder must know about a claim, for programs.
#[derive(Serialize)]
pub(super) struct ClaimFacts<'r> {
    id: &'r BeadId,
    claimed: bool,
    fence: Fence,
    lease_until: Option<String>,
    holder: Option<&'r Holder>,
}

impl<'r> ClaimFacts<'r> {
    pub(super) fn of(record: &'r Record) -> Self {
        let claim = record.claim.as_ref();
        Self {
            id: record.issue.id(),
            claimed: claim.is_some(),
            fence: record.fence,
            lease_until: claim.map(|claim| time(claim.lease_until)),
            holder: claim.map(|claim| &claim.holder),
        }
    }
}

pub(crate) fn claim(args: &ClaimArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = global.open()?;
    let holder = args.holder.holder(&beads.by)?;
    let new = NewClaim {
        holder: &holder,
        lease_until: beads.by.lease_until(args.holder.lease)?,
        is_forced: args.force,
        instead_of: None,
    };
    outcomes::each(&args.ids, "claimed", ui, |id| {
        let id = beads.resolve(id)?.issue.id().clone();
        let record = beads.store.claim(&id, &new, beads.by.stamp())?;
        Ok(Done::new(sentence(&record), ClaimFacts::of(&record)))
    })
}

/// What happened, for people.
pub(super) fn sentence(record: &Record) -> String {
    let Some(claim) = &record.claim else {
        return format!("{} is not claimed", named(record));
    };
    format!(
        "claimed {} for {}: fence {}, lease until {}",
        named(record),
        excerpt(&claim.holder.run),
        claim.fence,
        time(claim.lease_until)
    )
}

pub(crate) fn heartbeat(args: &HeartbeatArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Extended<'a> {
        id: &'a BeadId,
        fence: Fence,
        lease_until: String,
    }
    let mut beads = global.open()?;
    let id = beads.resolve(&args.id)?.issue.id().clone();
    let until = beads.by.lease_until(args.lease)?;
    let claim = beads.store.heartbeat(&id, args.fence, until)?;
    let extended = Extended {
        id: &id,
        fence: claim.fence,
        lease_until: time(claim.lease_until),
    };
    if ui.is_json() {
        return ui.data(&extended);
    }
    ui.out(&format!(
        "{}: fence {}, lease until {}\n",
        excerpt(id.as_str()),
        claim.fence,
        extended.lease_until
    ))
}

pub(crate) fn release(args: &ReleaseArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Released {
        id: BeadId,
        fence: Fence,
    }
    one_fence_one_bead(args.fence, &args.ids)?;
    let authority = match args.fence {
        Some(fence) => Authority::Fence(fence),
        None if args.force => Authority::Forced,
        None => Authority::Own,
    };
    let mut beads = global.open()?;
    outcomes::each(&args.ids, "released", ui, |id| {
        let record = beads.resolve(id)?;
        let released = beads.release(&record, args.holder.as_deref(), authority);
        let (record, fence) = released.map_err(|error| {
            let is_held = matches!(error, BeadError::Store(StoreError::Held { .. }));
            let failure = Failure::from(error);
            if is_held {
                failure.action("pass the --fence of that claim or --force; if its holder is gone, run `beads-ralph recover`")
            } else {
                failure
            }
        })?;
        let id = record.issue.id().clone();
        let said = format!("released {}", named(&record));
        Ok(Done::new(said, Released { id, fence }))
    })
}
