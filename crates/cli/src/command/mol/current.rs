//! `mol current`: where one is in a molecule (F-13).
//!
//! Data: `{"molecule": id, "status", "current": [{id, title, status, role}]}`; the list is empty when every step is closed.

use beads_ralph_core::molecule::{Molecule, Step};
use serde_json::{Value, json};

use super::{MolArgs, load, step_json};
use crate::args::Global;

use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::named;
use crate::ui::table::{Page, Table};

pub(super) fn run(args: &MolArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    let molecule = load(&beads, &args.id)?;
    let current = molecule.current();
    if ui.is_json() {
        let root = &molecule.root().issue;
        let steps: Vec<Value> = current.into_iter().map(step_json).collect();
        return ui.data(&json!({
            "molecule": root.id().as_str(), "status": root.status(), "current": steps,
        }));
    }
    if current.is_empty() {
        ui.say(&nothing(&molecule));
        return Ok(());
    }
    ui.out(&rows(&current, Page::of(ui)))
}

fn rows(steps: &[&Step], page: Page) -> String {
    let mut table = Table::new(&["STEP", "ID", "STATUS", "TITLE…"]);
    for step in steps {
        let issue = &step.record().issue;
        let cells = [
            step.role(),
            step.id().as_str(),
            issue.status(),
            issue.title(),
        ];
        table.row(cells.map(str::to_owned).to_vec());
    }
    table.draw(page)
}

fn nothing(molecule: &Molecule) -> String {
    let (root, progress) = (named(molecule.root()), molecule.progress());
    if progress.done == progress.total {
        return format!("all steps of {root} are closed\n");
    }
    let id = molecule.root().issue.id();
    format!(
        "no step of {root} can be started; see `beads-ralph mol show {id}` for what each waits for\n"
    )
}
