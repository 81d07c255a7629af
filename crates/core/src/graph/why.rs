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
    /// At most eight members are named, the edge's own among them, however large the group is. The time is
    /// linear in the sprint's dependencies, so explaining every edge of a huge join is not for free.
    pub fn explain(&self, node: Node, edge: &Edge) -> String {
        let edges = self.dependencies(node);
        let ids: Vec<&str> = edges.iter().map(|e| self.id(e.to).as_str()).collect();
        let at = edges.iter().position(|e| e.to == edge.to);
        let id = shorten(self.id(node).as_str());
        let sprints = name_some(&ids, at);
        match edge.why {
            Why::Merges => format!("{id} merges {sprints}"),
            Why::Follows if ids.len() > 1 => {
                format!("{id} follows the parallel group {sprints}")
            }
            Why::Follows => format!("{id} follows {sprints}"),
            Why::StartsAfterPhase | Why::MergesTracks => {
                self.explain_entry(node, *edge, &format!("with {sprints}"))
            }
        }
    }

    fn explain_entry(&self, node: Node, edge: Edge, with: &str) -> String {
        // The list is in natural order, so the sprints of one phase are neighbours; another spelling of
        // a phase (`3`, `03`) is the same phase.
        let mut ends: Vec<_> = self
            .dependencies(node)
            .iter()
            .map(|e| self.id(e.to))
            .collect();
        ends.dedup_by_key(|id| (id.phase_number(), id.phase_suffix()));
        let target = self.id(edge.to);
        let at = ends.iter().position(|id| {
            (id.phase_number(), id.phase_suffix()) == (target.phase_number(), target.phase_suffix())
        });
        let names: Vec<&str> = ends.iter().map(|id| id.phase()).collect();
        let phases = name_some(&names, at);
        let id = shorten(self.id(node).as_str());
        match (edge.why, ends.len() > 1) {
            (Why::MergesTracks, true) => {
                format!("{id} merges the tracks {phases}, which end {with}")
            }
            (Why::MergesTracks, false) => {
                format!("{id} merges the track {phases}, which ends {with}")
            }
            (_, true) => format!("{id} joins the tracks {phases}, which end {with}"),
            (_, false) => format!("{id} starts after phase {phases}, which ends {with}"),
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
