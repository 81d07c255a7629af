//! `bd mol ready` and `bd mol stale`: molecules that can go on because a gate is closed, and epics whose children are all closed.

use std::collections::{BTreeMap, HashSet};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Dependency, Effect, Query, Record, StatusFilter};
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
        ready_at: Some(opened.by.now),
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

/// An epic that could be closed.
struct Stale {
    epic: Record,
    n_children: usize,
    blocked: Vec<String>,
}

pub(super) fn stale(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let opened = call.open()?;
    let mut stale = all_stale(&opened)?;
    stale.retain(|it| !arguments.is_on("unassigned") || it.epic.issue.assignee().is_none());
    stale.retain(|it| !arguments.is_on("blocking") || !it.blocked.is_empty());
    let n_blocking = stale.iter().filter(|it| !it.blocked.is_empty()).count();
    if call.output.is_json() {
        let list = stale.iter().map(StaleMolecule::of).collect();
        return call.output.value(StaleAnswer {
            stale_molecules: Some(list).filter(|_| !stale.is_empty()),
            total_count: stale.len(),
            blocking_count: n_blocking,
        });
    }
    if stale.is_empty() {
        return call.output.text("No stale molecules found.\n");
    }
    let mut page = if arguments.is_on("blocking") {
        "⚠ Stale molecules (complete but unclosed, blocking work):\n\n".to_owned()
    } else {
        "ℹ Stale molecules (complete but unclosed):\n\n".to_owned()
    };
    for it in &stale {
        paragraph(it, &mut page);
    }
    push!(page, "Total: {} stale", stale.len());
    if n_blocking > 0 {
        push!(page, ", {n_blocking} blocking other work");
    }
    page.push('\n');
    call.output.text(&page)
}

fn all_stale(opened: &Opened) -> Result<Vec<Stale>, Refusal> {
    let filter = Filter {
        issue_type: Some(IssueType::Epic.into()),
        excluded_statuses: vec![Status::Closed.into()],
        hides_ephemeral: true,
        ..Filter::default()
    };
    let mut epics = filter.find(opened)?;
    epics.sort_by(|a, b| a.issue.id().cmp(b.issue.id()));
    let mut stale = Vec::new();
    for epic in epics {
        let dependents = opened.store.dependents(epic.issue.id())?;
        let ids: Vec<_> = dependents.iter().map(|(id, _)| id.clone()).collect();
        let records = opened.store.get(&ids)?;
        let is_child = |record: &&Record| record.issue.parents().any(|it| it == epic.issue.id());
        let children: Vec<&Record> = records.iter().filter(is_child).collect();
        let is_closed = |record: &&Record| record.issue.status() == Status::Closed;
        if children.is_empty() || !children.iter().all(is_closed) {
            continue;
        }
        let waits =
            |edge: &Dependency| edge.target() == epic.issue.id() && edge.effect() == Effect::Blocks;
        let blocked = records
            .iter()
            .filter(|it| it.is_blocked && it.issue.dependencies().iter().any(waits));
        stale.push(Stale {
            n_children: children.len(),
            blocked: blocked.map(|it| it.issue.id().to_string()).collect(),
            epic,
        });
    }
    Ok(stale)
}

#[derive(Serialize)]
struct StaleAnswer<'s> {
    /// Null where there are none.
    stale_molecules: Option<Vec<StaleMolecule<'s>>>,
    total_count: usize,
    blocking_count: usize,
}

#[derive(Serialize)]
struct StaleMolecule<'s> {
    id: &'s str,
    title: &'s str,
    total_children: usize,
    closed_children: usize,
    blocking_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    assignee: Option<&'s str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    blocking_issues: &'s [String],
}

impl<'s> StaleMolecule<'s> {
    fn of(it: &'s Stale) -> Self {
        let issue = &it.epic.issue;
        Self {
            id: issue.id().as_str(),
            title: issue.title(),
            total_children: it.n_children,
            closed_children: it.n_children,
            blocking_count: it.blocked.len(),
            assignee: issue.assignee(),
            blocking_issues: &it.blocked,
        }
    }
}

fn paragraph(it: &Stale, page: &mut String) {
    let (id, title, n) = (it.epic.issue.id(), title_of(&it.epic.issue), it.n_children);
    let n_blocked = it.blocked.len();
    let blocking = if n_blocked > 0 {
        format!(" [blocking {n_blocked}]")
    } else {
        String::new()
    };
    push!(page, "  {id}  {title}  ({n}/{n}){blocking}\n");
    push!(page, "       → Close with: bd close {id}\n");
    if (1..=3).contains(&n_blocked) {
        push!(page, "       → Blocking: [{}]\n", it.blocked.join(" "));
    }
    page.push('\n');
}
