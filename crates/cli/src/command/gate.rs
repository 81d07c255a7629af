//! `gate`: conditions that others wait for, and what is held back while one of them is red (contracts §8.5), one file for each command.

mod check;
mod create;
mod enforce;
mod list;
mod run;

use beads_ralph_core::gate::Gates;

use crate::args::{GateCommand, Global};
use crate::failure::Failure;
use crate::ui::Ui;

pub(crate) fn run(command: &GateCommand, global: &Global, ui: &Ui) -> Result<(), Failure> {
    match command {
        GateCommand::List => list::run(global, ui),
        GateCommand::Run(args) => run::run(args, global, ui),
        GateCommand::Check(args) => check::run(args, global, ui),
        GateCommand::Enforce => enforce::run(global, ui),
        GateCommand::Create(args) => create::run(args, global, ui),
    }
}

/// Whether a command changes beads; to look at gates changes nothing.
pub(super) fn changes_beads(command: &GateCommand) -> bool {
    !matches!(command, GateCommand::List | GateCommand::Check(_))
}

/// What is said where no gate holds features back.
fn none_stands(gates: &Gates) -> &'static str {
    if gates.all().is_empty() {
        "there are no gates"
    } else {
        "there are only gates of plans, which `beads-ralph run` runs and which hold only the sprints behind them"
    }
}
