//! `recover`: beads whose holder is gone, put back to open (contracts §7.9, Z-4).
//!
//! Data: `{recovered: [{id, fence, holder, why}], left: [{id, fence, holder|null, why}], dry_run}`.

use std::fmt::Write as _;

use beads_ralph_core::issue::{Claim, Liveness, Query, Record, StatusFilter};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::host;
use beads_ralph_runtime::store::StoreError;
use serde_json::{Value, json};

use crate::args::{Global, RecoverArgs};
use crate::bead_view::{held, named, time};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::{Ui, counted};

/// A bead that is in progress, and what was made of it.
struct Seen {
    record: Record,
    is_recovered: bool,
    why: String,
}

pub(crate) fn run(args: &RecoverArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = Beads::open(global)?;
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
        return ui.data(&json!({"recovered": recovered, "left": left, "dry_run": args.dry_run}));
    }
    ui.out(&text(&recovered, &left, args.dry_run))
}

fn recover(record: Record, args: &RecoverArgs, beads: &mut Beads) -> Result<Seen, Failure> {
    let left = |record: Record, why: String| Seen {
        record,
        is_recovered: false,
        why,
    };
    let Some(claim) = record.claim.clone() else {
        let why = "no holder is recorded; if nobody works on it, `beads-ralph reopen` opens it";
        return Ok(left(record, why.to_owned()));
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
        let holder = (seen.record.claim.as_ref()).map_or(String::new(), held);
        _ = writeln!(
            text,
            "{what} {}: {}; held by {holder}",
            named(&seen.record),
            seen.why
        );
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
