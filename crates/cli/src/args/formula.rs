//! The arguments of `formula`.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

use super::plan::{CheckFormat, GraphFormat};

#[derive(Debug, Subcommand)]
pub(crate) enum FormulaCommand {
    /// List the formulas of the project, the checkout, the user, and those that come with the program
    List,
    /// Show what a formula is made of: its variables, its steps, its files
    Show(FormulaShowArgs),
    /// Report every mistake in formulas, with places
    Check(FormulaCheckArgs),
    /// Show which steps a formula makes, and what waits for what
    Graph(FormulaGraphArgs),
    /// Write a new formula: one to begin with, or what sprints of a plan have in common
    New(FormulaNewArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FormulaNewArgs {
    /// The name of the new formula
    pub(crate) name: String,
    /// The plan to make it from
    #[arg(long, value_name = "PLAN")]
    pub(crate) from_plan: Option<Utf8PathBuf>,
    /// The sprints that have it in common, such as 2.1,2.2; without any, all of the plan
    #[arg(long, value_name = "IDS", requires = "from_plan")]
    pub(crate) sprints: Option<String>,
    /// Replace a formula of the same name
    #[arg(long)]
    pub(crate) force: bool,
    /// Print it, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FormulaShowArgs {
    /// The formula
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FormulaCheckArgs {
    /// Names of formulas, or files with a `/` or an ending in their name; without any, all that do not come with the program
    #[arg(value_name = "NAME|FILE")]
    pub(crate) formulas: Vec<String>,
    /// How to report
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
    /// Refuse text in double braces that is no variable of the formula, instead of warning
    #[arg(long, conflicts_with = "lenient")]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FormulaGraphArgs {
    /// The formula
    pub(crate) name: String,
    /// What to print
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    pub(crate) format: GraphFormat,
    /// A value for a variable, as with a pour; without any, steps with a condition are all there and placeholders stay
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub(crate) vars: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// How formulas are read.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReadingArgs {
    /// Warn about fields that nobody knows, and about text in double braces that is no variable, instead of refusing them
    #[arg(long)]
    pub(crate) lenient: bool,
}
