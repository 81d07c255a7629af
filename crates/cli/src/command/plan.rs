//! `plan`: plans and what they become.

pub(crate) mod annotate;
pub(crate) mod apply;
pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod diff;
pub(crate) mod error;
pub(crate) mod graph;
pub(crate) mod mason;
pub(crate) mod new;

use beads_ralph_core::compile::{AgentCheck, MergeDetection};
use beads_ralph_runtime::app::plan::PlanOptions;
use clap::Subcommand;

use self::annotate::PlanAnnotateArgs;
use self::apply::PlanApplyArgs;
use self::build::PlanBuildArgs;
use self::check::PlanCheckArgs;
use self::graph::PlanGraphArgs;
use self::new::PlanNewArgs;
use crate::args::{Global, MergeArg, RuleArgs, SelectionArgs};
use crate::failure::Failure;
use crate::ui::Ui;

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

pub(crate) fn run(command: &PlanCommand, global: &Global, ui: &Ui) -> Result<(), Failure> {
    match command {
        PlanCommand::New(args) => new::run(args, ui),
        PlanCommand::Check(args) => check::run(args, ui),
        PlanCommand::Graph(args) => graph::run(args, ui),
        PlanCommand::Build(args) => build::run(args, ui),
        PlanCommand::Annotate(args) => annotate::run(args, ui),
        PlanCommand::Apply(args) => apply::run(args, global, ui),
        PlanCommand::Diff(args) => diff::run(args, global, ui),
    }
}

impl RuleArgs {
    pub(crate) fn options(&self) -> PlanOptions {
        PlanOptions {
            agent_check: match (self.strict_agents, self.no_agent_check) {
                (true, _) => AgentCheck::Strict,
                (false, true) => AgentCheck::Off,
                (false, false) => AgentCheck::Auto,
            },
            merge_detection: self.merge_detection.into(),
            ..PlanOptions::default()
        }
    }
}

impl SelectionArgs {
    fn options(&self) -> PlanOptions {
        PlanOptions {
            sprint_filter: self.sprint_filter.clone(),
            skip_completed: self.skip_completed,
            variables: self.var.clone(),
            ..self.rules.options()
        }
    }
}

impl From<MergeArg> for MergeDetection {
    fn from(arg: MergeArg) -> Self {
        match arg {
            MergeArg::Both => Self::Both,
            MergeArg::Title => Self::Title,
            MergeArg::Structure => Self::Structure,
        }
    }
}
