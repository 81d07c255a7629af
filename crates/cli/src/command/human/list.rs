//! `human list`: one row for each thing that waits for a person.
//!
//! Data: `{"waiting": [{id, title, kind, step, stage, molecule, why, since, commands: [{command, purpose}]}]}`; `kind` is `implement`, `run`, `merge` or `gate`.

use serde_json::{Value, json};

use super::all;
use super::waiting::Waiting;
use crate::args::Global;

use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::table::{Page, Table};

pub(super) fn run(global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    let waiting = all(&*beads.store)?;
    if ui.is_json() {
        let json: Vec<Value> = waiting.iter().map(Waiting::to_json).collect();
        return ui.data(&json!({"waiting": json}));
    }
    if waiting.is_empty() {
        ui.say("nothing waits for a person\n");
        return Ok(());
    }
    let mut table = Table::new(&["ID", "KIND", "SINCE", "STAGE", "TITLE…", "WHY…"]);
    for waiting in &waiting {
        let why = waiting.why();
        table.row(vec![
            waiting.record.issue.id().to_string(),
            waiting.kind.as_str().to_owned(),
            waiting.since_text().unwrap_or_default(),
            waiting.stage().unwrap_or_default(),
            waiting.record.issue.title().to_owned(),
            why.lines().next().unwrap_or_default().to_owned(),
        ]);
    }
    ui.out(&table.draw(Page::of(ui)))?;
    ui.say("`beads-ralph human show ID` says more, `beads-ralph human resolve ID` answers\n");
    Ok(())
}
