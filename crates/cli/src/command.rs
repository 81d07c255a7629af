//! One file for each command: its arguments are in `args`, its words and its JSON are here.

mod bead_migrate;
mod bead_validate;
mod completions;
mod demo;
mod man;
mod plan_annotate;
mod plan_build;
mod plan_check;
mod plan_graph;
mod plan_new;
mod schema;

use crate::args::{BeadCommand, Command, PlanCommand};
use crate::failure::Failure;
use crate::ui::Ui;

/// Runs a command.
pub(crate) fn run(command: &Command, ui: &Ui) -> Result<(), Failure> {
    match command {
        Command::Plan(PlanCommand::New(args)) => plan_new::run(args, ui),
        Command::Plan(PlanCommand::Check(args)) => plan_check::run(args, ui),
        Command::Plan(PlanCommand::Graph(args)) => plan_graph::run(args, ui),
        Command::Plan(PlanCommand::Build(args)) => plan_build::run(args, ui),
        Command::Plan(PlanCommand::Annotate(args)) => plan_annotate::run(args, ui),
        Command::Bead(BeadCommand::Validate(args)) => bead_validate::run(args, ui),
        Command::Bead(BeadCommand::Migrate(args)) => bead_migrate::run(args, ui),
        Command::Schema(args) => schema::run(args, ui),
        Command::Demo => demo::run(ui),
        Command::Completions(args) => completions::run(args, ui),
        Command::Man => man::run(ui),
    }
}
