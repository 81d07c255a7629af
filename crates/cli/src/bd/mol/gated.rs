//! `bd mol ready`: molecules that can go on because a gate is closed.

use std::collections::{BTreeMap, HashSet};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Query, Record, StatusFilter};
use beads_ralph_core::vocabulary::{IssueType, Status};
use serde::Serialize;

use super::family;
use crate::bd::issue_json::IssueJson;
use crate::bd::{Call, Filter, Opened, Refusal, issue_json, title_of};

/// A molecule, the gate that is closed, and the step that can be started.
struct Gated {
    root: Record,
    gate: Record,
    step: Record,
}

#[derive(Serialize)]
struct Answer<'g> {
    molecules: Vec<MoleculeAnswer<'g>>,
    count: usize,
}

#[derive(Serialize)]
struct MoleculeAnswer<'g> {
    molecule_id: &'g str,
    molecule_title: &'g str,
    closed_gate: IssueJson,
    ready_step: IssueJson,
}

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let gated = all(&opened)?;
    if call.output.is_json() {
        let molecules = gated.iter().map(|it| MoleculeAnswer {
            molecule_id: it.root.issue.id().as_str(),
            molecule_title: it.root.issue.title(),
            closed_gate: issue_json::issue(&it.gate),
            ready_step: issue_json::issue(&it.step),
        });
        return call.output.value(Answer {
            count: gated.len(),
            molecules: molecules.collect(),
        });
    }
    if gated.is_empty() {
        return call
            .output
            .text("\n No molecules ready for gate-resume dispatch\n\n");
    }
    let mut page = format!(
        "\n Molecules ready for gate-resume dispatch ({}):\n\n",
        gated.len()
    );
    for (at, it) in gated.iter().enumerate() {
        let [root, gate, step] = [&it.root, &it.gate, &it.step].map(|record| &record.issue);
        let awaited = gate.text("await_type").unwrap_or_default();
        push!(
            page,
            "{}. {}: {}\n   Gate closed: {} ({awaited})\n   Ready step: {} - {}\n\n",
            at + 1,
            root.id(),
            title_of(root),
            gate.id(),
            step.id(),
            title_of(step)
        );
    }
    page.push_str("To dispatch a molecule:\n  bd sling <agent> --mol <molecule-id>\n");
    call.output.text(&page)
}

fn all(opened: &Opened) -> Result<Vec<Gated>, Refusal> {
    let gates = Filter {
        statuses: vec![Status::Closed.into()],
        issue_type: Some(IssueType::Gate.into()),
        ..Filter::default()
    };
    let ready = Query {
        status: StatusFilter::OneOf(vec![Status::Open.into()]),
        ready_at: Some(opened.now),
        ..Query::default()
    };
    let ready: BTreeMap<BeadId, Record> = (opened.store.find(&ready)?.into_iter())
        .map(|record| (record.issue.id().clone(), record))
        .collect();
    let taken = hooked(opened)?;
    let mut found: BTreeMap<BeadId, Gated> = BTreeMap::new();
    for gate in gates.find(opened)? {
        for (dependent, _) in opened.store.dependents(gate.issue.id())? {
            let Some(step) = ready.get(&dependent) else {
                continue;
            };
            let Some(root) = family::root_of(opened, step)? else {
                continue;
            };
            let id = root.issue.id().clone();
            if !taken.contains(&id) {
                found.entry(id).or_insert_with(|| Gated {
                    root,
                    gate: gate.clone(),
                    step: step.clone(),
                });
            }
        }
    }
    Ok(found.into_values().collect())
}

/// What somebody has hooked, with the molecules that it belongs to.
fn hooked(opened: &Opened) -> Result<HashSet<BeadId>, Refusal> {
    let filter = Filter {
        statuses: vec![Status::Hooked.into()],
        ..Filter::default()
    };
    let mut taken = HashSet::new();
    for record in filter.find(opened)? {
        if let Some(root) = family::root_of(opened, &record)? {
            taken.insert(root.issue.id().clone());
        }
        taken.insert(record.issue.id().clone());
    }
    Ok(taken)
}
