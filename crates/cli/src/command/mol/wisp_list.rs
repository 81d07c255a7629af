//! `mol wisp list`: the wisps of the store, and when each of them is over (F-10).
//!
//! Data: `{"wisps": [{id, title, status, done, total, created_at, expires_at, expired: bool}]}`, the oldest first.

use beads_ralph_core::issue::{Condition, Flag, Query, Record, Standing, expiry, is_expired};
use beads_ralph_core::molecule::Molecule;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::molecules;
use clap::Args;
use serde_json::{Value, json};

use crate::args::Global;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::time;
use crate::ui::table::{Page, Table};

#[derive(Debug, Args)]
pub(crate) struct WispListArgs {
    /// Closed ones too
    #[arg(long)]
    pub(crate) all: bool,
}

pub(super) fn run(args: &WispListArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    let mut wisps = all(&beads)?;
    wisps.retain(|wisp| args.all || wisp.root().issue.standing() != Standing::Closed);
    if ui.is_json() {
        let wisps: Vec<Value> = wisps.iter().map(|wisp| to_json(wisp, &beads)).collect();
        return ui.data(&json!({"wisps": wisps}));
    }
    if wisps.is_empty() {
        ui.say("there are no wisps\n");
        return Ok(());
    }
    let mut table = Table::new(&["ID", "STATUS", "DONE", "OVER AT", "TITLE…"]);
    for wisp in &wisps {
        let (root, progress) = (&wisp.root().issue, wisp.progress());
        let until = expiry(root).map_or_else(|| "never".to_owned(), time);
        let mark = if is_expired(root, beads.by.now) {
            " (over)"
        } else {
            ""
        };
        table.row(vec![
            root.id().to_string(),
            root.status().to_owned(),
            format!("{}/{}", progress.done, progress.total),
            format!("{until}{mark}"),
            root.title().to_owned(),
        ]);
    }
    ui.out(&table.draw(Page::of(ui)))
}

/// Every wisp that is no part of another one, with what is below it; the oldest first.
pub(super) fn all(beads: &Beads) -> Result<Vec<Molecule>, Failure> {
    let mut wisps: Vec<Record> = beads.store.find(&Query {
        conditions: vec![Condition::With(vec![Flag::Ephemeral])],
        ..Beads::everything()
    })?;
    let ids: std::collections::HashSet<_> =
        (wisps.iter()).map(|wisp| wisp.issue.id().clone()).collect();
    wisps.retain(|wisp| !wisp.issue.parents().any(|parent| ids.contains(parent)));
    wisps.sort_by_key(|wisp| wisp.issue.time("created_at"));
    let wisps = wisps.into_iter();
    let molecules = wisps.map(|root| molecules::load(&*beads.store, root));
    Ok(molecules.collect::<Result<_, _>>()?)
}

fn to_json(wisp: &Molecule, beads: &Beads) -> Value {
    let (root, progress) = (&wisp.root().issue, wisp.progress());
    json!({
        "id": root.id().as_str(),
        "title": root.title(),
        "status": root.status(),
        "done": progress.done,
        "total": progress.total,
        "created_at": root.text("created_at"),
        "expires_at": expiry(root).map(time),
        "expired": is_expired(root, beads.by.now),
    })
}
