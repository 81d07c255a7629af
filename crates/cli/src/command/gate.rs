//! `gate`: conditions that others wait for, and what is held back while one of them is red (contracts §8.5), one file for each command.

mod check;
mod create;
mod enforce;
mod list;
mod run;

use beads_ralph_core::gate::Gates;
use clap::Subcommand;

use self::check::GateCheckArgs;
use self::create::GateCreateArgs;
use self::run::GateRunArgs;
use crate::args::Global;
use crate::command::Access;
use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Debug, Subcommand)]
pub(crate) enum GateCommand {
    /// List every gate: whether it is green, when it last ran, what failed
    List,
    /// Run the checks of gates, and note whether they are green
    Run(GateRunArgs),
    /// Say whether a bead may be begun, or whether all gates are green; exit code 1 if not
    Check(GateCheckArgs),
    /// Block the features that are in progress while a gate is red, and release them when all are green
    Enforce,
    /// Write a gate into the store, or into .ralph/gates where there is none
    Create(GateCreateArgs),
}

pub(crate) fn run(command: &GateCommand, global: &Global, ui: &Ui) -> Result<(), Failure> {
    match command {
        GateCommand::List => list::run(global, ui),
        GateCommand::Run(args) => run::run(args, global, ui),
        GateCommand::Check(args) => check::run(args, global, ui),
        GateCommand::Enforce => enforce::run(global, ui),
        GateCommand::Create(args) => create::run(args, global, ui),
    }
}

impl GateCommand {
    pub(super) fn access(&self) -> Access {
        match self {
            Self::List | Self::Check(_) => Access::Reads,
            Self::Enforce | Self::Create(_) => Access::Writes,
            Self::Run(_) => Access::StartsWork,
        }
    }
}

/// What is said where no gate holds features back.
fn none_stands(gates: &Gates) -> &'static str {
    if gates.all().is_empty() {
        "there are no gates"
    } else {
        "there are only gates of plans, which `beads-ralph run` runs and which hold only the sprints behind them"
    }
}
