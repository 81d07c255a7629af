//! The arguments of the commands that run things.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;

use super::change::{PermissionsArg, duration};

/// Which bead.
#[derive(Debug, Default, Args)]
pub(crate) struct BeadChoice {
    /// The bead's id, or its file: looked for in .ralph/beads, .ralph/gates and .beads/active, then in the store
    #[arg(value_name = "BEAD", required_unless_present = "bead_file")]
    pub(crate) bead: Option<String>,
    /// The bead's file, without looking anywhere else
    #[arg(long, value_name = "FILE", conflicts_with = "bead")]
    pub(crate) bead_file: Option<Utf8PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) choice: BeadChoice,
}

#[derive(Debug, Default, Args)]
pub(crate) struct ExecArgs {
    #[command(flatten)]
    pub(crate) choice: BeadChoice,
    /// The agent that works on it, such as claude or codex; without it the one of beads-ralph.yaml
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The tier of its model: haiku, sonnet or opus
    #[arg(long, value_name = "TIER")]
    pub(crate) model: Option<String>,
    /// How often the agent may try, unless the bead says so itself
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_iterations: Option<u32>,
    /// How long one call of the agent may take
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// What the agent may do without asking, instead of what beads-ralph.yaml says
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permissions: Option<PermissionsArg>,
    /// Run the checks once, and no agent
    #[arg(long, conflicts_with = "verify_first")]
    pub(crate) verify_only: bool,
    /// Run the checks before the first agent; when they are green, none is called
    #[arg(long)]
    pub(crate) verify_first: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Work on it even if it is completed, or a gate is red
    #[arg(long)]
    pub(crate) force: bool,
    /// Work on a copy of the bead's directory that is thrown away at the end
    #[arg(long)]
    pub(crate) scratch: bool,
    /// Everything after -- is given to the agent's program
    #[arg(last = true, value_name = "OPTION")]
    pub(crate) options: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The bead's id
    #[arg(value_name = "BEAD")]
    pub(crate) bead: String,
    /// What to print, as it is named in the list; without it the list of what there is
    #[arg(value_name = "LOG")]
    pub(crate) log: Option<String>,
    /// Which run: its name, or how many runs back (1 is the one before the last)
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Go on printing what is being written, file after file, until interrupted
    #[arg(short, long)]
    pub(crate) follow: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CreateBeadArgs {
    /// What is to be accomplished
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) intent: String,
    /// A command that must succeed, alone or as NAME=COMMAND; may be given several times
    #[arg(long = "verifier", value_name = "COMMAND", required = true, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) verifiers: Vec<String>,
    /// What it is called; without it the beginning of the intent
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Its id; without it gt-ralph- and four digits
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
}
