//! `bd version`: whose surface this is, and that it is ours (Z-26).

use std::sync::Arc;

use beads_ralph_runtime::git::branch_of;
use beads_ralph_runtime::os::process::Units;
use beads_ralph_runtime::store;
use serde::Serialize;

use super::usage::{BUILD, VERSION, version_line};
use super::{Arity, Call, Command, Refusal};

pub(super) const COMMAND: Command = Command {
    name: "version",
    about: "Print the version",
    arity: Arity::Any,
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    if !call.output.is_json() {
        return call.output.text(&version_line());
    }
    // The branch of the project that is asked in, as the real `bd` has it where its build knows none.
    let is_project = store::find(&call.here).is_ok();
    let units = Units::own().ok().filter(|_| is_project);
    call.output.value(VersionAnswer {
        build: BUILD,
        version: VERSION,
        branch: units.and_then(|units| branch_of(Arc::new(units), &call.here)),
    })
}

#[derive(Serialize)]
struct VersionAnswer {
    build: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
}
