//! The arguments of the loop over many beads.

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::change::PermissionsArg;

#[derive(Debug, Default, Args)]
pub(crate) struct RunArgs {
    /// A plan to check and to apply first; without it the beads that are in the store
    #[arg(value_name = "PLAN")]
    pub(crate) plan: Option<Utf8PathBuf>,
    /// Write the bead ids into the plan after applying it
    #[arg(long, requires = "plan")]
    pub(crate) annotate: bool,
    /// A value for the formulas of the plan's sprints (repeatable)
    #[arg(long, value_name = "NAME=VALUE", requires = "plan")]
    pub(crate) var: Vec<String>,
    /// Only what can be started now, and nothing that becomes ready by it
    #[arg(long, conflicts_with = "watch")]
    pub(crate) once: bool,
    /// Go on when nothing is left to do, and wait for more
    #[arg(long)]
    pub(crate) watch: bool,
    /// Only beads of this team; may be given several times
    #[arg(long, value_name = "TEAM")]
    pub(crate) team: Vec<String>,
    /// Only this bead; may be given several times
    #[arg(long, value_name = "BEAD")]
    pub(crate) bead: Vec<String>,
    /// Only these sprints, such as 1.2a; may be given several times
    #[arg(long, value_name = "SPRINT")]
    pub(crate) sprint: Vec<String>,
    /// How many beads may be worked on at once, instead of what beads-ralph.yaml says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_parallel: Option<u16>,
    /// What becomes of verified work, instead of what beads-ralph.yaml says
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) integration: Option<IntegrationArg>,
    /// What agents may do without asking, instead of what beads-ralph.yaml says
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permissions: Option<PermissionsArg>,
    /// Look at everything, say what would be begun first and why, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Say of each bead why it is begun when it is
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print every event and decision as a line of JSON
    #[arg(long)]
    pub(crate) events: bool,
}

/// What becomes of verified work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IntegrationArg {
    /// It stays on its branch
    None,
    /// It is merged into ralph/PLAN
    Merge,
    /// It is pushed and proposed as a pull request
    Pr,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep the repository of the demo in this directory, which must not be there yet, instead of throwing it away
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<Utf8PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// Only worktrees of closed beads that have nothing to lose; without a choice worktrees and runs
    #[arg(long)]
    pub(crate) worktrees: bool,
    /// Also branches of closed beads whose commits are in the source branch, or in the branch that work is merged into
    #[arg(long)]
    pub(crate) branches: bool,
    /// Only runs that are over, but for the newest five
    #[arg(long)]
    pub(crate) runs: bool,
    /// Remove without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Only say what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}
