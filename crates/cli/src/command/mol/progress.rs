//! `mol progress`: how far molecules are.
//!
//! Data: `{"molecules": [{id, title, status, total, done, in_progress, ready, percent}]}`. Gates count, as they do for a molecule's end.

use beads_ralph_core::molecule::{Molecule, MoleculeProgress};
use serde_json::{Map, Value, json};

use super::{SomeMolArgs, some};
use crate::args::Global;

use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::table::{Page, Table};

pub(super) fn run(args: &SomeMolArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    let molecules = some(&beads, args.id.as_deref())?;
    if ui.is_json() {
        let molecules: Vec<Value> = molecules.iter().map(to_json).collect();
        return ui.data(&json!({"molecules": molecules}));
    }
    if molecules.is_empty() {
        ui.say("there is no molecule that is not closed\n");
        return Ok(());
    }
    ui.out(&rows(&molecules, Page::of(ui)))
}

fn to_json(molecule: &Molecule) -> Value {
    let root = &molecule.root().issue;
    let mut json = Map::from_iter([
        ("id".to_owned(), root.id().as_str().into()),
        ("title".to_owned(), root.title().into()),
        ("status".to_owned(), root.status().into()),
    ]);
    json.extend(figures(molecule.progress()));
    Value::Object(json)
}

/// The figures for programs.
pub(super) fn figures(progress: MoleculeProgress) -> Map<String, Value> {
    Map::from_iter([
        ("total".to_owned(), progress.total.into()),
        ("done".to_owned(), progress.done.into()),
        ("in_progress".to_owned(), progress.current.into()),
        ("ready".to_owned(), progress.ready.into()),
        ("percent".to_owned(), progress.percent().into()),
    ])
}

fn rows(molecules: &[Molecule], page: Page) -> String {
    let mut table = Table::new(&["ID", "STATUS", "DONE", "IN PROGRESS", "READY", "TITLE…"]);
    for molecule in molecules {
        let (root, progress) = (&molecule.root().issue, molecule.progress());
        table.row(vec![
            root.id().to_string(),
            root.status().to_owned(),
            format!("{}/{}", progress.done, progress.total),
            progress.current.to_string(),
            progress.ready.to_string(),
            root.title().to_owned(),
        ]);
    }
    table.draw(page)
}
