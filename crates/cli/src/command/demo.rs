//! `demo`: a sample plan of nine sprints, compiled before your eyes.

use beads_ralph_core::bead::{BeadId, BeadShape, RalphBead};
use beads_ralph_core::compile::{KnownIds, Refusal, build, plan_graph};
use beads_ralph_core::plan::Filter;
use serde_json::json;

use super::plan_build::documents;
use super::plan_graph::drawn;
use crate::args::{GraphFormat, MergeArg, RuleArgs};
use crate::failure::Failure;
use crate::plan_source::{PlanSource, Surroundings};
use crate::ui::{Stream, Ui, counted, lines, render};

const PLAN: &str = include_str!("../../assets/demo-plan.md");
const NAME: &str = "demo-plan.md";
const NEXT: &str = "
Now your own:
  beads-ralph plan new plan.md
  beads-ralph plan check plan.md
  beads-ralph plan graph plan.md
";

pub(crate) fn run(ui: &Ui) -> Result<(), Failure> {
    let source = PlanSource::from_text(NAME, PLAN);
    let surroundings = Surroundings::at(None, NAME.to_owned())?;
    let rules = RuleArgs {
        merge_detection: MergeArg::Both,
        strict_agents: false,
        no_agent_check: false,
    };
    let settings = surroundings.settings(&rules, false);
    let plan = source.parse();
    let compiled =
        build(&plan, &Filter::default(), &settings).map_err(|refusal| match refusal {
            Refusal::Findings(findings) => ui.refuse(&source, findings),
            Refusal::Filter(fault) => fault.into(),
        })?;
    let graph = plan_graph(&plan, &KnownIds::new())
        .map_err(|finding| ui.refuse(&source, vec![*finding]))?;
    let documents = documents(&compiled.beads, BeadShape::Both, surroundings.rig())?;
    if ui.is_json() {
        let order: Vec<&str> = compiled
            .beads
            .iter()
            .map(|bead| bead.metadata.sprint.as_str())
            .collect();
        return ui.data(&json!({"plan": PLAN, "sprints_processed": order, "beads": documents}));
    }
    ui.out(&format!(
        "A plan of {} ({NAME}):\n\n",
        counted(plan.sprints.len(), "sprint", "sprints")
    ))?;
    ui.out(&render(&source, &compiled.findings, ui.style(Stream::Out)))?;
    ui.out(&drawn(&graph, GraphFormat::Text, ui))?;
    ui.out(&format!(
        "\n{}, all valid, in the order of work:\n",
        counted(documents.len(), "bead", "beads")
    ))?;
    ui.out(&lines(compiled.beads.iter().map(described)))?;
    ui.out(NEXT)
}

/// A bead on one line: its id, its kind, and what it waits for.
fn described(bead: &RalphBead) -> String {
    let waits: Vec<&str> = bead.dependencies.iter().map(BeadId::as_str).collect();
    let after = if waits.is_empty() {
        String::new()
    } else {
        format!(" after {}", waits.join(", "))
    };
    format!(
        "  {:<34} {:<17}{after}",
        bead.id.as_str(),
        bead.issue_type.as_str()
    )
}
