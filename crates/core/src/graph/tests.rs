//! Tests of the graph: the rules as tables, sizes, and properties.

mod faults;
mod properties;
mod reference;
mod rules;
mod shapes;
mod sizes;

use super::{Node, SprintGraph, compile};
use crate::number::SprintId;

/// The sprints of a text with ids between spaces.
fn ids(text: &str) -> Vec<SprintId> {
    text.split_whitespace()
        .map(|id| SprintId::parse(id).unwrap())
        .collect()
}

/// The graph of a text with ids between spaces.
fn graph(text: &str) -> SprintGraph {
    compile(&ids(text)).unwrap()
}

fn node(graph: &SprintGraph, id: &str) -> Node {
    graph.node(&SprintId::parse(id).unwrap()).unwrap()
}

fn names(graph: &SprintGraph, nodes: &[Node]) -> String {
    let names: Vec<&str> = nodes.iter().map(|node| graph.id(*node).as_str()).collect();
    names.join(" ")
}

/// What a sprint waits for, as a text with ids between commas.
fn dependencies(graph: &SprintGraph, id: &str) -> String {
    let edges = graph.dependencies(node(graph, id)).iter();
    let ids: Vec<&str> = edges.map(|edge| graph.id(edge.to).as_str()).collect();
    ids.join(",")
}
