//! `plan graph`: waves, dependencies and the critical path of a plan.

use beads_ralph_core::bead::IssueType;
use beads_ralph_core::compile::{KnownIds, PlanGraph, plan_graph};
use beads_ralph_core::diag::{Diagnostic, has_errors};
use beads_ralph_core::graph::{Node, SprintGraph};
use beads_ralph_runtime::app::plan::PlanSource;
use camino::Utf8PathBuf;
use clap::Args;
use serde::{Serialize, Serializer};

use crate::args::{GraphFormat, MergeArg};
use crate::failure::Failure;
use crate::ui::draw::{self, Chart};
use crate::ui::{Stream, Ui, render};

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

pub(crate) fn run(args: &PlanGraphArgs, ui: &Ui) -> Result<(), Failure> {
    let source = PlanSource::read(&args.plan)?;
    let plan = source.parse();
    let mut findings = plan.problems.clone();
    let graph = match plan_graph(&plan, &KnownIds::new()) {
        Ok(graph) => Some(graph),
        Err(finding) => {
            findings.push(*finding);
            None
        }
    };
    if let Some(graph) = &graph {
        findings.extend(graph.findings.iter().chain(graph.unreadable_ids()).cloned());
    }
    let graph = match graph {
        Some(graph) if !has_errors(&findings) => graph,
        _ => return Err(ui.refuse(&source, findings)),
    };
    ui.say(&render(&source, &findings, ui.style(Stream::Err)));
    if ui.is_json() {
        return ui.data(&to_json(&graph, args, &findings));
    }
    ui.out(&drawn(&graph, args.format, ui))
}

/// The graph in the chosen form for people and for other programs' input.
pub(crate) fn drawn(graph: &PlanGraph<'_>, format: GraphFormat, ui: &Ui) -> String {
    let critical = graph.critical_path();
    let title = |node: Node| draw::title(&graph.sprint(node).title.value);
    let chart = Chart::of_sprints(&graph.graph, &critical, title);
    draw::drawn(&chart, format, &estimated_time(graph, &critical), ui)
}

/// How long the critical path takes, when all of its sprints say so.
fn estimated_time(graph: &PlanGraph<'_>, critical: &[Node]) -> String {
    let minutes = |node: &Node| {
        Some(u128::from(
            graph
                .sprint(*node)
                .body()
                .estimate
                .as_ref()?
                .value
                .minutes(),
        ))
    };
    match critical.iter().map(minutes).sum::<Option<u128>>() {
        Some(minutes) if minutes > 0 => format!(
            "estimated time of that path: {}h{:02}m\n",
            minutes / 60,
            minutes % 60
        ),
        _ => String::new(),
    }
}

/// The envelope's data.
#[derive(Serialize)]
struct GraphJson<'g> {
    sprints: Vec<SprintJson<'g>>,
    waves: Vec<Vec<&'g str>>,
    critical_path: Vec<&'g str>,
    warnings: Vec<&'g str>,
}

#[derive(Serialize)]
struct SprintJson<'g> {
    id: &'g str,
    title: &'g str,
    line: usize,
    bead_id: &'g str,
    issue_type: Option<&'static str>,
    depends_on: Vec<&'g str>,
    why: Why<'g>,
}

/// The reason of each dependency, by its id. Sentences are made while they are written, because a plan
/// may have a million of them.
struct Why<'g> {
    graph: &'g SprintGraph,
    node: Node,
}

impl Serialize for Why<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reasons = self.graph.reasons(self.node);
        serializer.collect_map(reasons.map(|(to, why)| (self.graph.id(to).as_str(), why)))
    }
}

fn to_json<'g>(
    plan: &'g PlanGraph<'g>,
    args: &PlanGraphArgs,
    findings: &'g [Diagnostic],
) -> GraphJson<'g> {
    let graph = &plan.graph;
    let ids = |nodes: &[Node]| {
        nodes
            .iter()
            .map(|node| graph.id(*node).as_str())
            .collect::<Vec<_>>()
    };
    let sprint = |node: Node| SprintJson {
        id: plan.sprint(node).id.value.as_str(),
        title: &plan.sprint(node).title.value,
        line: plan.sprint(node).line,
        bead_id: plan.bead_id(node).as_str(),
        issue_type: plan
            .issue_type(node, args.merge_detection.into())
            .map(IssueType::as_str),
        depends_on: graph
            .dependencies(node)
            .iter()
            .map(|edge| graph.id(edge.to).as_str())
            .collect(),
        why: Why { graph, node },
    };
    GraphJson {
        // The order in which `plan build` emits beads (D-8).
        sprints: graph.order().into_iter().map(sprint).collect(),
        waves: graph.waves().iter().map(|wave| ids(wave)).collect(),
        critical_path: ids(&plan.critical_path()),
        warnings: findings.iter().map(|finding| &*finding.message).collect(),
    }
}
