//! `plan graph`: waves, dependencies and the critical path of a plan.

use beads_ralph_core::compile::{PlanGraph, plan_graph};
use beads_ralph_core::diag::{Diagnostic, has_errors};
use beads_ralph_core::graph::Node;
use serde_json::{Map, Value, json};

use crate::args::{GraphFormat, PlanGraphArgs};
use crate::draw;
use crate::failure::Failure;
use crate::plan_source::PlanSource;
use crate::ui::{Stream, Ui, render};

pub(crate) fn run(args: &PlanGraphArgs, ui: &Ui) -> Result<(), Failure> {
    let ui = &ui.with_json(args.format == GraphFormat::Json);
    let source = PlanSource::read(&args.plan)?;
    let plan = source.parse();
    let mut findings = plan.problems.clone();
    let graph = match plan_graph(&plan) {
        Ok(graph) => Some(graph),
        Err(finding) => {
            findings.push(*finding);
            None
        }
    };
    findings.extend(
        graph
            .iter()
            .flat_map(|graph| graph.findings.iter().cloned()),
    );
    let graph = match graph {
        Some(graph) if !has_errors(&findings) => graph,
        _ => return Err(ui.refuse(&source, &findings)),
    };
    ui.complain(&render(&source, &findings, ui.style(Stream::Err)));
    if ui.is_json() {
        return ui.data(&to_json(&graph, args, &findings));
    }
    ui.out(&drawn(&graph, args.format, ui))
}

/// The graph in the chosen form for people and for other programs' input.
pub(super) fn drawn(graph: &PlanGraph<'_>, format: GraphFormat, ui: &Ui) -> String {
    let critical = graph.critical_path();
    let title = |node: Node| graph.sprint(node).title.value.clone();
    match format {
        GraphFormat::Mermaid => draw::mermaid(&graph.graph, &critical, title),
        GraphFormat::Dot => draw::dot(&graph.graph, &critical, title),
        GraphFormat::Text | GraphFormat::Json => {
            let style = ui.style(Stream::Out);
            let options = draw::TextOptions {
                width: style.width,
                unicode: style.unicode,
            };
            draw::text(&graph.graph, &critical, title, options)
        }
    }
}

fn to_json(graph: &PlanGraph<'_>, args: &PlanGraphArgs, findings: &[Diagnostic]) -> Value {
    let id = |node: &Node| graph.graph.id(*node).as_str();
    let ids = |nodes: &[Node]| nodes.iter().map(id).collect::<Vec<_>>();
    let sprints: Vec<Value> = graph
        .graph
        .nodes()
        .map(|node| sprint_json(graph, node, args))
        .collect();
    json!({
        "sprints": sprints,
        "waves": graph.graph.waves().iter().map(|wave| ids(wave)).collect::<Vec<_>>(),
        "critical_path": ids(&graph.critical_path()),
        "warnings": findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>(),
    })
}

fn sprint_json(graph: &PlanGraph<'_>, node: Node, args: &PlanGraphArgs) -> Value {
    let sprint = graph.sprint(node);
    let edges = graph.graph.dependencies(node);
    let why: Map<String, Value> = edges
        .iter()
        .map(|edge| {
            (
                graph.graph.id(edge.to).to_string(),
                json!(graph.graph.explain(node, edge)),
            )
        })
        .collect();
    json!({
        "id": sprint.id.value.as_str(),
        "title": sprint.title.value,
        "line": sprint.line,
        "bead_id": graph.bead_id(node).as_str(),
        "issue_type": graph.issue_type(node, args.merge_detection.into()).map(beads_ralph_core::bead::IssueType::as_str),
        "depends_on": edges.iter().map(|edge| graph.graph.id(edge.to).as_str()).collect::<Vec<_>>(),
        "why": why,
    })
}
