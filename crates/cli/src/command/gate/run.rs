//! `gate run`: the checks of gates, run as `exec` runs them: no agent, evidence kept, the gate closed or opened by what they say (G-2, V-11).
//!
//! Data: `{"gates": [{id, state, results: […], evidence, logs, error}]}`, a failure has the same in `error.results`; `error` says why a gate could not be
//! run, which leaves it as it was.

use beads_ralph_core::check::summary;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::gate::{Denied, Gates};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_runtime::config;
use beads_ralph_runtime::exec::Ending;
use beads_ralph_runtime::os::process::{Cancel, Units};
use clap::Args;
use serde_json::{Value, json};

use super::{gates, main_project, none_stands, refuse_planned};
use crate::args::{BeadChoice, Global};
use crate::command::work::exec::{Done, Exec, ExecArgs};
use crate::command::work::{self, Target};
use crate::failure::Failure;
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct GateRunArgs {
    /// The gates (default: all that block features)
    #[arg(value_name = "GATE")]
    pub(crate) ids: Vec<String>,
}

pub(super) fn run(args: &GateRunArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let gates = gates(global)?;
    let ids = named(args, &gates);
    if ids.is_empty() {
        if ui.is_json() {
            return ui.data(&json!({"gates": []}));
        }
        ui.say(&format!(
            "{}; `beads-ralph gate create ID --verifier COMMAND` writes one that holds features back\n",
            none_stands(&gates)
        ));
        return Ok(());
    }
    let ralph = main_project()?;
    let config = config::load(Some(ralph.root()))?;
    // A gate is run whether it was green before or not.
    let options = ExecArgs {
        force: true,
        ..ExecArgs::default()
    };
    let exec = Exec::new(&options, ui, ralph.clone(), config);
    let (units, cancel) = (Units::own()?, Cancel::on_signals()?);
    let (mut told, mut red, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for id in &ids {
        let choice = BeadChoice {
            bead: Some(id.clone()),
            bead_file: None,
        };
        let done = Target::find(&choice, &ralph, &[], global)
            .and_then(only_gates)
            .and_then(|gate| exec.work(gate, &units, &cancel));
        if cancel.is_cancelled() {
            return Err(interrupted());
        }
        match done {
            Ok(Some(done)) => {
                tell(&done, ui)?;
                told.push(to_json(&done));
                red.extend((done.report.ending != Ending::Completed).then(|| id.clone()));
            }
            Ok(None) => {}
            Err(failure) => {
                told.push(json!({"id": id, "state": state_before(id, &gates), "error": failure.message()}));
                failures.push(failure);
            }
        }
    }
    end(ui, &told, red, failures)
}

fn end(ui: &Ui, told: &[Value], red: Vec<String>, failures: Vec<Failure>) -> Result<(), Failure> {
    let data = json!({"gates": told});
    if let Some(failure) = ui.worst(failures) {
        return Err(failure.with_results(data));
    }
    if red.is_empty() {
        return if ui.is_json() { ui.data(&data) } else { Ok(()) };
    }
    let message = Denied { red }.to_string();
    let failure = Failure::new(ErrorCode::ValidationConstraint, message).action(
        "fix what they check, then run them again; `beads-ralph logs GATE` has what they wrote",
    );
    Err(failure.with_results(data).exit_with(1))
}

/// The gates that are to be run: those that were named, else all that hold features back.
fn named(args: &GateRunArgs, gates: &Gates) -> Vec<String> {
    if !args.ids.is_empty() {
        return args.ids.clone();
    }
    gates.standing().map(|gate| gate.id.clone()).collect()
}

/// What a gate was before: one that could not be run is left so. An unknown one is not green.
fn state_before(id: &str, gates: &Gates) -> &'static str {
    let gate = gates.all().iter().find(|gate| gate.id == id);
    gate.map_or("red", |gate| gate.light.as_str())
}

fn only_gates(target: Target) -> Result<Target, Failure> {
    if target.bead().is_gate {
        refuse_planned(&target)?;
        return Ok(target);
    }
    let id = excerpt(&target.bead().id);
    let message = format!("{id} is not a gate");
    Err(Failure::new(ErrorCode::ValidationConstraint, message)
        .action(format!("to run its checks: beads-ralph verify {id}")))
}

fn tell(done: &Done, ui: &Ui) -> Result<(), Failure> {
    let (id, records) = (excerpt(&done.bead.id), &done.report.records);
    let n_checks = counted(records.len(), "check", "checks");
    if done.report.ending == Ending::Completed {
        return ui.out(&format!("{id} is green: {n_checks} passed\n"));
    }
    let why = match &done.report.ending {
        Ending::Failed(reason) => reason.clone(),
        _ => summary(records),
    };
    ui.out(&format!("{id} is red: {}\n", visible(&why)))?;
    work::show(records, ui)
}

fn to_json(done: &Done) -> Value {
    let is_green = done.report.ending == Ending::Completed;
    json!({
        "id": done.bead.id,
        "state": if is_green { "green" } else { "red" },
        "results": done.report.records,
        "evidence": done.report.evidence,
        "logs": done.logs.path(),
        "error": null,
    })
}

fn interrupted() -> Failure {
    let message = "interrupted; a gate that was being run is red until it is run again";
    Failure::new(ErrorCode::ValidationConstraint, message)
        .action("`beads-ralph gate run` runs them")
}
