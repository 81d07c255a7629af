//! A molecule as the real `bd` loads it: a root and everything below it, by edges or by names such as `root.1`.

use std::collections::{HashMap, HashSet};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Dependency, Effect, Issue, Record};
use beads_ralph_core::vocabulary::{EdgeType, IssueType, Status, label};
use serde_json::Value;

use crate::bd::{Filter, Opened, Refusal};

/// How far up a root is looked for.
const MAX_LEVELS: usize = 50;

/// A root, and everything below it: each bead before what is below it, steps in the order of the formula.
pub(super) struct Family {
    pub(super) all: Vec<Record>,
}

impl Family {
    pub(super) fn load(opened: &Opened, root: Record) -> Result<Self, Refusal> {
        let order = formula_order(&root.issue);
        let mut seen = HashSet::from([root.issue.id().clone()]);
        let mut all = Vec::new();
        let mut left = vec![root];
        while let Some(record) = left.pop() {
            let mut parts = children(opened, record.issue.id())?;
            parts.retain(|part| seen.insert(part.issue.id().clone()));
            parts.sort_by_key(|part| {
                let at = order.get(part.issue.id().as_str()).copied();
                at.unwrap_or(usize::MAX)
            });
            left.extend(parts.into_iter().rev());
            all.push(record);
        }
        Ok(Self { all })
    }

    pub(super) fn root(&self) -> &Record {
        &self.all[0]
    }

    pub(super) fn steps(&self) -> &[Record] {
        &self.all[1..]
    }

    /// The edges between its members, with the member that has each of them.
    pub(super) fn edges(&self) -> Vec<(&Issue, &Dependency)> {
        let members: HashSet<&BeadId> = self.all.iter().map(|it| it.issue.id()).collect();
        let edges = self.all.iter().flat_map(|it| {
            let issue = &it.issue;
            issue.dependencies().iter().map(move |edge| (issue, edge))
        });
        edges
            .filter(|(_, edge)| members.contains(edge.target()))
            .collect()
    }

    pub(super) fn waiting(&self) -> HashSet<&BeadId> {
        let closed = |issue: &Issue| issue.status() == Status::Closed;
        let by_id: HashMap<&BeadId, &Issue> = self
            .all
            .iter()
            .map(|it| (it.issue.id(), &it.issue))
            .collect();
        let edges = self.edges();
        let children_of = |id: &BeadId| -> Vec<&Issue> {
            let own = edges
                .iter()
                .filter(|(_, edge)| edge.kind() == EdgeType::ParentChild && edge.target() == id);
            own.map(|(issue, _)| *issue).collect()
        };
        let waits = |edge: &Dependency| match edge.effect() {
            Effect::Blocks => !by_id.get(edge.target()).is_some_and(|it| closed(it)),
            Effect::WaitsForChildren => children_of(edge.target()).iter().any(|it| !closed(it)),
            Effect::WaitsForAnyChild => {
                let children = children_of(edge.target());
                !children.is_empty() && !children.iter().any(|it| closed(it))
            }
            Effect::Parent | Effect::None => false,
        };
        let waiting = edges.iter().filter(|(_, edge)| waits(edge));
        waiting.map(|(issue, _)| issue.id()).collect()
    }
}

/// The places of the beads whose steps the formula names.
fn formula_order(root: &Issue) -> HashMap<String, usize> {
    let steps = root.metadata().and_then(|metadata| metadata.get("steps"));
    let steps = steps.and_then(Value::as_array).into_iter().flatten();
    let steps = steps.filter_map(Value::as_str).enumerate();
    steps
        .map(|(at, step)| (format!("{}-{step}", root.id()), at))
        .collect()
}

/// What is directly below a bead: by edges, then by name where it has no other parent.
pub(super) fn children(opened: &Opened, id: &BeadId) -> Result<Vec<Record>, Refusal> {
    let ids = opened.children(id)?;
    let start = format!("{id}.");
    let named = opened.store.ids_with_prefix(&start, usize::MAX)?;
    let is_number = |id: &BeadId| {
        let rest = id.as_str().strip_prefix(&start).unwrap_or_default();
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
    };
    let named: Vec<BeadId> = (named.into_iter())
        .filter(is_number)
        .filter(|id| !ids.contains(id))
        .collect();
    let mut records = opened.store.get(&ids)?;
    let own = opened.store.get(&named)?.into_iter();
    records.extend(own.filter(|record| record.issue.parents().next().is_none()));
    Ok(records)
}

/// The molecule that a bead belongs to: what is at the top, if it is an epic, a molecule or a template.
pub(super) fn root_of(opened: &Opened, record: &Record) -> Result<Option<Record>, Refusal> {
    let mut top = record.clone();
    for _ in 0..MAX_LEVELS {
        let Some(parent) = top.issue.parents().next().cloned() else {
            break;
        };
        match opened.record(&parent)? {
            Some(above) => top = above,
            None => return Ok(None),
        }
    }
    let kind = top.issue.issue_type();
    let is_one = kind == IssueType::Epic
        || kind == IssueType::Molecule
        || top.issue.has_label(label::TEMPLATE);
    Ok(is_one.then_some(top))
}

/// The molecules of which somebody works on a step, in the order in which the steps are found.
pub(super) fn in_progress(opened: &Opened, whose: &str) -> Result<Vec<Record>, Refusal> {
    let filter = Filter {
        statuses: vec![Status::InProgress.into()],
        assignee: Some(whose.to_owned()).filter(|name| !name.is_empty()),
        ..Filter::default()
    };
    let mut roots: Vec<Record> = Vec::new();
    for record in filter.find(opened)? {
        if let Some(root) = root_of(opened, &record)?
            && !roots.iter().any(|own| own.issue.id() == root.issue.id())
        {
            roots.push(root);
        }
    }
    Ok(roots)
}
