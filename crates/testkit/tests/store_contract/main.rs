//! The contract can be broken: what the suite says about stores with faults.

mod twisted;

use beads_ralph_runtime::store::Capability;
use beads_ralph_testkit::store_contract::{Broken, broken, clauses};

use twisted::{Twist, Twisted};

fn broken_by(twist: Twist) -> Vec<Broken> {
    broken(|| Twisted::make(twist))
}

fn n_needing(capability: Capability) -> usize {
    let clauses = clauses();
    let needing = clauses
        .iter()
        .filter(|clause| clause.needs.contains(&capability));
    needing.count()
}

#[test]
fn a_gap_that_is_declared_and_refused_is_no_fault() {
    for twist in [
        Twist::NoLeases,
        Twist::NoHistory,
        Twist::NoBatches,
        Twist::NoGuards,
        Twist::NoUnknownFields,
    ] {
        assert_eq!(broken_by(twist), [], "{twist:?}");
    }
}

#[test]
fn a_gap_that_is_declared_and_filled_is_a_fault_of_every_clause_that_needs_it() {
    for twist in [Twist::PretendsNoLeases, Twist::RefusesInOtherWords] {
        let broken = broken_by(twist);
        assert_eq!(broken.len(), n_needing(Capability::Leases), "{twist:?}");
        for broken in broken {
            assert!(
                broken.how.contains("does not refuse with Unsupported"),
                "{broken:?}"
            );
        }
    }
}

#[test]
fn every_fault_is_found_and_named() {
    for (twist, clause) in [
        (Twist::HalfBatches, "a batch is whole"),
        (
            Twist::IgnoresBlockers,
            "what is held back cannot be claimed",
        ),
        (
            Twist::ReclaimsAnything,
            "a reclaim leaves a newer claim alone",
        ),
        (
            Twist::ShortensLeases,
            "a heartbeat moves the end of the lease",
        ),
        (Twist::ForgetsActors, "an event says who and when"),
        (Twist::FindsBackwards, "the oldest first"),
        (Twist::Miscounts, "what is counted is what is found"),
        (Twist::StopsEarly, "what is visited is what is found"),
        (Twist::IgnoresGuards, "a guard on the version"),
        (Twist::LosesComments, "comments come with their issue"),
        (Twist::ForgetsDependents, "dependents are in order"),
        (Twist::KeepsControls, "z_15 a null removes"),
    ] {
        let broken = broken_by(twist);
        let is_named = broken
            .iter()
            .any(|broken| broken.clause.starts_with(clause));
        assert!(
            is_named,
            "{twist:?} breaks «{clause}», but found was {broken:#?}"
        );
        assert!(
            broken.len() < clauses().len() / 2,
            "{twist:?} is one fault among many rules"
        );
    }
}

#[test]
#[should_panic(expected = "the store `twisted` breaks")]
fn a_store_that_breaks_a_clause_fails_the_run() {
    beads_ralph_testkit::store_contract::run("twisted", || Twisted::make(Twist::LosesComments));
}

#[test]
fn every_clause_has_a_name_of_its_own() {
    let mut names: Vec<&str> = clauses().iter().map(|clause| clause.name).collect();
    let n_clauses = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), n_clauses);
    for capability in Capability::ALL {
        assert!(
            n_needing(capability) > 0,
            "nothing is said about {capability:?}"
        );
    }
}
