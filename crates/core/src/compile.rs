//! From a plan to beads (contracts §4.4): the graph of the whole plan, the beads of the selected
//! sprints, and every finding on the way.
//!
//! Nothing is emitted unless everything that was selected is valid. What the world knows (agent files,
//! configuration, the time) comes in as values in [`CompileSettings`].

mod agents;
mod beads;
mod diagnostics;
mod graph;
mod kind;
mod poured;
mod settings;

#[cfg(test)]
mod tests;

pub use beads::{Compiled, compile};
pub use graph::{PlanGraph, plan_graph};
pub use poured::{
    MoleculePart, PouredSprint, ROOT_KEYS, poured_sprint, remembered_values, sprint_values,
};
pub use settings::{
    AgentCatalog, AgentCheck, AgentFile, CompileSettings, FormulaSprints, KnownIds, MergeDetection,
};

use crate::diag::{Diagnostic, has_errors};
use crate::plan::{Filter, FilterFault, Plan, complete};

/// Why a plan gave no beads.
#[derive(Debug)]
pub enum Refusal {
    /// Errors in the plan, among all findings.
    Findings(Vec<Diagnostic>),
    /// A filter for sprints that the plan does not have.
    Filter(FilterFault),
}

/// Compiles the selected sprints of a plan in the order of the contract (E-10): what is wrong with headings
/// and numbers comes before the filter, and the filter before the bodies. Findings are in that order too,
/// so that the first error is the one to name.
pub fn build(
    plan: &Plan,
    filter: &Filter,
    settings: &CompileSettings<'_>,
) -> Result<Compiled, Refusal> {
    let mut findings = plan.problems.clone();
    let graph = match plan_graph(plan, &settings.known_ids) {
        Ok(graph) => graph,
        Err(finding) => {
            findings.push(*finding);
            for sprint in plan
                .unique()
                .filter(|sprint| filter.selects(&sprint.id.value))
            {
                findings.extend(sprint.problems.iter().cloned());
                findings.extend(complete(sprint).err().unwrap_or_default());
            }
            return Err(Refusal::Findings(findings));
        }
    };
    findings.extend(graph.findings.iter().cloned());
    if !has_errors(&findings) {
        filter.select(plan).map_err(Refusal::Filter)?;
    }
    match compile(plan, &graph, filter, settings) {
        Ok(compiled) => {
            findings.extend(compiled.findings);
            Ok(Compiled {
                findings,
                ..compiled
            })
        }
        Err(more) => {
            findings.extend(more);
            Err(Refusal::Findings(findings))
        }
    }
}

/// All findings about a plan: what `plan check` shows.
pub fn check(plan: &Plan, settings: &CompileSettings<'_>) -> Vec<Diagnostic> {
    match build(plan, &Filter::default(), settings) {
        Ok(compiled) => compiled.findings,
        Err(Refusal::Findings(findings)) => findings,
        // No filter, nothing to refuse.
        Err(Refusal::Filter(_)) => Vec::new(),
    }
}
