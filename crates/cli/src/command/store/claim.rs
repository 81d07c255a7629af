//! `claim`: takes beads to work on them (L-11, Z-2, Z-3).
//!
//! Results: `{id, claimed: true, fence, lease_until, holder}` for each bead that was had, else
//! `{id, claimed: false, error}`. When one
//! was lost to somebody else the exit code is 4.

use beads_ralph_core::issue::Record;
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::store::NewClaim;
use clap::Args;
use serde_json::{Map, Value, json};

use crate::args::{Global, HolderArgs};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::{named, time};
use crate::ui::outcomes::{self, Done};

#[derive(Debug, Args)]
pub(crate) struct ClaimArgs {
    /// The beads; each is tried
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) holder: HolderArgs,
    /// Also when something holds it back
    #[arg(long)]
    pub(crate) force: bool,
}

pub(crate) fn run(args: &ClaimArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = Beads::open(global)?;
    let holder = beads.by.holder(&args.holder)?;
    let new = NewClaim {
        holder: &holder,
        lease_until: beads.by.lease_until(args.holder.lease)?,
        is_forced: args.force,
        instead_of: None,
    };
    outcomes::each(&args.ids, "claimed", ui, |id| {
        let id = beads.resolve(id)?.issue.id().clone();
        let record = beads.store.claim(&id, &new, beads.by.stamp())?;
        Ok(Done::new(sentence(&record), Value::Object(facts(&record))))
    })
}

/// What a holder must know about a claim, for programs.
pub(crate) fn facts(record: &Record) -> Map<String, Value> {
    let claim = record.claim.as_ref();
    let facts = json!({
        "id": record.issue.id().as_str(),
        "claimed": claim.is_some(),
        "fence": record.fence.0,
        "lease_until": claim.map(|claim| time(claim.lease_until)),
        "holder": claim.map(|claim| &claim.holder),
    });
    match facts {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The same for people.
pub(crate) fn sentence(record: &Record) -> String {
    let Some(claim) = &record.claim else {
        return format!("{} is not held", named(record));
    };
    format!(
        "claimed {} for {}: fence {}, lease until {}",
        named(record),
        excerpt(&claim.holder.run),
        claim.fence,
        time(claim.lease_until)
    )
}
