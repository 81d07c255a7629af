//! The arguments of the commands that look at the loop, and steer it.

use clap::Args;

use super::change::GuardArgs;

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Everything about one bead: what was done to it, and what went wrong
    #[arg(long, value_name = "ID", conflicts_with = "metrics")]
    pub(crate) bead: Option<String>,
    /// Figures too: beads an hour, time for a bead, how often things succeed, are repeated and fail in QA
    #[arg(long)]
    pub(crate) metrics: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    /// The beads; their attempts are counted anew, and their history stays
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// End the agents that run, instead of letting them finish what they do
    #[arg(long)]
    pub(crate) now: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PauseArgs {
    /// Go on again
    #[arg(long)]
    pub(crate) off: bool,
}
