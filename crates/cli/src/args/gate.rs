//! The arguments of the commands about gates.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

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

#[derive(Debug, Args)]
pub(crate) struct GateRunArgs {
    /// The gates; without any, all that hold features back
    #[arg(value_name = "GATE")]
    pub(crate) ids: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GateCheckArgs {
    /// The bead that is to be begun: its id, or its file in .ralph/beads or .beads/active
    #[arg(value_name = "BEAD")]
    pub(crate) bead: Option<String>,
    /// Only the gates that count for features of a group
    #[arg(long, value_name = "NAME", conflicts_with = "bead")]
    pub(crate) group: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GateCreateArgs {
    /// Its id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// A command that must succeed, alone or as NAME=COMMAND; may be given several times
    #[arg(long = "verifier", value_name = "COMMAND", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) verifiers: Vec<String>,
    /// What it is called; without it the id
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) title: Option<String>,
    /// The group that it is for: features of the group are held back by its gates only
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) group: Option<String>,
    /// Keep it open when it is green
    #[arg(long)]
    pub(crate) stays_open: bool,
    /// Write it into .ralph/gates, also where there is a store
    #[arg(long)]
    pub(crate) file: bool,
}
