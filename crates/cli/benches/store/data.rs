//! Beads to measure with: those of a generated plan, as `plan apply` would insert them.

use beads_ralph_core::bead::{BeadId, BeadShape, RalphBead, Timestamp};
use beads_ralph_core::compile::{
    AgentCatalog, AgentCheck, CompileSettings, KnownIds, MergeDetection, build,
};
use beads_ralph_core::issue::{Entry, Query, StatusFilter};
use beads_ralph_core::plan::{Filter, parse};
use beads_ralph_testkit::generated_plan;

/// How much is measured.
pub(crate) struct Sizes {
    pub(crate) n_rounds: usize,
    pub(crate) insertions: [usize; 3],
    pub(crate) stores: [usize; 2],
    pub(crate) n_runs: usize,
    pub(crate) n_claims: usize,
}

impl Sizes {
    pub(crate) const FULL: Self = Self {
        n_rounds: 7,
        insertions: [100, 1_000, 10_000],
        stores: [10_000, 100_000],
        n_runs: 101,
        n_claims: 2_000,
    };
    pub(crate) const SMALL: Self = Self {
        n_rounds: 1,
        insertions: [10, 20, 100],
        stores: [20, 100],
        n_runs: 1,
        n_claims: 40,
    };
}

/// The most sprints that one plan has; a larger store holds several plans.
const MAX_SPRINTS: usize = 10_000;

/// The beads of as many plans as are needed.
pub(crate) fn entries(n_beads: usize) -> impl Iterator<Item = Entry> {
    let beads = beads(n_beads.min(MAX_SPRINTS));
    (0..n_beads.div_ceil(MAX_SPRINTS)).flat_map(move |plan| {
        let renamed =
            |id: &BeadId| BeadId::parse(&format!("{id}-p{plan}")).expect("a longer id is an id");
        let entries: Vec<Entry> = (beads.iter().take(n_beads - plan * MAX_SPRINTS))
            .map(|bead| {
                let mut bead = bead.clone();
                bead.id = renamed(&bead.id);
                bead.dependencies = bead.dependencies.iter().map(renamed).collect();
                bead.metadata.plan_file = format!("plans/{plan}.md");
                Entry::from_document(bead.to_document(BeadShape::Both)).expect("a bead is an issue")
            })
            .collect();
        entries
    })
}

fn beads(n_sprints: usize) -> Vec<RalphBead> {
    let agents = AgentCatalog::default();
    let settings = CompileSettings {
        plan_file: "plan.md",
        text: None,
        rig: "beads-ralph",
        now: Timestamp::parse("2026-11-15T00:00:00Z").expect("a time"),
        agents: &agents,
        agent_check: AgentCheck::Off,
        merge_detection: MergeDetection::Both,
        skip_completed: false,
        has_default_check: false,
        require_machine_check: false,
        known_ids: KnownIds::new(),
        formula_sprints: beads_ralph_core::compile::FormulaSprints::Ordinary,
    };
    let plan = parse(&generated_plan(n_sprints));
    build(&plan, &Filter::default(), &settings)
        .expect("a plan without errors")
        .beads
}

/// What `ready --limit 20` asks.
pub(crate) fn ready_query() -> Query {
    Query {
        ready_at: Some(crate::stamp().at),
        limit: Some(20),
        ..Query::default()
    }
}

/// What `list --all --limit 0` asks.
pub(crate) fn everything() -> Query {
    Query {
        status: StatusFilter::Any,
        includes_hidden: true,
        ..Query::default()
    }
}
