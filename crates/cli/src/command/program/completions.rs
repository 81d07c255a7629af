//! `completions`: the completion script of a shell.

use clap::CommandFactory as _;
use serde_json::json;

use crate::args::{Cli, CompletionsArgs};
use crate::failure::Failure;
use crate::ui::Ui;

pub(crate) fn run(args: &CompletionsArgs, ui: &Ui) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "beads-ralph", &mut script);
    let script = String::from_utf8_lossy(&script);
    if ui.is_json() {
        ui.data(&json!({"shell": args.shell.to_string(), "script": script}))
    } else {
        ui.out(&script)
    }
}
