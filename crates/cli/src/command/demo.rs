//! `demo`: a sample plan of nine sprints, compiled before your eyes.

use beads_ralph_core::bead::BeadShape;
use beads_ralph_core::compile::{check, compile, plan_graph};
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::plan::Filter;
use serde_json::json;

use super::plan_build::documents;
use super::plan_graph::drawn;
use crate::args::{GraphFormat, MergeArg, RuleArgs};
use crate::failure::Failure;
use crate::plan_source::{PlanSource, Surroundings};
use crate::ui::{Stream, Ui, counts, failure_of, render};

const PLAN: &str = include_str!("../../assets/demo-plan.md");
const NAME: &str = "demo-plan.md";

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
    let findings = check(&plan, &settings);
    if let Some(failure) = failure_of(&source, &findings) {
        return Err(failure);
    }
    let broken = |message: &str| Failure::new(ErrorCode::ValidationConstraint, message);
    let graph = plan_graph(&plan).map_err(|finding| broken(&finding.message))?;
    let compiled = compile(&plan, &graph, &Filter::default(), &settings)
        .map_err(|_| broken("the sample plan does not compile"))?;
    let documents = documents(&compiled.beads, BeadShape::Both, surroundings.rig())?;
    if ui.is_json() {
        let order: Vec<&str> = compiled
            .beads
            .iter()
            .map(|bead| bead.metadata.sprint.as_str())
            .collect();
        return ui.data(&json!({"plan": PLAN, "sprints_processed": order, "beads": documents}));
    }
    let (_, warnings) = counts(&findings);
    ui.out(&format!(
        "A plan of {} sprints ({NAME}), checked: 0 errors, {warnings} warnings.\n\n",
        plan.sprints.len()
    ))?;
    ui.out(&render(&source, &findings, ui.style(Stream::Out)))?;
    ui.out(&drawn(&graph, GraphFormat::Text, ui))?;
    ui.out(&format!(
        "\n{} beads, all valid, in the order of work:\n",
        documents.len()
    ))?;
    for bead in &compiled.beads {
        let waits: Vec<&str> = bead
            .dependencies
            .iter()
            .map(beads_ralph_core::bead::BeadId::as_str)
            .collect();
        let after = if waits.is_empty() {
            String::new()
        } else {
            format!("  after {}", waits.join(", "))
        };
        ui.out(&format!(
            "  {:<34} {:<18}{after}\n",
            bead.id.as_str(),
            bead.issue_type.as_str()
        ))?;
    }
    ui.out(
        "\nNow your own:\n  beads-ralph plan new plan.md\n  beads-ralph plan check plan.md\n  beads-ralph plan graph plan.md\n",
    )
}
