//! `ready`: the beads that can be started now, and taking the first of them.
//!
//! Data: `{"beads": […], "more": bool}`; with `--claim` `{"claimed": {…} | null}`, where the bead has its
//! `fence` and `lease_until`.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Query, Record};
use beads_ralph_core::vocabulary::label;
use beads_ralph_runtime::store::{NewClaim, StoreError};
use clap::Args;
use serde_json::json;

use super::claim;
use super::list::{filtered, find};
use crate::args::{FilterArgs, Global, HolderArgs};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::{Ui, bead_view};

#[derive(Debug, Args)]
pub(crate) struct ReadyArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// How many to show at the most; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Claim the first one that can be had
    #[arg(long)]
    pub(crate) claim: bool,
    #[command(flatten)]
    pub(crate) holder: HolderArgs,
}

pub(crate) fn run(args: &ReadyArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    if !args.claim && (args.holder.holder.is_some() || args.holder.pid.is_some()) {
        let message = "--holder and --pid say for whom a bead is claimed, and go with --claim";
        return Err(Failure::new(ErrorCode::ValidationConstraint, message)
            .action("add --claim, or leave them out")
            .exit_with(2));
    }
    let mut beads = Beads::open(global)?;
    let mut query = Query {
        ready_at: Some(beads.by.now),
        ..filtered(&args.filter)
    };
    pause(&mut query);
    if args.claim {
        return claim_first(args, &mut beads, &query, ui);
    }
    let listed = find(&beads, query, args.limit)?;
    if listed.records.is_empty() && !ui.is_json() {
        ui.say(&nothing(&beads)?);
        return Ok(());
    }
    listed.show(&beads, ui)
}

/// What waits for a person is not ready (I-31, Z-42), unless it is asked for.
fn pause(query: &mut Query) {
    let mut asked = query.labels_all.iter().chain(&query.labels_any);
    if !asked.any(|label| label == label::HUMAN) {
        query.labels_none.push(label::HUMAN.to_owned());
    }
}

/// Why there is nothing to do: two sentences that save a search.
fn nothing(beads: &Beads) -> Result<String, Failure> {
    let waiting = Query {
        is_blocked: Some(true),
        limit: Some(1),
        ..Query::default()
    };
    let any = Query {
        limit: Some(1),
        ..Query::default()
    };
    let hint = if !beads.store.find(&waiting)?.is_empty() {
        "see `beads-ralph list --blocked` for what waits, and for what"
    } else if !beads.store.find(&any)?.is_empty() {
        "see `beads-ralph list` for what is in progress or put aside"
    } else {
        "everything is done, or the store is empty"
    };
    Ok(format!("nothing is ready; {hint}\n"))
}

/// How many are looked at first to claim one of them.
const FIRST: usize = 50;

fn claim_first(args: &ReadyArgs, beads: &mut Beads, query: &Query, ui: &Ui) -> Result<(), Failure> {
    let holder = beads.by.holder(&args.holder)?;
    let new = NewClaim {
        holder: &holder,
        lease_until: beads.by.lease_until(args.holder.lease)?,
        is_forced: false,
        instead_of: None,
    };
    for limit in [Some(FIRST), None] {
        let candidates = beads.store.find(&Query {
            limit,
            ..query.clone()
        })?;
        for candidate in candidates {
            let id = candidate.issue.id();
            match beads.store.claim(id, &new, beads.by.stamp()) {
                Ok(record) => return report(&record, beads, ui),
                // Somebody was faster, or something changed meanwhile: the next one will do.
                Err(
                    StoreError::Held { .. }
                    | StoreError::InProgress(_)
                    | StoreError::NotClaimable { .. }
                    | StoreError::Blocked { .. },
                ) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    if ui.is_json() {
        return ui.data(&json!({"claimed": null}));
    }
    ui.say(&nothing(beads)?);
    Ok(())
}

fn report(record: &Record, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    if ui.is_json() {
        let mut json = bead_view::to_json(record, beads.n_dependents(record.issue.id())?);
        json.extend(claim::facts(record));
        return ui.data(&json!({"claimed": json}));
    }
    ui.out(&format!("{}\n", claim::sentence(record)))
}
