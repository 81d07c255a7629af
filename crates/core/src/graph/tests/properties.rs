//! Properties of all plans, on plans that are small and full of groups, tracks and merges.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{compile, names, reference};
use crate::graph::{GraphFault, Node, SprintGraph, check};
use crate::number::SprintId;

fn plans() -> impl Strategy<Value = Vec<SprintId>> {
    let id = "[1-4](|a|b|c|ab|bc|abc)\\.[1-4](|a|b|c|ab|ba|abc|[a-e]{2})";
    proptest::collection::vec(id, 0..24).prop_map(|ids| {
        let mut seen = BTreeSet::new();
        ids.iter()
            .map(|id| SprintId::parse(id).unwrap())
            .filter(|id| seen.insert(id.clone()))
            .collect()
    })
}

fn reached(graph: &SprintGraph, edges: &[Vec<Node>]) -> Vec<BTreeSet<Node>> {
    let mut reached = vec![BTreeSet::new(); graph.len()];
    for node in graph.order() {
        let mut all: BTreeSet<Node> = edges[node.index()].iter().copied().collect();
        for next in &edges[node.index()] {
            all.extend(reached[next.index()].iter().copied());
        }
        reached[node.index()] = all;
    }
    reached
}

fn all_edges(graph: &SprintGraph) -> Vec<Vec<Node>> {
    let edges = |node| graph.dependencies(node).iter().map(|edge| edge.to);
    graph.nodes().map(|node| edges(node).collect()).collect()
}

/// Every path from a root to a leaf, unless there are too many to list.
fn paths(graph: &SprintGraph) -> Option<Vec<Vec<Node>>> {
    let roots = graph
        .nodes()
        .filter(|node| graph.dependencies(*node).is_empty());
    let mut open: Vec<Vec<Node>> = roots.map(|root| vec![root]).collect();
    let mut done = Vec::new();
    while let Some(path) = open.pop() {
        let next = graph.dependents(*path.last().unwrap());
        if next.is_empty() {
            done.push(path);
        } else {
            open.extend(next.iter().map(|node| [path.as_slice(), &[*node]].concat()));
        }
        if open.len() + done.len() > 20_000 {
            return None;
        }
    }
    Some(done)
}

proptest! {
    #[test]
    fn d_1_to_d_6_the_compiler_agrees_with_the_words(plan in plans()) {
        reference::agrees_on(&plan, &compile(&plan).unwrap());
    }

    #[test]
    fn d_8_every_dependency_is_earlier_and_no_smaller_sprint_was_free(plan in plans()) {
        let graph = compile(&plan).unwrap();
        let order = graph.order();
        prop_assert_eq!(order.len(), graph.len());
        let mut done = BTreeSet::new();
        for node in order {
            let free = |node: &Node| {
                !done.contains(node) && graph.dependencies(*node).iter().all(|edge| done.contains(&edge.to))
            };
            prop_assert_eq!(graph.nodes().find(free), Some(node));
            done.insert(node);
        }
    }

    #[test]
    fn p_9_the_order_of_the_document_does_not_matter(
        (plan, shuffled) in plans().prop_flat_map(|plan| (Just(plan.clone()), Just(plan).prop_shuffle()))
    ) {
        let (a, b) = (compile(&plan).unwrap(), compile(&shuffled).unwrap());
        prop_assert_eq!(names(&a, &a.order()), names(&b, &b.order()));
        prop_assert_eq!(all_edges(&a), all_edges(&b));
        prop_assert_eq!(a.notes(), b.notes());
    }

    #[test]
    fn waves_hold_each_sprint_once_and_right_after_its_last_dependency(plan in plans()) {
        let graph = compile(&plan).unwrap();
        let mut wave_of = BTreeMap::new();
        for (wave, members) in graph.waves().iter().enumerate() {
            prop_assert!(!members.is_empty() && members.is_sorted());
            for node in members {
                prop_assert_eq!(wave_of.insert(*node, wave), None);
            }
        }
        for node in graph.nodes() {
            let last = graph.dependencies(node).iter().map(|edge| wave_of[&edge.to] + 1).max();
            prop_assert_eq!(wave_of[&node], last.unwrap_or(0));
        }
    }

    #[test]
    fn the_reduction_keeps_reachability_and_has_no_edge_to_spare(plan in plans()) {
        let graph = compile(&plan).unwrap();
        let reduced = graph.reduced();
        let all = reached(&graph, &all_edges(&graph));
        prop_assert_eq!(&reached(&graph, &reduced), &all);
        for edges in &reduced {
            for edge in edges {
                let implied = edges.iter().any(|other| all[other.index()].contains(edge));
                prop_assert!(!implied, "{} is implied", graph.id(*edge));
            }
        }
    }

    #[test]
    fn the_critical_path_is_the_heaviest_of_all_paths(
        plan in plans(),
        weights in proptest::collection::vec(prop_oneof![0_u64..4, Just(u64::MAX)], 24),
    ) {
        let graph = compile(&plan).unwrap();
        let total = |path: &[Node]| path.iter().map(|node| u128::from(weights[node.index()])).sum::<u128>();
        if let Some(paths) = paths(&graph) {
            let best = paths.into_iter().min_by_key(|path| (std::cmp::Reverse(total(path)), path.clone()));
            prop_assert_eq!(graph.critical_path(|node| weights[node.index()]), best.unwrap_or_default());
        }
    }

    #[test]
    fn every_edge_is_explained_in_a_short_sentence(plan in plans()) {
        let graph = compile(&plan).unwrap();
        for node in graph.nodes() {
            for edge in graph.dependencies(node) {
                let sentence = graph.explain(node, edge);
                prop_assert!(sentence.chars().count() < 300);
                prop_assert!(sentence.contains(graph.id(edge.to).as_str()), "{}", sentence);
            }
        }
        for note in graph.notes() {
            prop_assert!(note.message(&graph).chars().count() < 300);
        }
    }

    #[test]
    fn d_10_to_d_13_the_check_agrees_with_a_search(
        nodes in proptest::collection::vec(("[a-f]", proptest::collection::vec("[a-g]", 0..3)), 0..7)
    ) {
        let listed = nodes.iter().map(|(id, needs)| (id.as_str(), needs.iter().map(String::as_str)));
        let found = check(listed, &BTreeSet::from(["g"]));
        prop_assert_eq!(found.clone().err().map(|fault| class(&fault)), expected_class(&nodes));
        if let Err(GraphFault::Cycle { path }) = found {
            let edges: BTreeMap<&str, &Vec<String>> =
                nodes.iter().map(|(id, needs)| (id.as_str(), needs)).collect();
            prop_assert_eq!(path.first(), path.last());
            prop_assert_eq!(path.first(), path.iter().min());
            prop_assert_eq!(path.iter().collect::<BTreeSet<_>>().len(), path.len() - 1);
            for step in path.windows(2) {
                prop_assert!(edges[step[0].as_str()].contains(&step[1]));
            }
        }
    }
}

fn class(fault: &GraphFault) -> &'static str {
    fault.code().as_str()
}

// The class of the first fault, by looking at everything for everything.
fn expected_class(nodes: &[(String, Vec<String>)]) -> Option<&'static str> {
    let ids: BTreeSet<&String> = nodes.iter().map(|(id, _)| id).collect();
    if ids.len() < nodes.len() {
        return Some("DEPENDENCY.DUPLICATE_ID");
    }
    if nodes.iter().any(|(id, needs)| needs.contains(id)) {
        return Some("DEPENDENCY.SELF_DEP");
    }
    let known = |id: &String| id == "g" || ids.contains(id);
    if !nodes.iter().all(|(_, needs)| needs.iter().all(known)) {
        return Some("DEPENDENCY.UNRESOLVED");
    }
    let edges = nodes
        .iter()
        .flat_map(|(id, needs)| needs.iter().map(move |need| (id, need)));
    let mut reach: BTreeSet<(&String, &String)> = edges.collect();
    for _ in nodes {
        let longer: Vec<_> = reach
            .iter()
            .flat_map(|(a, b)| {
                reach
                    .iter()
                    .filter(move |(c, _)| b == c)
                    .map(move |(_, d)| (*a, *d))
            })
            .collect();
        reach.extend(longer);
    }
    reach
        .iter()
        .any(|(a, b)| a == b)
        .then_some("DEPENDENCY.CYCLE_DETECTED")
}
