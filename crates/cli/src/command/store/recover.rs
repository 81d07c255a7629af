//! `recover`: what processes left that are gone is set right, without working on anything (contracts §7.9, Z-4).
//!
//! Runs whose process is dead are named and what still runs of them is ended; beads whose holder is gone are put back to open. The next
//! `run` resumes such a run. Data: `{runs: [{run, beads, ended, discarded}], recovered: [{id, fence, holder|null, why}],
//! left: [{id, fence, holder|null, why}], dry_run}`.

mod runs;

use std::fmt::Write as _;

use beads_ralph_core::issue::{Claim, Edit, Liveness, Query, Record, StatusFilter};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::os::host;
use beads_ralph_runtime::store::{Guard, StoreError, Write};
use clap::Args;
use serde_json::{Value, json};

use self::runs::LeftRun;
use crate::args::Global;
use crate::failure::Failure;
use crate::ui::bead_view::{held, named, time};
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct RecoverArgs {
    /// Include beads that are in progress without a recorded holder
    #[arg(long)]
    pub(crate) unheld: bool,
    /// Discard an unfinished run instead of resuming it; branches and worktrees stay
    #[arg(long, value_name = "RUN")]
    pub(crate) discard: Option<String>,
    /// Show what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// A bead that is in progress, and what was made of it.
struct Seen {
    record: Record,
    is_recovered: bool,
    why: String,
}

pub(crate) fn run(args: &RecoverArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = global.open()?;
    let runs = runs::settle(args, &beads.directory)?;
    let query = Query {
        status: StatusFilter::OneOf(vec!["in_progress".to_owned()]),
        includes_hidden: true,
        ..Query::default()
    };
    let mut seen = Vec::new();
    for record in beads.store.find(&query)? {
        seen.push(recover(record, args, &mut beads)?);
    }
    let (recovered, left): (Vec<Seen>, Vec<Seen>) =
        seen.into_iter().partition(|seen| seen.is_recovered);
    if ui.is_json() {
        let json = |seen: &[Seen]| seen.iter().map(to_json).collect::<Vec<Value>>();
        let (recovered, left) = (json(&recovered), json(&left));
        return ui.data(&json!({
            "runs": runs.iter().map(LeftRun::to_json).collect::<Vec<Value>>(),
            "recovered": recovered, "left": left, "dry_run": args.dry_run,
        }));
    }
    for run in &runs {
        ui.out(&run.text(args.dry_run))?;
    }
    ui.out(&text(&recovered, &left, args.dry_run))
}

fn recover(record: Record, args: &RecoverArgs, beads: &mut Beads) -> Result<Seen, Failure> {
    let Some(claim) = record.claim.clone() else {
        return recover_unheld(record, args, beads);
    };
    let Some(why) = claim.is_abandoned(beads.by.now, &host::name(), host::liveness) else {
        let why = still_there(&claim);
        return Ok(left(record, why));
    };
    if !args.dry_run {
        let id = record.issue.id();
        match beads.store.reclaim(id, claim.fence, why, beads.by.stamp()) {
            Ok(_) => {}
            Err(StoreError::Stale { .. }) => {
                return Ok(left(record, "it changed hands meanwhile".to_owned()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Seen {
        record,
        is_recovered: true,
        why: why.as_str().to_owned(),
    })
}

/// Nothing says whether somebody works on a bead that has no holder, so that people decide. Its attempts stay.
fn recover_unheld(record: Record, args: &RecoverArgs, beads: &mut Beads) -> Result<Seen, Failure> {
    if !args.unheld {
        let why =
            "no holder is recorded; if nobody works on it, `beads-ralph recover --unheld` opens it";
        return Ok(left(record, why.to_owned()));
    }
    if !args.dry_run {
        let write = Write::Update {
            id: record.issue.id().clone(),
            edits: vec![Edit::Status("open".to_owned())],
            guard: Guard {
                version: Some(record.version),
                ..Guard::default()
            },
        };
        match beads.store.write(&[write], beads.by.stamp()) {
            Ok(_) => {}
            Err(StoreError::Guard { .. }) => {
                return Ok(left(record, "it was changed meanwhile".to_owned()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Seen {
        record,
        is_recovered: true,
        why: "no holder is recorded".to_owned(),
    })
}

fn left(record: Record, why: String) -> Seen {
    Seen {
        record,
        is_recovered: false,
        why,
    }
}

/// Why a holder does not count as gone.
fn still_there(claim: &Claim) -> String {
    match &claim.holder.process {
        Some(process) if host::liveness(process) == Liveness::Alive => {
            format!("its process {} is alive", process.pid)
        }
        _ => format!("its lease holds until {}", time(claim.lease_until)),
    }
}

fn to_json(seen: &Seen) -> Value {
    let claim = seen.record.claim.as_ref();
    json!({
        "id": seen.record.issue.id().as_str(),
        "fence": seen.record.fence,
        "holder": claim.map(|claim| &claim.holder),
        "why": seen.why,
    })
}

fn text(recovered: &[Seen], left: &[Seen], is_dry_run: bool) -> String {
    let mut text = String::new();
    for seen in recovered {
        let what = if is_dry_run {
            "would recover"
        } else {
            "recovered"
        };
        let claim = seen.record.claim.as_ref();
        let holder = claim.map_or(String::new(), |claim| format!("; held by {}", held(claim)));
        _ = writeln!(text, "{what} {}: {}{holder}", named(&seen.record), seen.why);
    }
    for seen in left {
        let holder = (seen.record.claim.as_ref()).map(|claim| excerpt(&claim.holder.run));
        let holder = holder.map_or(String::new(), |holder| format!("held by {holder}, "));
        _ = writeln!(text, "left {}: {holder}{}", named(&seen.record), seen.why);
    }
    let verb = if is_dry_run { "would be put" } else { "put" };
    let n = counted(recovered.len(), "bead", "beads");
    _ = writeln!(
        text,
        "{n} {verb} back to open, {} left as they are",
        left.len()
    );
    text
}
