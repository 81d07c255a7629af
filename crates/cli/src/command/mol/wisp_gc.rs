//! `mol wisp gc`: deletes the wisps that are over or closed, with their steps (F-10).
//!
//! A wisp of which somebody holds a step is left, however old it is. What is deleted is deleted in one step. Data: `{"wisps":
//! [roots], "deleted": [ids], "left": [{id, why}], "dry_run": bool}`.

use std::time::Duration;

use beads_ralph_core::issue::{Record, Standing, is_wisp};
use beads_ralph_core::molecule::{Molecule, Step, is_root};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::{Beads, until_settled};
use beads_ralph_runtime::store::{Guard, StoreError, Write};
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::wisp_list;
use crate::args::{Global, duration};
use crate::failure::Failure;
use crate::ui::bead_view::held;
use crate::ui::format::list;
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct WispGcArgs {
    /// How old a wisp must be to be over, such as 24h
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = duration)]
    pub(crate) age: Duration,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// What is deleted, and what is not although it is over.
struct Sweep {
    gone: Vec<Molecule>,
    left: Vec<(Record, String)>,
}

pub(super) fn run(args: &WispGcArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = global.open()?;
    let sweep = until_settled(|| sweep(args, &mut beads))?;
    let ids = |records: Vec<&Record>| -> Vec<String> {
        let ids = records.iter().map(|record| record.issue.id().to_string());
        ids.collect()
    };
    let wisps = ids(sweep.gone.iter().map(Molecule::root).collect());
    let deleted = ids(sweep.deleted().collect());
    if ui.is_json() {
        let left = sweep.left.iter();
        let left: Vec<Value> = left
            .map(|(root, why)| json!({"id": root.issue.id().as_str(), "why": why}))
            .collect();
        return ui.data(&json!({
            "wisps": wisps, "deleted": deleted, "left": left, "dry_run": args.dry_run,
        }));
    }
    for (root, why) in &sweep.left {
        ui.say(&format!(
            "left {}: {why}\n",
            excerpt(root.issue.id().as_str())
        ));
    }
    if wisps.is_empty() {
        ui.say("no wisp is over or closed\n");
        return Ok(());
    }
    let deed = if args.dry_run {
        "would delete"
    } else {
        "deleted"
    };
    let (n_wisps, n_beads) = (counted(wisps.len(), "wisp", "wisps"), deleted.len());
    ui.out(&format!(
        "{deed} {n_wisps} of {n_beads} beads: {}\n",
        list(wisps)
    ))
}

/// Deletes what is over. `None` when somebody took a step meanwhile, or deleted it.
fn sweep(args: &WispGcArgs, beads: &mut Beads) -> Result<Option<Sweep>, Failure> {
    let edge = beads.by.now.checked_sub(args.age).unwrap_or(Timestamp::MIN);
    let mut sweep = Sweep {
        gone: Vec::new(),
        left: Vec::new(),
    };
    for wisp in wisp_list::all(beads)? {
        let root = &wisp.root().issue;
        let is_old = root.time("created_at").is_some_and(|came| came <= edge);
        if !is_old && root.standing() != Standing::Closed {
            continue;
        }
        let holder = wisp.all().find_map(|record| record.claim.as_ref());
        match holder.map(|claim| format!("it is held by {}", held(claim))) {
            Some(why) => sweep.left.push((wisp.root().clone(), why)),
            None => sweep.gone.push(wisp),
        }
    }
    let batch: Vec<Write> = (sweep.deleted())
        .map(|record| Write::Delete {
            id: record.issue.id().clone(),
            // Whoever squashes a wisp, or does anything else to it, changes its root.
            guard: Guard {
                version: is_root(&record.issue).then_some(record.version),
                ..Guard::default()
            },
        })
        .collect();
    if args.dry_run || batch.is_empty() {
        return Ok(Some(sweep));
    }
    match beads.store.write(&batch, beads.by.stamp()) {
        Ok(_) => Ok(Some(sweep)),
        Err(StoreError::Held { .. } | StoreError::NotFound(_) | StoreError::Guard { .. }) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

impl Sweep {
    /// The beads that go: those that depend on others first, so that no edge must be taken away by itself. A part of a wisp
    /// that is none itself stays.
    fn deleted(&self) -> impl Iterator<Item = &Record> {
        self.gone.iter().flat_map(|wisp| {
            let steps = wisp.steps().iter().rev().map(Step::record);
            let all = steps.chain([wisp.root()]);
            all.filter(|record| is_wisp(&record.issue))
        })
    }
}
