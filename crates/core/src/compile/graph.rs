//! The dependency graph of a whole plan, which needs headings only (D-7, P-24), and conflicts between sprints: shared branches and
//! worktrees (B-29), branches that git cannot have at once (B-28).

use std::collections::HashMap;

use super::diagnostics;
use super::settings::KnownIds;
use crate::bead::{BeadId, team_name};
use crate::diag::Diagnostic;
use crate::graph::{Node, SprintGraph, compile};
use crate::number::SprintId;
use crate::plan::{Field, Plan, Sprint, shared_bead_ids};
use crate::text::{Span, Spanned};

/// The longest bead id: a file name has 255 bytes, and branches and references are made from ids as well.
const MAX_BEAD_ID: usize = 200;

/// A plan's sprints as a graph, each with its bead id.
#[derive(Debug)]
pub struct PlanGraph<'p> {
    /// The graph; its nodes are in natural order.
    pub graph: SprintGraph,
    /// Findings: numbering that is probably not meant, bead ids that are taken twice.
    pub findings: Vec<Diagnostic>,
    sprints: Vec<&'p Sprint>,
    bead_ids: Vec<BeadId>,
    /// For each sprint, whether its bead's id stands fast.
    has_id: Vec<bool>,
}

impl<'p> PlanGraph<'p> {
    /// The sprint of a node.
    pub fn sprint(&self, node: Node) -> &'p Sprint {
        self.sprints[node.index()]
    }

    /// The bead id of a node (the known one, the plan's own, or B-6).
    pub fn bead_id(&self, node: Node) -> &BeadId {
        &self.bead_ids[node.index()]
    }

    /// The bead id of every sprint, but for those whose own `Bead ID` cannot be read.
    pub fn ids(&self) -> KnownIds {
        let pairs = self.sprints.iter().zip(&self.bead_ids).zip(&self.has_id);
        pairs
            .filter(|(_, has_id)| **has_id)
            .map(|((sprint, id), _)| (sprint.id.value.clone(), id.clone()))
            .collect()
    }

    /// What is wrong with the bodies of sprints whose bead id cannot be known for that reason.
    pub fn unreadable_ids(&self) -> impl Iterator<Item = &Diagnostic> {
        let sprints = self.sprints.iter().zip(&self.has_id);
        sprints
            .filter(|(_, has_id)| !**has_id)
            .flat_map(|(sprint, _)| &sprint.problems)
            .filter(|finding| finding.error_code().is_some())
    }

    /// The sprints on the critical path: minutes where there is an estimate, one unit where there is none.
    pub fn critical_path(&self) -> Vec<Node> {
        self.graph.critical_path(|node| self.sprint(node).weight())
    }
}

/// Compiles the dependencies of a plan, or says why there would be too many (Z-32). Sprints that are known
/// keep their ids.
pub fn plan_graph<'p>(plan: &'p Plan, known: &KnownIds) -> Result<PlanGraph<'p>, Box<Diagnostic>> {
    let mut sprints: Vec<&Sprint> = plan.unique().collect();
    sprints.sort_by(|a, b| a.id.value.cmp(&b.id.value));
    let ids: Vec<SprintId> = sprints
        .iter()
        .map(|sprint| sprint.id.value.clone())
        .collect();
    let graph =
        compile(&ids).map_err(|limit| Box::new(diagnostics::graph_limit(&sprints, &limit)))?;
    let bead_ids: Vec<BeadId> = sprints
        .iter()
        .map(|sprint| bead_id(sprint, known))
        .collect();
    let has_id = sprints
        .iter()
        .map(|sprint| known.contains_key(&sprint.id.value) || !has_unreadable_id(sprint))
        .collect();
    let mut findings: Vec<Diagnostic> = graph
        .notes()
        .iter()
        .map(|note| diagnostics::numbering(&graph, &sprints, note))
        .collect();
    findings.extend(shared_bead_ids(sprints.iter().copied().zip(&bead_ids)));
    let named = sprints.iter().zip(&bead_ids);
    let long = named.filter(|(_, id)| id.as_str().len() > MAX_BEAD_ID);
    findings.extend(long.map(|(sprint, id)| diagnostics::long_bead_id(sprint, id)));
    let titled = sprints.iter().copied();
    findings.extend(titled.filter_map(diagnostics::long_title));
    findings.extend(diagnostics::partly_estimated(&sprints));
    findings.extend(overruled(&sprints, known));
    Ok(PlanGraph {
        graph,
        findings,
        sprints,
        bead_ids,
        has_id,
    })
}

/// Whether the plan fixes an id that is none; the sprint's problems say what is wrong with it.
fn has_unreadable_id(sprint: &Sprint) -> bool {
    sprint.body().has(Field::BeadId) && sprint.body().bead_id.is_none()
}

fn bead_id(sprint: &Sprint, known: &KnownIds) -> BeadId {
    if let Some(known) = known.get(&sprint.id.value) {
        return known.clone();
    }
    match &sprint.body().bead_id {
        Some(fixed) => fixed.value.clone(),
        None => BeadId::derive(&sprint.id.value, &sprint.title.value),
    }
}

/// The sprints whose `Bead ID` came too late: they have another one already (Z-10).
fn overruled<'s>(
    sprints: &'s [&Sprint],
    known: &'s KnownIds,
) -> impl Iterator<Item = Diagnostic> + 's {
    sprints.iter().filter_map(|sprint| {
        let known = known.get(&sprint.id.value)?;
        let own = sprint.body().bead_id.as_ref()?;
        (own.value != *known).then(|| diagnostics::overruled_bead_id(sprint, own, known))
    })
}

/// Reports what cannot be true of the selected sprints together, as far as their fields can be read.
pub(super) fn conflicts(selected: &[&Sprint]) -> Vec<Diagnostic> {
    let branches = selected
        .iter()
        .filter_map(|sprint| Some((*sprint, branch(sprint)?)));
    let worktrees = selected.iter().filter_map(|sprint| {
        let worktree = sprint.body().worktree.as_ref()?;
        Some((
            *sprint,
            Spanned::new(worktree.value.as_str(), worktree.span),
        ))
    });
    let mut findings = shared("branch", branches);
    findings.extend(shared("worktree", worktrees));
    findings.extend(clashes(selected));
    findings
}

fn branch(sprint: &Sprint) -> Option<Spanned<&str>> {
    let branch = sprint.body().branch.as_ref()?;
    Some(Spanned::new(branch.value.as_str(), branch.span))
}

fn team(sprint: &Sprint) -> String {
    let named = sprint.body().team.as_ref().map(|team| team.value.as_str());
    team_name(named, &sprint.id.value, &sprint.title.value)
}

/// Two sprints of different teams that use one branch or one worktree.
fn shared<'p>(
    what: &str,
    uses: impl Iterator<Item = (&'p Sprint, Spanned<&'p str>)>,
) -> Vec<Diagnostic> {
    let mut first: HashMap<&str, (&Sprint, Span)> = HashMap::new();
    let mut findings = Vec::new();
    for (sprint, used) in uses {
        match first.get(used.value) {
            None => {
                first.insert(used.value, (sprint, used.span));
            }
            Some((earlier, span)) if team(earlier) != team(sprint) => {
                findings.push(diagnostics::shared_place(
                    what, &used, sprint, *span, earlier,
                ));
            }
            Some(_) => {}
        }
    }
    findings
}

/// A branch below another one: git keeps branches as files, and `a` cannot be a file and a folder.
fn clashes(selected: &[&Sprint]) -> Vec<Diagnostic> {
    let mut taken: HashMap<&str, Span> = HashMap::new();
    for sprint in selected {
        if let Some(source) = &sprint.body().source_branch {
            taken.entry(source.value.as_str()).or_insert(source.span);
        }
        if let Some(branch) = branch(sprint) {
            taken.entry(branch.value).or_insert(branch.span);
        }
    }
    let clash = |sprint: &&Sprint| {
        let branch = branch(sprint)?;
        let mut folders = branch
            .value
            .match_indices('/')
            .map(|(at, _)| &branch.value[..at]);
        let (folder, span) = folders.find_map(|folder| Some((folder, *taken.get(folder)?)))?;
        Some(diagnostics::branch_clash(&branch, folder, span))
    };
    selected.iter().filter_map(clash).collect()
}
