//! `bd version`: whose surface this is, and that it is ours (Z-26).

use std::sync::Arc;

use beads_ralph_runtime::git::branch_of;
use beads_ralph_runtime::os::process::Units;
use beads_ralph_runtime::store;
use serde_json::json;

use super::call::Call;
use super::failure::Refusal;
use super::tree::{Arity, Command};
use super::usage::{BUILD, VERSION, version_line};

pub(super) const COMMAND: Command = Command {
    name: "version",
    about: "Print the version",
    arity: Arity::Any,
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    if call.output.is_json() {
        let mut answer = json!({"build": BUILD, "version": VERSION});
        // The branch of the project that is asked in, as the real `bd` has it where its build knows none.
        let is_project = store::find(&call.here).is_ok();
        let units = Units::own().ok().filter(|_| is_project);
        let branch = units.and_then(|units| branch_of(Arc::new(units), &call.here));
        if let Some(branch) = branch {
            answer["branch"] = branch.into();
        }
        return call.output.value(answer);
    }
    call.output.text(&version_line())
}
