//! The arguments of `plan` and `bead`.

use camino::{Utf8Path, Utf8PathBuf};
use clap::builder::{NonEmptyStringValueParser, TypedValueParser as _};
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Write a commented template that passes `plan check`
    New(PlanNewArgs),
    /// Report every mistake in plans, with places and fixes
    Check(PlanCheckArgs),
    /// Show waves, dependencies and the critical path; needs headings only
    Graph(PlanGraphArgs),
    /// Write one JSON file for each bead of a plan
    Build(PlanBuildArgs),
    /// Write the bead ids into the plan, and change no other byte
    Annotate(PlanAnnotateArgs),
    /// Make the store match a plan: insert new beads, update open ones, report the rest
    Apply(PlanApplyArgs),
    /// Show what applying a plan would change, and what it would refuse to
    Diff(SelectionArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum BeadCommand {
    /// Check bead files against the schema
    Validate(BeadValidateArgs),
    /// Rewrite a bead for another generation of readers
    Migrate(BeadMigrateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PlanNewArgs {
    /// The file to write; it must not exist yet
    pub(crate) plan: Utf8PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PlanCheckArgs {
    /// The plans; `-` is standard input
    #[arg(required = true)]
    pub(crate) plans: Vec<Utf8PathBuf>,
    /// How to report
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
    /// Apply the fixes that are certain, then report what is left
    #[arg(long)]
    pub(crate) fix: bool,
    /// A value for the formulas of sprints (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) var: Vec<String>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
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

#[derive(Debug, Args)]
pub(crate) struct PlanGraphArgs {
    /// The plan; `-` is standard input
    pub(crate) plan: Utf8PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    pub(crate) format: GraphFormat,
    /// What makes a sprint a merge
    #[arg(long, value_enum, default_value_t = MergeArg::Both, value_name = "BY")]
    pub(crate) merge_detection: MergeArg,
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

#[derive(Debug, Args)]
pub(crate) struct PlanBuildArgs {
    /// The plan; `-` is standard input
    pub(crate) plan: Utf8PathBuf,
    /// Where to write the files, each named for its bead; made if it does not exist
    #[arg(long, value_name = "DIR", value_parser = NonEmptyStringValueParser::new().map(Utf8PathBuf::from))]
    pub(crate) out_dir: Utf8PathBuf,
    /// Only these sprints, such as 1.2a,1.3
    #[arg(long, value_name = "IDS")]
    pub(crate) sprint_filter: Option<String>,
    /// Which generation of readers to write for
    #[arg(long, value_enum, default_value_t = ShapeArg::Both)]
    pub(crate) bead_schema: ShapeArg,
    /// Leave out sprints whose **Status** says COMPLETED
    #[arg(long)]
    pub(crate) skip_completed: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
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

#[derive(Debug, Args)]
pub(crate) struct PlanAnnotateArgs {
    /// The plan
    pub(crate) plan: Utf8PathBuf,
    /// Only these sprints, such as 1.2a,1.3
    #[arg(long, value_name = "IDS")]
    pub(crate) sprint_filter: Option<String>,
    /// Say what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BeadValidateArgs {
    /// The bead files; none or `-` is standard input
    pub(crate) files: Vec<Utf8PathBuf>,
    /// Check the dependencies between the given beads as well
    #[arg(long)]
    pub(crate) graph: bool,
    /// Look for the agent files that the beads name
    #[arg(long)]
    pub(crate) check_agents: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BeadMigrateArgs {
    /// The bead file; none or `-` is standard input
    pub(crate) file: Option<Utf8PathBuf>,
    /// Which generation to write
    #[arg(long, value_enum)]
    pub(crate) to: ShapeArg,
    /// Rewrite the file instead of printing
    #[arg(long, requires = "file")]
    pub(crate) in_place: bool,
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

#[derive(Debug, Args)]
pub(crate) struct PlanApplyArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the bead ids into the plan afterwards
    #[arg(long)]
    pub(crate) annotate: bool,
    /// Insert new beads only; a bead that is there is an error
    #[arg(long)]
    pub(crate) insert_only: bool,
    /// Insert new beads only, and skip those that are there
    #[arg(long)]
    pub(crate) check_existing: bool,
    /// Refuse beads that wait for something that the store does not have
    #[arg(long)]
    pub(crate) require_deps_in_store: bool,
}

impl PlanApplyArgs {
    /// All of a plan, with the rules that hold when nobody says otherwise.
    pub(crate) fn whole(plan: &Utf8Path, annotate: bool, dry_run: bool) -> Self {
        Self {
            selection: SelectionArgs {
                plan: plan.to_owned(),
                sprint_filter: None,
                skip_completed: false,
                var: Vec::new(),
                rules: RuleArgs {
                    merge_detection: MergeArg::Both,
                    strict_agents: false,
                    no_agent_check: false,
                },
            },
            dry_run,
            annotate,
            insert_only: false,
            check_existing: false,
            require_deps_in_store: false,
        }
    }
}

/// Convert a plan into beads and insert them into the store; answers with fenced JSON.
#[derive(Debug, clap::Parser)]
#[command(name = "beads-mason", version)]
pub(crate) struct MasonCli {
    /// The plan; `-` is standard input
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan_file: Utf8PathBuf,
    /// Only these sprints, such as 1.2a,1.3
    #[arg(long, value_name = "IDS")]
    pub(crate) sprint_filter: Option<String>,
    /// Write the bead ids into the plan afterwards
    #[arg(long, visible_alias = "annotate")]
    pub(crate) annotate_plan: bool,
    /// Skip beads that are there instead of refusing
    #[arg(long)]
    pub(crate) check_existing: bool,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Refuse beads that wait for something that the store does not have
    #[arg(long)]
    pub(crate) require_deps_in_store: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) global: super::Global,
}

impl MasonCli {
    /// The same as arguments of the program's own command: only new beads, and the answer is fenced (E-1, E-12).
    pub(crate) fn into_cli(self) -> super::Cli {
        let apply = PlanApplyArgs {
            selection: SelectionArgs {
                plan: self.plan_file,
                sprint_filter: self.sprint_filter,
                skip_completed: false,
                var: Vec::new(),
                rules: self.rules,
            },
            dry_run: self.dry_run,
            annotate: self.annotate_plan,
            insert_only: true,
            check_existing: self.check_existing,
            require_deps_in_store: self.require_deps_in_store,
        };
        super::Cli {
            global: super::Global {
                fenced: true,
                ..self.global
            },
            command: super::Command::Plan(PlanCommand::Apply(apply)),
        }
    }
}
