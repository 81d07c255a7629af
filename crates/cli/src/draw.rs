//! Pictures of a plan's graph: for a terminal, for Mermaid and for Graphviz.
//!
//! Everything here is a function from a graph to a string. Titles are foreign text: they are made
//! harmless for each target before they are drawn, and no title can add a node, an edge or a line.
//! The critical path is handed in, because only the caller knows the weights.

mod dot;
mod label;
mod mermaid;
mod picture;
mod text;
mod waves;

pub(crate) use dot::dot;
pub(crate) use label::{Charset, columns, cut};
pub(crate) use mermaid::mermaid;
pub(crate) use text::{TextOptions, text};

#[cfg(test)]
mod tests {
    use beads_ralph_core::graph::{Node, SprintGraph, compile};
    use beads_ralph_core::number::SprintId;

    /// The graph of ids between spaces.
    pub(super) fn graph(ids: &str) -> SprintGraph {
        let parse = |id| SprintId::parse(id).unwrap();
        let ids: Vec<SprintId> = ids.split_whitespace().map(parse).collect();
        compile(&ids).unwrap()
    }

    /// The longest chain.
    pub(super) fn critical(graph: &SprintGraph) -> Vec<Node> {
        graph.critical_path(|_| 1)
    }
}
