//! `mol show`: a molecule with all its steps, and where each of them is.
//!
//! Data: `{"molecule": id, "title", "status", "formula", "wisp": bool, "expires_at", "progress": {…},
//! "steps": [{id, title, status, role, place, gate: bool, waits_for: [{id, waiting}], holder}]}`.

use std::fmt::Write as _;

use beads_ralph_core::issue::{Blocker, expiry, is_expired};
use beads_ralph_core::molecule::{Molecule, Step};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::Beads;
use serde_json::{Value, json};

use super::progress::figures;
use super::{MolArgs, load, step_json};
use crate::args::Global;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::{named, paragraph, time};
use crate::ui::table::{Page, Table};

pub(super) fn run(args: &MolArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    let molecule = load(&beads, &args.id)?;
    let mut steps = Vec::new();
    for step in molecule.steps() {
        steps.push((step, beads.store.blockers(step.id())?));
    }
    if ui.is_json() {
        return ui.data(&to_json(&molecule, &steps));
    }
    ui.out(&page(&molecule, &steps, &beads, Page::of(ui)))
}

fn to_json(molecule: &Molecule, steps: &[(&Step, Vec<Blocker>)]) -> Value {
    let root = &molecule.root().issue;
    let steps: Vec<Value> = steps
        .iter()
        .map(|(step, waits)| line(step, waits))
        .collect();
    json!({
        "molecule": root.id().as_str(),
        "title": root.title(),
        "status": root.status(),
        "formula": molecule.formula(),
        "wisp": molecule.is_wisp(),
        "expires_at": expiry(root).map(time),
        "progress": figures(molecule.progress()),
        "steps": steps,
    })
}

fn line(step: &Step, waits: &[Blocker]) -> Value {
    let mut json = step_json(step);
    let holder = step.record().claim.as_ref();
    json["place"] = step.place().as_str().into();
    json["gate"] = step.is_gate().into();
    json["waits_for"] = json!(waits);
    json["holder"] = holder.map(|claim| claim.holder.run.clone()).into();
    json
}

fn page(molecule: &Molecule, steps: &[(&Step, Vec<Blocker>)], beads: &Beads, page: Page) -> String {
    let (root, progress) = (molecule.root(), molecule.progress());
    let mut text = format!("{} ({})\n", named(root), root.issue.status());
    if let Some(description) = root.issue.text("description") {
        text.push_str(&paragraph(description));
    }
    if let Some(until) = expiry(&root.issue) {
        let is_over = is_expired(&root.issue, beads.by.now);
        let word = if is_over { "was over" } else { "is over" };
        _ = writeln!(text, "a wisp, which {word} at {}", time(until));
    }
    _ = writeln!(text, "{} of {} steps done\n", progress.done, progress.total);
    let mut table = Table::new(&["PLACE", "STEP", "ID", "TITLE…", "WAITS FOR…"]);
    for (step, waits) in steps {
        let issue = &step.record().issue;
        let waits: Vec<String> = waits
            .iter()
            .map(|blocker| excerpt(blocker.id.as_str()))
            .collect();
        table.row(vec![
            step.place().as_str().to_owned(),
            step.role().to_owned(),
            step.id().to_string(),
            issue.title().to_owned(),
            waits.join(", "),
        ]);
    }
    text + &table.draw(page)
}
