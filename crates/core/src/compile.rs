//! From a plan to beads (contracts §4.4): the graph of the whole plan, the beads of the selected
//! sprints, and every finding on the way.
//!
//! Nothing is emitted unless everything that was selected is valid. What the world knows (agent files,
//! configuration, the time) comes in as values in [`Settings`].

mod agents;
mod beads;
mod conflicts;
mod diagnostics;
mod graph;
mod kind;
mod settings;

#[cfg(test)]
mod tests;

pub use beads::{Compiled, compile};
pub use graph::{PlanGraph, plan_graph};
pub use settings::{AgentCatalog, AgentCheck, AgentFile, MergeDetection, Settings};

use crate::diag::Diagnostic;
use crate::plan::{Filter, Plan};

/// All findings about a plan: what `plan check` shows. Sorted by place; errors before warnings at one place.
pub fn check(plan: &Plan, settings: &Settings<'_>) -> Vec<Diagnostic> {
    let mut findings = plan.problems.clone();
    let graph = match plan_graph(plan) {
        Ok(graph) => graph,
        Err(finding) => {
            findings.push(*finding);
            findings.extend(
                plan.unique()
                    .flat_map(|sprint| sprint.problems.iter().cloned()),
            );
            return sorted(findings);
        }
    };
    findings.extend(graph.findings.iter().cloned());
    match compile(plan, &graph, &Filter::default(), settings) {
        Ok(compiled) => findings.extend(compiled.findings),
        Err(more) => findings.extend(more),
    }
    sorted(findings)
}

fn sorted(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    findings.sort_by_key(|finding| {
        (
            finding.primary.span.start(),
            finding.severity(),
            finding.code,
        )
    });
    findings
}
