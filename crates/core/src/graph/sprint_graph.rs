//! The compiled graph and how it is walked.

use std::ops::Range;

use super::{Note, Why};
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
    pub why: Why,
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
    notes: Vec<Note>,
}

impl SprintGraph {
    pub(super) fn new(
        ids: Vec<SprintId>,
        edges: Vec<Edge>,
        dependencies: Vec<Range<u32>>,
        notes: Vec<Note>,
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

    /// Whether there is no sprint.
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
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}
