//! `bd version`: whose surface this is, and that it is ours (Z-26).

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
        return call
            .output
            .value(json!({"build": BUILD, "version": VERSION}));
    }
    call.output.raw(&version_line())
}
