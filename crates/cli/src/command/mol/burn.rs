//! `mol burn`: wisps are deleted with their steps, without a digest (F-11).
//!
//! What was poured to stay is deleted only with `--force`, and so is a step that somebody holds. A part of a wisp that is none
//! itself stays. All of it is one step: an unknown id among several deletes nothing. Data: `{"burned": [roots], "deleted": [ids], "kept":
//! [ids], "dry_run": bool}`.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Record, is_wisp};
use beads_ralph_core::molecule::{Molecule, Step};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::{Authority, Beads, until_settled};
use beads_ralph_runtime::store::{Guard, StoreError, Write};
use clap::Args;
use serde_json::json;

use super::load;
use crate::args::Global;
use crate::failure::Failure;
use crate::ui::format::list;
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct BurnArgs {
    /// The roots; all of them are deleted, or none
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Also molecules that were poured to stay, and steps that somebody holds
    #[arg(long)]
    pub(crate) force: bool,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// What is to be deleted.
#[derive(Default)]
struct Fuel {
    roots: Vec<BeadId>,
    /// Those that depend on others come first, so that no edge must be taken away by itself.
    deleted: Vec<Record>,
    kept: Vec<BeadId>,
}

pub(super) fn run(args: &BurnArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = global.open()?;
    let fuel = until_settled(|| burn(args, &mut beads))?;
    let deleted: Vec<&str> = (fuel.deleted.iter())
        .map(|record| record.issue.id().as_str())
        .collect();
    if ui.is_json() {
        return ui.data(&json!({
            "burned": fuel.roots, "deleted": deleted, "kept": fuel.kept, "dry_run": args.dry_run,
        }));
    }
    let deed = if args.dry_run {
        "would delete"
    } else {
        "deleted"
    };
    let n_deleted = counted(deleted.len(), "bead", "beads");
    let roots = list(fuel.roots.iter().map(BeadId::as_str));
    ui.out(&format!("{deed} {n_deleted}: {roots}\n"))?;
    for kept in &fuel.kept {
        ui.say(&format!(
            "{} is no wisp, and stays\n",
            excerpt(kept.as_str())
        ));
    }
    Ok(())
}

/// Deletes what is named. `None` when somebody changed a root meanwhile: what is below it is looked for again.
fn burn(args: &BurnArgs, beads: &mut Beads) -> Result<Option<Fuel>, Failure> {
    let mut fuel = Fuel::default();
    for id in &args.ids {
        fuel.add(&load(beads, id)?, args.force)?;
    }
    if args.dry_run {
        return Ok(Some(fuel));
    }
    let batch = fuel.batch(beads, args.force);
    match beads.store.write(&batch, beads.by.stamp()) {
        Ok(_) => Ok(Some(fuel)),
        Err(StoreError::Guard { .. }) => Ok(None),
        Err(error @ StoreError::Held { .. }) => {
            let failure = Failure::from(error);
            Err(failure.action("wait for the holder, or pass --force to delete it all the same"))
        }
        Err(error) => Err(error.into()),
    }
}

impl Fuel {
    fn add(&mut self, molecule: &Molecule, is_forced: bool) -> Result<(), Failure> {
        let root = molecule.root();
        if !molecule.is_wisp() && !is_forced {
            let id = excerpt(root.issue.id().as_str());
            let message = format!("{id} was poured to stay, and is no wisp");
            return Err(Failure::new(ErrorCode::ValidationConstraint, message)
                .action("close it with `beads-ralph mol squash`, or delete it with --force"));
        }
        let steps = molecule.steps().iter().rev().map(Step::record);
        for record in steps.chain([root]) {
            let id = record.issue.id();
            if self.deleted.iter().any(|own| own.issue.id() == id) {
                continue;
            }
            if is_wisp(&record.issue) || is_forced {
                self.deleted.push(record.clone());
            } else {
                self.kept.push(id.clone());
            }
        }
        self.roots.push(root.issue.id().clone());
        Ok(())
    }

    fn batch(&self, beads: &Beads, force: bool) -> Vec<Write> {
        let authority = if force {
            Authority::Forced
        } else {
            Authority::Own
        };
        let delete = |record: &Record| Write::Delete {
            id: record.issue.id().clone(),
            guard: Guard {
                version: self
                    .roots
                    .contains(record.issue.id())
                    .then_some(record.version),
                ..beads.by.guard(record, authority)
            },
        };
        self.deleted.iter().map(delete).collect()
    }
}
