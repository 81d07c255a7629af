//! Plans that are larger or stranger than any that a person writes.

use super::{compile, graph, ids, node};
use crate::diag::ErrorCode;
use crate::graph::{GraphLimit, MAX_EDGES};
use crate::number::SprintId;

fn plan(ids: impl Iterator<Item = String>) -> Vec<SprintId> {
    ids.map(|id| SprintId::parse(&id).unwrap()).collect()
}

/// Different suffixes with one set of letters.
fn twins(n: usize, base: &str) -> impl Iterator<Item = String> {
    let twin = |n: usize| (0..17).map(move |bit| if n >> bit & 1 == 0 { 'a' } else { 'b' });
    // The leading pair keeps the set of letters equal for all.
    (0..n).map(move |n| format!("{base}ab{}", twin(n).collect::<String>()))
}

#[test]
fn a_chain_of_100_000_sprints_needs_no_deep_stack() {
    let graph = compile(&plan((0..100_000).map(|n| format!("1.{n}")))).unwrap();
    assert_eq!(graph.n_edges(), 99_999);
    assert_eq!(graph.waves().len(), 100_000);
    assert_eq!(graph.critical_path(|_| 1).len(), 100_000);
    assert_eq!(graph.reduced().len(), 100_000);
}

#[test]
fn a_group_of_100_000_members_is_joined() {
    let sprints = twins(100_000, "1.1").chain(["1.2".to_owned(), "2.1".to_owned()]);
    let graph = compile(&plan(sprints)).unwrap();
    assert_eq!(graph.n_edges(), 100_001);
    let join = node(&graph, "1.2");
    for edge in graph.dependencies(join).iter().step_by(30_000) {
        assert!(graph.explain(join, edge).chars().count() < 300);
    }
}

#[test]
fn z_32_a_million_edges_are_allowed_and_one_more_is_not() {
    let square = |waiting| plan(twins(1000, "1.1").chain(twins(waiting, "1.2")));
    assert_eq!(compile(&square(1000)).unwrap().n_edges() as u64, MAX_EDGES);
    let refused = compile(&square(1001)).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::ValidationConstraint);
    assert_eq!(
        refused.to_string(),
        "the plan has 1001000 dependencies, more than 1000000; 1001000 of them are between 1.2 and 1.1"
    );
}

#[test]
fn z_32_a_join_of_phases_is_counted_before_it_is_built() {
    let sprints = twins(100_000, "1.1")
        .chain(twins(100_000, "2a.1"))
        .chain(["2b.1".to_owned()]);
    let refused = compile(&plan(sprints)).unwrap_err();
    assert_eq!(
        refused,
        GraphLimit::TooManyEdges {
            waiting: "2a.1".to_owned(),
            awaited: "phase 1".to_owned(),
            n_between: 10_000_000_000,
            n_edges: 10_000_100_000,
        }
    );
}

fn triples(letters: &[u8]) -> Vec<String> {
    let mut triples = Vec::new();
    for (i, a) in letters.iter().enumerate() {
        for (j, b) in letters.iter().enumerate().skip(i + 1) {
            for c in &letters[j + 1..] {
                triples.push([*a, *b, *c].iter().map(|letter| *letter as char).collect());
            }
        }
    }
    triples
}

#[test]
fn too_many_merged_suffixes_are_refused_in_groups_and_levels() {
    let triples = triples(b"abcdefghijklmnopqrstuvwxyz");
    let group = plan(triples.iter().map(|suffix| format!("1.2{suffix}")));
    assert_eq!(
        compile(&group).unwrap_err().to_string(),
        "1.2 has 2600 different merged suffixes, more than 512"
    );
    let level = plan(triples.iter().map(|suffix| format!("3{suffix}.1")));
    assert_eq!(
        compile(&level).unwrap_err().to_string(),
        "phase 3 has 2600 different merged suffixes, more than 512"
    );
}

#[test]
fn many_merged_suffixes_below_the_limit_are_fine() {
    let letters = b"abcdefghijklmno";
    let suffixes = triples(letters);
    let single = letters
        .iter()
        .map(|letter| format!("1.2{}", *letter as char));
    let sprints = plan(
        suffixes
            .iter()
            .map(|suffix| format!("1.2{suffix}"))
            .chain(single),
    );
    let graph = compile(&sprints).unwrap();
    assert_eq!(graph.n_edges(), suffixes.len() * 3);
}

#[test]
fn ids_of_any_length_are_explained_shortly() {
    let long = "z".repeat(5000);
    let zeros = "0".repeat(5000);
    let graph = graph(&format!(
        "{zeros}1{long}.1{long} 2{long}.1{long} {zeros}2.1 3.{zeros}1"
    ));
    for node in graph.nodes() {
        for edge in graph.dependencies(node) {
            assert!(graph.explain(node, edge).chars().count() < 300);
        }
    }
    assert!(compile(&ids("")).is_ok());
}
