//! The check of graphs that somebody wrote (D-10 to D-14, T-35 to T-37).

use std::collections::BTreeSet;

use crate::diag::ErrorCode;
use crate::graph::{GraphFault, check};

fn fault(nodes: &[(&str, &[&str])], external: &[&str]) -> Option<GraphFault> {
    let nodes = nodes.iter().map(|(id, needs)| (*id, needs.iter().copied()));
    check(nodes, &external.iter().copied().collect()).err()
}

fn strings(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn d_10_duplicates_come_before_everything_else() {
    let found = fault(
        &[
            ("b", &["b"]),
            ("a", &["zz"]),
            ("b", &[]),
            ("a", &[]),
            ("a", &[]),
        ],
        &[],
    );
    let found = found.unwrap();
    assert_eq!(found.code(), ErrorCode::DependencyDuplicateId);
    assert_eq!(found.to_string(), "more than one node has the id a, b");
    assert_eq!(
        found,
        GraphFault::DuplicateId {
            ids: strings(&["a", "b"])
        }
    );
}

#[test]
fn t_36_d_11_a_self_dependency_is_no_cycle() {
    let found = fault(&[("a", &["a", "zz"]), ("c", &["c"])], &[]).unwrap();
    assert_eq!(found.code(), ErrorCode::DependencySelfDep);
    assert_eq!(found.to_string(), "a node depends on itself: a, c");
}

#[test]
fn t_37_d_12_an_unknown_reference_is_named_with_its_node() {
    let found = fault(&[("a", &["zz", "b", "zz"]), ("b", &["a"])], &[]).unwrap();
    assert_eq!(found.code(), ErrorCode::DependencyUnresolved);
    assert_eq!(
        found.to_string(),
        "a dependency does not exist: zz (needed by a)"
    );
}

#[test]
fn d_15_external_references_are_allowed() {
    assert_eq!(fault(&[("a", &["zz"]), ("b", &["a", "zz"])], &["zz"]), None);
    assert_eq!(
        fault(&[("a", &["b"]), ("b", &["a"])], &["a", "b"]).map(|found| found.code()),
        Some(ErrorCode::DependencyCycleDetected),
        "a node that is also named external is a node"
    );
}

#[test]
fn t_35_d_13_a_cycle_is_a_path_from_its_smallest_id() {
    let found = fault(&[("b", &["a"]), ("a", &["b"])], &[]).unwrap();
    assert_eq!(found.code(), ErrorCode::DependencyCycleDetected);
    assert_eq!(found.to_string(), "dependencies form a cycle: a → b → a");
}

#[test]
fn d_13_a_short_cycle_is_preferred_and_what_only_leads_to_it_is_left_out() {
    let nodes: &[(&str, &[&str])] = &[
        ("a", &["e"]),
        ("e", &["f"]),
        ("f", &["g", "h"]),
        ("g", &["h"]),
        ("h", &["e"]),
        ("x", &[]),
    ];
    assert_eq!(
        fault(nodes, &[]),
        Some(GraphFault::Cycle {
            path: strings(&["e", "f", "h", "e"])
        })
    );
}

#[test]
fn d_13_a_long_cycle_is_printed_shortly() {
    let ids: Vec<String> = (0..100_000).map(|n| format!("n{n:06}")).collect();
    let next = |n: usize| ids[(n + 1) % ids.len()].as_str();
    let nodes = ids
        .iter()
        .enumerate()
        .map(|(n, id)| (id.as_str(), [next(n)]));
    let found = check(nodes, &BTreeSet::new()).unwrap_err();
    let GraphFault::Cycle { path } = &found else {
        panic!("{found}");
    };
    assert_eq!(path.len(), 100_001);
    assert!(found.to_string().len() < 300, "{found}");
}

#[test]
fn d_14_a_long_chain_is_fine() {
    let ids: Vec<String> = (0..100_000).map(|n| format!("n{n:06}")).collect();
    let nodes = ids
        .iter()
        .enumerate()
        .map(|(n, id)| (id.as_str(), ids[..n].last().map(String::as_str)));
    assert_eq!(check(nodes, &BTreeSet::new()), Ok(()));
}

#[test]
fn many_findings_are_printed_shortly_and_kept_in_full() {
    let ids: Vec<String> = (0..1000)
        .map(|n| format!("missing-{n}\u{1b}[31m"))
        .collect();
    let nodes = [("a", ids.iter().map(String::as_str).collect::<Vec<_>>())];
    let found = check(nodes, &BTreeSet::new()).unwrap_err();
    let GraphFault::Unresolved { missing } = &found else {
        panic!("{found}");
    };
    assert_eq!(missing.len(), 1000);
    let words = found.to_string();
    assert!(
        words.ends_with(" and 992 more") && !words.contains('\u{1b}'),
        "{words}"
    );
}
