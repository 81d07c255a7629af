//! `gate list`: every gate, in files and in the store.
//!
//! Data: `{"green": bool, "gates": [{id, title, state, why, holds, groups, last_run, failure}]}`; `state` is `green` or `red`, `holds` is `features`, or
//! `dependents` for a gate of a plan, which holds back by its edges alone.

use beads_ralph_core::gate::{Gate, Holds, Light, Why};
use serde_json::{Value, json};

use crate::args::Global;
use crate::failure::Failure;
use crate::governing;
use crate::ui::Ui;
use crate::ui::table::{Page, Table};

pub(super) fn run(global: &Global, ui: &Ui) -> Result<(), Failure> {
    let gates = governing::gates(global)?;
    if ui.is_json() {
        let is_green = !gates.standing().any(Gate::is_red);
        let json: Vec<Value> = gates.all().iter().map(governing::to_json).collect();
        return ui.data(&json!({"green": is_green, "gates": json}));
    }
    if gates.all().is_empty() {
        ui.say("there are no gates; `beads-ralph gate create ID --verifier COMMAND` writes one\n");
        return Ok(());
    }
    let mut table = Table::new(&["ID", "STATE", "LAST RUN", "HOLDS", "TITLE…", "WHY…"]);
    for gate in gates.all() {
        table.row(vec![
            gate.id.clone(),
            gate.light.as_str().to_owned(),
            last_run(gate),
            held(gate),
            gate.title.clone(),
            why(gate),
        ]);
    }
    ui.out(&table.draw(Page::of(ui)))
}

/// When it last ran. Of one that failed nobody can say that it never did.
fn last_run(gate: &Gate) -> String {
    let unknown = match gate.light {
        Light::Red(Why::Failed | Why::Reopened | Why::Running) => "unknown",
        _ => "never",
    };
    gate.last_run.clone().unwrap_or_else(|| unknown.to_owned())
}

/// Whom it holds back, as people read it.
fn held(gate: &Gate) -> String {
    let groups: Vec<&str> = gate.groups.iter().map(String::as_str).collect();
    match gate.holds {
        Holds::Dependents => "what depends on it".to_owned(),
        Holds::Features if groups.is_empty() => "features".to_owned(),
        Holds::Features => format!("features of {}", groups.join(", ")),
    }
}

/// Why it is red: what failed, where that is known.
pub(super) fn why(gate: &Gate) -> String {
    match (gate.light, &gate.failure) {
        (Light::Green, _) => String::new(),
        (Light::Red(why), None) => why.as_str().to_owned(),
        (Light::Red(why), Some(failure)) => format!("{}: {failure}", why.as_str()),
    }
}
