//! The arguments of the commands that walk around.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct PatrolArgs {
    /// One cycle, and no more
    #[arg(long)]
    pub(crate) once: bool,
    /// Say what would be run, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
