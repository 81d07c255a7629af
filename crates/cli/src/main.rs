//! The command line of beads-ralph: arguments in, words or JSON out.
//!
//! Commands live one to a file under `command/`; they ask the runtime for what the world knows, let the
//! core decide, and talk through [`ui::Ui`]. Nothing else prints.

mod args;
mod command;
mod draw;
mod failure;
mod plan_source;
mod ui;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::Cli;
use crate::ui::Ui;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let ui = Ui::new(&cli);
    match command::run(&cli.command, &ui) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            ui.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}
