//! `demo`: a sample plan of nine sprints, compiled before your eyes, and worked off in a store that is thrown away.

use std::fmt;

use beads_ralph_core::bead::{BeadId, BeadShape, FieldError, RalphBead};
use beads_ralph_core::compile::{KnownIds, Refusal, build, plan_graph};
use beads_ralph_core::issue::{Edit, Entry, Fence, Holder, Query};
use beads_ralph_core::plan::Filter;
use beads_ralph_runtime::clock;
use beads_ralph_runtime::store::{Guard, NewClaim, Scratch, Stamp, Store, StoreError, Write};
use serde_json::{Value, json};

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
  beads-ralph init
  beads-ralph plan apply plan.md
  beads-ralph ready
";

/// Who works in the demo.
const WORKERS: [&str; 2] = ["alice", "bob"];

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
        let rounds: Vec<Vec<String>> = worked_off(&documents)?
            .into_iter()
            .map(|round| round.into_iter().map(|done| done.id.to_string()).collect())
            .collect();
        return ui.data(&json!({
            "plan": PLAN, "sprints_processed": order, "beads": documents, "rounds": rounds,
        }));
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
    ui.out(
        "\nIn a store that is thrown away, two workers claim whatever is ready and close it:\n",
    )?;
    let rounds = worked_off(&documents)?;
    ui.out(&lines(rounds.iter().enumerate().map(|(at, round)| {
        let done: Vec<String> = round.iter().map(Done::to_string).collect();
        format!("  round {}: {}", at + 1, done.join("; "))
    })))?;
    ui.out(NEXT)
}

/// A bead that was worked off.
struct Done {
    id: BeadId,
    worker: &'static str,
    fence: Fence,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {} (fence {})", self.id, self.worker, self.fence)
    }
}

/// Puts the beads into a store and takes them out again as they become ready, round by round.
fn worked_off(documents: &[Value]) -> Result<Vec<Vec<Done>>, Failure> {
    let mut scratch = Scratch::new()?;
    let now = clock::now();
    let by = |actor| Stamp { actor, at: now };
    let batch: Result<Vec<Write>, Vec<FieldError>> = documents
        .iter()
        .map(|document| {
            Ok(Write::Insert(Box::new(Entry::from_document(
                document.clone(),
            )?)))
        })
        .collect();
    let batch = batch.map_err(|errors| StoreError::Invalid {
        id: NAME.to_owned(),
        errors,
    })?;
    scratch.store.write(&batch, by("demo"))?;
    let ready = Query {
        ready_at: Some(now),
        ..Query::default()
    };
    let mut rounds = Vec::new();
    loop {
        let records = scratch.store.find(&ready)?;
        if records.is_empty() {
            return Ok(rounds);
        }
        let mut round = Vec::new();
        for (record, worker) in records.iter().zip(WORKERS.into_iter().cycle()) {
            round.push(work_off(
                &mut scratch.store,
                record.issue.id(),
                worker,
                by(worker),
            )?);
        }
        rounds.push(round);
    }
}

fn work_off(
    store: &mut impl Store,
    id: &BeadId,
    worker: &'static str,
    by: Stamp<'_>,
) -> Result<Done, Failure> {
    let holder = Holder {
        run: worker.to_owned(),
        host: "demo".to_owned(),
        process: None,
    };
    let claim = NewClaim {
        holder: &holder,
        lease_until: by.at,
        is_forced: false,
    };
    let fence = store.claim(id, &claim, by)?.fence;
    let close = Write::Update {
        id: id.clone(),
        edits: vec![Edit::Close("demo".to_owned())],
        guard: Guard::fenced(fence),
    };
    store.write(&[close], by)?;
    Ok(Done {
        id: id.clone(),
        worker,
        fence,
    })
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
