//! `mol`: molecules and wisps of the store: making them (`pour`), looking at them (`show`), and ending them (`end`).

mod end;
mod pour;
mod show;

use clap::{Args, Subcommand};

use self::end::{BurnArgs, SquashArgs, WispGcArgs, WispListArgs};
use self::pour::{MakingArgs, PourArgs, WispMakeArgs};
use self::show::{MolArgs, SomeMolArgs};
use crate::args::Global;
use crate::command::Access;
use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Debug, Subcommand)]
pub(crate) enum MolCommand {
    /// Create the beads of a formula, all of them or none
    Pour(PourArgs),
    /// Show the current steps of a molecule: those in progress, else those that are ready
    Current(MolArgs),
    /// Show a molecule with the state of all its steps
    Show(MolArgs),
    /// Show the progress of a molecule, or of all open ones
    Progress(SomeMolArgs),
    /// List the steps that are ready, including those of wisps
    Ready(SomeMolArgs),
    /// Close the rest of a molecule with a summary as the reason, and keep its record
    Squash(SquashArgs),
    /// Delete wisps with their steps; only their history is kept
    Burn(BurnArgs),
    /// Create a wisp of a formula, which expires after a day; list and delete wisps
    Wisp(WispArgs),
}

/// `mol wisp` takes a command or, as the real `bd` does, the name of a formula; a name that is also a command is the command, and
/// `mol wisp create NAME` takes any.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct WispArgs {
    #[command(subcommand)]
    pub(crate) what: Option<WispCommand>,
    /// The formula
    #[arg(required = true)]
    pub(crate) formula: Option<String>,
    #[command(flatten)]
    pub(crate) making: MakingArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WispCommand {
    /// Create a wisp of a formula
    Create(WispMakeArgs),
    /// List wisps, and when each of them expires
    List(WispListArgs),
    /// Delete the wisps that have expired or are closed
    Gc(WispGcArgs),
}

pub(crate) fn run(command: &MolCommand, global: &Global, ui: &Ui) -> Result<(), Failure> {
    match command {
        MolCommand::Current(args) => show::current(args, global, ui),
        MolCommand::Show(args) => show::show(args, global, ui),
        MolCommand::Progress(args) => show::progress(args, global, ui),
        MolCommand::Ready(args) => show::ready(args, global, ui),
        MolCommand::Squash(args) => end::squash(args, global, ui),
        MolCommand::Burn(args) => end::burn(args, global, ui),
        MolCommand::Pour(args) => pour::run(args, global, ui),
        MolCommand::Wisp(args) => wisp(args, global, ui),
    }
}

fn wisp(args: &WispArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    match (&args.what, &args.formula) {
        (Some(WispCommand::List(args)), _) => end::list_wisps(args, global, ui),
        (Some(WispCommand::Gc(args)), _) => end::sweep_wisps(args, global, ui),
        (Some(WispCommand::Create(args)), _) => pour::wisp(&args.formula, &args.making, global, ui),
        (None, formula) => {
            let formula = formula.as_deref().unwrap_or_default();
            pour::wisp(formula, &args.making, global, ui)
        }
    }
}

impl MolCommand {
    pub(super) fn access(&self) -> Access {
        match self {
            Self::Current(_)
            | Self::Show(_)
            | Self::Progress(_)
            | Self::Ready(_)
            | Self::Pour(PourArgs { dry_run: true, .. })
            | Self::Wisp(WispArgs {
                what: Some(WispCommand::List(_)),
                ..
            }) => Access::Reads,
            Self::Pour(PourArgs { dry_run: false, .. })
            | Self::Squash(_)
            | Self::Burn(_)
            | Self::Wisp(WispArgs {
                what: Some(WispCommand::Create(_) | WispCommand::Gc(_)) | None,
                ..
            }) => Access::Writes,
        }
    }
}
