//! The arguments of `beads-mason`, the name under which the seeds called `plan apply`.

use camino::Utf8PathBuf;

use super::PlanCommand;
use crate::args::{Cli, Global, RuleArgs, SelectionArgs};
use crate::command::Command;
use crate::command::plan::apply::PlanApplyArgs;

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
    pub(crate) global: Global,
}

impl MasonCli {
    /// The same as arguments of the program's own command: only new beads, and the answer is fenced (E-1, E-12).
    pub(crate) fn into_cli(self) -> Cli {
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
        Cli {
            global: Global {
                fenced: true,
                ..self.global
            },
            command: Command::Plan(PlanCommand::Apply(apply)),
        }
    }
}
