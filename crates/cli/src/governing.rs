//! The gates of this project as commands meet them, and what is said when they are red.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::gate::{Denied, Gate, Gates, Holds, Light, is_gate};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::bead_files::Ralph;
use beads_ralph_runtime::gate;
use beads_ralph_runtime::store::Store;
use serde_json::{Value, json};

use crate::args::Global;
use crate::failure::Failure;
use crate::work::{self, Target};

/// The DoD beads of the main worktree: what decides about all worktrees is there, and not on the branch of an agent.
pub(crate) fn main_project() -> Result<Ralph, Failure> {
    let ralph = work::project()?;
    Ok(ralph.at(&work::main_root(ralph.root())))
}

/// The store, where there is one: gates in files need none.
pub(crate) fn store_if_any(global: &Global) -> Result<Option<Beads>, Failure> {
    match global.open() {
        Ok(beads) => Ok(Some(beads)),
        Err(failure) if failure.code() == ErrorCode::DatabaseNotInitialized => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// All gates, in files and in the store.
pub(crate) fn gates(global: &Global) -> Result<Gates, Failure> {
    let beads = store_if_any(global)?;
    let store = beads.as_ref().map(|beads| &*beads.store as &dyn Store);
    Ok(gate::gates(&main_project()?, store)?)
}

/// That a bead may not be begun.
pub(crate) fn refused(denied: &Denied, bead: &str) -> Failure {
    let id = excerpt(bead);
    let results = json!({"bead": bead, "allowed": false, "red": denied.red});
    Failure::new(ErrorCode::ValidationConstraint, denied.to_string())
        .details(format!(
            "{id} is a feature, and no feature is begun while a gate is red"
        ))
        .action("see `beads-ralph gate list` for what failed, mend it, then `beads-ralph gate run`")
        .with_results(results)
        .exit_with(1)
}

/// Refuses a gate of a plan: it is run in its place among the sprints, on their work, and would else be closed for something else.
pub(crate) fn refuse_planned(target: &Target) -> Result<(), Failure> {
    let Target::Stored(stored) = target else {
        return Ok(());
    };
    let issue = &stored.record.issue;
    if !is_gate(issue) || Gate::of_issue(issue).holds == Holds::Features {
        return Ok(());
    }
    let id = excerpt(issue.id().as_str());
    let message = format!("{id} is a gate of a plan, and is run on the work that it waits for");
    let failure = Failure::new(ErrorCode::ValidationConstraint, message);
    Err(failure.action(format!(
        "`beads-ralph run` runs it; `beads-ralph retry {id}` lets it be run again; `beads-ralph verify {id}` only looks"
    )))
}

/// A gate, for programs.
pub(crate) fn to_json(gate: &Gate) -> Value {
    let why = match gate.light {
        Light::Green => None,
        Light::Red(why) => Some(why.as_str()),
    };
    json!({
        "id": gate.id,
        "title": gate.title,
        "state": gate.light.as_str(),
        "why": why,
        "holds": gate.holds.as_str(),
        "groups": gate.groups,
        "last_run": gate.last_run,
        "failure": gate.failure.as_ref().filter(|_| gate.is_red()),
    })
}
