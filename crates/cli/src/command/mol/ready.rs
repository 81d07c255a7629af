//! `mol ready`: the steps of molecules that can be started now, those of wisps too until they are over (F-10).
//!
//! Data: `{"steps": [{id, title, status, role, molecule}]}`, molecule by molecule in the order of their formulas.

use std::collections::HashSet;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Query;
use beads_ralph_core::molecule::{Molecule, Step, StepState};
use beads_ralph_runtime::app::beads::Beads;
use serde_json::{Value, json};

use super::{SomeMolArgs, some, step_json};
use crate::args::Global;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::table::{Page, Table};

pub(super) fn run(args: &SomeMolArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    let molecules = some(&beads, args.id.as_deref())?;
    let startable = startable(&beads)?;
    let steps = ready(&molecules, &startable);
    if ui.is_json() {
        let steps: Vec<Value> = (steps.into_iter())
            .map(|(molecule, step)| {
                let mut json = step_json(step);
                json["molecule"] = molecule.root().issue.id().as_str().into();
                json
            })
            .collect();
        return ui.data(&json!({"steps": steps}));
    }
    if steps.is_empty() {
        ui.say("no step can be started; see `beads-ralph mol progress` for the molecules\n");
        return Ok(());
    }
    let mut table = Table::new(&["MOLECULE", "STEP", "ID", "TITLE…"]);
    for (molecule, step) in steps {
        table.row(vec![
            molecule.root().issue.id().to_string(),
            step.role().to_owned(),
            step.id().to_string(),
            step.record().issue.title().to_owned(),
        ]);
    }
    ui.out(&table.draw(Page::of(ui)))
}

/// Everything that can be started, and is neither put off nor over.
fn startable(beads: &Beads) -> Result<HashSet<BeadId>, Failure> {
    let query = Query {
        ready_at: Some(beads.by.now),
        includes_ephemeral: true,
        ..Query::default()
    };
    let records = beads.store.find(&query)?.into_iter();
    Ok(records.map(|record| record.issue.id().clone()).collect())
}

/// The steps that can be started, each with the innermost molecule that lists it first.
fn ready<'m>(
    molecules: &'m [Molecule],
    startable: &HashSet<BeadId>,
) -> Vec<(&'m Molecule, &'m Step)> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for molecule in molecules {
        for step in molecule.steps() {
            let is_ready = step.place() == StepState::Ready && startable.contains(step.id());
            // The step of a molecule that is part of another one belongs to both.
            if is_ready && seen.insert(step.id()) {
                found.push((molecule, step));
            }
        }
    }
    found
}
