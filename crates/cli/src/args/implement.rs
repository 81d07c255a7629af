//! The arguments of the commands that take beads through their molecules.

use clap::Args;

use super::change::PermissionsArg;

#[derive(Debug, Args)]
pub(crate) struct ImplementArgs {
    /// The bead to work on
    #[arg(value_name = "BEAD")]
    pub(crate) source: String,
    /// What agents may do without asking, instead of what beads-ralph.yaml says
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permissions: Option<PermissionsArg>,
    /// Explain every decision with its rule, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DriveArgs {
    /// How many beads may be worked on at once, instead of what beads-ralph.yaml says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) parallel: Option<u16>,
    /// One stage of the first beads of the queue, and no more
    #[arg(long)]
    pub(crate) once: bool,
    /// Wait for new work when there is none, until interrupted
    #[arg(long, conflicts_with = "once")]
    pub(crate) watch: bool,
    /// What agents may do without asking, instead of what beads-ralph.yaml says
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permissions: Option<PermissionsArg>,
    /// Show the queue and what would be done next, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
