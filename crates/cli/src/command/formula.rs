//! `formula`: templates of work.

pub(crate) mod check;
pub(crate) mod findings;
pub(crate) mod graph;
pub(crate) mod list;
pub(crate) mod new;
pub(crate) mod show;

use clap::Subcommand;

use self::check::FormulaCheckArgs;
use self::graph::FormulaGraphArgs;
use self::new::FormulaNewArgs;
use self::show::FormulaShowArgs;
use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Debug, Subcommand)]
pub(crate) enum FormulaCommand {
    /// List the formulas of the project, the checkout, the user, and those that come with the program
    List,
    /// Show what a formula is made of: its variables, its steps, its files
    Show(FormulaShowArgs),
    /// Report every mistake in formulas, with places
    Check(FormulaCheckArgs),
    /// Show which steps a formula makes, and what waits for what
    Graph(FormulaGraphArgs),
    /// Write a new formula: one to begin with, or what sprints of a plan have in common
    New(FormulaNewArgs),
}

pub(crate) fn run(command: &FormulaCommand, ui: &Ui) -> Result<(), Failure> {
    match command {
        FormulaCommand::List => list::run(ui),
        FormulaCommand::Show(args) => show::run(args, ui),
        FormulaCommand::Check(args) => check::run(args, ui),
        FormulaCommand::Graph(args) => graph::run(args, ui),
        FormulaCommand::New(args) => new::run(args, ui),
    }
}
