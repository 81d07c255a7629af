//! The edges that a drawing needs.
//!
//! A drawing leaves out an edge when a longer path says the same. In general that takes reachability,
//! which for 100,000 nodes would be more than a gigabyte of bits. A compiled graph needs none of it,
//! because no member of a dependency list reaches another member of the same list:
//!
//! * D-1 and D-2 lists are sprints of one group, none of which covers another. A path that stays in a
//!   group only goes from a letter set to strict subsets of it, and a path that leaves the group does
//!   not come back, since every other edge goes to a lower number, phase track or level.
//! * D-3 lists are ends of phases of one level, none of which covers another. Inside one phase the
//!   ends are terminals of one group, as above. From a phase a path can only get to phases of the
//!   level whose letters are a strict subset of its own.
//!
//! So every compiled graph is its own transitive reduction. The property tests hold this claim against
//! a reduction by search.

use super::{Node, SprintGraph};

impl SprintGraph {
    /// For each node, the dependencies that no longer path implies: the transitive reduction. Takes
    /// time and memory linear in the edges.
    pub fn reduced(&self) -> Vec<Vec<Node>> {
        self.nodes()
            .map(|node| self.dependencies(node).iter().map(|edge| edge.to).collect())
            .collect()
    }
}
