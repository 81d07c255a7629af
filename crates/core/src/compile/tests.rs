//! Whole plans through the compiler.

mod findings;
mod known_ids;
mod laws;
mod worked_examples;

use super::{
    AgentCatalog, AgentCheck, CompileSettings, Compiled, FormulaSprints, KnownIds, MergeDetection,
    compile, plan_graph,
};
use crate::bead::Timestamp;
use crate::diag::Diagnostic;
use crate::plan::{Filter, parse};

/// Settings that look at nothing outside the plan.
fn settings(agents: &AgentCatalog) -> CompileSettings<'_> {
    CompileSettings {
        plan_file: "plan.md",
        text: None,
        rig: "beads-ralph",
        now: Timestamp::parse("2026-11-15T08:00:00Z").unwrap(),
        agents,
        agent_check: AgentCheck::Off,
        merge_detection: MergeDetection::Both,
        skip_completed: false,
        has_default_check: false,
        require_machine_check: false,
        known_ids: KnownIds::new(),
        formula_sprints: FormulaSprints::Ordinary,
    }
}

fn compiled(text: &str, filter: &str) -> Result<Compiled, Vec<Diagnostic>> {
    compiled_with(text, filter, &settings(&AgentCatalog::default()))
}

fn compiled_with(
    text: &str,
    filter: &str,
    settings: &CompileSettings<'_>,
) -> Result<Compiled, Vec<Diagnostic>> {
    let plan = parse(text);
    let graph = plan_graph(&plan, &settings.known_ids).map_err(|finding| vec![*finding])?;
    compile(&plan, &graph, &Filter::parse(filter).unwrap(), settings)
}
