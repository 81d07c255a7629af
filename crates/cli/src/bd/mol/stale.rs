//! `bd mol stale`: epics whose children are all closed.

use beads_ralph_core::issue::{Dependency, Effect, Record};
use beads_ralph_core::vocabulary::{IssueType, Status};
use serde::Serialize;

use crate::bd::{Call, Filter, Opened, Refusal, title_of};

/// An epic that could be closed.
struct Stale {
    epic: Record,
    n_children: usize,
    blocked: Vec<String>,
}

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let opened = call.open()?;
    let mut stale = all(&opened)?;
    stale.retain(|it| !arguments.is_on("unassigned") || it.epic.issue.assignee().is_none());
    stale.retain(|it| !arguments.is_on("blocking") || !it.blocked.is_empty());
    let n_blocking = stale.iter().filter(|it| !it.blocked.is_empty()).count();
    if call.output.is_json() {
        let list = stale.iter().map(Molecule::of).collect();
        return call.output.value(Answer {
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

fn all(opened: &Opened) -> Result<Vec<Stale>, Refusal> {
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
struct Answer<'s> {
    /// Null where there are none.
    stale_molecules: Option<Vec<Molecule<'s>>>,
    total_count: usize,
    blocking_count: usize,
}

#[derive(Serialize)]
struct Molecule<'s> {
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

impl<'s> Molecule<'s> {
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
