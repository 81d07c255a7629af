//! The argument tree: what people type, and its help.

use std::time::Duration;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Fence, Holder};
use beads_ralph_core::text::parse_duration;
use beads_ralph_runtime::app::beads::{Authority, Beads, Writer};
use beads_ralph_runtime::config::Permissions;
use beads_ralph_runtime::os::env;
use camino::Utf8PathBuf;
use clap::{Args, Parser, ValueEnum};

use crate::command::Command;
use crate::command::formula::FormulaCommand;
use crate::command::plan::PlanCommand;
use crate::failure::Failure;

/// Turn a markdown plan into a dependency graph of beads, and keep them in a store.
#[derive(Debug, Parser)]
#[command(name = "beads-ralph", version, propagate_version = true, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Whether the answer is the JSON envelope: `--json`, `--fenced`, or a command's `--format json`.
    pub(crate) fn wants_json(&self) -> bool {
        let by_format = match &self.command {
            Command::Plan(PlanCommand::Check(args)) => args.format == CheckFormat::Json,
            Command::Plan(PlanCommand::Graph(args)) => args.format == GraphFormat::Json,
            Command::Formula(FormulaCommand::Check(args)) => args.format == CheckFormat::Json,
            Command::Formula(FormulaCommand::Graph(args)) => args.format == GraphFormat::Json,
            _ => false,
        };
        by_format || self.global.json || self.global.fenced
    }
}

const AFTER_HELP: &str = "\
Start with:
  beads-ralph demo                  run a sample plan
  beads-ralph plan new plan.md      write a commented template
  beads-ralph plan check plan.md    find every mistake in a plan
  beads-ralph plan graph plan.md    draw the dependencies
  beads-ralph init                  make the bead store of this repository
  beads-ralph plan apply plan.md    write the plan's beads into it
  beads-ralph ready                 list the beads that can start
  beads-ralph run                   let agents work through them until all are done
  beads-ralph watch                 show a run full-screen
  beads-ralph formula list          list the templates of work
  beads-ralph create-bead --help    write one bead, and the commands that check it
  beads-ralph exec BEAD             let an agent work on it until the checks pass

Exit codes: 0 success, 1 something to fix, 2 wrong usage, 3 fatal (file missing, no permission),
4 already claimed by somebody else.";

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Answer with one JSON object {success, data, error} on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Like --json, inside a fenced block of markdown
    #[arg(long, global = true)]
    pub(crate) fenced: bool,
    /// When to use colour; `NO_COLOR` also turns it off
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub(crate) color: ColorChoice,
    /// Print only results and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Who writes to the store (default: `BEADS_ACTOR`, else `USER`)
    #[arg(long, global = true, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) actor: Option<String>,
}

impl Global {
    /// Who writes, and when.
    pub(crate) fn writer(&self) -> Writer {
        Writer::new(self.actor.clone())
    }

    /// Opens the store of the working directory.
    pub(crate) fn open(&self) -> Result<Beads, Failure> {
        Ok(Beads::open(&here()?, self.writer())?)
    }
}

/// The working directory.
pub(crate) fn here() -> Result<Utf8PathBuf, Failure> {
    env::current_dir().ok_or_else(|| {
        Failure::new(
            ErrorCode::IoFileNotFound,
            "the working directory is gone, or its name is not UTF-8",
        )
        .action("change to another directory")
    })
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
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
    /// Who claims it (default: the actor)
    #[arg(long, value_name = "NAME")]
    pub(crate) holder: Option<String>,
    /// How long the claim is valid without a heartbeat, such as 30m
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub(crate) lease: Duration,
    /// The process that works on it; while it runs, nobody else can claim the bead
    #[arg(long, value_name = "N")]
    pub(crate) pid: Option<u32>,
}

impl HolderArgs {
    /// Who the claim is for.
    pub(crate) fn holder(&self, by: &Writer) -> Result<Holder, Failure> {
        Ok(by.holder(self.holder.as_deref(), self.pid)?)
    }
}

/// What must be true of a bead for a change to happen.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct GuardArgs {
    /// The fence of your claim; the command fails if the bead was claimed again since
    #[arg(long, value_name = "N", value_parser = fence, conflicts_with = "force")]
    pub(crate) fence: Option<Fence>,
    /// Do it even if somebody else holds the bead or it is blocked
    #[arg(long)]
    pub(crate) force: bool,
}

impl GuardArgs {
    pub(crate) fn authority(&self) -> Authority {
        match self.fence {
            _ if self.force => Authority::Forced,
            Some(fence) => Authority::Fence(fence),
            None => Authority::Own,
        }
    }
}

/// A fence belongs to one claim of one bead.
pub(crate) fn one_fence_one_bead(fence: Option<Fence>, ids: &[String]) -> Result<(), Failure> {
    if fence.is_some() && ids.len() > 1 {
        return Err(Failure::new(
            ErrorCode::ValidationConstraint,
            "--fence goes with one bead: every claim has its own",
        )
        .action("name one bead at a time")
        .exit_with(2));
    }
    Ok(())
}

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "write it as 90s, 30m or 1h30m".to_owned())
}

pub(crate) fn fence(text: &str) -> Result<Fence, String> {
    let number = text.parse().map(Fence);
    number.map_err(|_| "a fence is the whole number that a claim gave out".to_owned())
}

/// How formulas are read.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReadingArgs {
    /// Warn about unknown fields and undeclared variables, instead of refusing them
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// With the lines of the plan, carets and fixes
    Human,
    /// One line for each finding
    Short,
    /// The JSON envelope
    Json,
}

/// What decides how a plan becomes beads.
#[derive(Debug, Args)]
pub(crate) struct RuleArgs {
    /// What makes a sprint a merge
    #[arg(long, value_enum, default_value_t = MergeArg::Both, value_name = "BY")]
    pub(crate) merge_detection: MergeArg,
    /// Treat a missing agent file as an error even without .claude/agents/
    #[arg(long, conflicts_with = "no_agent_check")]
    pub(crate) strict_agents: bool,
    /// Do not look for agent files
    #[arg(long)]
    pub(crate) no_agent_check: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MergeArg {
    /// A title with "merge" or "integration", and at least two branches to join
    Both,
    /// The title alone
    Title,
    /// At least two dependencies
    Structure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A picture for the terminal
    Text,
    /// A Mermaid flowchart
    Mermaid,
    /// A Graphviz digraph
    Dot,
    /// The JSON envelope
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShapeArg {
    /// `dev_agent_path`, `dev_model`
    V1,
    /// Agent specs
    V2,
    /// Everything, for every reader
    Both,
}

/// Which sprints of which plan, and how they become beads.
#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    /// The plan; `-` is standard input
    pub(crate) plan: Utf8PathBuf,
    /// Only these sprints, such as 1.2a,1.3
    #[arg(long, value_name = "IDS")]
    pub(crate) sprint_filter: Option<String>,
    /// Leave out sprints whose **Status** says COMPLETED
    #[arg(long)]
    pub(crate) skip_completed: bool,
    /// A value for the formulas of sprints (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) var: Vec<String>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

/// Which beads are wanted.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FilterArgs {
    /// Only with all of these labels
    #[arg(short, long, value_name = "LABELS", value_delimiter = ',')]
    pub(crate) label: Vec<String>,
    /// Only with one of these labels
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    pub(crate) label_any: Vec<String>,
    /// Only of these types
    #[arg(
        short = 't',
        long = "type",
        value_name = "TYPES",
        value_delimiter = ','
    )]
    pub(crate) types: Vec<String>,
    /// Only for this role
    #[arg(short, long, value_name = "NAME")]
    pub(crate) assignee: Option<String>,
    /// Only with this priority: 0 is most urgent, 4 least
    #[arg(short, long, value_name = "N", value_parser = priority)]
    pub(crate) priority: Option<i64>,
}

/// A priority as people write it: `2` or `P2`.
pub(crate) fn priority(text: &str) -> Result<i64, String> {
    let number = text.strip_prefix(['P', 'p']).unwrap_or(text);
    match number.parse() {
        Ok(priority @ 0..=4) => Ok(priority),
        _ => Err("a priority is a number from 0, most urgent, to 4".to_owned()),
    }
}

/// A key and a value around the first `=`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write it as key=value".to_owned()),
    }
}

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
