//! The arguments of the commands that change the store.

use std::time::Duration;

use beads_ralph_core::issue::Fence;
use beads_ralph_core::text::parse_duration;
use beads_ralph_core::vocabulary::EdgeType;
use beads_ralph_runtime::config::Permissions;
use camino::Utf8PathBuf;
use clap::{Args, Subcommand, ValueEnum};

use super::query::{pair, priority};

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// What agents may do without asking, written to beads-ralph.yaml
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permissions: Option<PermissionsArg>,
    /// Move the beads of the real bd into the embedded store, which takes its place
    #[arg(long)]
    pub(crate) from_bd: bool,
    /// Place a link named bd in this folder, so that programs which call bd work on the embedded store
    #[arg(long, value_name = "FOLDER")]
    pub(crate) bd_link: Option<Utf8PathBuf>,
    /// Write the formulas that come with the program into .beads/formulas, where you can change them; files that are there stay
    #[arg(long)]
    pub(crate) formulas: bool,
    /// Write the agents that come with the program into .claude/agents, where you can change them; files that are there stay
    #[arg(long)]
    pub(crate) agents: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PermissionsArg {
    /// Any command, with your rights, without asking
    Bypass,
    /// What the agent's own settings allow; anything else is refused instead of asked
    AskNone,
    /// Any command, inside the agent's own sandbox
    Sandbox,
}

impl From<PermissionsArg> for Permissions {
    fn from(arg: PermissionsArg) -> Self {
        match arg {
            PermissionsArg::Bypass => Self::Bypass,
            PermissionsArg::AskNone => Self::AskNone,
            PermissionsArg::Sandbox => Self::Sandbox,
        }
    }
}

/// For whom a bead is held, and how long.
#[derive(Debug, Clone, Args)]
pub(crate) struct HolderArgs {
    /// Who holds it; without it, whoever writes
    #[arg(long, value_name = "NAME")]
    pub(crate) holder: Option<String>,
    /// How long the claim holds without a sign of life, such as 30m
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub(crate) lease: Duration,
    /// The process that works on it: while it lives nobody takes the bead, whatever the lease says
    #[arg(long, value_name = "N")]
    pub(crate) pid: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct ClaimArgs {
    /// The beads; each is tried
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) holder: HolderArgs,
    /// Also when something holds it back
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HeartbeatArgs {
    /// The bead
    pub(crate) id: String,
    /// The number that the claim gave out
    #[arg(long, value_name = "N", value_parser = fence)]
    pub(crate) fence: Fence,
    /// How long from now the claim holds, such as 30m
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub(crate) lease: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    /// The beads
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// The number that the claim gave out; without it, only your own claims on this machine that name no process
    #[arg(long, value_name = "N", value_parser = fence)]
    pub(crate) fence: Option<Fence>,
    /// Whose claim it is; without it, whoever writes
    #[arg(long, value_name = "NAME")]
    pub(crate) holder: Option<String>,
    /// Also when somebody else holds it
    #[arg(long, conflicts_with = "fence")]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecoverArgs {
    /// Also beads that are in progress although no holder is recorded
    #[arg(long)]
    pub(crate) unheld: bool,
    /// Give up a run that was left and cannot be gone on with, or is not wanted; branches and worktrees stay
    #[arg(long, value_name = "RUN")]
    pub(crate) discard: Option<String>,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// What must be true of a bead for a change to happen.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct GuardArgs {
    /// The number that your claim gave out: nothing changes when the bead was claimed anew
    #[arg(long, value_name = "N", value_parser = fence, conflicts_with = "force")]
    pub(crate) fence: Option<Fence>,
    /// Also when somebody else holds it, or when it waits for something
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CloseArgs {
    /// The beads
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Why
    #[arg(short, long, value_name = "TEXT", default_value = "Closed")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReopenArgs {
    /// The beads
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// The bead
    pub(crate) id: String,
    /// Its title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Its description
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// How urgent it is: 0 is most urgent, 4 least
    #[arg(short, long, value_name = "N", value_parser = priority)]
    pub(crate) priority: Option<i64>,
    /// What it is, such as task
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub(crate) issue_type: Option<String>,
    /// The role that it is for; an empty one is nobody's
    #[arg(short, long, value_name = "NAME")]
    pub(crate) assignee: Option<String>,
    /// Where it stands; to start work on it, claim it
    #[arg(short, long, value_name = "STATUS")]
    pub(crate) status: Option<String>,
    /// Its notes, instead of those that are there
    #[arg(long, value_name = "TEXT", conflicts_with = "append_notes")]
    pub(crate) notes: Option<String>,
    /// A line to add to its notes
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_notes: Vec<String>,
    /// Top-level keys to set in its metadata: a JSON object, or @ and the file that holds it
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) metadata: Option<String>,
    /// A text to set in its metadata; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set_metadata: Vec<(String, String)>,
    /// A top-level key to remove from its metadata; may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) unset_metadata: Vec<String>,
    /// A label to add; may be repeated
    #[arg(long, value_name = "LABEL")]
    pub(crate) add_label: Vec<String>,
    /// A label to remove; may be repeated
    #[arg(long, value_name = "LABEL")]
    pub(crate) remove_label: Vec<String>,
    /// Only if this is its status
    #[arg(long, value_name = "STATUS")]
    pub(crate) if_status: Option<String>,
    /// Only if this is its version
    #[arg(long, value_name = "N")]
    pub(crate) if_version: Option<u64>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabelCommand {
    /// Add labels to a bead
    Add(LabelArgs),
    /// Remove labels from a bead
    Remove(LabelArgs),
    /// Print the labels of a bead
    List {
        /// The bead
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    /// The bead
    pub(crate) id: String,
    /// The labels
    #[arg(required = true, value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DepCommand {
    /// Let a bead depend on another one
    Add(DepAddArgs),
    /// Remove the dependency of a bead on another one
    Remove(DepRemoveArgs),
    /// Print what a bead depends on, and what depends on it
    List {
        /// The bead
        id: String,
    },
    /// Draw everything that a bead depends on
    Tree(DepTreeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DepAddArgs {
    /// The bead that waits
    pub(crate) id: String,
    /// What it waits for: a bead, or external:project:name
    pub(crate) on: String,
    /// What the one has to do with the other
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = EdgeType::Blocks.as_str())]
    pub(crate) kind: String,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DepRemoveArgs {
    /// The bead that waits
    pub(crate) id: String,
    /// What it waits for
    pub(crate) on: String,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DepTreeArgs {
    /// The bead
    pub(crate) id: String,
    /// How deep to go
    #[arg(short, long, value_name = "N", default_value_t = 50)]
    pub(crate) depth: usize,
}

#[derive(Debug, Args)]
pub(crate) struct CommentArgs {
    /// The bead
    pub(crate) id: String,
    /// What to say; `-` is standard input
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "write it as 90s, 30m or 1h30m".to_owned())
}

fn fence(text: &str) -> Result<Fence, String> {
    let number = text.parse().map(Fence);
    number.map_err(|_| "a fence is the whole number that a claim gave out".to_owned())
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct DoctorArgs {
    #[command(subcommand)]
    pub(crate) what: Option<DoctorCommand>,
    /// Build the store anew from what is left of it; the damaged file is kept
    #[arg(long)]
    pub(crate) repair: bool,
    /// The export to take beads from that cannot be saved otherwise; without it `.beads/issues.jsonl`
    #[arg(long, value_name = "FILE", requires = "repair")]
    pub(crate) from: Option<camino::Utf8PathBuf>,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum DoctorCommand {
    /// Look for agents, and ask their programs what they can do
    Agents,
}
