//! `completions`: the completion script of a shell.

use clap::{Args, CommandFactory as _};
use serde_json::json;

use crate::args::Cli;
use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

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
