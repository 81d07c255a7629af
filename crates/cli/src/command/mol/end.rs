//! `mol squash`, `mol burn`, `mol wisp list` and `mol wisp gc`: molecules and wisps that end (F-10…F-12).
//!
//! Data of `squash`: `{"molecule": id, "summary", "closed": [ids], "kept": [ids], "changed": bool, "dry_run": bool}`, where `kept` has what is not a wisp any more; of
//! `burn`: `{"burned": [roots], "deleted": [ids], "kept": [ids], "dry_run": bool}`; of `wisp list`: `{"wisps": [{id, title, status, done, total, created_at, expires_at,
//! expired: bool}]}`, the oldest first; of `wisp gc`: `{"wisps": [roots], "deleted": [ids], "left": [{id, why}], "dry_run": bool}`.

use std::time::Duration;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Standing, expiry, is_expired};
use beads_ralph_core::molecule::Molecule;
use beads_ralph_core::text::excerpt;
use beads_ralph_core::vocabulary::field;
use beads_ralph_runtime::app::beads::{Authority, BeadError};
use beads_ralph_runtime::app::molecules::MoleculeError;
use beads_ralph_runtime::store::StoreError;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;

use crate::args::{Global, duration};
use crate::failure::Failure;
use crate::ui::bead_view::{held, named, time};
use crate::ui::table::{Page, Table};
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct SquashArgs {
    /// The root of the molecule
    pub(crate) id: String,
    /// What came of it
    #[arg(short, long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) summary: String,
    /// Close it even if somebody holds one of its steps
    #[arg(long)]
    pub(crate) force: bool,
    /// Show what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BurnArgs {
    /// The roots; all of them are deleted, or none
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Delete molecules that are not wisps, and steps that somebody holds
    #[arg(long)]
    pub(crate) force: bool,
    /// Show what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WispListArgs {
    /// Include closed wisps
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WispGcArgs {
    /// The age at which a wisp has expired, such as 24h
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = duration)]
    pub(crate) age: Duration,
    /// Show what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Says what to do about a step that somebody holds.
fn refused(error: MoleculeError, what: &str) -> Failure {
    let is_held = matches!(
        error,
        MoleculeError::Bead(BeadError::Store(StoreError::Held { .. }))
    );
    let failure = Failure::from(error);
    if is_held {
        failure.action(format!(
            "wait for the holder, or pass --force to {what} it anyway"
        ))
    } else {
        failure
    }
}

pub(super) fn squash(args: &SquashArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Answer<'a> {
        molecule: &'a BeadId,
        summary: &'a str,
        closed: &'a [BeadId],
        kept: &'a [BeadId],
        changed: bool,
        dry_run: bool,
    }
    let authority = if args.force {
        Authority::Forced
    } else {
        Authority::Own
    };
    let mut beads = global.open()?;
    let squashed = beads.squash(&args.id, &args.summary, authority, args.dry_run);
    let squashed = squashed.map_err(|error| refused(error, "close"))?;
    let is_changed = !squashed.closed.is_empty() || !squashed.kept.is_empty();
    let root = squashed.molecule.root();
    if ui.is_json() {
        return ui.data(&Answer {
            molecule: root.issue.id(),
            summary: &args.summary,
            closed: &squashed.closed,
            kept: &squashed.kept,
            changed: is_changed && !args.dry_run,
            dry_run: args.dry_run,
        });
    }
    if !is_changed {
        return ui.out(&format!("{} is already closed\n", named(root)));
    }
    let verb = if args.dry_run {
        "would close"
    } else {
        "closed"
    };
    let n_beads = counted(squashed.closed.len(), "bead", "beads");
    let lasts = if squashed.kept.is_empty() {
        ""
    } else {
        "; it is not a wisp any more"
    };
    ui.out(&format!("{verb} {n_beads} of {}{lasts}\n", named(root)))
}

pub(super) fn burn(args: &BurnArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Answer<'a> {
        burned: &'a [BeadId],
        deleted: Vec<&'a BeadId>,
        kept: &'a [BeadId],
        dry_run: bool,
    }
    let mut beads = global.open()?;
    let burned = beads.burn(&args.ids, args.force, args.dry_run);
    let burned = burned.map_err(|error| refused(error, "delete"))?;
    let deleted = burned.deleted.iter().map(|record| record.issue.id());
    if ui.is_json() {
        return ui.data(&Answer {
            burned: &burned.roots,
            deleted: deleted.collect(),
            kept: &burned.kept,
            dry_run: args.dry_run,
        });
    }
    let n_deleted = counted(burned.deleted.len(), "bead", "beads");
    let verb = verb_of_deleting(args.dry_run);
    ui.out(&format!("{verb} {n_deleted}: {}\n", listed(&burned.roots)))?;
    for kept in &burned.kept {
        let kept = excerpt(kept.as_str());
        ui.say(&format!("kept {kept}: it is not a wisp\n"));
    }
    Ok(())
}

fn verb_of_deleting(is_dry_run: bool) -> &'static str {
    if is_dry_run {
        "would delete"
    } else {
        "deleted"
    }
}

fn listed(ids: &[BeadId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| excerpt(id.as_str())).collect();
    ids.join(", ")
}

pub(super) fn list_wisps(args: &WispListArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Answer<'w> {
        wisps: Vec<Wisp<'w>>,
    }
    let beads = global.open()?;
    let mut wisps = beads.wisps()?;
    wisps.retain(|wisp| args.all || wisp.root().issue.standing() != Standing::Closed);
    let wisps: Vec<Wisp<'_>> = wisps
        .iter()
        .map(|wisp| Wisp::of(wisp, beads.by.now))
        .collect();
    if ui.is_json() {
        return ui.data(&Answer { wisps });
    }
    if wisps.is_empty() {
        ui.say("there are no wisps\n");
        return Ok(());
    }
    let mut table = Table::new(&["ID", "STATUS", "DONE", "EXPIRES AT", "TITLE…"]);
    for wisp in wisps {
        let mark = if wisp.expired { " (expired)" } else { "" };
        let until = wisp.expires_at.unwrap_or_else(|| "never".to_owned());
        table.row(vec![
            wisp.id.to_string(),
            wisp.status.to_owned(),
            format!("{}/{}", wisp.done, wisp.total),
            format!("{until}{mark}"),
            wisp.title.to_owned(),
        ]);
    }
    ui.out(&table.draw(Page::of(ui)))
}

/// A wisp, for programs.
#[derive(Serialize)]
struct Wisp<'w> {
    id: &'w BeadId,
    title: &'w str,
    status: &'w str,
    done: usize,
    total: usize,
    created_at: Option<&'w str>,
    expires_at: Option<String>,
    expired: bool,
}

impl<'w> Wisp<'w> {
    fn of(wisp: &'w Molecule, now: jiff::Timestamp) -> Self {
        let (root, progress) = (&wisp.root().issue, wisp.progress());
        Self {
            id: root.id(),
            title: root.title(),
            status: root.status(),
            done: progress.done,
            total: progress.total,
            created_at: root.text(field::CREATED_AT),
            expires_at: expiry(root).map(time),
            expired: is_expired(root, now),
        }
    }
}

pub(super) fn sweep_wisps(args: &WispGcArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Answer<'a> {
        wisps: &'a [BeadId],
        deleted: Vec<&'a BeadId>,
        left: Vec<Left<'a>>,
        dry_run: bool,
    }
    #[derive(Serialize)]
    struct Left<'a> {
        id: &'a BeadId,
        why: String,
    }
    let mut beads = global.open()?;
    let swept = beads.sweep_wisps(args.age, args.dry_run)?;
    let wisps = swept.gone.iter().map(|wisp| wisp.root().issue.id().clone());
    let wisps: Vec<BeadId> = wisps.collect();
    let deleted: Vec<&BeadId> = swept.deleted().map(|record| record.issue.id()).collect();
    let left = swept.left.iter().map(|(root, claim)| Left {
        id: root.issue.id(),
        why: format!("it is held by {}", held(claim)),
    });
    let left: Vec<Left<'_>> = left.collect();
    if ui.is_json() {
        return ui.data(&Answer {
            wisps: &wisps,
            deleted,
            left,
            dry_run: args.dry_run,
        });
    }
    for Left { id, why } in &left {
        ui.say(&format!("kept {}: {why}\n", excerpt(id.as_str())));
    }
    if wisps.is_empty() {
        ui.say("no wisp has expired or is closed\n");
        return Ok(());
    }
    let n_wisps = counted(wisps.len(), "wisp", "wisps");
    let (verb, n_beads) = (verb_of_deleting(args.dry_run), deleted.len());
    let names = listed(&wisps);
    ui.out(&format!("{verb} {n_wisps} of {n_beads} beads: {names}\n"))
}
