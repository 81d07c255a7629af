//! Explanations, notes, waves and critical paths of small plans.

use super::{graph, names, node};
use crate::graph::{EdgeReason, NumberingWarning, SprintGraph};

fn explained(graph: &SprintGraph, id: &str) -> String {
    let node = node(graph, id);
    graph.explain(node, &graph.dependencies(node)[0])
}

#[test]
fn d_1_and_d_2_are_explained() {
    let graph = graph("1.1 1.2a 1.2b 1.2ab 1.3 1.4a 1.4b 1.5");
    assert_eq!(explained(&graph, "1.2a"), "1.2a follows 1.1");
    assert_eq!(explained(&graph, "1.2ab"), "1.2ab merges 1.2a, 1.2b");
    assert_eq!(explained(&graph, "1.3"), "1.3 follows 1.2ab");
    assert_eq!(
        explained(&graph, "1.5"),
        "1.5 follows the parallel group 1.4a, 1.4b"
    );
}

#[test]
fn d_3_is_explained() {
    let graph = graph("2.1 2.2 3a.1 3a.2 3b.1 3b.2 4.1 5a.1 5b.1 5ab.1 6a.1 6ab.1");
    assert_eq!(
        explained(&graph, "3a.1"),
        "3a.1 starts after phase 2, which ends with 2.2"
    );
    assert_eq!(
        explained(&graph, "4.1"),
        "4.1 joins the tracks 3a, 3b, which end with 3a.2, 3b.2"
    );
    assert_eq!(
        explained(&graph, "5ab.1"),
        "5ab.1 merges the tracks 5a, 5b, which end with 5a.1, 5b.1"
    );
    assert_eq!(
        explained(&graph, "6a.1"),
        "6a.1 starts after phase 5ab, which ends with 5ab.1"
    );
    assert_eq!(
        explained(&graph, "6ab.1"),
        "6ab.1 merges the track 6a, which ends with 6a.1"
    );
    let why = |id| graph.dependencies(node(&graph, id))[0].why;
    assert_eq!(
        [why("4.1"), why("5ab.1"), why("3a.2")],
        [
            EdgeReason::StartsAfterPhase,
            EdgeReason::MergesTracks,
            EdgeReason::Follows
        ]
    );
}

#[test]
fn a_huge_group_is_explained_shortly_and_names_the_edge_itself() {
    let members: Vec<String> = (0..1000)
        .map(|n| format!("1.1{}", "a".repeat(n + 1)))
        .collect();
    let graph = graph(&format!("{} 1.2", members.join(" ")));
    let last = node(&graph, "1.2");
    let edges = graph.dependencies(last);
    assert_eq!(
        graph.explain(last, &edges[0]),
        "1.2 follows the parallel group 1.1a, 1.1aa, 1.1aaa, 1.1aaaa, 1.1aaaaa, 1.1aaaaaa, \
         1.1aaaaaaa, 1.1aaaaaaaa, … (1000 total)"
    );
    assert_eq!(
        graph.explain(last, &edges[999]),
        "1.2 follows the parallel group 1.1a, 1.1aa, 1.1aaa, 1.1aaaa, 1.1aaaaa, 1.1aaaaaa, \
         1.1aaaaaaa, 1.1aaaaaaaaaaaaaaaaaaaa…, … (1000 total)"
    );
}

#[test]
fn notes_name_mixed_groups_and_merges_without_parts() {
    let graph = graph("1.1 1.2 1.2a 1.3ab 2.1 2a.1 2a.2 3bc.1 3d.1");
    let at = |id| node(&graph, id);
    assert_eq!(
        graph.notes(),
        [
            NumberingWarning::MixedGroup {
                members: vec![at("1.2"), at("1.2a")]
            },
            NumberingWarning::MergedWithoutParts {
                member: at("1.3ab")
            },
            NumberingWarning::MixedLevel {
                phases: vec![at("2.1"), at("2a.1")]
            },
            NumberingWarning::MergedPhaseWithoutParts { phase: at("3bc.1") },
        ]
    );
    let words: Vec<String> = graph
        .notes()
        .iter()
        .map(|note| format!("{}: {}", note.code(), note.message(&graph)))
        .collect();
    assert_eq!(
        words,
        [
            "mixed-group: 1.2, 1.2a have the same number with and without letters, and run in parallel",
            "merged-without-parts: 1.3ab merges sprints that do not exist, so it runs like any other",
            "mixed-group: the phases 2, 2a have the same number with and without letters, and run in parallel",
            "merged-without-parts: phase 3bc merges phases that do not exist, so it runs like any other",
        ]
    );
}

#[test]
fn ordinary_plans_have_no_notes() {
    assert_eq!(graph("1.1 1.2a 1.2b 1.2ab 2a.1 2b.1 2ab.1").notes(), []);
}

#[test]
fn waves_are_longest_distances() {
    let graph = graph("1.1 2a.1 2a.2 2a.3 2b.1 3.1");
    let waves: Vec<String> = graph
        .waves()
        .iter()
        .map(|wave| names(&graph, wave))
        .collect();
    assert_eq!(waves, ["1.1", "2a.1 2b.1", "2a.2", "2a.3", "3.1"]);
}

#[test]
fn the_critical_path_is_the_heaviest_and_ties_go_to_the_smaller_sprint() {
    let graph = graph("1.1 2a.1 2a.2 2b.1 2c.1 3.1");
    let path = |weight: &dyn Fn(&str) -> u64| {
        let path = graph.critical_path(|node| weight(graph.id(node).as_str()));
        names(&graph, &path)
    };
    assert_eq!(path(&|_| 1), "1.1 2a.1 2a.2 3.1");
    assert_eq!(path(&|id| if id == "2c.1" { 9 } else { 1 }), "1.1 2c.1 3.1");
    assert_eq!(path(&|_| 0), "1.1 2a.1 2a.2 3.1");
    let tie = |id: &str| if id.starts_with("2a") { 0 } else { u64::MAX };
    assert_eq!(path(&tie), "1.1 2b.1 3.1", "2b.1 and 2c.1 weigh the same");
}

#[test]
fn an_empty_plan_has_an_empty_graph() {
    let graph = graph("");
    assert!(graph.is_empty() && graph.order().is_empty() && graph.waves().is_empty());
    assert!(graph.critical_path(|_| 1).is_empty() && graph.reduced().is_empty());
}

#[test]
fn dependents_mirror_dependencies() {
    let graph = graph("1.1 1.2a 1.2b 1.3");
    assert_eq!(
        names(&graph, graph.dependents(node(&graph, "1.1"))),
        "1.2a 1.2b"
    );
    assert_eq!(names(&graph, graph.dependents(node(&graph, "1.2b"))), "1.3");
    assert_eq!(graph.n_edges(), 4);
}
