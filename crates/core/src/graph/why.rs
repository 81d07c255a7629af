//! Why an edge exists, as a rule and as a sentence.
//!
//! All edges of a sprint come from one rule, so the sentence is made from the sprint's dependency
//! list when it is asked for, and edges carry no text.

use super::{Edge, Node, SprintGraph};

/// The rule behind an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
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
    why: Option<Why>,
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

    /// The sentence about one of the dependencies.
    fn at(&self, at: usize) -> String {
        let (id, sprints) = (&self.id, name_some(&self.sprints, Some(at)));
        let phases = || name_some(&self.phases, self.phase_of.get(at).copied());
        let are_several = self.phases.len() > 1;
        match self.why {
            None => format!("{id} waits for nothing"),
            Some(Why::Merges) => format!("{id} merges {sprints}"),
            Some(Why::Follows) if self.sprints.len() > 1 => {
                format!("{id} follows the parallel group {sprints}")
            }
            Some(Why::Follows) => format!("{id} follows {sprints}"),
            Some(Why::MergesTracks) if are_several => {
                format!(
                    "{id} merges the tracks {}, which end with {sprints}",
                    phases()
                )
            }
            Some(Why::MergesTracks) => format!(
                "{id} merges the track {}, which ends with {sprints}",
                phases()
            ),
            Some(Why::StartsAfterPhase) if are_several => {
                format!(
                    "{id} joins the tracks {}, which end with {sprints}",
                    phases()
                )
            }
            Some(Why::StartsAfterPhase) => {
                format!(
                    "{id} starts after phase {}, which ends with {sprints}",
                    phases()
                )
            }
        }
    }
}

/// The first few of many names, with the one that must be among them: `1.2a, 1.2b, … (1000 in all)`.
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
        format!("{list}, … ({} in all)", names.len())
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
