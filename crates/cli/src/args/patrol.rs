//! The arguments of the commands that walk around.

use std::time::Duration;

use clap::Args;

use super::change::duration;

#[derive(Debug, Args)]
pub(crate) struct PatrolArgs {
    /// One cycle, and no more
    #[arg(long)]
    pub(crate) once: bool,
    /// Say what would be run, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WatchdogArgs {
    /// One pass, and no more
    #[arg(long, alias = "run-once")]
    pub(crate) once: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only watch: begin no bead in a file that is pending
    #[arg(long)]
    pub(crate) no_exec: bool,
    /// How long to wait between two passes
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration)]
    pub(crate) interval: Duration,
}
