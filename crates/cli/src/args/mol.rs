//! The arguments of the commands over molecules and wisps.

use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use super::change::duration;
use super::formula::ReadingArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum MolCommand {
    /// Make the beads of a formula, all of them or none
    Pour(PourArgs),
    /// Show where one is in a molecule: the steps in progress, else those that can be started
    Current(MolArgs),
    /// Show a molecule with all its steps, and where each of them is
    Show(MolArgs),
    /// Say how far molecules are; without an ID, all that are not closed
    Progress(SomeMolArgs),
    /// List the steps of molecules that can be started, those of wisps too
    Ready(SomeMolArgs),
    /// End a molecule: close what is left of it with a summary as the reason, and keep its record
    Squash(SquashArgs),
    /// Delete wisps with their steps, without a trace but their history
    Burn(BurnArgs),
    /// Make a wisp of a formula, which is over after a day; list wisps, and delete those that are over
    Wisp(WispArgs),
}

#[derive(Debug, Args)]
pub(crate) struct MolArgs {
    /// The root of the molecule
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct SomeMolArgs {
    /// The root of the molecule
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SquashArgs {
    /// The root of the molecule
    pub(crate) id: String,
    /// What came of it
    #[arg(short, long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) summary: String,
    /// Also when somebody holds one of its steps
    #[arg(long)]
    pub(crate) force: bool,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BurnArgs {
    /// The roots; all of them are deleted, or none
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Also molecules that were poured to stay, and steps that somebody holds
    #[arg(long)]
    pub(crate) force: bool,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PourArgs {
    /// The formula
    pub(crate) formula: String,
    /// A value for a variable (repeatable)
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub(crate) vars: Vec<String>,
    /// Who is to look after the molecule
    #[arg(long, value_name = "NAME")]
    pub(crate) assignee: Option<String>,
    /// Another formula that becomes a part of the molecule, with the same values (repeatable)
    #[arg(long, value_name = "FORMULA")]
    pub(crate) attach: Vec<String>,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
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
    /// Make a wisp of a formula
    Create(WispMakeArgs),
    /// List wisps, and when each of them is over
    List(WispListArgs),
    /// Delete the wisps that are over or closed
    Gc(WispGcArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WispMakeArgs {
    /// The formula
    pub(crate) formula: String,
    #[command(flatten)]
    pub(crate) making: MakingArgs,
}

/// How a wisp is made.
#[derive(Debug, Args)]
pub(crate) struct MakingArgs {
    /// A value for a variable (repeatable)
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub(crate) vars: Vec<String>,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WispListArgs {
    /// Closed ones too
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WispGcArgs {
    /// How old a wisp must be to be over, such as 24h
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = duration)]
    pub(crate) age: Duration,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
