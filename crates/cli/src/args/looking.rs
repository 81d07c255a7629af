//! The arguments of the commands that look at the loop, and steer it.

use camino::Utf8PathBuf;
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
    /// Write the latest run, which may be under way, as a page of HTML; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["bead", "metrics"])]
    pub(crate) html: Option<Utf8PathBuf>,
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

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The run: its id, the beginning of it, `latest`, or its directory
    #[arg(default_value = "latest")]
    pub(crate) run: String,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The run: its id, the beginning of it, `latest`, or its directory
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Where to write it; `-` is standard output, and without it the run's id with .html
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<Utf8PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MetricsArgs {
    /// The run: its id, the beginning of it, `latest`, or its directory
    #[arg(default_value = "latest", conflicts_with = "all")]
    pub(crate) run: String,
    /// Every run whose journal is there
    #[arg(long)]
    pub(crate) all: bool,
}
