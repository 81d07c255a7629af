//! The compiled graph, how it is walked, and why each edge exists.
//!
//! All edges of a sprint come from one rule, so the sentence is made from the sprint's dependency list when it is asked for, and
//! edges carry no text.

use std::ops::Range;

use super::NumberingWarning;
use crate::number::SprintId;

/// A sprint of one graph: its index in natural order, so nodes compare like their sprints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(u32);

impl Node {
    pub(super) fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("so many sprints fit no memory"))
    }

    /// The place in natural order, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A dependency of a sprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The sprint that must be done first.
    pub to: Node,
    /// The rule that made the edge.
    pub why: EdgeReason,
}

/// The dependencies of all sprints of a plan (D-7), made by [`compile`](super::compile).
///
/// The graph is acyclic. A [`Node`] belongs to the graph that gave it; one of another graph names
/// another sprint here or panics like an index out of range.
#[derive(Debug, Clone)]
pub struct SprintGraph {
    ids: Vec<SprintId>,
    edges: Vec<Edge>,
    // Sprints of one group mostly wait for the same sprints, so their ranges of `edges` are shared.
    dependencies: Vec<Range<u32>>,
    dependents: Vec<Node>,
    dependents_from: Vec<usize>,
    notes: Vec<NumberingWarning>,
}

impl SprintGraph {
    pub(super) fn new(
        ids: Vec<SprintId>,
        edges: Vec<Edge>,
        dependencies: Vec<Range<u32>>,
        notes: Vec<NumberingWarning>,
    ) -> Self {
        let mut graph = Self {
            ids,
            edges,
            dependencies,
            dependents: Vec::new(),
            dependents_from: Vec::new(),
            notes,
        };
        graph.index_dependents();
        graph
    }

    // A counting sort of the edges by their target; walking the nodes in order sorts each run.
    fn index_dependents(&mut self) {
        let mut from = vec![0; self.len() + 1];
        for edge in self.nodes().flat_map(|node| self.dependencies(node)) {
            from[edge.to.index() + 1] += 1;
        }
        for at in 1..from.len() {
            from[at] += from[at - 1];
        }
        let mut next = from.clone();
        let mut dependents = vec![Node(0); from.last().copied().unwrap_or_default()];
        for node in self.nodes() {
            for edge in self.dependencies(node) {
                let slot = &mut next[edge.to.index()];
                dependents[*slot] = node;
                *slot += 1;
            }
        }
        self.dependents = dependents;
        self.dependents_from = from;
    }

    /// The number of sprints.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether the graph is empty.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The sprint of a node.
    pub fn id(&self, node: Node) -> &SprintId {
        &self.ids[node.index()]
    }

    /// The node of a sprint, also under another spelling (N-5).
    pub fn node(&self, id: &SprintId) -> Option<Node> {
        self.ids.binary_search(id).ok().map(Node::new)
    }

    /// All nodes in natural order.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + use<> {
        (0..self.len()).map(Node::new)
    }

    /// What a sprint waits for: in natural order, without duplicates (D-6). All edges of a sprint come
    /// from one rule.
    pub fn dependencies(&self, node: Node) -> &[Edge] {
        let range = &self.dependencies[node.index()];
        &self.edges[range.start as usize..range.end as usize]
    }

    /// What waits for a sprint, in natural order.
    pub fn dependents(&self, node: Node) -> &[Node] {
        let at = node.index();
        &self.dependents[self.dependents_from[at]..self.dependents_from[at + 1]]
    }

    /// The number of edges; at most [`MAX_EDGES`](super::MAX_EDGES).
    pub fn n_edges(&self) -> usize {
        self.dependents.len()
    }

    /// The warnings about the numbering (contracts §2.4), in natural order of their places.
    pub fn notes(&self) -> &[NumberingWarning] {
        &self.notes
    }
}

/// The rule behind an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeReason {
    /// A merged sprint waits for the siblings that it merges (D-1).
    Merges,
    /// A sprint waits for the group before it in its phase (D-2).
    Follows,
    /// The first sprints of a phase wait for the ends of the phases before (D-3).
    StartsAfterPhase,
    /// The first sprints of a merged phase wait for the ends of the phases that it merges (D-3).
    MergesTracks,
}

// How many members a sentence names, how many characters they may take together, and how many one.
const MAX_NAMED: usize = 8;
const MAX_LIST_CHARS: usize = 80;
const MAX_ID_CHARS: usize = 24;

impl SprintGraph {
    /// One short sentence without a full stop that says why a sprint waits along an edge:
    /// `1.3 follows the parallel group 1.2a, 1.2b`.
    ///
    /// At most eight members are named, the edge's own among them, however large the group is. To explain
    /// all edges of a sprint, ask for its [`SprintGraph::reasons`], which looks at its dependencies once.
    pub fn explain(&self, node: Node, edge: &Edge) -> String {
        let at = self.dependencies(node).iter().position(|e| e.to == edge.to);
        Sentences::of(self, node).at(at.unwrap_or(0))
    }

    /// What a sprint waits for, each with the sentence of [`SprintGraph::explain`].
    pub fn reasons(&self, node: Node) -> impl Iterator<Item = (Node, String)> {
        let sentences = Sentences::of(self, node);
        let edges = self.dependencies(node).iter().enumerate();
        edges.map(move |(at, edge)| (edge.to, sentences.at(at)))
    }
}

/// What the sentences about one sprint have in common.
struct Sentences<'g> {
    id: String,
    why: Option<EdgeReason>,
    sprints: Vec<&'g str>,
    /// The phases that the dependencies are of, and for each dependency which of them.
    phases: Vec<&'g str>,
    phase_of: Vec<usize>,
}

impl<'g> Sentences<'g> {
    fn of(graph: &'g SprintGraph, node: Node) -> Self {
        let edges = graph.dependencies(node);
        let mut sentences = Self {
            id: shorten(graph.id(node).as_str()),
            why: edges.first().map(|edge| edge.why),
            sprints: Vec::with_capacity(edges.len()),
            phases: Vec::new(),
            phase_of: Vec::with_capacity(edges.len()),
        };
        let mut last = None;
        for edge in edges {
            let id = graph.id(edge.to);
            // The list is in natural order, so the sprints of one phase are neighbours; another
            // spelling of a phase (`3`, `03`) is the same phase.
            let phase = (id.phase_number(), id.phase_suffix());
            if last != Some(phase) {
                sentences.phases.push(id.phase());
                last = Some(phase);
            }
            sentences.sprints.push(id.as_str());
            sentences.phase_of.push(sentences.phases.len() - 1);
        }
        sentences
    }
    fn at(&self, at: usize) -> String {
        let (id, sprints) = (&self.id, name_some(&self.sprints, Some(at)));
        let phases = || name_some(&self.phases, self.phase_of.get(at).copied());
        let are_several = self.phases.len() > 1;
        match self.why {
            None => format!("{id} waits for nothing"),
            Some(EdgeReason::Merges) => format!("{id} merges {sprints}"),
            Some(EdgeReason::Follows) if self.sprints.len() > 1 => {
                format!("{id} follows the parallel group {sprints}")
            }
            Some(EdgeReason::Follows) => format!("{id} follows {sprints}"),
            Some(EdgeReason::MergesTracks) if are_several => {
                format!(
                    "{id} merges the tracks {}, which end with {sprints}",
                    phases()
                )
            }
            Some(EdgeReason::MergesTracks) => format!(
                "{id} merges the track {}, which ends with {sprints}",
                phases()
            ),
            Some(EdgeReason::StartsAfterPhase) if are_several => {
                format!(
                    "{id} joins the tracks {}, which end with {sprints}",
                    phases()
                )
            }
            Some(EdgeReason::StartsAfterPhase) => {
                format!(
                    "{id} starts after phase {}, which ends with {sprints}",
                    phases()
                )
            }
        }
    }
}

/// The first few of many names, with the one that must be among them: `1.2a, 1.2b, … (1000 total)`.
pub(super) fn name_some(names: &[&str], must: Option<usize>) -> String {
    let mut chars = 0;
    let mut named: Vec<String> = names
        .iter()
        .take(MAX_NAMED)
        .map(|name| shorten(name))
        .take_while(|name| {
            chars += name.chars().count() + 2;
            chars <= MAX_LIST_CHARS
        })
        .collect();
    if let (Some(must), Some(last)) = (must, named.len().checked_sub(1))
        && must > last
    {
        named[last] = shorten(names[must]);
    }
    let list = named.join(", ");
    if named.len() < names.len() {
        format!("{list}, … ({} total)", names.len())
    } else {
        list
    }
}

// An id may have any number of digits and letters.
fn shorten(id: &str) -> String {
    match id.char_indices().nth(MAX_ID_CHARS) {
        Some(_) => id.chars().take(MAX_ID_CHARS - 1).chain(['…']).collect(),
        None => id.to_owned(),
    }
}
